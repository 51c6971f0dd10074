"""Secrets of addresses are in no text that is shown, however an address is spelt."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from apsl_rules.errors import ApslError
from apsl_rules.masking import masked, shown_address
from support.hostile import FILES, SECRET, USES, addresses, said_of
from support.terminal import apsl_here


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no file 'postgres:/u:pw@h/d'", "no file 'postgres:/u:***@h/d'"),
        ("no file ' postgres://u:pw@h/d'", "no file ' postgres://u:***@h/d'"),
        ("at dask:tcp://u:pw@h:1 or", "at dask:tcp://u:***@h:1 or"),
        ("'postgres://u:a b@h/d' (a@b)", "'postgres://u:***@h/d' (a@b)"),
        ("'postgres://h/d?user=u&password=pw#t' of us", "'postgres://h/d?user=u&password=***#t' of us"),
        ("'postgres://h:5432/d#t@x' is there", "'postgres://h:5432/d#t@x' is there"),
        ("columns 'a:b@c' and 'd=e' at 12:30@home", "columns 'a:b@c' and 'd=e' at 12:30@home"),
        ("'postgres:///u:p#w@h/d'", "'postgres:///u:***@h/d'"),
        ("'mysql://u:p@#w@h/d'", "'mysql://u:***@h/d'"),
        ("'mysql://u:p@a/w#v@h/d'", "'mysql://u:***@h/d'"),
        ("'duckdb:///C:/d/f#t@x'", "'duckdb:///C:/d/f#t@x'"),
        ("dask:tcp://h/d?pwd=p;w#t", "dask:tcp://h/d?pwd=***#t"),
        ("the user ann@firm.example", "the user ann@firm.example"),
    ],
)
def test_only_secrets_are_masked(text: str, shown: str) -> None:
    """Passwords and parameters that are none of the known harmless ones are hidden; names of columns stay."""
    assert masked(text) == shown == masked(shown)
    assert str(ApslError(text)) == shown


def test_a_known_secret_is_masked_as_a_whole_word() -> None:
    """A secret of one letter is no part of other words."""
    assert masked("user u said 'u' to us", ["u"]) == "user *** said '***' to us"


@given(addresses(), st.sampled_from(["{}", "no file {!r}", "it's {!r}; don't", "(at {} now)"]))
def test_no_address_in_a_text_shows_its_password(address: str, text: str) -> None:
    """An address is recognised in quotation marks; without them up to the first blank."""
    assert SECRET not in shown_address(address)
    if " " not in address.strip() or "!r" in text:
        assume(not address.startswith("u:"))  # nothing in a text tells these from other words
        assert SECRET not in masked(text.format(address))


@pytest.mark.parametrize("use", sorted(USES))
@settings(max_examples=60)
@given(address=addresses())
def test_nothing_that_is_raised_shows_a_password(use: str, address: str) -> None:
    """Errors and all their causes are without the password, whatever an address is used for."""
    assume(use not in FILES or not address.startswith("u:"))  # these take no addresses
    assert SECRET not in said_of(address, use)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("learn", " postgres://u:S3cr3tW0rd@h/d#t", "--target", "a"),
        ("describe", "postgres:/u:S3cr3tW0rd@h/d#t"),
        ("learn", "asia", "--target", "dysp", "--counts", "dask:tcp://u:S3cr3tW0rd@127.0.0.1:1"),
        ("postgres:u:S3cr3tW0rd@h/d",),
        ("learn", "asia", "--target", "u:S3cr3tW0rd@h/d"),
        ("learn", "asia", "--target", "dysp", "--out", "/nowhere/u:S3cr3tW0rd@h/d"),
        ("show", "u:S3cr3tW0rd@h/d"),
    ],
)
def test_no_command_prints_a_password(words: tuple[str, ...]) -> None:
    """What is typed wrongly is told without it."""
    done = apsl_here(*words)
    assert done.code == 1
    assert SECRET not in done.out + done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("name", ["clinically.important.brain.injury", "a.b-c+d" * 500, "a:" * 5000])
def test_a_long_name_is_no_address(name: str) -> None:
    """Dots, dashes and colons in a name are tried as the head of an address once, not divided in all ways."""
    text = f"{name!r} = 1 is told by 'x@y'"
    assert masked(text) == text

"""``-`` in the place of a file: tables, parts and networks from standard input."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from apsl_rules.data import example_table
from support.terminal import apsl, apsl_here

ROWS = b"a,b\n0,x\n1,y\n0,x\n1,y\n1,x\n" * 20


@pytest.mark.slow
def test_a_table_from_standard_input_is_the_table_of_the_file() -> None:
    """`apsl learn -` prints what it prints for the file, and so does a packed one."""
    content = example_table().read_bytes()
    named = apsl_here("learn", str(example_table()), "-t", "either", "--json")

    assert apsl("learn", "-", "-t", "either", "--json", stdin=content) == named
    assert apsl_here("learn", "-", "-t", "either", "--json", stdin=gzip.compress(content)) == named


@pytest.mark.parametrize(
    "words",
    [
        ("describe", "-"),
        ("compare", "-", "-t", "a", "--learners", "auto,apsl"),
        ("many", "-", "--targets", "all"),
        ("stability", "-", "-t", "a", "--resamples", "2"),
        ("why", "-", "a", "b", "-t", "a"),
        ("effect", "-", "a", "b"),
    ],
)
def test_every_command_that_takes_a_table_reads_it(words: tuple[str, ...]) -> None:
    """None of them looks for a file that is called '-', and none leaks the path where the input is kept."""
    done = apsl_here(*words, stdin=ROWS)

    assert done.code == 0
    assert done.out
    assert "apsl-" not in done.out.replace("apsl-score", "") + done.err


def test_a_part_and_a_network_come_through_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one command prints another reads."""
    part = apsl_here("learn", "asia", "-t", "lung", "--out", "-", "--quiet")
    shown = apsl_here("show", "-", stdin=part.out.encode())
    drawn = apsl_here("simulate", "-", "-n", "3", stdin=apsl_here("random", "5").out.encode())

    assert shown.out.startswith("lung: ")
    assert drawn.out.startswith("X1,X2,")
    monkeypatch.chdir(tmp_path)
    assert "add --out FILE" in apsl_here("report", "-", stdin=part.out.encode()).err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "content", "sentence"),
    [
        (("learn", "-", "-t", "a"), b"", "apsl: standard input is empty; pipe a table into it, or give a file\n"),
        (("learn", "-", "-t", "a"), b"a,b\n1,2\n1,2,3\n", "apsl: line 3 of standard input has 3 fields"),
        (("learn", "-"), ROWS, "apsl: learning from standard input needs a target"),
        (("learn", "-", "-t", "c"), ROWS, "apsl: unknown target 'c'"),
        (("fit", "-", "-"), ROWS, "apsl: '-' is given twice"),
        (("show", "-"), ROWS, "apsl: standard input is no part file"),
        (("learn", "-", "-t", "a"), b"\x1f\x8b\x00", "packed by gzip and cannot be unpacked"),
    ],
)
def test_a_mistake_speaks_of_standard_input(words: tuple[str, ...], content: bytes, sentence: str) -> None:
    """The sentence never has the path where the input is kept."""
    done = apsl_here(*words, stdin=content)

    assert (done.code, done.out) == (1, "")
    assert sentence in done.err
    assert len(done.err.splitlines()) == 1

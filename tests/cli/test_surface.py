"""The whole surface of the command line: every help, its examples, and how mistakes in typing are answered."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
import pytest

from apsl_rules.cli.main import apsl as group
from support.terminal import apsl_here

pytestmark = pytest.mark.slow

COMMANDS = group.list_commands(click.Context(group))


def shown_examples(command: click.Command) -> list[list[str]]:
    """Return the examples at the end of a command's help, as words after ``apsl``."""
    lines = [line.strip().partition("|")[0] for line in (command.epilog or "").splitlines()]
    return [shlex.split(line.partition(" > ")[0])[1:] for line in lines if line.startswith("apsl ")]


def test_the_list_of_commands_fits_and_names_all() -> None:
    """`apsl --help` has a line for every command, none cut off; `apsl` by itself prints the same."""
    listed = apsl_here("--help")

    assert "..." not in listed.out.partition("Options:")[2]
    assert all(any(line.startswith(f"  {name} ") for line in listed.out.splitlines()) for name in COMMANDS)
    assert [group.command_named(name).name for name in COMMANDS] == COMMANDS
    assert apsl_here() == listed


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_examples_that_can_be_typed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example in a help is made of commands, options and values that exist."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.toml").write_text("depth = 2\n", "utf-8")
    found = shown_examples(group.command_named(name))
    assert any(name in words for words in found)
    for words in found:
        typed = words[2:] if words[0] == "--plugin" else words
        group.command_named(typed[0]).make_context(typed[0], typed[1:])


@pytest.mark.parametrize("name", COMMANDS)
def test_options_mean_the_same_everywhere(name: str) -> None:
    """A short option stands for one long option; every option says what it does."""
    short = {"-t": "--target", "-k": "--depth", "-l": "--learner", "-o": "--out", "-q": "--quiet", "-n": "--rows"}
    for one in group.command_named(name).params:
        if isinstance(one, click.Option):
            assert one.help
            for letter in (opt for opt in one.opts if not opt.startswith("--")):
                assert short[letter] in one.opts


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("lern",), "apsl: no such command 'lern'; did you mean 'learn'?\n"),
        (("rows.csv",), "no such command 'rows.csv'; to learn from a file: apsl learn rows.csv --target COLUMN; see"),
        (("learn",), "apsl: missing argument 'SOURCE'; see apsl learn --help"),
        (("learn", "asia", "lung"), "unexpected extra argument (lung); the target is an option: --target lung; see"),
        (("learn", "asia", "-t", "lung", "tub"), "apsl: got unexpected extra argument (tub); see apsl learn --help"),
        (("learn", "asia", "--targt", "lung"), "apsl: no such option '--targt'; did you mean '--target'?\n"),
        (("learn", "asia", "--alpha", "small"), "apsl: --alpha is 'small'; give a number; see apsl learn --help"),
        (("learn", "asia", "-t", "lung", "--missing", "levl"), "--missing is 'levl'; did you mean 'level'?\n"),
        (("learn", "asia", "-t", "lung", "--missing", "x"), "give refuse, testwise, level or complete; see"),
        (("learn", "asia", "-t"), "apsl: option '-t' requires an argument"),
        (("tutorial",), "apsl: no such command 'tutorial'; docs/quick-start.md walks through the commands; see apsl"),
        (("why", "asia"), "apsl: name two nodes X and Y, or ask for the contradictions of the part with --repairs"),
        (("random", "ten"), "apsl: NODES is 'ten'; give a whole number; see apsl random --help"),
    ],
)
def test_a_mistake_in_typing_gets_one_line(words: tuple[str, ...], sentence: str) -> None:
    """The line says what is wrong and which help to read; nothing is printed on standard output; exit code 1."""
    done = apsl_here(*words)

    assert (done.code, done.out) == (1, "")
    assert sentence in done.err
    assert len(done.err.splitlines()) == 1

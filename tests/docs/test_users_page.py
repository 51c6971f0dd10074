"""The page on what users ask for: every test, command and file that it names exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from apsl_rules.cli.main import apsl as group

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (ROOT / "docs" / "users.md").read_text("utf-8").splitlines()
    if re.match(r"\| \d", line)
]


def test_every_wish_has_a_row() -> None:
    """There are forty-three, in order, each with an answer and two things that show it, or one if it is open."""
    assert [row[0] for row in ROWS] == [str(number) for number in range(1, 44)]
    assert all(len(row) == 4 for row in ROWS)
    assert all(len(re.findall(r"`[^`]+`", row[3])) >= (1 if "**Open**" in row[2] else 2) for row in ROWS)


def test_wishes_of_others_name_a_thread() -> None:
    """All but those of people who tried this program were met in the tracker of another."""
    assert all(re.search(r"\w#\d+", row[1]) for row in ROWS[:37])


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_what_shows_it_exists(row: list[str]) -> None:
    """A test is defined in its file, a command can be typed, a page or script is there."""
    for named in re.findall(r"`([^`]+)`", row[3]):
        if named.startswith("apsl "):
            words = shlex.split(named)[1:]
            group.command_named(words[0]).make_context(words[0], words[1:])
        else:
            file, _, function = named.partition("::")
            assert (ROOT / file).is_file()
            assert not function or f"def {function}(" in (ROOT / file).read_text("utf-8")

"""The comparison with other programs: no entry is left open, and the short table says what the long one says."""

from __future__ import annotations

import re

import pytest

from support.pages import ROOT


def tables(page: str) -> dict[str, dict[str, str]]:
    """Return the entries of each program by what they are about, from all tables whose first head is blank."""
    found: dict[str, dict[str, str]] = {}
    programs: list[str] = []
    for line in (ROOT / page).read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| |"):
            programs = cells[1:]
        elif not line.startswith("| "):
            programs = []
        elif programs and not line.startswith("| ---"):
            for program, entry in zip(programs, cells[1:], strict=True):
                found.setdefault(program, {})[cells[0]] = entry
    return found


@pytest.mark.parametrize("page", ["README.md", "docs/comparison.md"])
def test_no_entry_is_left_open(page: str) -> None:
    """Every program has an entry in every row, and none is a question mark."""
    found = tables(page)
    rows = {frozenset(entries) for entries in found.values()}

    assert len(rows) == 1
    assert len(next(iter(rows))) >= 15
    assert all(entry and "?" not in entry for entries in found.values() for entry in entries.values())


def test_both_tables_agree() -> None:
    """A row of the README that the page has as well says the same there, with links from there."""
    short, long = tables("README.md"), tables("docs/comparison.md")
    plain = {
        program: {row: re.sub(r"\]\([^)]*\)", "]", one) for row, one in of.items()} for program, of in long.items()
    }

    for program, entries in short.items():
        for row, entry in entries.items():
            if row in plain[program]:
                assert re.sub(r"\]\([^)]*\)", "]", entry) == plain[program][row], (program, row)


def test_every_program_has_its_version() -> None:
    """And says how its entries were found."""
    text = (ROOT / "docs" / "comparison.md").read_text("utf-8")
    versions = dict(re.findall(r"^\| ([\w-]+) \| (\d[\w.-]*)", text, re.MULTILINE))
    named = {program.split(" ")[0] for program in tables("docs/comparison.md")} - {"apsl_rules"}

    assert set(versions) == named

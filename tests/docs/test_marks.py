"""The one table of what a pair of columns can be has a row for each member of the enum, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from apsl_rules.rules import Mark

PAGE = Path(__file__).parents[2] / "docs" / "reading.md"


def test_the_table_of_marks_has_every_mark() -> None:
    """Each stands in a row of its own, in the order of the enum."""
    table = PAGE.read_text("utf-8").partition("## What a pair of columns can be")[2].partition("\n## ")[0]
    named = re.findall(r"^\| `(\w+)`", table, flags=re.MULTILINE)

    assert named == [*Mark]

"""The README: every example runs, and what it shows is what the code prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.pages import ROOT, run_page
from support.terminal import apsl


@pytest.mark.slow
def test_the_examples_of_the_readme_run(tmp_path: Path) -> None:
    """Each Python block that prints is followed by its output, and each `apsl` command succeeds."""
    ran = run_page(ROOT / "README.md", tmp_path, apsl)

    drawn = (tmp_path / "patients.svg").read_text("utf-8")

    assert ran.printing >= 2
    assert ran.commands >= 5
    assert drawn == (ROOT / "docs" / "pictures" / "patients.svg").read_text("utf-8"), "run python tools/gallery.py"


def test_the_readme_is_short_and_has_one_picture() -> None:
    """At most 180 lines; the first example is a table of people."""
    text = (ROOT / "README.md").read_text("utf-8")

    assert len(text.splitlines()) <= 180
    assert text.count("![") == 1
    assert text.index("patients") < text.index("network(") if "network(" in text else "patients" in text


def test_every_entry_of_ours_has_a_link() -> None:
    """In the comparison each capability that we claim leads to where it is shown."""
    table = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (ROOT / "README.md").read_text("utf-8").splitlines()
        if line.startswith("| ")
    ]
    ours = [row[1] for row in table[2:-1]]

    assert len(ours) > 10
    assert all("](docs/" in entry or entry == "no" for entry in ours)

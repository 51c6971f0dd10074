"""The README: every example runs, and what it shows is what the code prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.pages import ROOT, run_page

pytestmark = pytest.mark.slow


@pytest.mark.slow
def test_the_examples_of_the_readme_run(tmp_path: Path) -> None:
    """Each Python block that prints is followed by its output, and each `apsl` command succeeds."""
    ran = run_page(ROOT / "README.md", tmp_path)

    assert ran.printing >= 4
    assert ran.commands >= 4

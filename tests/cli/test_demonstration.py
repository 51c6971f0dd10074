"""What ``make demo`` runs, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DEMO = Path(__file__).parents[2] / "tools" / "demo.py"


def test_the_demonstration_learns_from_a_table_and_from_a_network(tmp_path: Path) -> None:
    """By default all that is drawn from the table is true; where no cause is missing both parts equal the truth."""
    done = subprocess.run(
        [sys.executable, str(DEMO)], capture_output=True, text=True, encoding="utf-8", check=True, cwd=tmp_path
    )

    assert done.stdout.count("The part equals the true structure") == 2
    assert "learner 'auto' chose 'apsl-score'" in done.stdout
    assert "either: likely caused by tub (" in done.stdout
    assert "lung -> either   [column shapes: " in done.stdout
    assert "Of its 7 edges 7 are true, and 0 are not found.\nOf its 2 arrows 2 are right." in done.stdout
    assert {one.name for one in (tmp_path / "demo").iterdir()} == {"clinic.csv", "part.html", "part.json"}

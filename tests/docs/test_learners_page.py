"""The page on what each learner feeds to the rules: written from the specs, and up to date."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from apsl_rules.plugins.manager import installed

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "specs" / "apsl_specs" / "learners" / "README.md"


def test_the_page_is_what_the_specs_say() -> None:
    """If this fails, run `python tools/learners_page.py`."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "learners_page.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "")


def test_the_page_has_every_learner() -> None:
    """Each learner that comes with the package has a row."""
    text = PAGE.read_text("utf-8")
    folders = (PAGE.parent, ROOT / "backends" / "apsl_published" / "learners")
    shipped = {path.stem for folder in folders for path in folder.glob("*.toml")}

    assert shipped
    assert shipped <= set(installed().learners)
    assert all(f"| `{name}` |" in text for name in shipped)


def test_the_thesis_is_a_diff() -> None:
    """PCD-by-PCD is APSL without the collider findings, CMB is APSL without the spouse findings."""
    changes = PAGE.read_text("utf-8").partition("## As changes to `apsl`")[2]
    settings = {row.split("`")[1]: row.split("| ")[3] for row in changes.splitlines() if row.startswith("| `")}

    assert settings["pcd-by-pcd"] == '`neighbours.finder = "mmpc"`<br>`findings.colliders = "none"` |'
    assert settings["cmb"] == (
        '`kind = "lines"`<br>`findings.spouses = "none"`<br>`findings.colliders = "none"`<br>'
        '`options.colliders = "changes"` |'
    )

"""The page of settings: written from their declarations, and up to date."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "settings_page.py"


def test_the_page_is_what_the_declarations_say() -> None:
    """If this fails, run `python tools/settings_page.py`."""
    assert subprocess.run([sys.executable, str(TOOL), "--check"], check=False).returncode == 0

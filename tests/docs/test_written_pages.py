"""The pages of settings and of all methods of parts: written from declarations and docstrings, and up to date."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.mark.parametrize("tool", ["settings_page.py", "part_page.py"])
def test_the_page_is_what_the_code_says(tool: str) -> None:
    """If this fails, run the tool: `python tools/settings_page.py` or `python tools/part_page.py`."""
    done = subprocess.run([sys.executable, str(TOOLS / tool), "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")

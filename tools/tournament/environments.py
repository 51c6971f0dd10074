"""Environments of peers, each made from PyPI on first use, in the folder .venv-peers-apart or that of APSL_PEERS."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
OURS = "apsl_rules"
_LISTED = Path(__file__).with_name("environments.toml")


def environments() -> dict[str, dict[str, Any]]:
    """Return what is listed of each environment."""
    return tomllib.loads(_LISTED.read_text("utf-8"))


def python_of(name: str) -> Path:
    """Return the interpreter of an environment; ours is the one that runs, any other is made if it is not there.

    An environment that could not be made whole is made again, since its mark is written last.
    """
    if name == OURS:
        return Path(sys.executable)
    folder = Path(os.environ.get("APSL_PEERS", ROOT / ".venv-peers-apart")) / name.casefold()
    python, mark = folder / "bin" / "python", folder / "requires.txt"
    wanted = "\n".join(environments()[name]["requires"])
    if not mark.exists() or mark.read_text("utf-8") != wanted:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *environments()[name]["requires"]], check=True)
        mark.write_text(wanted, "utf-8")
    return python

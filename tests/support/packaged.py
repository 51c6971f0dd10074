"""The wheel and the archive of sources, built from this tree, for the tests of what is shipped."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.compilers import known_compilers

ROOT = Path(__file__).parents[2]


def built_wheel(folder: Path) -> Path:
    """Build the wheel into a folder and give its path."""
    return _built("wheel", folder, ".whl")


def built_sources(folder: Path) -> Path:
    """Build the archive of sources into a folder and give its path."""
    return _built("sdist", folder, ".tar.gz")


def _built(kind: str, folder: Path, ending: str) -> Path:
    # What builds is installed here, unless zig is to be got because there is no compiler.
    isolation = ["--no-isolation"] if known_compilers() else []
    command = [sys.executable, "-m", "build", f"--{kind}", *isolation, "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob(f"*{ending}"))

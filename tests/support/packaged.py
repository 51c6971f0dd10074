"""The wheel and the archive of sources, built from this tree, for the tests of what is shipped."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

from support.compilers import known_compilers

ROOT = Path(__file__).parents[2]


def build_both(folder: Path) -> tuple[Path, Path]:
    """Build the archive of sources, and from it the wheel, as ``python -m build`` does; return their paths."""
    # What builds is installed here, unless zig is to be got because there is no compiler.
    isolation = ["--no-isolation"] if known_compilers() else []
    command = [sys.executable, "-m", "build", *isolation, "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.tar.gz")), next(folder.glob("*.whl"))


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack an archive of sources into a folder and return the folder of the project."""
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    (project,) = folder.iterdir()
    return project

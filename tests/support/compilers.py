"""The C compilers that a machine has, and the file that builds with them."""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from apsl_backends.kernels import build


def known_compilers() -> dict[str, list[str]]:
    """Return the compilers that are installed, by name."""
    found = {name: [path] for name in ("gcc", "clang") if (path := shutil.which(name))}
    if find_spec("ziglang") is not None:
        found["zig"] = [sys.executable, "-m", "ziglang", "cc"]
    return found


def imported_from(file: Path) -> ModuleType:
    """Import a file by itself, as the build hook does."""
    spec = spec_from_file_location("build_kernels", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def builder_of_few(folder: Path) -> ModuleType:
    """Return the module that builds, in a folder with a few of the sources, which take no time, and no libraries."""
    (folder / "base").mkdir(parents=True)
    shutil.copy(build.FOLDER / "build.py", folder)
    for name in ("common.h", "cpu_level.h", "cpu_level.c", "double_bits.h", "elementary.h", "elementary.c"):
        shutil.copy(build.FOLDER / "base" / name, folder / "base")
    return imported_from(folder / "build.py")

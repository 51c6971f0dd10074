"""Build what is published into dist: the archive of sources, and a wheel for every machine that zig builds for.

``python tools/wheels.py`` builds all and checks each; ``python tools/wheels.py x86_64-linux-gnu`` one wheel. The checks
are those of check-wheel-contents, that the metadata are complete and valid, that every library is one of the machine
that the wheel names, and that the archive of sources has no library. Nothing here runs a library of another machine.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from packaging.metadata import Metadata

from apsl_backends.kernels.build import TARGET_VARIABLE, TARGETS, ZIG, Target, library_of

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
PLACE = "apsl_backends/kernels/built"
#: What zig builds of the systems' libraries is kept here from one wheel to the next.
CACHE = ROOT / "build" / "zig"

_ELF_MACHINES = {0x3E: "x86_64", 0xB7: "aarch64"}
_MACH_O_PROCESSORS = {0x01000007: "x86_64", 0x0100000C: "aarch64"}
_PE_MACHINES = {0x8664: "x86_64", 0xAA64: "aarch64"}
_SOURCES = (
    "pyproject.toml",
    "hatch_build.py",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CITATION.cff",
    "constraints.txt",
)
_LIBRARIES = (".so", ".dylib", ".dll")


def build(kind: str, folder: Path, target: Target | None = None) -> Path:
    """Build the archive of sources (sdist) or a wheel into a folder and return its path."""
    named = {} if target is None else {TARGET_VARIABLE: str(target)}
    caches = {"ZIG_GLOBAL_CACHE_DIR": str(CACHE), "ZIG_LOCAL_CACHE_DIR": str(CACHE)}
    isolation = ["--no-isolation"] if target is None or find_spec(ZIG) else []
    with tempfile.TemporaryDirectory(prefix=".build-", dir=folder) as name:
        command = [sys.executable, "-m", "build", f"--{kind}", *isolation, "--outdir", name, str(ROOT)]
        done = subprocess.run(
            command, check=False, env={**caches, **os.environ, **named}, capture_output=True, text=True
        )
        if done.returncode:
            sys.exit(f"{done.stdout}{done.stderr}".strip())
        (made,) = Path(name).iterdir()
        return made.replace(folder / made.name)


def machine_of(library: bytes) -> tuple[str, str]:
    """Return the system and the processor that the head of a library names."""
    if library.startswith(b"\x7fELF"):
        return "linux", _ELF_MACHINES[struct.unpack_from("<H", library, 18)[0]]
    if library.startswith(b"\xcf\xfa\xed\xfe"):
        return "macos", _MACH_O_PROCESSORS[struct.unpack_from("<I", library, 4)[0]]
    if not library.startswith(b"MZ"):
        message = "this is no library of Linux, macOS or Windows"
        raise ValueError(message)
    (start,) = struct.unpack_from("<I", library, 0x3C)
    return "windows", _PE_MACHINES[struct.unpack_from("<H", library, start + 4)[0]]


def problems_of_wheel(wheel: Path, target: Target) -> list[str]:
    """Return what is wrong with a wheel for a machine."""
    found = []
    with zipfile.ZipFile(wheel) as archive:
        libraries = {name for name in archive.namelist() if name.endswith(_LIBRARIES)}
        expected = {f"{PLACE}/{library_of(level, target=target).name}" for level in target.levels}
        if libraries != expected:
            found.append(f"the libraries are {sorted(libraries)}, not {sorted(expected)}")
        for name in sorted(libraries):
            machine = machine_of(archive.read(name))
            if machine != (target.system, target.processor):
                found.append(f"{name} is for {' '.join(machine)}")
        about = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        found += problems_of_metadata(archive.read(about))
    check = [sys.executable, "-m", "check_wheel_contents", "--config", str(ROOT / "pyproject.toml"), str(wheel)]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    return found + (done.stdout.strip().splitlines() if done.returncode else [])


def problems_of_metadata(text: bytes) -> list[str]:
    """Return what is wrong with the metadata, or missing in them."""
    metadata = Metadata.from_email(text, validate=True)
    complete = {
        "a summary": metadata.summary,
        "a description": metadata.description,
        "a license": metadata.license_expression,
        "license files": metadata.license_files,
        "authors": metadata.author or metadata.author_email,
        "maintainers": metadata.maintainer or metadata.maintainer_email,
        "keywords": metadata.keywords,
        "classifiers": metadata.classifiers,
        "a version of Python": metadata.requires_python,
    }
    return [f"the metadata have no {name.removeprefix('a ')}" for name, value in complete.items() if not value]


def problems_of_sources(archive: Path) -> list[str]:
    """Return what is wrong with the archive of sources."""
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
        about = next(name for name in opened.getnames() if name.count("/") == 1 and name.endswith("PKG-INFO"))
        read = opened.extractfile(about)
        found = problems_of_metadata(read.read() if read else b"")
    found += [f"{name} is missing" for name in _SOURCES if name not in names]
    return found + [f"{name} is built" for name in sorted(names) if name.endswith(_LIBRARIES)]


def main(words: Sequence[str]) -> int:
    """Build and check what is asked for, or everything; return how many have a problem."""
    named = {str(target): target for target in TARGETS}
    unknown = [word for word in words if word not in named]
    if unknown:
        sys.exit(f"there is no target {unknown[0]!r}; there are {', '.join(named)}")
    DIST.mkdir(exist_ok=True)
    failed = 0
    for word in words or ("sdist", *named):
        target = named.get(word)
        built = build("wheel" if target else "sdist", DIST, target)
        found = problems_of_wheel(built, target) if target else problems_of_sources(built)
        if target and not built.stem.endswith(f"-py3-none-{target.wheel_platform}"):
            found.append("the name is not that of its machine")
        failed += bool(found)
        print(f"{built.name}: {'; '.join(found) or 'well'} ({built.stat().st_size:,} bytes)", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

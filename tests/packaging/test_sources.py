"""The archive of sources: it has all that it needs, and its tests pass where its wheel is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from apsl_backends.kernels.build import FOLDER, sources
from support.packaged import ROOT, unpack

sys.path.append(str(ROOT / "tools"))  # the tools are scripts beside each other, not a package
from wheels import problems_of_sources

pytestmark = [pytest.mark.slow, pytest.mark.release]

#: A few quick rooms that touch the rules, the kernels, a real table, the pages and the command line.
SUBSET = (
    "tests/rules/test_engine.py",
    "tests/kernels/test_kernels.py",
    "tests/learning/test_learn_from_tables.py",
    "tests/exactness/test_comparators.py",
    "tests/docs/test_readme.py",
)


def test_the_sources_have_all_that_a_build_needs(archive: Path) -> None:
    """The archive has the C sources, the build hook, the pages and no library; its metadata are complete."""
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}

    kernels = "backends/apsl_backends/kernels"
    files = {f"{kernels}/{file.relative_to(FOLDER).as_posix()}" for file in sources()}
    assert files | {f"{kernels}/build.py", "hatch_build.py"} <= names
    assert {
        "recipe/recipe.yaml",
        "constraints.txt",
        "constraints-oldest.txt",
        "tests/conftest.py",
        "docs/README.md",
    } <= names
    assert not [name for name in names if name.endswith(".stamp")]
    assert problems_of_sources(archive) == []


def test_tests_of_the_sources_pass_on_the_wheel(archive: Path, wheel: Path, tmp_path: Path) -> None:
    """From the unpacked archive, with the wheel that was built from it installed, tests pass; nothing here is used."""
    project = unpack(archive, tmp_path / "sources")
    installed = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"]
    subprocess.run([*pip, "--target", str(installed), str(wheel)], check=True)
    for package in ("apsl_rules", "backends", "specs"):
        (project / package).rename(project / f"{package}-away")
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    where = "import apsl_rules, apsl_backends.kernels.library as kernels; print(apsl_rules.__file__, kernels.folder())"
    found = subprocess.run(
        [sys.executable, "-c", where], cwd=project, env=environment, capture_output=True, text=True, check=True
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "not slow", *SUBSET],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert all(word.startswith(str(installed)) for word in found.stdout.split()), found.stdout
    assert done.returncode == 0, done.stdout

"""The base installation: the built wheel with its base dependencies, in a fresh environment of its own."""

from __future__ import annotations

import json
import subprocess
import venv
from pathlib import Path

import pytest

from packaged import ROOT, built_wheel

MOST = 16


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of the programs of a fresh environment that has the wheel and nothing else."""
    folder = tmp_path_factory.mktemp("base")
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / "bin"
    pip = [str(programs / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    pinned = ["--constraint", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, *pinned, str(built_wheel(folder))], check=True, cwd=folder)
    return programs


def test_the_base_installation_is_small_and_works(installed: Path, tmp_path: Path) -> None:
    """At most sixteen distributions are there besides pip, and `apsl doctor` finds all well and the extras absent."""
    clean = {"PATH": str(installed), "HOME": str(tmp_path), "NUMBA_OPT": "0"}  # compiled as well, but sooner
    listed = subprocess.run(
        [str(installed / "python"), "-m", "pip", "--disable-pip-version-check", "list", "--format", "json"],
        check=True,
        capture_output=True,
        env=clean,
        cwd=tmp_path,
    )
    names = {one["name"].lower() for one in json.loads(listed.stdout)} - {"pip", "setuptools"}
    doctor = subprocess.run(
        [str(installed / "apsl"), "doctor", "--json"], check=True, capture_output=True, env=clean, cwd=tmp_path
    )
    states = {one["what"]: one["state"] for one in json.loads(doctor.stdout)}

    assert "apsl-rules" in {name.replace("_", "-") for name in names}
    assert len(names) <= MOST, sorted(names)
    assert {state for what, state in states.items() if what.startswith("extra ")} == {"-"}
    assert {state for what, state in states.items() if not what.startswith("extra ")} == {"ok"}

"""The base installation: the built wheel with its base dependencies, in a fresh environment of its own."""

from __future__ import annotations

import json
import subprocess
import venv
from pathlib import Path

import pytest

from support.packaged import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.release]

MOST = 14


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the programs of a fresh environment that has the wheel and nothing else."""
    folder = tmp_path_factory.mktemp("base")
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / "bin"
    pip = [str(programs / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    pinned = ["--constraint", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, *pinned, str(wheel)], check=True, cwd=folder)
    return programs


def test_the_base_installation_is_small_and_learns_at_once(installed: Path, tmp_path: Path) -> None:
    """A stranger's first minute: the default learns from a CSV file, the doctor finds all well, little is installed.

    There is no compiler on the path, and nothing is written to the home.
    """
    home = tmp_path / "home"
    home.mkdir()
    clean = {"PATH": str(installed), "HOME": str(home)}

    def said(program: str, *words: str) -> str:
        done = subprocess.run(
            [str(installed / program), *words], capture_output=True, text=True, env=clean, cwd=tmp_path, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    said("apsl", "simulate", "asia", "--rows", "2000", "--seed", "5", "--out", "clinic.csv")
    said("apsl", "learn", "clinic.csv", "--target", "either", "-k", "2", "--hidden", "excluded", "--out", "part.json")
    proof = said("apsl", "why", "part.json", "lung", "either")
    states = {one["what"]: one["state"] for one in json.loads(said("apsl", "doctor", "--json"))}
    listed = said("python", "-m", "pip", "--disable-pip-version-check", "list", "--format", "json")
    names = {one["name"].lower() for one in json.loads(listed)} - {"pip", "setuptools"}

    assert proof.startswith("lung -> either   [V-from-middle]")
    assert {state for what, state in states.items() if what.startswith("extra ")} == {"-"}
    assert {state for what, state in states.items() if not what.startswith("extra ")} == {"ok"}
    assert "apsl-rules" in {name.replace("_", "-") for name in names}
    assert len(names) <= MOST, sorted(names)
    assert list(home.iterdir()) == []

"""What is shipped: the wheel's content, and how much an import brings in."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from support.packaged import built_wheel

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel once."""
    return built_wheel(tmp_path_factory.mktemp("wheel"))


def test_the_wheel_has_three_packages_and_nothing_else(wheel: Path) -> None:
    """The wheel's top level is exactly the three packages and the metadata."""
    with zipfile.ZipFile(wheel) as archive:
        top = {name.split("/")[0] for name in archive.namelist()}

    assert {name for name in top if not name.endswith(".dist-info")} == {"apsl_rules", "apsl_backends", "apsl_specs"}
    assert len(top) == 4


def test_the_wheel_carries_specs_networks_viewer_and_types(wheel: Path) -> None:
    """Specs, networks, the pieces of the report and the typing markers are in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())

    assert {"apsl_specs/learners/apsl.toml", "apsl_specs/networks/alarm.bif", "apsl_specs/tables/clinic.csv"} <= names
    assert {f"apsl_rules/report/viewer/{name}" for name in ("viewer.html", "viewer.css", "start.js")} <= names
    assert {"apsl_rules/py.typed", "apsl_backends/py.typed", "apsl_specs/py.typed"} <= names


def test_starting_the_command_imports_nothing_that_takes_time() -> None:
    """Before the command takes care of interrupts nothing but the standard library is imported."""
    probe = "import apsl_rules.cli.entry, sys; print(sorted(name for name in sys.modules if name.startswith('apsl')))"
    printed = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout

    assert printed == "['apsl_rules', 'apsl_rules.cli', 'apsl_rules.cli.entry']\n"


@pytest.mark.parametrize("code", ["from apsl_rules import learn", "from apsl_rules.cli.main import apsl"])
def test_an_import_stays_light(code: str) -> None:
    """Importing the package or the command line brings in no compiler, no graph or plot library and no pandas."""
    heavy = ["numba", "llvmlite", "networkx", "matplotlib", "pandas", "scipy", "narwhals", "rich", "pyarrow"]
    probe = f"{code}; import sys; print([name for name in {heavy!r} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout

    assert printed.strip() == "[]"


def test_learning_from_a_known_graph_stays_light() -> None:
    """An oracle run needs no pandas, numba or scipy."""
    code = "from apsl_rules import learn, network; learn(network('asia'), 'dysp').why('dysp', 'bronc')"
    heavy = ["numba", "networkx", "matplotlib", "pandas", "scipy"]
    probe = f"{code}; import sys; print([name for name in {heavy!r} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout

    assert printed.strip() == "[]"

"""What is shipped: the wheel's content, and how much an import brings in."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

from apsl_backends.kernels.build import levels, library_of, this_machine
from support.packaged import ROOT

sys.path.append(str(ROOT / "tools"))  # the tools are scripts beside each other, not a package
from wheels import problems_of_wheel

pytestmark = [pytest.mark.slow, pytest.mark.release]


def test_the_wheel_has_four_packages_and_nothing_else(wheel: Path) -> None:
    """The wheel's top level is exactly the four packages and the metadata."""
    with zipfile.ZipFile(wheel) as archive:
        top = {name.split("/")[0] for name in archive.namelist()}

    packages = {"apsl_rules", "apsl_backends", "apsl_published", "apsl_specs"}
    assert {name for name in top if not name.endswith(".dist-info")} == packages
    assert len(top) == 5


def test_the_wheel_carries_specs_networks_viewer_and_types(wheel: Path) -> None:
    """Specs, networks, the pieces of the report and the typing markers are in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())

    assert {"apsl_specs/learners/apsl.toml", "apsl_specs/networks/alarm.bif", "apsl_specs/tables/clinic.csv"} <= names
    assert {f"apsl_rules/views/viewer/{name}" for name in ("viewer.html", "viewer.css", "start.js")} <= names
    assert "apsl_published/learners/apsl-paper.toml" in names
    packages = ("apsl_rules", "apsl_backends", "apsl_published", "apsl_specs")
    assert {f"{package}/py.typed" for package in packages} <= names


def test_the_wheel_has_libraries_for_its_platform_and_no_sources(wheel: Path) -> None:
    """There is one library for each level, no C source and no stamp; the name says the platform, and pip takes it."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name.removeprefix("apsl_backends/kernels/built/") for name in archive.namelist()}
        about = archive.read(next(name for name in archive.namelist() if name.endswith("/WHEEL"))).decode()

    assert {library_of(level).name for level in levels()} <= names
    assert not [name for name in names if name.endswith((".c", ".h", ".stamp"))]
    assert "hatch_build.py" not in names
    assert "Root-Is-Purelib: false\n" in about
    _, _, tags = parse_wheel_filename(wheel.name)[1:]
    assert {(tag.interpreter, tag.abi) for tag in tags} == {("py3", "none")}
    assert tags & set(sys_tags())


def test_the_wheel_can_be_published(wheel: Path) -> None:
    """check-wheel-contents finds nothing, the metadata are complete and valid, the libraries are for this machine."""
    assert problems_of_wheel(wheel, this_machine()) == []


def test_all_extras_can_be_installed_together(wheel: Path) -> None:
    """With the extra "all", pip finds every requirement of the wheel among the pinned versions that are here."""
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "--disable-pip-version-check"]
    done = subprocess.run([*pip, f"{wheel}[all]"], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "Would install apsl_rules-" in done.stdout


def test_zig_is_asked_for_where_there_is_no_compiler() -> None:
    """A front end is told to get zig if the path has no compiler or another machine is named, and nothing otherwise."""
    probe = "import hatchling.build as back; print(back.get_requires_for_build_wheel())"
    asked = {}
    for name, compiler, target in (("with", "my-cc", ""), ("without", "", ""), ("other", "my-cc", "x86_64-macos")):
        environment = {**os.environ, "PATH": str(Path(sys.executable).parent), "CC": compiler, "APSL_TARGET": target}
        command = [sys.executable, "-c", probe]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        asked[name] = done.stdout

    assert asked == {"with": "[]\n", "without": "['ziglang']\n", "other": "['ziglang']\n"}


def test_an_editable_install_is_for_this_machine(tmp_path: Path) -> None:
    """With APSL_TARGET set, an editable install ends with one sentence and leaves the libraries alone."""
    command = [sys.executable, "-c", "import sys, hatchling.build as back; back.build_editable(sys.argv[1])"]
    environment = {**os.environ, "APSL_TARGET": "aarch64-macos"}
    done = subprocess.run(
        [*command, str(tmp_path)], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert done.stderr == "an editable install is for this machine; unset APSL_TARGET\n"


def test_nothing_to_build_with_is_one_sentence(tmp_path: Path) -> None:
    """Where neither a compiler nor zig is there, the end of what pip says is what to do."""
    hidden = "import sys; sys.modules['ziglang'] = None; import hatchling.build as back; back.build_wheel(sys.argv[1])"
    environment = {**os.environ, "PATH": str(tmp_path), "CC": ""}
    command = [sys.executable, "-c", hidden, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "nor the package ziglang; get one with: python -m pip install ziglang" in done.stderr


def test_starting_the_command_imports_nothing_that_takes_time() -> None:
    """Before the command takes care of interrupts nothing but the standard library is imported."""
    probe = "import apsl_rules.cli.entry, sys; print(sorted(name for name in sys.modules if name.startswith('apsl')))"
    printed = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout

    assert printed == "['apsl_rules', 'apsl_rules.cli', 'apsl_rules.cli.entry']\n"


@pytest.mark.parametrize("code", ["from apsl_rules import learn", "from apsl_rules.cli.main import apsl"])
def test_an_import_stays_light(code: str) -> None:
    """Importing the package or the command line brings in no graph or plot library and no pandas."""
    heavy = [
        "networkx",
        "matplotlib",
        "pandas",
        "scipy",
        "narwhals",
        "rich",
        "pyarrow",
    ]
    probe = f"{code}; import sys; print([name for name in {heavy!r} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout

    assert printed.strip() == "[]"


def test_learning_from_a_known_graph_stays_light() -> None:
    """An oracle run needs no pandas and no scipy."""
    code = "from apsl_rules import learn, network; learn(network('asia'), 'dysp').why('dysp', 'bronc')"
    heavy = ["networkx", "matplotlib", "pandas", "scipy"]
    probe = f"{code}; import sys; print([name for name in {heavy!r} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout

    assert printed.strip() == "[]"

"""What says which version this is, what it needs and how to cite it: all files agree."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import entry_points
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from support.packaged import ROOT
from support.terminal import apsl

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CITATION: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
RECIPE: dict[str, Any] = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text("utf-8"))
#: Extras for those who develop, and those that only some systems can install.
SPECIAL = {"all", "dev", "docs", "fuzz", "postgres", "release"}


def test_one_version_everywhere() -> None:
    """The project, the citation, the recipe and the first heading of the changes name one version."""
    newest = re.search(r"^## (\S+?),? ", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)

    assert newest is not None
    assert {PROJECT["version"], CITATION["version"], str(RECIPE["context"]["version"]), newest[1]} == {"0.2.0"}


def test_the_recipe_needs_what_the_package_needs() -> None:
    """The recipe runs with the requirements of the package, its version of Python, and its command."""
    words = [f"python {PROJECT['requires-python']}"]
    words += [f"{one.name} {one.specifier}" for one in map(Requirement, PROJECT["dependencies"])]

    assert RECIPE["requirements"]["run"] == words
    assert RECIPE["build"]["python"]["entry_points"] == [
        f"{name} = {place}" for name, place in PROJECT["scripts"].items()
    ]
    assert RECIPE["about"]["summary"] == PROJECT["description"]
    assert RECIPE["about"]["license"] == CITATION["license"] == PROJECT["license"]


def test_the_oldest_versions_that_are_tested_are_the_oldest_that_are_allowed() -> None:
    """What `make oldest` installs are the lower bounds of the requirements and of readers, every one of them."""
    lines = (ROOT / "constraints-oldest.txt").read_text("utf-8").splitlines()
    tested = [Requirement(line) for line in lines if not line.startswith("#")]
    readers = [*PROJECT["optional-dependencies"]["ods"], *PROJECT["optional-dependencies"]["stats"]]
    allowed = sorted(map(Requirement, [*PROJECT["dependencies"], *readers]), key=lambda one: one.name)

    assert [one.name for one in tested] == [one.name for one in allowed]
    for old, new in zip(tested, allowed, strict=True):
        (pinned,), (bound,) = old.specifier, new.specifier
        assert (pinned.operator, bound.operator) == ("==", ">=")
        assert Version(pinned.version) == Version(bound.version), old.name


def test_the_workflow_calls_targets_that_there_are_on_the_pythons_that_are_named() -> None:
    """Each `make` of the workflow is a target, and its Pythons begin with the oldest and hold those of the project."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8"))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    jobs = workflow["jobs"]
    called = {
        target
        for job in jobs.values()
        for step in job["steps"]
        for word in re.findall(r"^make (\S+|\$\{\{ matrix.target \}\})", step.get("run", ""))
        for target in (job["strategy"]["matrix"]["target"] if word.startswith("$") else [word])
    }
    pythons = jobs["linux"]["strategy"]["matrix"]["python"]
    named = {one.rsplit(" ", 1)[1] for one in PROJECT["classifiers"] if re.search(r":: 3\.\d", one)}

    assert called == {"cold", "test", "oldest", "release", "sanitize", "docs", "wheels"}
    assert called <= targets
    assert PROJECT["requires-python"] == f">={pythons[0]}"
    assert named <= set(pythons)


def test_the_citation_has_what_its_format_asks_for() -> None:
    """The citation has the fields that version 1.2.0 of the format requires, in it and in each reference."""
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["type"] == "software"
    assert {"message", "title", "authors"} <= CITATION.keys()
    assert [author["name"] for author in CITATION["authors"]] == [one["name"] for one in PROJECT["authors"]]
    for reference in CITATION["references"]:
        assert {"type", "title", "authors"} <= reference.keys()
        assert all({"family-names", "given-names"} <= author.keys() for author in reference["authors"])


def test_the_extra_all_has_every_extra_for_users() -> None:
    """The extra "all" names every extra but those for developers and those that not every system can install."""
    extras = PROJECT["optional-dependencies"]
    (everything,) = map(Requirement, extras["all"])

    assert everything.extras == extras.keys() - SPECIAL


def test_the_installed_command_is_the_one_of_the_project() -> None:
    """The command and the plugins that are installed here are those of the project file."""
    (command,) = entry_points(group="console_scripts", name="apsl")
    plugins = entry_points(group="apsl_rules")

    assert {command.name: command.value} == PROJECT["scripts"]
    assert {one.name: one.value for one in plugins} == PROJECT["entry-points"]["apsl_rules"]


@pytest.mark.slow
def test_the_doctor_looks_for_every_extra_of_users() -> None:
    """``apsl doctor`` says of each extra for users whether it is installed and what it is for."""
    listed = {one["what"] for one in json.loads(apsl("doctor", "--json").out)}
    users = PROJECT["optional-dependencies"].keys() - SPECIAL | {"postgres"}

    assert {what.removeprefix("extra ") for what in listed if what.startswith("extra ")} == users

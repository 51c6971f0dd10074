"""What says which version this is, what it needs and how to cite it: all files agree."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import entry_points
from typing import Any

import yaml
from packaging.requirements import Requirement

from support.packaged import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CITATION: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
RECIPE: dict[str, Any] = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text("utf-8"))
#: Extras for those who develop, and those that only some systems can install.
SPECIAL = {"all", "dev", "docs", "fuzz", "postgres"}


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
    """The command and the plugin that are installed here are those of the project file."""
    (command,) = entry_points(group="console_scripts", name="apsl")
    (plugin,) = entry_points(group="apsl_rules", name="builtin")

    assert {command.name: command.value} == PROJECT["scripts"]
    assert {plugin.name: plugin.value} == PROJECT["entry-points"]["apsl_rules"]

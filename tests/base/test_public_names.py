"""The public names: few, and an old one still works for a release and names the new one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import apsl_rules
from apsl_rules import Dag, learn
from apsl_rules._renamed import FUNCTIONS, METHODS, PROPERTIES
from apsl_rules.parts import Part, load_part, save_graph

MOST_NAMES = 22
#: Methods and properties of a part; the plan says 35 with what is asked for, which are fields.
MOST_MEMBERS = 60
MIGRATION = (Path(__file__).parents[2] / "docs" / "migration.md").read_text("utf-8")
PART = learn(Dag({"a": [], "b": ["a"], "c": ["a"]}), "a")


def test_there_are_few_public_names() -> None:
    """Each can be had, and none was added without another going."""
    assert len(apsl_rules.__all__) <= MOST_NAMES
    assert apsl_rules.__all__ == sorted(apsl_rules.__all__)
    assert all(getattr(apsl_rules, name) is not None for name in apsl_rules.__all__)


def test_a_part_has_few_members() -> None:
    """It was 65 once."""
    assert len([name for name in dir(Part) if not name.startswith("_")]) <= MOST_MEMBERS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_old_function_warns_and_still_works(name: str) -> None:
    """The warning names the new one, and the page of changes has both."""
    new, _, _ = FUNCTIONS[name]
    with pytest.warns(FutureWarning, match=f"apsl_rules.{name} is now {new}; the old name goes with"):
        found = getattr(apsl_rules, name)
    assert callable(found)
    assert f"{name}(" in MIGRATION or f"`{name}`" in MIGRATION


@pytest.mark.parametrize("name", METHODS)
def test_an_old_method_warns_and_still_works(name: str) -> None:
    """What it returns is what the new one returns."""
    new, given = METHODS[name]
    with pytest.warns(FutureWarning, match=f"Part.{name} is now {new}\\("):
        old = getattr(PART, name)
    assert callable(old)
    assert f"{name}(" in MIGRATION
    if name in ("to_dot", "to_adjacency", "to_pandas"):
        expected: Any = getattr(PART, new)(*given)
        assert str(old()) == str(expected)


@pytest.mark.parametrize("name", PROPERTIES)
def test_an_old_property_warns_and_still_works(name: str) -> None:
    """The ledger of the part has its value."""
    with pytest.warns(FutureWarning, match=f"Part.{name} is now ledger"):
        assert getattr(PART, name) is not None
    assert f"`part.{name}`" in MIGRATION


def test_an_old_graph_of_hidden_nodes_is_the_new_one() -> None:
    """Both ways lead to one value."""
    with pytest.warns(FutureWarning, match="known_dag is now Dag"):
        old = apsl_rules.known_dag
    assert old({"a": [], "b": ["a"]}, hidden=["a"]) == Dag({"a": [], "b": ["a"]}).hiding("a")


def test_other_names_are_refused() -> None:
    """A misspelt attribute is an error as on any object."""
    with pytest.raises(AttributeError, match="'Part' object has no attribute 'to_dott'"):
        _ = PART.to_dott  # type: ignore[attr-defined]  # wrong on purpose
    with pytest.raises(AttributeError, match="has no attribute 'lern'"):
        _ = apsl_rules.lern


def test_what_was_saved_is_loaded_whatever_it_is(tmp_path: Path) -> None:
    """One function reads a part, a learned graph and a journal of parts."""
    dag = Dag({"a": [], "b": ["a"], "c": ["a"]})
    PART.save(tmp_path / "part.json")
    graph = apsl_rules.learn_graph(dag)
    save_graph(graph, tmp_path / "graph.json")
    parts = apsl_rules.learn_many(dag, "all", journal=tmp_path / "parts.jsonl")

    assert apsl_rules.load(tmp_path / "part.json") == load_part(tmp_path / "part.json") == PART
    assert type(apsl_rules.load(tmp_path / "graph.json")) is type(graph)
    loaded: Any = apsl_rules.load(tmp_path / "parts.jsonl")
    assert dict(loaded) == dict(parts)

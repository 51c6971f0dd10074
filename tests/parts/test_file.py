"""Saved parts: the same part comes back, byte for byte, whatever the labels and policies."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules import Dag, learn, network
from apsl_rules._documents import schema
from apsl_rules.data.kinds import Kind
from apsl_rules.errors import InvalidArgumentError, PartFileError
from apsl_rules.parts.file import load_part, parse_part, part_json
from support.graphs import MICRO
from support.strategies import dags


@pytest.mark.slow
@given(dags(min_nodes=2, max_nodes=6), st.sampled_from(["apsl", "apsl-paper"]))
def test_a_part_comes_back_as_it_was(dag: Dag, learner: str) -> None:
    """Reading what was written gives a part that writes the same text and answers the same."""
    part = learn(dag, dag.nodes[0], depth="max", learner=learner)
    again = parse_part(part_json(part), "text")

    assert part_json(again) == part_json(part)
    assert (again.arrows, again.lines, again.layers, again.visited) == (
        part.arrows,
        part.lines,
        part.layers,
        part.visited,
    )
    assert again.trace == part.trace
    for pair in part.edges:
        assert str(again.why(*pair)) == str(part.why(*pair))


def test_the_same_run_writes_the_same_bytes(tmp_path: Path) -> None:
    """Two runs on the same source save identical files."""
    for name in ("one", "two"):
        learn(network("child"), "LungFlow", depth=2).save(tmp_path / name)

    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert load_part(tmp_path / "one").target == "LungFlow"


def test_a_label_that_json_cannot_carry_is_refused() -> None:
    """A label that is neither text, number nor tuple cannot be saved, and the message says so."""
    part = learn(Dag({frozenset("a"): []}), frozenset("a"))

    with pytest.raises(InvalidArgumentError, match="only text, numbers and tuples of these can be saved"):
        part_json(part)


def test_a_number_outside_the_nodes_is_damage() -> None:
    """A node number that does not exist makes the file damaged, not a wrong part."""
    text = part_json(learn(MICRO["N7"], "T"))

    with pytest.raises(PartFileError, match="is a damaged part file"):
        parse_part(text.replace('"target":1', '"target":99').replace('"target":0', '"target":99'), "text")


def test_support_comes_back_with_its_edges() -> None:
    """The share of resamples behind each mark is saved, stands in the rows, and is absent from other parts."""
    plain = learn(MICRO["N7"], "T")
    part = attrs.evolve(plain, support={frozenset("PT"): 0.75, frozenset("CT"): 1.0})

    again = parse_part(part_json(part), "text")

    assert again.support == part.support
    assert [(row["source"], row["support"]) for row in again.rows()] == [("T", 1.0), ("P", 0.75), ("Q", None)]
    assert "support" not in part_json(plain)


def test_columns_of_every_kind_can_be_read_again() -> None:
    """The schema of the file knows each kind that a column may be read as."""
    columns = schema("part")["properties"]["columns"]

    assert columns["items"]["properties"]["kind"]["enum"] == [*get_args(Kind)]

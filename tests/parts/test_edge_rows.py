"""The table of edges: two probabilities that are told apart, and a p that belongs to its edge."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import pandas as pd
import pytest

from apsl_rules import Dag, Knowledge, Part, learn, learn_graph, network
from apsl_rules.export import from_graphml, to_dot, to_graphml, to_networkx, to_pgmpy
from apsl_rules.graphs.networks import sample
from apsl_rules.parts import LearnedGraph
from apsl_rules.parts.tables import ROW

#: Passengers of the Titanic by class (which runs fastest), sex, age and survival, as R's table of that name has them.
TITANIC = [
    *(0, 0, 35, 0, 0, 0, 17, 0, 118, 154, 387, 670, 4, 13, 89, 3),
    *(5, 11, 13, 0, 1, 13, 14, 0, 57, 14, 75, 192, 140, 80, 76, 20),
]


@cache
def titanic() -> Part:
    """Return what the table of the passengers of the Titanic tells of survival."""
    levels = ("No", "Yes"), ("Child", "Adult"), ("Male", "Female"), ("1st", "2nd", "3rd", "Crew")
    frame = pd.DataFrame(product(*levels), columns=["Survived", "Age", "Sex", "Class"])
    ordered = frame[["Class", "Sex", "Age", "Survived"]].assign(Freq=TITANIC)
    return learn(ordered, "Survived", depth=2, weights="Freq", hidden="excluded")


@cache
def asia() -> LearnedGraph:
    """Return a whole graph learned from rows."""
    return learn_graph(sample(network("asia"), 2000, seed=3), hidden="excluded")


def row_of(part: Part | LearnedGraph, x: str, y: str) -> dict[str, Any]:
    """Return the row of one edge."""
    return next(row for row in part.rows() if (row["source"], row["target"]) == (x, y))


def test_an_edge_can_be_certain_while_its_direction_is_not() -> None:
    """Class and survival depend on each other for sure; that one points at the other is told by nothing."""
    row = row_of(titanic(), "Class", "Survived")

    assert row["probability"] > 0.9
    assert row["probability"] == titanic().edge_probability("Class", "Survived")
    assert row["direction"] is None
    assert row["mark"] == "line"
    assert titanic().direction_probability("Class", "Survived") is None


def test_every_edge_has_the_p_of_its_own_tests() -> None:
    """The p of an edge is that of its own weakest test, whatever else its proof rests on."""
    rows = titanic().rows()
    own = {
        frozenset((verdict.x, verdict.y)): verdict.p
        for finding in titanic().findings
        if finding.fact.relation == "adjacent"
        for verdict in finding.evidence.verdicts
    }

    assert len(rows) == 5
    assert [row["p"] for row in rows] == [own[frozenset((row["source"], row["target"]))] for row in rows]
    assert all(0 <= row["p"] < 0.01 for row in rows)


def test_perfect_answers_and_what_is_given_have_no_p() -> None:
    """Nothing was tested, so there is no p, and no probability without a score."""
    graph = Dag({"a": [], "b": ["a"], "c": ["b"]})
    part = learn(graph, "b", knowledge=Knowledge(required=[("a", "b")]), hidden="excluded")

    assert [(row["p"], row["probability"], row["direction"]) for row in part.rows()] == [(None, None, None)] * 2


def test_the_frame_has_the_columns_in_their_order() -> None:
    """The marks come first, then the two probabilities, p and the rule; ``to_pandas`` is the same."""
    frame = titanic().to_frame()

    assert list(frame.columns) == list(ROW)
    assert list(ROW[:7]) == ["source", "target", "mark", "probability", "direction", "p", "rule"]
    assert frame.equals(titanic().to_frame())


def test_a_whole_graph_has_the_same_table() -> None:
    """Its edges have the same columns, and the probabilities of the run that found them."""
    frame = asia().to_frame()

    assert list(frame.columns) == list(ROW)
    assert len(frame) == len(asia().graph().edges)
    assert frame["probability"].notna().all()
    assert frame["distance"].isna().all()
    assert row_of(asia(), "bronc", "dysp")["direction"] == asia().direction_probability("bronc", "dysp")


@pytest.mark.release
@pytest.mark.parametrize("source", [titanic, asia], ids=["part", "whole graph"])
def test_every_format_with_attributes_has_both_probabilities(source: Any) -> None:
    """networkx, pgmpy, GraphML and DOT carry them edge by edge, and marks are read back as before."""
    found = source()
    made, peer = to_networkx(found), to_pgmpy(found)
    for edge in found.graph().edges:
        assert edge.probability is not None
        assert made.edges[edge.source, edge.target]["probability"] == edge.probability
        assert made.edges[edge.source, edge.target].get("direction") == edge.direction
        assert peer.edges[edge.source, edge.target]["probability"] == edge.probability
        assert f"probability={edge.probability:.4f}" in to_dot(found)
        assert f'<data key="probability">{edge.probability!r}</data>' in to_graphml(found)
    assert from_graphml(to_graphml(found)) == found.graph()

"""Directions for lines: a graph of the same class, or a sentence that there is none."""

from __future__ import annotations

import pytest
from hypothesis import given

from apsl_rules.errors import GraphError
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.equivalence import cpdag, extension
from support.graphs import all_dags
from support.strategies import dags


@given(dags(max_nodes=7))
def test_a_graph_of_the_same_class(dag: Dag) -> None:
    """The extension of a CPDAG has that CPDAG, the same nodes in the same order, and is the same for any order."""
    known = cpdag(dag)
    found = extension(dag.nodes, known.arrows, known.lines)
    assert found.nodes == dag.nodes
    assert (cpdag(found).arrows, cpdag(found).lines) == (known.arrows, known.lines)
    backwards = extension(reversed(dag.nodes), known.arrows, known.lines)
    assert backwards.edges == found.edges


def test_all_graphs_of_four_nodes() -> None:
    """The extension of a graph that has all its arrows is that graph."""
    for dag in all_dags(4):
        assert extension(dag.nodes, dag.edges, ()).edges == dag.edges


def test_no_graph_at_all() -> None:
    """A square of lines has no direction without a new V-structure, and a cycle has none either."""
    square = [frozenset(pair) for pair in ("ab", "bc", "cd", "da")]
    with pytest.raises(GraphError, match="they clash at 'a', 'b', 'c', 'd'"):
        extension("abcd", (), square)
    with pytest.raises(GraphError, match="they clash at 'b', 'c'"):
        extension("abc", [("b", "c"), ("c", "b")], ())

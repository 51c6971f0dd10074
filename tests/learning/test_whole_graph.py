"""Whole graphs: one call for any learner, and what can be asked of the result."""

from __future__ import annotations

import pytest
from hypothesis import given

from apsl_rules.errors import InvalidArgumentError, UnknownNodeError
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.equivalence import cpdag
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.learning.api import learn_graph
from apsl_rules.rules.engine import Mark
from support.graphs import MICRO, dag_of
from support.scoring import strong_network
from support.strategies import dags


@pytest.mark.slow
@given(dags(max_nodes=8))
def test_a_local_learner_learns_every_piece(dag: Dag) -> None:
    """From a known graph the local learner gives exactly its CPDAG, connected or not."""
    graph = learn_graph(dag, hidden="excluded")
    truth = cpdag(dag)
    assert (graph.arrows, graph.lines) == (truth.arrows, truth.lines)
    assert graph.incomplete is None
    assert (graph.cpdag().arrows, graph.cpdag().lines) == (truth.arrows, truth.lines)
    assert sorted(map(repr, (node for part in graph.parts for node in part.visited))) == sorted(map(repr, dag.nodes))


def test_a_global_learner_runs_once() -> None:
    """A learner of whole networks needs one run, also for pieces that are not connected."""
    dag = dag_of("P->T Q->T T->C U->V")
    graph = learn_graph(sample(strong_network(dag, seed=0), 20_000, seed=0), learner="mmhc")
    assert len(graph.parts) == 1
    assert graph.arrows == {("P", "T"), ("Q", "T"), ("T", "C")}
    assert graph.lines == {frozenset("UV")}
    assert graph.dag().edges == {*graph.arrows, ("V", "U")}
    assert graph.mark("U", "V") is Mark.LINE
    assert graph.mark("P", "V") is Mark.GAP
    assert "V-from-middle" in str(graph.why("P", "T"))
    assert repr(graph) == "LearnedGraph(learner='mmhc', nodes=6, arrows=3, undirected=1, conflicts=0)"


def test_a_method_that_draws_all_arrows_gives_its_own_graph() -> None:
    """The graph of a method that believes in one graph comes back arrow by arrow."""
    graph = learn_graph(sample(strong_network(MICRO["N8"], seed=0), 20_000, seed=0), learner="mmhc-paper")
    assert not graph.lines
    assert graph.dag().edges == graph.arrows


def test_limits_hold_for_all_pieces_together() -> None:
    """A run that reaches its limit says so and keeps what it has."""
    dag = Dag({f"n{number}": [] for number in range(10)})
    graph = learn_graph(dag, max_tests=20, hidden="excluded")
    assert graph.incomplete is not None
    assert 1 <= len(graph.parts) < 10
    assert "incomplete" in repr(graph)
    assert graph.mark("n8", "n9") is Mark.UNKNOWN
    with pytest.raises(InvalidArgumentError, match="max_tests is 0"):
        learn_graph(dag, max_tests=0, hidden="excluded")


def test_mistakes_get_a_sentence() -> None:
    """Unknown nodes are named with the nearest known one."""
    graph = learn_graph(Dag({"Smoker": [], "Lung": ["Smoker"]}))
    with pytest.raises(UnknownNodeError, match="did you mean 'Smoker'"):
        graph.why("Smoke", "Lung")


def test_an_isolated_first_node_makes_no_graph_empty() -> None:
    """The first node by name may have no edge; nothing then says that the graph has none."""
    rows = sample(strong_network(Dag({"0": [], "a": [], "b": [], "c": ["a", "b"]}), seed=1), 3000, seed=1)
    graph = learn_graph(rows, hidden="excluded")
    assert graph.arrows == {("a", "c"), ("b", "c")}
    assert not any("is empty" in note for note in graph.notes)


def test_pieces_that_are_not_connected_are_found_at_once() -> None:
    """One search finds all pieces, and the one part of the graph has visited every node."""
    rows = sample(strong_network(Dag({"a": [], "b": ["a"], "x": [], "y": [], "z": ["x", "y"]}), seed=2), 3000, seed=1)
    graph = learn_graph(rows, hidden="excluded")
    assert len(graph.parts) == 1
    assert graph.arrows == {("x", "z"), ("y", "z")}
    assert graph.lines == {frozenset("ab")}
    assert graph.mark("a", "z") is Mark.GAP

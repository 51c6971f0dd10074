"""Graphs with hidden nodes, their MAGs and their PAGs."""

from __future__ import annotations

from random import Random

import pytest

from apsl_rules import Dag, network
from apsl_rules.errors import ApslError, GraphError
from apsl_rules.graphs import AncestralGraph, Mag, hide, is_ancestral, mag, pag, pag_by_enumeration
from support.drawing import some_of
from support.hidden import CAUSAL_LEARN_PAIRS, hidden_dag, pag_of, random_hidden_dag
from support.mag_classes import mag_classes


def test_a_hidden_cause_joins_its_effects_by_two_arrowheads() -> None:
    """In the MAG, and in the PAG if a further cause of each shows the heads."""
    graph = hidden_dag("H->A H->B C->A D->B", "H")

    assert mag(graph).bidirected == {frozenset("AB")}
    assert mag(graph).arrows == {("C", "A"), ("D", "B")}
    assert pag(graph).ends == pag_of(graph.nodes, "A<->B Co->A Do->B").ends


def test_a_hidden_step_leaves_an_arrow() -> None:
    """Hiding B in A -> B -> C leaves A -> C in the MAG, of which no end is determined."""
    graph = hidden_dag("A->B B->C", "B")

    assert mag(graph).arrows == {("A", "C")}
    assert pag(graph).ends == {("A", "C"): "circle", ("C", "A"): "circle"}


def test_an_inducing_path_makes_nodes_adjacent() -> None:
    """X -> Y <- H -> Z with Y -> Z: no set separates X from Z, although no arrow joins them."""
    graph = hidden_dag("X->Y H->Y H->Z Y->Z", "H")

    assert mag(graph).end("X", "Z") == "tail"
    assert mag(graph).end("Z", "X") == "arrow"


def test_the_classes_on_few_nodes_are_all_there() -> None:
    """The numbers of maximal ancestral graphs and of their classes; each class has its own PAG."""
    found = [mag_classes(nodes) for nodes in (2, 3, 4)]

    assert [(one.graphs, len(one)) for one in found] == [(4, 2), (56, 11), (2492, 248)]
    assert all(is_ancestral(graph) for graph, _ in found[-1])


def test_the_rules_as_published_agree_with_trying_every_graph() -> None:
    """All classes on four nodes; those on three also by the enumeration on one skeleton."""
    assert all(pag(graph).ends == truth.ends for graph, truth in mag_classes(4))
    assert all(pag_by_enumeration(graph).ends == truth.ends for graph, truth in mag_classes(3))


@pytest.mark.slow
def test_the_rules_as_published_agree_on_five_nodes() -> None:
    """One in ten of the 24,259 classes, or all."""
    classes = mag_classes(5)
    chosen = Random(6).sample(range(len(classes)), some_of(24259, one_in=10))

    assert (classes.graphs, len(classes)) == (328924, 24259)
    assert not [at for at in chosen if pag(classes[at][0]).ends != classes[at][1].ends]


def test_a_canonical_graph_has_the_mag_it_came_from() -> None:
    """One hidden cause for each bidirected edge gives the same graph again."""
    for graph, _ in mag_classes(4):
        assert mag(graph.canonical()).ends == graph.ends


def test_random_graphs_agree_with_trying_every_graph() -> None:
    """Graphs of five observed nodes and two hidden ones."""
    random = Random(5)
    for _ in range(4):
        whole = mag(random_hidden_dag(random, observed=5, hidden=2, share=0.25))

        assert pag(whole).ends == pag_by_enumeration(whole).ends


@pytest.mark.parametrize("number", range(5))
def test_pairs_of_another_package(number: int) -> None:
    """Adjacencies and arrowheads are those of causal-learn's tests; its FCI leaves five provable tails open."""
    arrows, hidden, theirs = CAUSAL_LEARN_PAIRS[number]
    graph = hidden_dag(arrows, hidden)
    ours, expected = pag(graph).ends, pag_of(graph.nodes, theirs).ends
    further = {pair for pair in ours if ours[pair] != expected.get(pair)}
    known = {0: {("1", "7"), ("3", "12"), ("4", "7")}, 3: {("7", "12"), ("2", "12")}}

    assert ours.keys() == expected.keys()
    assert further == known.get(number, set())
    assert all((expected[pair], ours[pair], mag(graph).ends[pair]) == ("circle", "tail", "tail") for pair in further)


def test_regions_and_distances() -> None:
    """A region has both ends of every edge that touches a near node."""
    graph = pag(hidden_dag("A->B B->C C->D", ""))

    assert graph.distances("A") == {"A": 0, "B": 1, "C": 2, "D": 3}
    assert set(graph.region("A", 2)) == {("A", "B"), ("B", "A"), ("B", "C"), ("C", "B")}
    assert graph.region("A", "max") == graph.ends
    assert repr(graph) == "<Pag of 4 nodes and 3 edges>"


def test_an_almost_directed_cycle_is_not_ancestral() -> None:
    """A -> B with two arrowheads on the edge back."""
    edges = pag_of(("A", "B", "C"), "A-->B B-->C A<->C").ends

    assert not is_ancestral(AncestralGraph(("A", "B", "C"), edges))
    assert is_ancestral(Mag(("A", "B", "C"), pag_of(("A", "B", "C"), "A-->B B-->C A-->C").ends))


def test_hidden_nodes_of_a_network() -> None:
    """``hiding`` leaves all other nodes, in their order."""
    alarm = network("alarm")
    graph = alarm.hiding("HR", "CO")

    assert graph.hidden == ("HR", "CO")
    assert graph.nodes == tuple(node for node in alarm.dag.nodes if node not in ("HR", "CO"))
    assert repr(graph) == "<DagWithHidden of 35 nodes, and 2 hidden>"


@pytest.mark.parametrize(
    ("hidden", "sentence"),
    [
        ("H", "hidden is 'H'; give a list of nodes, such as \\['H'\\]"),
        (["h"], "unknown hidden node 'h'; did you mean 'H'"),
        (["H", "A"], "all nodes are hidden; leave at least one to be observed"),
        (3, "hidden is 3; give a list of nodes"),
    ],
)
def test_wrong_hidden_nodes_are_refused(hidden: object, sentence: str) -> None:
    """Each mistake gets a sentence."""
    with pytest.raises(ApslError, match=sentence):
        hide(Dag({"H": [], "A": ["H"]}), hidden)


def test_too_many_nodes_for_brute_force_are_refused() -> None:
    """Six nodes have too many graphs."""
    with pytest.raises(ApslError, match="too many graphs on 6 nodes"):
        mag_classes(6)
    with pytest.raises(GraphError):
        hide(Dag({"A": []}), "A")

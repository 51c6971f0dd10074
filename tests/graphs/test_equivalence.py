"""Equivalent graphs: CPDAGs against brute force, the regions that results are graded on, and directions for lines."""

from __future__ import annotations

from itertools import combinations
from random import Random
from time import perf_counter

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_rules.errors import GraphError, InvalidArgumentError, UnknownNodeError
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.equivalence import cpdag, extension
from apsl_rules.names import Depth
from support.graphs import MICRO, MICRO_CPDAG, all_dags, brute_force_cpdag, dag_of, random_dag
from support.strategies import dags


@pytest.mark.parametrize("name", MICRO)
def test_micro_networks_have_the_listed_cpdag(name: str) -> None:
    """Arrows and lines are those that the list gives."""
    assert cpdag(MICRO[name]) == MICRO_CPDAG[name]


def test_all_graphs_on_four_nodes_agree_with_brute_force() -> None:
    """All 543 graphs: an edge is an arrow exactly if all equivalent graphs share its direction."""
    assert all(cpdag(dag) == brute_force_cpdag(dag) for dag in all_dags(4))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(5, 6), st.floats(1.0, 3.4))
def test_random_graphs_agree_with_brute_force(seed: int, nodes: int, mean_degree: float) -> None:
    """Graphs on five and six nodes: the same as trying all orientations."""
    dag = random_dag(seed, nodes, mean_degree)

    assert cpdag(dag) == brute_force_cpdag(dag)


@given(dags(), st.randoms())
def test_the_order_of_the_nodes_does_not_matter(dag: Dag, random: Random) -> None:
    """Any order of nodes and parents gives the same arrows and lines."""
    nodes = random.sample(dag.nodes, len(dag.nodes))
    parents = {node: random.sample(dag.parents_of(node), len(dag.parents_of(node))) for node in nodes}

    shuffled = cpdag(Dag(parents))

    assert shuffled.arrows == cpdag(dag).arrows
    assert shuffled.lines == cpdag(dag).lines


@given(dags())
def test_the_skeleton_is_kept(dag: Dag) -> None:
    """Every edge is an arrow of the graph itself or a line, and neighbours are the same."""
    pattern = cpdag(dag)

    assert pattern.arrows <= dag.edges
    assert pattern.skeleton == {frozenset(edge) for edge in dag.edges}
    assert all(pattern.neighbours_of(node) == dag.neighbours_of(node) for node in dag.nodes)


@given(dags(), st.data(), st.one_of(st.integers(1, 5), st.just("max")))
def test_a_region_holds_the_edges_near_the_target(dag: Dag, data: st.DataObject, depth: Depth) -> None:
    """An edge is in the region exactly if one of its ends is nearer than the depth (networkx measures)."""
    target = data.draw(st.sampled_from(dag.nodes))
    pattern = cpdag(dag)
    graph = nx.Graph(list(dag.edges))
    graph.add_nodes_from(dag.nodes)
    distance = nx.single_source_shortest_path_length(graph, target)
    limit = len(dag.nodes) if depth == "max" else depth

    arrows, lines = pattern.region(target, depth)

    assert pattern.distances(target) == distance
    assert arrows == {edge for edge in pattern.arrows if min(distance.get(end, limit) for end in edge) < limit}
    assert lines == {line for line in pattern.lines if min(distance.get(end, limit) for end in line) < limit}


def test_distances_come_nearest_first() -> None:
    """Among equals the order is by name, so that it is the same on every run."""
    distances = cpdag(dag_of("T->C T->A B->T A->Z C->Y")).distances("T")

    assert list(distances.items()) == [("T", 0), ("A", 1), ("B", 1), ("C", 1), ("Y", 2), ("Z", 2)]


@pytest.mark.parametrize("depth", [0, -1, True, "all", 1.5, None])
def test_depths_that_make_no_sense_are_refused(depth: Depth) -> None:
    """A depth is a whole number from 1 on, or "max"."""
    with pytest.raises(InvalidArgumentError, match=r"depth is .*; give a whole number from 1 on, or 'max'"):
        cpdag(MICRO["N1"]).region("t", depth)


def test_an_unknown_target_is_refused() -> None:
    """The nearest node is suggested."""
    with pytest.raises(UnknownNodeError, match="unknown target 'Smoke'; did you mean 'Smoker'"):
        cpdag(dag_of("Smoker->Lung")).region("Smoke", 1)


def test_a_large_graph_is_quick() -> None:
    """Two thousand nodes and four thousand arrows take well under a second."""
    dag = random_dag(1, 2000, 4)
    start = perf_counter()

    pattern = cpdag(dag)

    assert perf_counter() - start < 1
    assert repr(pattern).startswith("<Cpdag of 2,000 nodes, ")


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


@given(dags(max_nodes=6), st.data())
def test_arrows_meet_between_the_nodes_of_an_open_pair(dag: Dag, data: st.DataObject) -> None:
    """Where nothing keeps some pairs apart, there is a graph whose new V-structures are between these alone."""
    edges = sorted(dag.edges, key=str)
    hidden = set(data.draw(st.lists(st.sampled_from(edges), unique=True))) if edges else set()
    known = cpdag(dag)
    drawn = {frozenset(way) for way in dag.edges - hidden}
    maybe = {frozenset(way) for way in hidden}
    found = extension(dag.nodes, known.arrows - hidden, known.lines & drawn, maybe)
    assert {frozenset(way) for way in found.edges} == drawn
    assert found.edges >= known.arrows - hidden
    for node, near in zip(found.nodes, found.parents, strict=True):
        for x, y in combinations(near, 2):
            was_there = {(x, node), (y, node)} <= dag.edges
            assert was_there or frozenset((x, y)) in drawn | maybe


def test_no_graph_at_all() -> None:
    """A square of lines has no direction without a new V-structure, and a cycle has none either."""
    square = [frozenset(pair) for pair in ("ab", "bc", "cd", "da")]
    with pytest.raises(GraphError, match="they clash at 'a', 'b', 'c', 'd'"):
        extension("abcd", (), square)
    met = extension("abcd", (), square, strict=False)
    assert {frozenset(way) for way in met.edges} == set(square)
    assert sorted(len(near) for near in met.parents) == [0, 1, 1, 2]
    with pytest.raises(GraphError, match="they clash at 'b', 'c'"):
        extension("abc", [("b", "c"), ("c", "b")], (), strict=False)

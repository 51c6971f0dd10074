"""Known arrows in a search: what they compel in a class of graphs, by trying every graph of the class."""

from __future__ import annotations

from itertools import combinations, product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_backends.search.local_score import arrows_allowed, find_fitting_graph, orient, pairs_allowed, repair_graph
from apsl_backends.search.rounds import CLOSED, REQUIRED, Marks, Open
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.equivalence import cpdag
from apsl_rules.knowledge import Knowledge
from support.graphs import dag_of
from support.knowing import drawn_knowledge
from support.strategies import dags

MIXED = st.randoms(use_true_random=False)


def pattern_of(dag: Dag) -> Marks:
    """Return the class of a graph as a table of marks."""
    place = {node: at for at, node in enumerate(dag.nodes)}
    known = cpdag(dag)
    marks = np.zeros((len(place), len(place)), np.uint8)
    for x, y in known.arrows:
        marks[place[x], place[y]] = 1
    for x, y in known.lines:
        marks[place[x], place[y]] = marks[place[y], place[x]] = 1
    return marks


def graphs_of(marks: Marks) -> list[Marks]:
    """Return every graph of a class, by trying all directions of its lines."""
    lines = [(x, y) for x, y in np.argwhere((marks > 0) & (marks.T > 0)).tolist() if x < y]
    found = []
    for turned in product((False, True), repeat=len(lines)):
        graph = marks.copy()
        for (x, y), back in zip(lines, turned, strict=True):
            graph[(x, y) if back else (y, x)] = 0
        if _is_graph_of(graph, marks):
            found.append(graph)
    return found


def _is_graph_of(graph: Marks, marks: Marks) -> bool:
    nodes = tuple(range(len(graph)))
    reached = np.linalg.matrix_power(graph.astype(np.int64) + np.eye(len(graph), dtype=np.int64), len(graph))
    if (graph > 0).any() and ((reached > 0) & (reached.T > 0) & ~np.eye(len(graph), dtype=bool)).any():
        return False
    dag = Dag(nodes, tuple(tuple(np.flatnonzero(graph[:, at]).tolist()) for at in nodes))
    return bool((pattern_of(dag) == marks).all())


def fits(graph: Marks, allowed: Open) -> bool:
    """Return whether a graph has no forbidden arrow and all that are required."""
    return not ((graph > 0) & (allowed == CLOSED)).any() and not ((graph == 0) & (allowed == REQUIRED)).any()


def false_knowledge(dag: Dag, random: Random) -> Knowledge:
    """Draw required and forbidden arrows without regard to a graph."""
    drawn = [random.choice([pair, pair[::-1]]) for pair in combinations(dag.nodes, 2) if random.random() < 0.3]
    required = [(x, y) for x, y in drawn[::2] if dag.nodes.index(x) < dag.nodes.index(y)]
    return Knowledge(required=required, forbidden=[one for one in drawn[1::2] if one not in required])


@pytest.mark.parametrize("is_true", [True, False])
@given(dag=dags(min_nodes=2, max_nodes=5), random=MIXED)
def test_what_knowledge_compels_is_what_all_fitting_graphs_share(is_true: bool, dag: Dag, random: Random) -> None:
    """Arrows are those that every fitting graph of the class has; without such a graph nothing is given."""
    known = drawn_knowledge(dag, random, 0.4) if is_true else false_knowledge(dag, random)
    allowed = arrows_allowed(dag.nodes, known)
    marks = pattern_of(dag)
    fitting = [graph for graph in graphs_of(marks) if fits(graph, allowed)]

    graph = find_fitting_graph(marks, allowed)

    assert (graph is None) == (not fitting)
    if graph is not None:
        assert any((graph == one).all() for one in fitting)
        expected = np.sum(fitting, axis=0) > 0
        found = orient(marks, allowed)
        assert found is not None
        assert ((found > 0) == expected).all()


@given(dags(min_nodes=2, max_nodes=6), MIXED)
def test_a_mended_graph_fits(dag: Dag, random: Random) -> None:
    """It has every required arrow, none that is forbidden, no cycle, few parents, and no new edge."""
    known = false_knowledge(dag, random)
    allowed = arrows_allowed(dag.nodes, known)
    place = {node: at for at, node in enumerate(dag.nodes)}
    graph = np.zeros((len(place), len(place)), np.uint8)
    for tail, head in dag.edges:
        graph[place[tail], place[head]] = 1

    mended = repair_graph(graph, allowed, 2)

    assert fits(mended, allowed)
    assert ((mended > 0).sum(axis=0) <= np.maximum((allowed == REQUIRED).sum(axis=0), 2)).all()
    parents = tuple(tuple(dag.nodes[x] for x in np.flatnonzero(mended[:, at]).tolist()) for at in range(len(place)))
    Dag(dag.nodes, parents)  # refuses cycles
    assert not ((mended > 0) & (graph == 0) & (graph.T == 0) & (allowed != REQUIRED)).any()


def test_pairs_with_one_direction_left_stay_open() -> None:
    """A pair is closed only if the two are apart; without knowledge all pairs are open."""
    nodes = dag_of("a->b b->c").nodes
    known = Knowledge(apart=[("a", "c")], forbidden=[("a", "b")])

    open_pairs = pairs_allowed(arrows_allowed(nodes, known))

    a, b, c = (nodes.index(node) for node in "abc")
    assert not open_pairs[a, c]
    assert open_pairs[a, b]
    assert open_pairs[b, a]
    assert pairs_allowed(arrows_allowed(nodes, Knowledge())).all()

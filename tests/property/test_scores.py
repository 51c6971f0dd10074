"""Scores against plain loops over pairs of nodes, and against the confusion counts of causal-learn."""

from __future__ import annotations

from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules import score
from apsl_rules.graphs.dag import Dag
from apsl_rules.names import Node
from apsl_rules.parts.graph import graph_of
from apsl_rules.parts.marked_graph import MarkedGraph
from support.graphs import brute_force_cpdag
from support.strategies import dags


@st.composite
def tasks(draw: st.DrawFn) -> tuple[MarkedGraph, Dag]:
    """Draw a true graph, and a learned one that keeps some of its marks and is wrong elsewhere."""
    dag = draw(dags(min_nodes=2, max_nodes=6))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    arrows, lines = set(), set()
    for x, y in combinations(dag.nodes, 2):
        true = "->" if (x, y) in dag.edges else "<-" if (y, x) in dag.edges else ""
        mark = random.choice([true, true, "->", "<-", "--", ""])
        if mark == "--":
            lines.add(frozenset((x, y)))
        elif mark:
            arrows.add((x, y) if mark == "->" else (y, x))
    return MarkedGraph(dag.nodes, arrows, lines), dag


def mark_of(graph: MarkedGraph, x: Node, y: Node) -> str:
    """Spell the mark between two nodes."""
    if (x, y) in graph.arrows:
        return "->"
    if (y, x) in graph.arrows:
        return "<-"
    return "--" if frozenset((x, y)) in graph.lines else ""


def walked(graph: MarkedGraph, target: Node, depth: int) -> set[frozenset[Node]]:
    """Collect the edges of walks of at most ``depth`` steps from a target: those with an end nearer than that."""
    reached, edges = {target}, set()
    for _ in range(depth):
        step = {(x, y) for x in reached for y in graph.nodes if x != y and mark_of(graph, x, y)}
        edges |= {frozenset(pair) for pair in step}
        reached |= {y for _, y in step}
    return edges


def naive(
    learned: MarkedGraph, true: MarkedGraph, asked: set[frozenset[Node]], region: set[frozenset[Node]]
) -> dict[str, Any]:
    """Judge each pair of nodes by itself."""
    counts = dict.fromkeys(
        ("true", "predicted", "correct", "reversed", "missing", "extra", "undirected", "falsely_directed"), 0
    )
    for x, y in combinations(learned.nodes, 2):
        found = mark_of(learned, x, y) if frozenset((x, y)) in asked else ""
        there = mark_of(true, x, y) if frozenset((x, y)) in region else ""
        counts["predicted"] += found != ""
        counts["true"] += there != ""
        if found == there:
            counts["correct"] += found != ""
        elif not found:
            counts["missing"] += 1
        elif not there:
            counts["extra"] += 1
        elif found == "--":
            counts["undirected"] += 1
        elif there == "--":
            counts["falsely_directed"] += 1
        else:
            counts["reversed"] += 1
    return counts


def figures(counts: dict[str, Any]) -> tuple[float, float, float]:
    """Return precision, recall and distance by the authors' cases."""
    if not counts["true"] and not counts["predicted"]:
        return 1.0, 1.0, 0.0
    if not counts["true"] or not counts["predicted"]:
        return 0.0, 0.0, sqrt(2)
    precision, recall = counts["correct"] / counts["predicted"], counts["correct"] / counts["true"]
    return precision, recall, sqrt((1 - precision) ** 2 + (1 - recall) ** 2)


@given(tasks(), st.integers(1, 4), st.sampled_from(["dag", "cpdag"]), st.data())
def test_a_score_equals_plain_loops(
    task: tuple[MarkedGraph, Dag], depth: int, against: Any, data: st.DataObject
) -> None:
    """Counts, precision, recall and distance of a part are those of judging each pair by itself."""
    learned, dag = task
    target = data.draw(st.sampled_from(dag.nodes))
    true = graph_of(dag) if against == "dag" else graph_of(brute_force_cpdag(dag))
    counts = naive(learned, true, walked(learned, target, depth), walked(true, target, depth))

    got = score(learned, dag, against=against, target=target, depth=depth)
    row = got.as_row()

    assert {name: row[name] for name in counts} == counts
    assert (got.precision, got.recall, got.distance) == pytest.approx(figures(counts))
    wrong = ("reversed", "missing", "extra", "undirected", "falsely_directed")
    assert got.shd == sum(counts[name] for name in wrong)


@pytest.mark.release
@pytest.mark.slow
@given(tasks())
def test_whole_graphs_agree_with_causal_learn(task: tuple[MarkedGraph, Dag]) -> None:
    """SHD, adjacency and arrow counts against the CPDAG are those of causal-learn."""
    from causallearn.graph.AdjacencyConfusion import AdjacencyConfusion
    from causallearn.graph.ArrowConfusion import ArrowConfusion
    from causallearn.graph.SHD import SHD

    learned, dag = task
    true = graph_of(brute_force_cpdag(dag))
    ours = score(learned, dag)
    graphs = peer_graph(true), peer_graph(learned)
    adjacency, arrows = AdjacencyConfusion(*graphs), ArrowConfusion(*graphs)

    assert ours.shd == SHD(*graphs).get_shd()
    assert (ours.adjacent, ours.extra, ours.missing) == (
        adjacency.get_adj_tp(),
        adjacency.get_adj_fp(),
        adjacency.get_adj_fn(),
    )
    assert (ours.compelled_correct, ours.arrows, ours.compelled) == (
        arrows.get_arrows_tp(),
        arrows.get_arrows_tp() + arrows.get_arrows_fp(),
        arrows.get_arrows_tp() + arrows.get_arrows_fn(),
    )


def peer_graph(graph: MarkedGraph) -> Any:
    """Return a graph as causal-learn has it."""
    from causallearn.graph.Edge import Edge
    from causallearn.graph.Endpoint import Endpoint
    from causallearn.graph.GeneralGraph import GeneralGraph
    from causallearn.graph.GraphNode import GraphNode

    nodes = {node: GraphNode(f"X{number}") for number, node in enumerate(graph.nodes)}
    made = GeneralGraph(list(nodes.values()))
    for x, y in graph.arrows:
        made.add_edge(Edge(nodes[x], nodes[y], Endpoint.TAIL, Endpoint.ARROW))
    for x, y in graph.lines:
        made.add_edge(Edge(nodes[x], nodes[y], Endpoint.TAIL, Endpoint.TAIL))
    return made

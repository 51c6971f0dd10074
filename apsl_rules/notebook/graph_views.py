"""Graphs in a notebook: learned ones, known ones, networks and Markov blankets, drawn where they are small enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from apsl_rules.graphs import Dag, Pdag
from apsl_rules.graphs.networks import Network
from apsl_rules.names import Node, count_of
from apsl_rules.neighbours import Blanket
from apsl_rules.notebook.graph_drawing import MOST_DRAWN, draw_graph
from apsl_rules.notebook.part_views import edges_table, sign_of
from apsl_rules.notebook.pieces import (
    MOST_ROWS,
    card,
    figure,
    fold,
    name,
    names,
    notes,
    paragraph,
    scroll,
    soft,
    table,
    text,
    title,
)
from apsl_rules.notebook.proof_views import conflicts_fold
from apsl_rules.parts import LearnedGraph, MarkedGraph, graph_of
from apsl_rules.rules import Mark


def learned_graph_html(learned: LearnedGraph) -> str:
    """Return the drawing of a learned graph and its edges."""
    head = title(f"graph of {count_of(len(learned.nodes), 'node')}, learner {text(learned.learner)}")
    stopped = paragraph(f"<b>incomplete</b>: {text(learned.incomplete)}") if learned.incomplete else ""
    rows = learned.rows()
    edges = fold(count_of(len(rows), "edge"), edges_table(rows))
    return card(
        head, _drawing(learned.graph()), stopped, edges, conflicts_fold(learned.conflicts), notes(learned.notes)
    )


def marked_graph_html(graph: MarkedGraph) -> str:
    """Return the drawing of a graph and its edges."""
    edges = fold(count_of(len(graph.edges), "edge"), _edges(graph))
    return card(title(text(repr(graph).strip("<>"))), _drawing(graph), edges)


def known_graph_html(source: Dag | Pdag) -> str:
    """Return the drawing of a known graph."""
    return marked_graph_html(graph_of(source))


def network_html(network: Network) -> str:
    """Return the drawing of a network, and its nodes with their levels and parents."""
    dag = network.dag
    head = title(
        f"network {text(network.name)}: {count_of(len(dag.nodes), 'node')}, {count_of(len(dag.edges), 'arrow')}, "
        f"{count_of(network.parameters, 'parameter')}"
    )
    rows = [[name(node), names(dag.parents_of(node)), names(network.levels[node])] for node in dag.nodes[:MOST_ROWS]]
    nodes = table(("node", "parents", "levels"), rows, words=3, what="node", total=len(dag.nodes))
    source = paragraph(soft(text(network.source))) if network.source else ""
    return card(head, _drawing(graph_of(dag)), fold("nodes", nodes), source)


def blanket_html(blanket: Blanket) -> str:
    """Return a Markov blanket as a small graph, and in words."""
    children = set(blanket.spouses)
    arrows = {(blanket.node, child) for child in children}
    arrows |= {(other, child) for child, others in blanket.spouses.items() for other in others}
    lines = [(blanket.node, one, Mark.LINE) for one in blanket.neighbours if one not in children]
    graph = MarkedGraph.of_edges(
        (blanket.node, *blanket.members), [*((x, y, Mark.ARROW) for x, y in sorted(arrows, key=str)), *lines]
    )
    shared = [
        paragraph(f"{soft('spouses through')} {name(child)}{soft(':')} {names(others)}")
        for child, others in blanket.spouses.items()
    ]
    untested = [paragraph(f"{soft('not tested:')} {names(blanket.untested)}")] if blanket.untested else []
    around = paragraph(f"{soft('neighbours:')} {names(blanket.neighbours)}")
    head = title(f"Markov blanket of {name(blanket.node)}")
    return card(head, _drawing(graph, bold=blanket.node), around, *shared, *untested)


def _drawing(graph: MarkedGraph, bold: Node = None) -> str:
    """Return a drawing, or the word that the graph is too large for one; nodes without edges are named."""
    joined = {node for edge in graph.edges for node in (edge.source, edge.target)}
    if len(joined) > MOST_DRAWN:
        return paragraph(soft(f"{count_of(len(joined), 'node')} with edges: too many to draw here"))
    alone = [node for node in graph.nodes if node not in joined and node != bold]
    rest = paragraph(f"{soft('without an edge:')} {names(alone)}") if alone else ""
    return (scroll(draw_graph(graph, bold=bold)) if joined or bold is not None else "") + rest


def _edges(graph: MarkedGraph) -> str:
    rows: Sequence[dict[str, Any]] = graph.rows()
    known = [one for one in ("probability", "direction") if any(row.get(one) is not None for row in rows)]
    cells = [
        [name(row["source"]), sign_of(row), name(row["target"]), *(figure(row[one]) for one in known)] for row in rows
    ]
    return table(["source", "", "target", *known], cells, words=3, what="edge")

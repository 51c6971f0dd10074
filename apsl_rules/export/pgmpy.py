"""Graphs for pgmpy: a DAG where all edges are arrows, a PDAG otherwise.

A PDAG has no sign for conflicts: they are undirected edges there. The attribute ``mark`` of its arcs keeps them apart.
Arcs have the probabilities of ``to_networkx`` as well.
"""

from __future__ import annotations

from typing import Any

from apsl_rules.errors import GraphFormatError
from apsl_rules.export._peers import peer
from apsl_rules.export.networkx import arc_figures, arcs, from_networkx, refuse_none
from apsl_rules.graphs import is_networkx
from apsl_rules.graphs.networks import Network
from apsl_rules.names import in_order
from apsl_rules.parts import MarkedGraph, graph_of


def to_pgmpy(source: object) -> Any:
    """Return a pgmpy DAG or PDAG, with the labels as they are."""
    graph = graph_of(source)
    refuse_none(graph)
    graph.refuse_hidden()
    base = peer("pgmpy.base", "pgmpy")
    if not graph.lines and not graph.conflicts:
        dag = graph.dag()
        made = base.DAG()
        made.add_nodes_from(dag.nodes)
        made.add_edges_from([(edge.source, edge.target) for edge in graph.edges])
        for x, y, _ in arcs(graph):
            made.edges[x, y].update(arc_figures(graph, x, y))
        return made
    undirected = [in_order(pair) for pair in graph.lines | graph.conflicts]
    made = base.PDAG(directed_ebunch=list(graph.arrows), undirected_ebunch=undirected)
    made.add_nodes_from(graph.nodes)
    for x, y, mark in arcs(graph):
        made.edges[x, y].update(mark=str(mark), **arc_figures(graph, x, y))
    return made


def network_to_pgmpy(network: Network) -> Any:
    """Return a discrete network of pgmpy with the probabilities of a network."""
    models, factors = peer("pgmpy.models", "pgmpy"), peer("pgmpy.factors.discrete", "pgmpy")
    dag, levels = network.dag, network.levels
    made = models.DiscreteBayesianNetwork(sorted(dag.edges, key=str))
    made.add_nodes_from(dag.nodes)
    for node in dag.nodes:
        parents = list(dag.parents_of(node))
        table = network.tables[node]
        values = table.reshape(-1, table.shape[-1]).T
        evidence = {"evidence": parents, "evidence_card": list(table.shape[:-1])} if parents else {}
        names = {one: list(levels[one]) for one in (node, *parents)}
        made.add_cpds(factors.TabularCPD(node, table.shape[-1], values.tolist(), state_names=names, **evidence))
    return made


def from_pgmpy(source: Any) -> MarkedGraph:
    """Read a DAG, a PDAG or a network of pgmpy."""
    if not is_networkx(source) or not source.is_directed() or source.is_multigraph():
        message = f"{type(source).__name__} is no DAG or PDAG of pgmpy; give one, or a network of pgmpy"
        raise GraphFormatError(message)
    return from_networkx(source)

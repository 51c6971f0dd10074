"""The size of a graph and the numbers of parents, children and neighbours of its nodes, as papers report them."""

from __future__ import annotations

import attrs

from apsl_rules.graphs.dag import Dag


@attrs.frozen
class Degrees:
    """How many nodes and arrows a graph has, and the extremes over its nodes."""

    nodes: int
    arcs: int
    max_parents: int
    max_children: int
    min_neighbours: int
    max_neighbours: int


def degrees(dag: Dag) -> Degrees:
    """Count nodes and arrows and find the extreme degrees.

    >>> from apsl_rules.graphs.networks import network
    >>> degrees(network("alarm").dag)
    Degrees(nodes=37, arcs=46, max_parents=4, max_children=5, min_neighbours=1, max_neighbours=6)
    """
    neighbours = [len(dag.parents_of(node)) + len(dag.children_of(node)) for node in dag.nodes]
    return Degrees(
        nodes=len(dag.nodes),
        arcs=len(dag.edges),
        max_parents=max(len(parents) for parents in dag.parents),
        max_children=max(len(dag.children_of(node)) for node in dag.nodes),
        min_neighbours=min(neighbours),
        max_neighbours=max(neighbours),
    )

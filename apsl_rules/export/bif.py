"""Structures as BIF files, which Bayesian-network tools read.

A BIF file names the levels and probabilities of every node. A structure has none: a node gets the levels that you
give, or the single level ``unknown``, and equal probabilities that only hold the place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from apsl_rules._arguments import listed, mapping, spelt
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.export._spelling import read_label, spell_label
from apsl_rules.graphs import known_dag
from apsl_rules.graphs.networks import Network, parse_bif, write_bif
from apsl_rules.names import Node
from apsl_rules.parts import MarkedGraph, OpenEdges, arrows_only, graph_of

_LARGEST = 1_000_000


def to_bif(
    source: object,
    *,
    open_edges: OpenEdges = "refuse",
    levels: Mapping[Node, Sequence[str]] | None = None,
    name: str = "structure",
) -> str:
    """Write the structure of a graph as BIF text; of a ``Network`` use ``write_bif``, which keeps its probabilities."""
    dag = arrows_only(graph_of(source), open_edges, "a BIF file")
    given = mapping("levels", levels, "{'smoker': ['yes', 'no']}")
    known = {
        spell_label(node): tuple(
            listed(f"the entry of {spelt(node)} in levels", given.get(node, ("unknown",)), "levels", letters=True)
        )
        for node in dag.nodes
    }
    named = known_dag(
        {spell_label(node): [spell_label(parent) for parent in dag.parents_of(node)] for node in dag.nodes}
    )
    tables = {}
    for node in named.nodes:
        shape = [len(known[str(other)]) for other in (*named.parents_of(node), node)]
        if prod(shape) > _LARGEST:
            message = (
                f"the table of {node!r} would have {prod(shape)} cells; leave out levels, "
                "so that each node has one level that holds the place"
            )
            raise InvalidArgumentError(message)
        tables[node] = np.full(shape, 1 / max(shape[-1], 1))
    source_note = "Structure only: all probabilities are placeholders."
    return write_bif(Network(name, named, dict(known.items()), tables, source_note))


def network_to_bif(network: Network) -> str:
    """Write a network with its probabilities as BIF text, whatever its labels are."""
    named: dict[Node, Node] = {node: spell_label(node) for node in network.dag.nodes}
    dag = known_dag({named[node]: [named[one] for one in network.dag.parents_of(node)] for node in network.dag.nodes})
    levels = {named[node]: network.levels[node] for node in network.dag.nodes}
    tables = {named[node]: network.tables[node] for node in network.dag.nodes}
    return write_bif(Network(network.name, dag, levels, tables, network.source))


def from_bif(text: str) -> MarkedGraph:
    """Read the structure of a BIF text; ``network`` and ``read_bif`` read its probabilities too."""
    dag = parse_bif(text).dag
    label = {name: read_label(str(name)) for name in dag.nodes}
    return MarkedGraph(label.values(), [(label[x], label[y]) for x, y in dag.edges])

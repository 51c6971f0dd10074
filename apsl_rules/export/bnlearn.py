"""Graphs as model strings of the R package bnlearn, such as ``[A][C][B|A][D|A:C]``."""

from __future__ import annotations

import re

import numpy as np

from apsl_rules.errors import GraphFormatError
from apsl_rules.export._spelling import escape_signs, read_label, spell_label, unescape_signs
from apsl_rules.graphs import known_dag
from apsl_rules.graphs.networks import Network
from apsl_rules.names import Node
from apsl_rules.parts import MarkedGraph, OpenEdges, arrows_only, graph_of

_UNSAFE = r"\[\]|:"
_STRING = re.compile(r"(?:\[[^\[\]|]+(?:\|[^\[\]|]+)?\])+")
_BLOCK = re.compile(r"\[([^\[\]|]+)(?:\|([^\[\]|]+))?\]")


def to_bnlearn(source: object, *, open_edges: OpenEdges = "refuse") -> str:
    """Write a graph as a model string, parents before children as bnlearn writes it.

    >>> to_bnlearn(known_dag({"B": ["A"], "A": [], "D": ["A", "C"], "C": []}))
    '[A][C][B|A][D|A:C]'
    """
    dag = arrows_only(graph_of(source), open_edges, "a bnlearn model string")
    blocks = []
    for node in dag.topological_order:
        parents = ":".join(map(_name, dag.parents_of(node)))
        blocks.append(f"[{_name(node)}|{parents}]" if parents else f"[{_name(node)}]")
    return "".join(blocks)


def network_to_bnlearn(network: Network) -> str:
    """Write a network as an R script that makes a ``bn.fit``: the model string, and a table for each node."""
    dag = network.dag
    lines = ["library(bnlearn)", f"structure <- model2network({_quoted(to_bnlearn(dag))})", "tables <- list("]
    entries = []
    for node in dag.nodes:
        axes = (node, *dag.parents_of(node))
        table = network.tables[node]
        values = ", ".join(repr(float(one)) for one in np.moveaxis(table, -1, 0).ravel(order="F"))
        sizes = ", ".join(str(len(network.levels[one])) for one in axes)
        names = ", ".join(f"{_quoted(_name(one))} = c({', '.join(map(_quoted, network.levels[one]))})" for one in axes)
        entries.append(
            f"  {_quoted(_name(node))} = array(c({values}),\n    dim = c({sizes}),\n    dimnames = list({names}))"
        )
    lines += [",\n".join(entries), ")", "fitted <- custom.fit(structure, dist = tables)"]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Return a text as R reads it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def from_bnlearn(text: str) -> MarkedGraph:
    """Read a model string."""
    stripped = text.strip()
    if not _STRING.fullmatch(stripped):
        message = f"{stripped[:80]!r} is no bnlearn model string; write one like [A][C][B|A][D|A:C]"
        raise GraphFormatError(message)
    blocks = _BLOCK.findall(stripped)
    names = [_node(name) for name, _ in blocks]
    if len(set(names)) < len(names):
        message = f"the bnlearn model string {stripped[:80]!r} names a node twice; give each node one block"
        raise GraphFormatError(message)
    parents = {_node(name): [_node(one) for one in given.split(":")] if given else [] for name, given in blocks}
    return graph_of(known_dag(parents))


def _name(node: Node) -> str:
    return escape_signs(spell_label(node), _UNSAFE)


def _node(name: str) -> Node:
    return read_label(unescape_signs(name))

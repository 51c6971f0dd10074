"""ALARM in the numbering of the paper's examples, and the traces of runs on it."""

from __future__ import annotations

from apsl_rules import network
from apsl_rules.names import Node
from apsl_rules.parts.part import Part
from support.graphs import arrows_of

ALARM = network("alarm").dag

#: The number of each node, from 1 on.
NUMBER = {node: number for number, node in enumerate(ALARM.nodes, start=1)}


def numbered(text: str) -> set[tuple[Node, Node]]:
    """Read arrows by numbers, such as "11->10 35->10"."""
    return {(ALARM.nodes[int(str(x)) - 1], ALARM.nodes[int(str(y)) - 1]) for x, y in arrows_of(text)}


def new_arrows(part: Part) -> list[set[tuple[Node, Node]]]:
    """Return the arrows that each visit added, from the replayed states of the run."""
    states = list(part.states())
    return [set(states[visit.end].arrows - states[visit.begin].arrows) for visit in part.visits]

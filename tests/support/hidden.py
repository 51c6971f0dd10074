"""Graphs with hidden nodes: random ones, PAGs from short text, and pairs of graph and PAG from another package."""

from __future__ import annotations

import re
from random import Random

from apsl_rules.graphs import Dag, DagWithHidden, EndMark, Pag
from apsl_rules.names import Node

_LEFT: dict[str, EndMark] = {"<": "arrow", "o": "circle", "-": "tail"}
_RIGHT: dict[str, EndMark] = {">": "arrow", "o": "circle", "-": "tail"}

#: Graphs with hidden nodes and their PAGs, from the tests of causal-learn 0.1.4 (its FCI, tests by d-separation):
#: the arrows of the graph, the hidden nodes, and the edges of the PAG.
CAUSAL_LEARN_PAIRS = (
    (
        (
            "1->2 1->3 1->7 1->8 11->12 2->13 2->7 2->8 3->12 3->13 3->4 4->7 5->8 6->10 6->11 6->12 6->9 7->10 "
            "8->11 9->12"
        ),
        "2 6 11",
        (
            "1o->13 1o->7 1o->8 10<->12 3o-o1 3o->12 3o->13 4o-o3 4o->7 5o->8 7-->10 7<->13 7<->8 8-->12 8<->13 "
            "9o->10 9o->12"
        ),
    ),
    (
        (
            "1->11 1->6 10->11 10->13 11->13 2->13 2->6 3->11 3->12 3->13 3->6 4->12 4->7 5->9 6->10 6->11 7->9 "
            "8->9 9->11 9->13"
        ),
        "3 9 11",
        "1o->13 1o->6 10o->13 12<->13 2o->13 2o->6 4o->12 5o->13 6-->10 6<->12 6o->13 7o->13 7o-o4 8o->13",
    ),
    (
        (
            "1->4 1->5 1->7 10->12 2->12 2->4 3->11 3->4 3->9 4->10 5->10 5->6 5->9 6->7 7->10 7->11 7->12 7->13 "
            "7->9 8->11"
        ),
        "1 5 7",
        (
            "10<->11 10o-o4 11<->12 12o-o10 12o-o4 13o->10 13o->11 13o->12 13o->4 13o-o6 13o->9 2o->10 2o->12 "
            "2o->4 3o->10 3o->11 3o->12 3o->4 3o->9 4<->11 6o->10 6o->11 6o->12 6o->4 6o->9 8o->11 9o->10 9o->11 "
            "9o->12 9o->4"
        ),
    ),
    (
        (
            "1->2 1->3 1->6 1->9 10->13 2->12 3->7 4->10 4->11 4->13 4->6 5->11 5->9 6->10 7->11 7->12 7->8 8->11 "
            "8->12 9->12"
        ),
        "4 5 10",
        (
            "1o->13 1o->6 1o->9 11<->13 13o-o6 2o-o1 2o->12 3o-o1 6<->11 7o->11 7o->12 7o-o3 8o->11 8o->12 8o-o7 "
            "9<->11 9-->12"
        ),
    ),
    (
        (
            "1->11 1->5 1->7 10->12 2->4 3->11 3->13 3->6 3->7 3->8 3->9 5->11 5->12 5->7 5->8 6->7 6->8 7->13 "
            "7->9 9->12"
        ),
        "1 3 6",
        (
            "10o->12 11o-o5 11o-o7 11o-o8 11o-o9 13o-o11 13o-o5 13o-o7 13o-o8 13o-o9 4o-o2 5o->12 7o-o5 8o-o5 "
            "8o-o7 9o->12 9o-o5 9o-o7 9o-o8"
        ),
    ),
)


def hidden_dag(arrows: str, hidden: str) -> DagWithHidden:
    """Make a graph from text such as "H->a H->b" with hidden nodes such as "H"."""
    pairs = [arrow.split("->") for arrow in arrows.split()]
    nodes = dict.fromkeys(node for pair in pairs for node in pair)
    return Dag({node: [x for x, y in pairs if y == node] for node in nodes}).hiding(*hidden.split())


def pag_of(nodes: tuple[Node, ...], edges: str) -> Pag:
    """Make a PAG from text such as "ao->b b<->c"."""
    ends: dict[tuple[Node, Node], EndMark] = {}
    for edge in edges.split():
        x, left, right, y = re.findall(r"^(.*?)([<o-])-([>o-])(.*)$", edge)[0]
        ends[x, y], ends[y, x] = _LEFT[left], _RIGHT[right]
    return Pag(nodes, ends)


def random_hidden_dag(random: Random, *, observed: int, hidden: int, share: float) -> DagWithHidden:
    """Draw a graph on "v00", "v01", ... in a random order, each pair joined by chance, some nodes hidden."""
    names = [f"v{number:02d}" for number in range(observed + hidden)]
    order = random.sample(names, len(names))
    parents: dict[Node, list[str]] = {name: [] for name in names}
    for late, node in enumerate(order):
        parents[node] = [early for early in order[:late] if random.random() < share]
    return Dag(parents).hiding(*random.sample(names, hidden))

"""Who is visited next: distances, the frontier along lines, and the layers of the paper."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_published.visits import by_layers
from apsl_rules import learn, network
from apsl_rules.graphs.dag import Dag
from apsl_rules.learning import Distances
from apsl_rules.learning.frontier import along_lines
from apsl_rules.names import Depth, Node, inside, order_key
from apsl_rules.rules.engine import MarkStore
from support.graphs import MICRO, dag_of
from support.telling import told

EDGES = st.lists(st.permutations("abcdefg").map(lambda nodes: (nodes[0], nodes[1])), max_size=15)


class Pretended:
    """A run on a graph that is told edge by edge: each visit shows the edges of the node, as lines or as arrows."""

    def __init__(self, dag: Dag, target: Node, depth: Depth, *, oriented: str = "") -> None:
        self.dag = dag
        self.target = target
        self.depth = depth
        self.oriented = {tuple(pair.split("->")) for pair in oriented.split()}
        self.visited: dict[Node, tuple[Node, ...]] = {}
        self.reach = Distances(target)
        self.store = MarkStore()
        self.nodes = dag.nodes

    @property
    def state(self) -> Any:
        """Return what is known, which is this itself."""
        return self

    @property
    def distances(self) -> dict[Node, int]:
        """Return the distances so far."""
        return self.reach.of

    def marks(self) -> MarkStore:
        """Return what was shown so far."""
        return self.store

    def visit(self, node: Node) -> None:
        """Show the edges of a node."""
        self.visited[node] = tuple(sorted(self.dag.neighbours_of(node), key=order_key))
        for other in self.visited[node]:
            self.reach.add(node, other)
            self.store = self.store.with_reasons(told(f"adjacent:{node},{other}"))
            for x, y in ((node, other), (other, node)):
                if (x, y) in self.oriented:
                    self.store = self.store.with_reasons(told(f"arrow:{x},{y}"))


def visits(run: Pretended, *, layers: bool = False) -> str:
    """Return the nodes visited, in order."""
    for nodes in by_layers(run) if layers else along_lines(run):
        run.visit(min(nodes, key=lambda node: (run.distances[node], order_key(node))))
    return "".join(map(str, run.visited))


@given(EDGES)
def test_distances_are_those_of_the_edges_known_so_far(edges: list[tuple[str, str]]) -> None:
    """After each edge they agree with a breadth-first search from the target."""
    distances = Distances("a")
    graph = nx.Graph()
    graph.add_node("a")

    for edge in edges:
        distances.add(*edge)
        graph.add_edge(*edge)

        assert distances.of == nx.single_source_shortest_path_length(graph, "a")


def test_the_inner_nodes_are_at_most_depth_minus_one_away() -> None:
    """All edges of an inner node belong to the part."""
    assert [inside(2, distance) for distance in range(4)] == [True, True, False, False]
    assert inside("max", 99)


WAY = "a->b b->c c->d d->e e->f"


@pytest.mark.parametrize(
    ("depth", "oriented", "expected"),
    [
        (1, "a->b", "a"),  # nothing is open
        (1, "", "abcdef"),  # one piece of lines, all of it
        (1, "c->d", "abc"),  # the piece ends at an arrow
        (2, "b->c", "ab"),
        (3, "a->b b->c", "abcdef"),
        (3, "a->b b->c c->d", "abc"),
        ("max", WAY, "abcdef"),
    ],
)
def test_visits_follow_lines_only(depth: Depth, oriented: str, expected: str) -> None:
    """First the asked region, then whatever its open lines lead to, and no more."""
    assert visits(Pretended(dag_of(WAY), "a", depth, oriented=oriented)) == expected


def test_nearer_nodes_go_first_and_then_names() -> None:
    """Among those that may be visited the nearest to the target is next, and the first by name of several."""
    dag = Dag({"t": ["z", "y", "x"], "z": [], "y": [], "x": ["a"], "a": []})

    assert visits(Pretended(dag, "t", "max")) == "txyza"


@pytest.mark.parametrize(
    ("depth", "oriented", "expected"),
    [
        (1, "a->b", "a"),
        (1, "c->d", "abcdef"),  # the line a-b is never oriented: the whole graph is visited
        (2, "a->b b->c", "ab"),
        (2, "a->b", "abcdef"),
        ("max", WAY, "abcdef"),
    ],
)
def test_layers_go_on_until_the_asked_layer_is_oriented(depth: Depth, oriented: str, expected: str) -> None:
    """Algorithm 1 stops when no node of the asked layer has a line."""
    assert visits(Pretended(dag_of(WAY), "a", depth, oriented=oriented), layers=True) == expected


@pytest.mark.parametrize(("target", "expected"), [("HREKG", 6), ("HISTORY", 37), ("PAP", 37)])
def test_layers_on_alarm(target: str, expected: int) -> None:
    """Visits of the published algorithm at depth 2."""
    assert len(learn(network("alarm"), target, depth=2, learner="apsl-paper-exact").visited) == expected


def test_an_isolated_target_is_visited_alone() -> None:
    """A node without neighbours is its own part."""
    part = learn(Dag({"a": [], "b": [], "c": ["b"]}), "a", depth="max")

    assert part.visited == ("a",)
    assert part.members == ("a",)
    assert part.layers == (("a",),)
    assert (part.arrows, part.lines) == (frozenset(), frozenset())


def test_layers_of_a_part_are_its_distances() -> None:
    """Layer 0 is the target, layer k what is k edges away."""
    part = learn(MICRO["N8"], "A", depth=2)

    assert part.layers == (("A",), ("B", "C"), ("D",))

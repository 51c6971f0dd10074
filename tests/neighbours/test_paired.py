"""Edges between visited nodes only, and the queue that goes with them."""

from __future__ import annotations

import pytest

from apsl_published.visits import PairedNeighbours
from apsl_rules import learn
from apsl_rules.names import Node
from apsl_rules.neighbours.symmetric import Candidates
from support.graphs import MICRO, dag_of


class Listing:
    """A finder that reads candidates off a mapping and keeps a record of whom it was asked about."""

    def __init__(self, **members: str) -> None:
        self.members = members
        self.asked: list[Node] = []

    def candidates(self, node: Node) -> Candidates:
        """Return the candidates."""
        self.asked.append(node)
        return Candidates(node, tuple(self.members[str(node)]))


def test_neighbours_appear_as_they_are_visited() -> None:
    """Only nodes that were visited and list each other are neighbours, and nobody else is asked about."""
    finder = Listing(t="ab", a="t", b="")
    visited: dict[Node, None] = {"t": None}
    pairs = PairedNeighbours(finder, visited)

    assert pairs.of("t") == ()
    assert finder.asked == ["t"]

    visited["a"] = visited["b"] = None

    assert pairs.of("t") == ("a",)
    assert pairs.linked("a", "t")
    assert not pairs.linked("t", "b")


def test_all_neighbours_are_known_when_all_listed_were_visited() -> None:
    """A node is complete with the last of those whom it lists."""
    visited: dict[Node, None] = {"t": None, "a": None}
    pairs = PairedNeighbours(Listing(t="ab", a="t"), visited)

    assert pairs.all_known("a")
    assert not pairs.all_known("t")
    assert not pairs.all_known("b")

    visited["b"] = None

    assert pairs.all_known("t")


@pytest.mark.parametrize(("depth", "expected"), [(1, "abc"), (2, "abc"), (3, "abcdef")])
def test_the_queue_visits_all_within_the_depth(depth: int, expected: str) -> None:
    """On a -> b <- c -> d -> e <- f it goes on to the depth, and beyond it until the asked edges have arrows."""
    dag = dag_of("a->b c->b c->d d->e f->e", order="abcdef")

    part = learn(dag, "a", depth=depth, learner="pcd-by-pcd-paper")

    assert "".join(map(str, part.visited)) == expected


def test_the_queue_ends_with_all_that_is_connected() -> None:
    """At depth "max" everyone reachable is visited, at most once."""
    part = learn(MICRO["N8"], "A", depth="max", learner="pcd-by-pcd-paper")

    assert sorted(map(str, part.visited)) == ["A", "B", "C", "D", "E"]

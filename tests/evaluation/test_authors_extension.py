"""The authors' guess at open directions: worked by hand, and against plain loops over a matrix."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules import network
from apsl_rules.evaluation.scoring import authors_extension
from apsl_rules.names import Node, Pair
from support.graphs import arrows_of


def lines_of(text: str) -> frozenset[Pair]:
    """Read lines such as "a-b b-c"."""
    return frozenset(frozenset[Node](line.split("-")) for line in text.split())


def test_without_parents_the_first_column_begins() -> None:
    """On a star of lines the first column turns its line outward, then the centre has a parent and goes next."""
    assert authors_extension("abc", (), lines_of("a-b b-c")) == arrows_of("a->b b->c")
    assert authors_extension("cba", (), lines_of("a-b b-c")) == arrows_of("c->b b->a")


def test_the_node_with_most_parents_goes_before_the_first_column() -> None:
    """The node d has two parents and c one more once d points at it, so both go before a, the first column."""
    arrows = arrows_of("p->d q->d")

    assert authors_extension("abcdpq", arrows, lines_of("a-b b-c c-d")) == arrows | arrows_of("d->c c->b b->a")


def test_nothing_is_checked() -> None:
    """A cycle and a new V-structure come out where the rule leads to them."""
    cycle = authors_extension("abc", arrows_of("b->c c->a"), lines_of("a-b"))
    collider = authors_extension("cxypqrs", arrows_of("p->x q->x r->y s->y"), lines_of("x-c y-c"))

    assert cycle == arrows_of("b->c c->a a->b")
    assert collider >= arrows_of("x->c y->c")


def test_only_parents_by_arrows_count() -> None:
    """The node with most lines has no more parents than any other: the first column goes."""
    assert ("a", "m") in authors_extension("amxyz", (), lines_of("a-m m-x m-y m-z"))


def test_child_in_its_own_order_comes_out_right() -> None:
    """In causal order all 25 edges of CHILD come out right, in the reversed order 20: the order leaks."""
    child = network("child")
    order = child.dag.topological_order
    pattern = child.cpdag

    right = [
        len(authors_extension(columns, pattern.arrows, pattern.lines) & child.dag.edges)
        for columns in (order, order[::-1])
    ]

    assert right == [25, 20]


@given(st.integers(0, 10**6), st.integers(2, 7))
def test_it_equals_plain_loops_over_a_matrix(seed: int, size: int) -> None:
    """For any marks the result is that of the rule carried out on a matrix, one node after another."""
    random = np.random.default_rng(seed)
    marks = {pair: int(random.integers(4)) for pair in combinations(range(size), 2)}
    arrows = {(x, y) for (x, y), mark in marks.items() if mark == 1} | {
        (y, x) for (x, y), mark in marks.items() if mark == 2
    }
    lines = {frozenset(pair) for pair, mark in marks.items() if mark == 3}
    columns = random.permutation(size).tolist()

    assert authors_extension(columns, arrows, lines) == naive(columns, arrows, lines)


def naive(columns: list[int], arrows: set[tuple[int, int]], lines: set[frozenset[int]]) -> set[tuple[int, int]]:
    """Carry the rule out on a matrix in which 1 both ways is a line and 1 one way an arrow."""
    place = {node: number for number, node in enumerate(columns)}
    graph = np.zeros((len(columns), len(columns)), dtype=int)
    for x, y in arrows:
        graph[place[x], place[y]] = 1
    for x, y in map(tuple, lines):
        graph[place[x], place[y]] = graph[place[y], place[x]] = 1
    while (both := (graph == 1) & (graph.T == 1)).any():
        parents = ((graph == 1) & (graph.T == 0)).sum(axis=0)
        parents[~both.any(axis=0)] = -1
        tail = int(parents.argmax())
        graph[np.flatnonzero(both[tail]), tail] = 0
    return {(columns[x], columns[y]) for x, y in np.argwhere(graph == 1).tolist()}

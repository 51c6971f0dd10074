"""The greedy equivalence search: its moves against every graph of every class, and where it ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from apsl_backends.kernels.bindings.searches import NEVER, extension_of, pattern_of
from apsl_backends.scores.bde import BDeu
from apsl_backends.search.exact import optimal
from apsl_backends.search.rounds import (
    CLOSED,
    REQUIRED,
    Effort,
    Found,
    Marks,
    climb_rounds,
    open_search,
    rivals,
    search_rounds,
)
from apsl_rules.data.tables import Table
from apsl_rules.graphs.equivalence import cpdag
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.stopping import no_flag
from support.graphs import all_dags, random_dag
from support.scoring import coded, strong_network, tables
from support.searching import handle_of, naive_climb

FOUR = 4
INSERT, DELETE, TURN = range(3)


def marks_of(parents: Mapping[int, Iterable[Any]]) -> Marks:
    """Return a graph as a table of marks."""
    marks = np.zeros((len(parents), len(parents)), np.uint8)
    for node, before in parents.items():
        marks[list(before), node] = 1
    return marks


@cache
def classes() -> tuple[dict[bytes, list[Marks]], list[bytes]]:
    """Return all graphs of four nodes by class."""
    found: dict[bytes, list[Marks]] = {}
    for dag in all_dags(FOUR):
        marks = marks_of({node: dag.parents_of(node) for node in range(FOUR)})
        found.setdefault(pattern_of(marks).tobytes(), []).append(marks)
    return found, sorted(found)


def neighbouring(dag: Marks, kind: int) -> Iterator[Marks]:
    """Return the graphs that one arrow added, deleted or turned makes of a graph."""
    for x, y in permutations(range(FOUR), 2):
        other = dag.copy()
        if kind == INSERT and not dag[x, y] and not dag[y, x]:
            other[x, y] = 1
        elif kind == DELETE and dag[x, y]:
            other[x, y] = 0
        elif kind == TURN and dag[y, x]:
            other[y, x], other[x, y] = 0, 1
        else:
            continue
        if other.tobytes() in acyclic():
            yield other


@cache
def acyclic() -> frozenset[bytes]:
    """Return all graphs of four nodes."""
    return frozenset(dag.tobytes() for members in classes()[0].values() for dag in members)


def total(score: BDeu, dag: Marks) -> int:
    """Score a graph."""
    return sum(score.local(node, tuple(np.flatnonzero(dag[:, node]).tolist())) for node in range(len(dag)))


def moves_of(drawn: Table, penalty: float, marks: Marks, kind: int) -> Iterator[tuple[int, Marks]]:
    """Return what the best move of each pair gains, and the pattern that it leads to."""
    search = open_search(handle_of(drawn, penalty=penalty), range(len(marks)))
    opened = np.ones(marks.shape, np.uint8)
    for x, y in permutations(range(len(marks)), 2):
        gain, after = search.best_move(marks, opened, 6, (kind, x, y), no_flag())
        if gain != NEVER:
            yield gain, after


@pytest.mark.slow
@settings(max_examples=40)
@given(tables(min_columns=FOUR, max_columns=FOUR), st.sampled_from([0.0, 2.0]), st.data())
def test_moves_reach_the_best_neighbouring_class(drawn: Table, penalty: float, data: st.DataObject) -> None:
    """Each move leads to a class one arrow away, gains what the scores differ by, and the best is among them."""
    score = BDeu(drawn, penalty=penalty, order="column")
    found, listed = classes()
    start = data.draw(st.sampled_from(listed))
    own = total(score, found[start][0])
    marks = np.frombuffer(start, np.uint8).reshape(FOUR, FOUR)
    for kind in (INSERT, DELETE, TURN):
        nearby = {pattern_of(other).tobytes(): other for dag in found[start] for other in neighbouring(dag, kind)}
        nearby.pop(start, None)
        best = -np.inf
        for gain, reached in moves_of(drawn, penalty, marks, kind):
            assert reached.tobytes() in nearby
            assert gain == total(score, nearby[reached.tobytes()]) - own
            best = max(best, gain)
        assert best == max((total(score, dag) - own for dag in nearby.values()), default=-np.inf)


@settings(max_examples=40)
@given(tables(min_columns=2, max_columns=5, max_rows=200), st.sampled_from([0.0, 2.0]))
def test_the_search_ends_where_no_move_gains(drawn: Table, penalty: float) -> None:
    """What was gained is what the scores differ by, and no move of any kind gains more."""
    score = BDeu(drawn, penalty=penalty, order="column")
    width = len(drawn.names)
    marks, opened = np.zeros((width, width), np.uint8), np.ones((width, width), np.uint8)
    search = open_search(handle_of(drawn, penalty=penalty), range(width))
    gained = search.greedy(marks, opened, 6, no_flag())
    dag = extension_of(marks)
    assert gained == total(score, dag) - total(score, np.zeros_like(dag))
    assert all(gain <= 0 for kind in (INSERT, DELETE, TURN) for gain, _ in moves_of(drawn, penalty, marks, kind))


@pytest.mark.parametrize("seed", range(12))
def test_large_samples_of_strong_tables_give_the_best_class(seed: int) -> None:
    """On 50,000 rows of five nodes the class found scores as well as the best graph, and is the true one."""
    truth = random_dag(seed, 5, 2.0)
    drawn = sample(strong_network(truth, seed=seed), 50_000, seed=seed)
    score = BDeu(drawn, penalty="columns", order="column")
    found = search_rounds(handle_of(drawn, penalty="columns"), range(5), np.ones((5, 5), np.uint8), Effort(rounds=0))
    assert total(score, found.dag) == optimal(score, range(5)).score
    assert cpdag(score.dag({node: tuple(np.flatnonzero(found.dag[:, node]).tolist()) for node in range(5)})) == cpdag(
        truth
    )


@settings(max_examples=40)
@given(tables(min_columns=4, max_columns=6, max_rows=200), st.data())
def test_a_search_goes_on_from_a_class_over_some_of_the_nodes(drawn: Table, data: st.DataObject) -> None:
    """It never ends below where it began, tells its whole gain, and stays where nothing gains any more."""
    score = BDeu(drawn, penalty=0.5, empirical_weight=0.5, order="column")
    handle, width = handle_of(drawn, penalty=0.5, empirical_weight=0.5), len(drawn.names)
    some = sorted(data.draw(st.sets(st.integers(0, width - 1), min_size=1)))
    smaller = search_rounds(handle, some, np.ones((len(some), len(some)), np.uint8), Effort())
    opened = np.ones((width, width), np.uint8)
    found = search_rounds(handle, range(width), opened, Effort(), smaller)
    assert found.gain >= smaller.gain
    assert found.gain == total(score, found.dag) - total(score, np.zeros_like(found.dag))
    again = search_rounds(handle, range(width), opened, Effort(), found)
    assert again.gain >= found.gain
    if again.gain == found.gain:
        assert np.array_equal(again.marks, found.marks)


@pytest.mark.parametrize("required", [6, 8, 9, 10])
def test_a_climb_scores_families_of_any_size(required: int) -> None:
    """Beyond the parents that a search adds, scores are not cached, and the gain is still that of the graph."""
    random = np.random.default_rng(required)
    codes = random.integers(0, 2, (14, 400))
    codes[0] = codes[1:9].sum(axis=0) + random.integers(0, 3, 400) > 5
    drawn = coded(codes, [f"x{at:02}" for at in range(14)])
    allowed = np.ones((14, 14), np.uint8)
    dag = np.zeros((14, 14), np.uint8)
    for parent in range(14 - required, 14):
        allowed[parent, 0], allowed[0, parent], dag[parent, 0] = REQUIRED, CLOSED, 1
    score = BDeu(drawn, order="column")
    empty = total(score, np.zeros_like(dag))
    gain = total(score, dag) - empty
    found = climb_rounds(handle_of(drawn), range(14), dag, gain=gain, allowed=allowed, effort=Effort())
    assert found.gain == total(score, found.dag) - empty
    assert found.gain >= gain
    assert (found.dag[14 - required :, 0] == 1).all()


@settings(max_examples=40)
@given(tables(min_columns=3, max_columns=5), st.data())
def test_the_climb_goes_like_one_that_scores_everything_anew(drawn: Table, data: st.DataObject) -> None:
    """The graph that it ends with scores as well as that of the slow climb with the same limits."""
    score = BDeu(drawn, order="column")
    width = len(drawn.names)
    nodes = range(width)
    tabu, patience, most = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 8)), data.draw(st.integers(1, 6))
    dag = np.zeros((width, width), np.uint8)
    search, opened = open_search(handle_of(drawn), nodes), np.ones((width, width), np.uint8)
    gained = search.climb(dag, opened, most, patience=patience, tabu=tabu, stop=no_flag())
    pairs = list(permutations(nodes, 2))
    _, top, _ = naive_climb(
        score.local, nodes, pairs, {}, tabu=tabu, patience=patience, max_parents=most, turn_any=False
    )
    assert total(score, dag) == top == gained + sum(score.local(node, ()) for node in nodes)


@settings(max_examples=40)
@given(tables(min_columns=FOUR, max_columns=FOUR, max_rows=200))
def test_rivals_are_the_best_without_the_feature(drawn: Table) -> None:
    """For each pair it is the best class one arrow away that joins the two, or does not; the families say the rest."""
    score = BDeu(drawn, penalty=1.0, order="column")
    opened = np.ones((FOUR, FOUR), np.uint8)
    handle = handle_of(drawn, penalty=1.0)
    found = search_rounds(handle, range(FOUR), opened, Effort())
    own = total(score, found.dag)
    members = classes()[0][found.marks.tobytes()]
    for x, y in permutations(range(FOUR), 2):
        joined = bool(found.marks[x, y] | found.marks[y, x])
        nearby = [other for dag in members for other in neighbouring(dag, DELETE if joined else INSERT)]
        without = [total(score, other) for other in nearby if bool(other[x, y] | other[y, x]) != joined]
        (rival,) = rivals(handle, found, opened, 6, [(x, y)])
        assert rival is not None
        assert rival.ahead == own - max(without)
        assert rival.ahead == sum(score.local(one.node, one.ours) - score.local(one.node, one.theirs)
                                  for one in rival.families)  # fmt: skip


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([100, 400]))
def test_rivals_of_triples_undo_them(seed: int, rows: int) -> None:
    """An unshielded triple has a rival one move away, never ahead of the class found, and its families say how far."""
    drawn = sample(strong_network(random_dag(seed, FOUR, 1.5), seed=seed), rows, seed=seed)
    score = BDeu(drawn, penalty=1.0, order="column")
    opened = np.ones((FOUR, FOUR), np.uint8)
    handle = handle_of(drawn, penalty=1.0)
    found = search_rounds(handle, range(FOUR), opened, Effort())
    triples = _triples(found)
    assume(triples)
    for triple in triples:
        (rival,) = rivals(handle, found, opened, 6, [triple])
        assert rival is not None
        assert rival.ahead >= 0
        assert rival.ahead == sum(score.local(one.node, one.ours) - score.local(one.node, one.theirs)
                                  for one in rival.families)  # fmt: skip


def _triples(found: Found) -> list[tuple[int, int, int]]:
    edges = found.marks | found.marks.T
    return [
        (x, middle, y)
        for x, middle, y in permutations(range(len(edges)), 3)
        if x < y and edges[x, middle] and edges[middle, y] and not edges[x, y]
    ]

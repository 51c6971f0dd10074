"""The search over orders: best graphs of few nodes, limits, flags, closed pairs, and true graphs of many rows."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_backends.kernels.bindings.scores import ScoreHandle
from apsl_backends.kernels.bindings.searches import (
    MOST_LOSS,
    MOST_NOTED,
    NEVER,
    Marks,
    OrderOutcome,
    SearchHandle,
    best_by_pairs,
    pattern_of,
)
from apsl_backends.search.rounds import MOST_TRIES, Effort, open_search, search_rounds
from apsl_rules.data.tables import Table
from apsl_rules.stopping import INTERRUPTED, no_flag
from support.determinants import Blocks, draw_blocks, tables_of_blocks
from support.joint_scores import best_parents
from support.moment_scores import draw_dag, draw_linear, gaussian_handle
from support.naive_orders import NaiveOrders
from support.scoring import tables
from support.searching import handle_of


def every_pair(width: int) -> Marks:
    """Return that all pairs may be joined."""
    return np.ones((width, width), np.uint8)


def total(handle: ScoreHandle, dag: Marks) -> int:
    """Score a graph, in units, with the penalties of its parents."""
    parents = [np.flatnonzero(dag[:, node]) for node in range(len(dag))]
    return sum(handle.local(node, before) - handle.penalty * len(before) for node, before in enumerate(parents))


def search(handle: ScoreHandle, dag: Marks, **changes: Any) -> OrderOutcome:
    """Search over orders of all nodes of a score."""
    options: dict[str, Any] = {"starts": 4, "kicks": 5, "most_loss": MOST_LOSS, "seed": 1, "stop": no_flag()} | changes
    opened, limit = options.pop("opened", every_pair(len(dag))), options.pop("limit", 8)
    options.setdefault("near", np.arange(len(dag)))
    return open_search(handle, range(len(opened))).order(dag, opened, limit, **options)


def empty(width: int) -> Marks:
    """Return a graph without arrows."""
    return np.zeros((width, width), np.uint8)


def is_acyclic(dag: Marks) -> bool:
    """Return whether a graph has no directed cycle."""
    return not np.linalg.matrix_power(dag.astype(np.int64), len(dag)).any()


def best_score(handle: ScoreHandle, width: int, most: int) -> int:
    """Return the best score of all graphs, by dynamic programming."""
    return best_parents(handle.joints(np.arange(width), no_flag()), width, handle.penalty, most)


@settings(max_examples=30)
@given(tables_of_blocks(("number", "curve", "category"), most=6), st.sampled_from([0.0, 2.0]))
def test_graphs_of_few_numbers_are_scored_right(table: Blocks, penalty: float) -> None:
    """The score is that of the graph that is told, and no more than that of the best graph."""
    handle, width = gaussian_handle(table, penalty), table.number
    found = search(handle, empty(width))
    assert is_acyclic(found.dag)
    assert total(handle, found.dag) == found.score == found.gain
    assert found.score <= best_score(handle, width, 8)


@settings(max_examples=30)
@given(tables(min_columns=2, max_columns=6, max_rows=200), st.sampled_from([0.0, 0.5]), st.integers(1, 8))
def test_graphs_of_few_categories_are_scored_right(drawn: Table, empirical_weight: float, most: int) -> None:
    """The same for counted rows with both priors, and for any limit of parents."""
    handle, width = handle_of(drawn, penalty=1.0, empirical_weight=empirical_weight), len(drawn.names)
    found = search(handle, empty(width), limit=most)
    assert found.dag.sum(axis=0).max() <= most
    assert total(handle, found.dag) == found.score <= best_score(handle, width, most)
    assert found.gain == found.score - total(handle, empty(width))


def test_the_best_graph_of_few_nodes_is_found() -> None:
    """Of 100 tables at most four are missed: parents that gain only together are not added one by one."""
    found = 0
    for seed in range(100):
        kinds = [("number", "curve", "category")[(seed + place) % 3] for place in range(3 + seed % 4)]
        handle = gaussian_handle(draw_blocks(kinds, 80, seed), 1.0)
        found += search(handle, empty(len(kinds)), kicks=20).score == best_score(handle, len(kinds), 8)
    assert found >= 96


@settings(max_examples=40)
@given(tables_of_blocks(), st.integers(0, 8), st.integers(0, 2), st.data())
def test_no_graph_becomes_worse(table: Blocks, limit: int, kicks: int, data: st.DataObject) -> None:
    """Whatever graph is given, and whatever may be joined, the result scores at least as much."""
    width = table.number
    handle = gaussian_handle(table, 1.0)
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    order = random.permutation(width)
    dag = np.triu(random.integers(0, 2, (width, width)), 1).astype(np.uint8)[np.ix_(order, order)].copy()
    opened = random.integers(0, 3, (width, width)).astype(np.uint8)
    found = search(handle, dag, opened=opened, limit=limit, starts=2, kicks=kicks)
    assert is_acyclic(found.dag)
    assert found.score == total(handle, found.dag) == found.gain + total(handle, dag)
    assert found.gain >= 0
    if found.gain:
        assert found.dag.sum(axis=0).max() <= limit
        assert not (found.dag & (opened == 0)).any()
    else:
        assert np.array_equal(found.dag, dag)


@settings(max_examples=30)
@given(tables_of_blocks(("number", "curve", "category", "copy", "sum"), most=8), st.integers(1, 4), st.booleans())
def test_a_start_goes_like_one_that_scores_everything_anew(table: Blocks, limit: int, priced: bool) -> None:
    """The graph is that of a slow search, arrow by arrow: known and estimated gains change nothing."""
    handle, width = gaussian_handle(table, 1.5 * priced), table.number

    def local(node: int, parents: tuple[int, ...]) -> int:
        return handle.local(node, np.array(parents, np.int64)) - handle.penalty * len(parents)

    expected, score = NaiveOrders(local, limit).search(list(range(width)))
    found = search(handle, empty(width), limit=limit, starts=1, kicks=0)
    assert found.score == score
    graph = {node: frozenset(np.flatnonzero(found.dag[:, node]).tolist()) for node in range(width)}
    assert graph == (expected if score else dict.fromkeys(range(width), frozenset()))


def test_the_given_graph_is_not_changed() -> None:
    """The best graph is another matrix."""
    table = draw_linear(draw_dag(8, 3, 2), 500, 2)
    dag = empty(8)
    dag.setflags(write=False)
    assert search(gaussian_handle(table), dag).gain > 0
    assert not dag.any()


def test_closed_pairs_are_never_joined() -> None:
    """Arrows that are closed do not occur, even if they would gain most."""
    true = draw_dag(12, 4, 3)
    opened = (every_pair(12) - true).astype(np.uint8)
    found = search(gaussian_handle(draw_linear(true, 1000, 3), 1.0), empty(12), opened=opened)
    assert found.dag.any()
    assert not (found.dag & true).any()


def test_the_same_search_gives_the_same_graph() -> None:
    """The seed decides everything, and known scores change nothing."""
    table = draw_linear(draw_dag(20, 4, 1), 300, 1)
    handle = gaussian_handle(table, log(20))
    first, again = search(handle, empty(20)), search(handle, empty(20))
    fresh = search(gaussian_handle(table, log(20)), empty(20))
    for other in (again, fresh):
        assert np.array_equal(first.dag, other.dag)
        assert first[1:5] == other[1:5]
        assert first.seen is not None
        assert other.seen is not None
        assert np.array_equal(first.seen, other.seen)
    small = SearchHandle(gaussian_handle(table, log(20)), np.arange(20), most_known=2)
    options: dict[str, Any] = {"starts": 4, "kicks": 5, "most_loss": MOST_LOSS, "seed": 1, "stop": no_flag()}
    forgetful = small.order(empty(20), every_pair(20), 8, near=np.arange(20), **options)
    assert np.array_equal(first.dag, forgetful.dag)
    assert first.starts == 4
    assert 1 <= first.agreeing <= 4


def test_graphs_near_the_best_one_are_noted() -> None:
    """For each pair the graph found counts on its side, and no graph seen scores more than the best there."""
    handle = gaussian_handle(draw_linear(draw_dag(8, 3, 4), 60, 4), log(20))
    found = search(handle, empty(8), kicks=20, behind=round(5 * handle.scale))
    masks = np.full(8, (1 << 8) - 1, np.int64)
    joints = handle.joints(np.arange(8), no_flag())
    best = best_by_pairs(joints, masks, 8, handle.penalty, no_flag())
    assert found.seen is not None
    was_seen = found.seen != NEVER
    assert (found.seen[was_seen] <= best[was_seen]).all()
    joined = np.triu(found.dag | found.dag.T) > 0
    sides = np.where(np.triu(np.ones((8, 8), np.bool_), 1), joined, np.tril(~joined.T, -1))
    assert (found.seen[sides] == found.score).all()
    assert (was_seen & ~sides).any()
    assert not (found.seen[~sides] == found.score).all()


def test_of_many_nodes_no_graphs_are_noted() -> None:
    """No matrix of all pairs is kept."""
    width = MOST_NOTED + 1
    handle = gaussian_handle(draw_linear(np.zeros((width, width), np.uint8), 20, 4), log(width))
    assert search(handle, empty(width), starts=1, kicks=0, near=np.arange(2), behind=1).seen is None


def test_walks_that_give_up_score_fewer_families() -> None:
    """A bound on the loss of a walk saves work; the graph is still no worse than the given one."""
    table = draw_linear(draw_dag(30, 4, 6), 500, 6)
    tried, scores = [], []
    for loss in (0, 3, 30):
        handle = gaussian_handle(table, log(30))
        scores.append(search(handle, empty(30), starts=1, most_loss=round(loss / 3 * handle.penalty)).score)
        tried.append(handle.tried)
    assert tried == sorted(tried)
    assert tried[0] < tried[-1]
    assert min(scores) > 0


def test_a_search_near_some_nodes_scores_fewer_families() -> None:
    """Only these are reinserted; the graph is still better than the given one, and no better than with all nodes."""
    table = draw_linear(draw_dag(30, 4, 6), 500, 6)
    handles = [gaussian_handle(table, log(30)) for _ in range(2)]
    near, everywhere = (
        search(handle, empty(30), starts=1, near=np.arange(count))
        for handle, count in zip(handles, (5, 30), strict=True)
    )
    assert handles[0].tried < handles[1].tried
    assert 0 < near.score <= everywhere.score


def test_more_kicks_never_lose() -> None:
    """What a kick leads to is kept only if it is not worse, and the first kicks are the same."""
    table = draw_linear(draw_dag(30, 8, 4), 300, 4)
    scores = [search(gaussian_handle(table, 3.0), empty(30), starts=1, kicks=count).score for count in (0, 5, 20, 80)]
    assert scores == sorted(scores)
    assert scores[0] < scores[-1]


def test_more_starts_begin_like_fewer() -> None:
    """A further start changes nothing about those before it, so the score only grows."""
    table = draw_linear(draw_dag(30, 8, 4), 1000, 4)
    scores = [search(gaussian_handle(table, 3.0), empty(25), starts=count, kicks=0).score for count in range(1, 7)]
    assert scores == sorted(scores)
    assert scores[0] < scores[-1]


def _recovered(dag: Marks, table: Blocks) -> bool:
    found = search(gaussian_handle(table, log(len(dag))), empty(len(dag)))
    return bool(np.array_equal(pattern_of(found.dag), pattern_of(dag)))


@pytest.mark.slow
def test_true_graphs_of_many_rows_are_recovered() -> None:
    """Most classes of 20 numbers with degree 4 are found exactly from 1,000 rows, in any order of the columns."""
    found = []
    for seed in range(16):
        dag, order = draw_dag(20, 4, seed), np.random.default_rng(seed).permutation(20)
        table = draw_linear(dag, 1000, seed)
        mixed = Blocks(np.ascontiguousarray(table.columns[:, order]), table.starts)
        found.append(_recovered(dag[np.ix_(order, order)].copy(), mixed))
    assert sum(found) >= 12


@pytest.mark.parametrize("width", [0, 1, 2])
def test_hardly_any_nodes_are_no_trouble(width: int) -> None:
    """Up to two nodes have an order too."""
    table = draw_blocks(["number"] * 2, 50, 1)
    handle = gaussian_handle(table)
    found = open_search(handle, range(width)).order(
        empty(width),
        every_pair(width),
        8,
        near=np.arange(width),
        starts=3,
        kicks=3,
        most_loss=MOST_LOSS,
        seed=0,
        stop=no_flag(),
    )
    assert (found.dag.shape, found.starts, found.agreeing) == ((width, width), 3, 3)


def test_some_hundred_nodes_can_be_ordered() -> None:
    """Places beyond 64 are nodes like others: a long chain is found."""
    width = 150
    dag = np.eye(width, k=1, dtype=np.uint8)
    opened = (dag | dag.T | np.eye(width, k=7, dtype=np.uint8)).astype(np.uint8)
    found = search(gaussian_handle(draw_linear(dag, 500, 1), 5.0), empty(width), opened=opened, starts=1, kicks=0)
    assert np.array_equal(found.dag | found.dag.T, dag | dag.T)


def _stopped(handle: ScoreHandle) -> OrderOutcome:
    stop = no_flag()
    stop[0] = INTERRUPTED
    return search(handle, empty(15), stop=stop)


def _exhausted(handle: ScoreHandle) -> OrderOutcome:
    one = open_search(handle, range(15))
    handle.allow(500)
    return one.order(
        empty(15), every_pair(15), 8, near=np.arange(15), starts=4, kicks=5, most_loss=MOST_LOSS, seed=1, stop=no_flag()
    )


@pytest.mark.parametrize("run", [_stopped, _exhausted])
def test_a_search_ends_early_with_a_graph(run: Callable[[ScoreHandle], OrderOutcome]) -> None:
    """A set flag and the limit of moves end it at once, with a graph that is no worse than the given one."""
    handle = gaussian_handle(draw_linear(draw_dag(15, 4, 1), 500, 1), 1.0)
    found = run(handle)
    assert (found.starts, found.agreeing) == (0, 0)
    assert is_acyclic(found.dag)
    assert found.score == total(handle, found.dag)
    assert found.gain >= 0
    assert handle.tried < 1000


def test_wrong_arguments_are_refused() -> None:
    """Graphs have no cycle; starts, kicks, seeds and limits are in range."""
    handle = gaussian_handle(draw_blocks(["number"] * 4, 50, 1))
    cycle = np.roll(np.eye(4, dtype=np.uint8), 1, axis=1)
    with pytest.raises(ValueError, match="out of range"):
        search(handle, cycle)
    wrong: list[dict[str, Any]] = [
        *({"starts": value} for value in (0, -1, 1 << 64)),
        *({"kicks": value} for value in (-1, 1 << 64)),
        *({"most_loss": value} for value in (-1, MOST_LOSS + 1)),
        *({"near": np.array(value)} for value in ([1, 0], [-1, 2], [4], [2, 2])),
        *({"seed": value} for value in (-1, 1 << 63)),
        *({"limit": value} for value in (-1, 25)),
        {"opened": every_pair(4) + 2},
    ]
    for changes in wrong:
        with pytest.raises(ValueError, match="cannot be"):
            search(handle, empty(4), **changes)
    matrices: list[Any] = [empty(3), empty(4).astype(np.int64), empty(8)[::2, ::2]]
    for matrix in matrices:
        with pytest.raises(TypeError, match="must be a contiguous array of"):
            search(handle, matrix, opened=every_pair(4), near=np.arange(4))


def test_rounds_end_with_a_search_over_orders() -> None:
    """With starts, the class found is at least as good, its gain is that of its graph, and starts are told."""
    dag = draw_dag(20, 4, 5)
    handle = gaussian_handle(draw_linear(dag, 1000, 5), log(20))
    plain = search_rounds(handle, range(20), every_pair(20), Effort(max_parents=8))
    assert (plain.starts, plain.agreeing) == (0, None)
    found = search_rounds(handle, range(20), every_pair(20), Effort(max_parents=8, starts=4, kicks=5))
    assert found.gain > plain.gain
    assert found.gain == total(handle, found.dag)
    assert np.array_equal(found.marks, pattern_of(found.dag))
    assert np.array_equal(found.marks, pattern_of(dag))
    assert (found.starts, found.finished) == (12, True)  # three times as many for so few nodes
    assert found.agreeing is not None
    assert 1 <= found.agreeing <= 12
    assert handle.tried < MOST_TRIES

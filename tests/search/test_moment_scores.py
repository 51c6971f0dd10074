"""The Gaussian score inside the searches: its families, ties, singular matrices, and the best graphs."""

from __future__ import annotations

from itertools import permutations
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from apsl_backends.kernels.bindings.moments import TOLERANCE
from apsl_backends.kernels.bindings.scores import ScoreHandle, largest_scale
from apsl_backends.kernels.bindings.searches import Marks, SearchHandle, best_graph, pattern_of
from apsl_backends.scores.bde import unit_for
from apsl_backends.search.rounds import Effort, open_search, rivals, search_rounds
from apsl_rules.stopping import INTERRUPTED, no_flag
from support.determinants import Blocks, draw_blocks, tables_of_blocks
from support.joint_scores import best_parents
from support.moment_scores import SCALE, draw_dag, draw_linear, gaussian_handle, plain_family
from support.searching import every_graph

FULL_RANK = ("number", "curve", "category")


def integers(*numbers: int) -> Any:
    """Return numbers as the kernels take them."""
    return np.array(numbers, np.int64)


def total(handle: ScoreHandle, dag: Marks) -> int:
    """Score a graph, in units, with the penalties of its parents."""
    parents = [np.flatnonzero(dag[:, node]) for node in range(len(dag))]
    return sum(handle.local(node, before) - handle.penalty * len(before) for node, before in enumerate(parents))


def is_regular(table: Blocks) -> bool:
    """Return whether determinants of the table are accurate."""
    scale = 1 / np.sqrt(np.diag(table.matrix))
    return bool(np.linalg.cond(table.matrix * np.outer(scale, scale)) < 1e4)


@given(tables_of_blocks(FULL_RANK), st.sampled_from([1.0, 1.5]), st.data())
def test_families_agree_with_determinants(table: Blocks, factor: float, data: st.DataObject) -> None:
    """The score of a family is that of numpy's determinants, in any order of its parents."""
    assume(is_regular(table))
    node, *rest = data.draw(st.permutations(range(table.number)))
    parents = rest[: data.draw(st.integers(0, len(rest)))]
    found = gaussian_handle(table, penalty_factor=factor).local(node, integers(*parents)) / SCALE
    assert found == pytest.approx(plain_family(table, node, parents, factor), rel=1e-9, abs=1e-7)
    assert parents or found == 0


@given(tables_of_blocks(), st.data())
def test_gains_and_joints_are_differences_of_families(table: Blocks, data: st.DataObject) -> None:
    """All figures agree exactly, also where columns depend on each other."""
    handle = gaussian_handle(table, penalty=2.5)
    node, *rest = data.draw(st.permutations(range(table.number)))
    parents = rest[: data.draw(st.integers(0, len(rest)))]
    own = handle.local(node, integers(*parents))
    for other, gain in zip(rest, handle.gains(node, integers(*parents), integers(*rest)).tolist(), strict=True):
        changed = sorted({*parents} ^ {other})
        sign = 1 if other in parents else -1
        assert gain == handle.local(node, integers(*changed)) - own + sign * handle.penalty
    joints = handle.joints(np.arange(table.number), no_flag())
    before = sum(1 << one for one in parents)
    assert joints[before | 1 << node] - joints[before] == own


@settings(max_examples=40)
@given(tables_of_blocks(most=5), st.data())
def test_equivalent_graphs_have_equal_scores(table: Blocks, data: st.DataObject) -> None:
    """All graphs of a class have the same sum of units, whatever the table is like."""
    width = table.number
    handle = gaussian_handle(table, penalty=1.0)
    dag = np.zeros((width, width), np.uint8)
    order = data.draw(st.permutations(range(width)))
    for at, node in enumerate(order):
        dag[data.draw(st.lists(st.sampled_from(order[:at]), unique=True)) if at else [], node] = 1
    pattern = pattern_of(dag).tobytes()
    for _ in range(10):
        turned = dag.copy()
        tail, head = data.draw(st.sampled_from(list(permutations(range(width), 2))))
        if not dag[tail, head]:
            continue
        turned[tail, head], turned[head, tail] = 0, 1
        reach = np.linalg.matrix_power(np.eye(width) + turned, width)
        if np.count_nonzero((reach > 0) & (reach.T > 0)) == width and pattern_of(turned).tobytes() == pattern:
            assert total(handle, turned) == total(handle, dag)
            dag = turned


@given(
    st.integers(0, 2**32 - 1), st.lists(st.sampled_from(["copy", "sum", "constant", "twice"]), min_size=1, max_size=3)
)
def test_what_depends_on_other_columns_has_a_finite_figure(seed: int, kinds: list[str]) -> None:
    """No family of a singular matrix scores more than the tolerance allows, and constants score nothing."""
    table = draw_blocks(["number", "curve", *kinds, "number"], 60, seed)
    handle = gaussian_handle(table)
    joints = handle.joints(np.arange(table.number), no_flag()) / SCALE
    columns = len(table.matrix)
    assert np.abs(joints).max() <= 30 * columns * -log(TOLERANCE) + columns**2 * log(60)
    for node, kind in enumerate(kinds, 2):
        if kind == "constant":
            assert handle.local(node, integers(0, 1)) == 0


@given(st.integers(0, 2**32 - 1), st.permutations(range(4)))
def test_a_redundant_parent_gains_nothing(seed: int, order: list[int]) -> None:
    """A copy of a parent, or a sum of parents, adds its penalty and nothing else, wherever it is among the columns."""
    random = np.random.default_rng(seed)
    first, second = random.normal(size=(2, 80))
    child = first + 0.5 * second + random.normal(size=80)
    for redundant in (3.0 * first, first - second):
        columns = np.column_stack([first, second, redundant, child])[:, order]
        a, b, copy, node = (order.index(one) for one in range(4))
        handle = gaussian_handle(Blocks(columns, np.arange(5)))
        gain = int(handle.gains(node, integers(a, b), integers(copy))[0]) / SCALE
        assert gain == pytest.approx(-log(80) / 2, abs=1e-4)


@settings(max_examples=25, deadline=None)
@given(tables_of_blocks(("number", "curve", "category", "copy"), most=5), st.sampled_from([0.0, 2.0]))
def test_searches_find_the_best_graph_of_few_nodes(table: Blocks, penalty: float) -> None:
    """No graph scores better than the exact search says, and greedy search with a climb finds as much."""
    handle, width = gaussian_handle(table, penalty), table.number
    joints = handle.joints(np.arange(width), no_flag())
    best = best_parents(joints, width, handle.penalty, 8)
    assert best_graph(joints, np.full(width, (1 << width) - 1), 8, handle.penalty, no_flag())[1] == best
    found = search_rounds(handle, range(width), np.ones((width, width), np.uint8), Effort(max_parents=8))
    assert found.gain == total(handle, found.dag)
    assert found.gain == best


def test_every_graph_of_four_numbers_is_scored_alike_by_search_and_families() -> None:
    """The best of all graphs is that of the exact search."""
    table = draw_blocks(["number"] * 4, 60, 3)
    handle = gaussian_handle(table, 1.0)
    families = max(
        sum(handle.local(node, integers(*before)) - handle.penalty * len(before) for node, before in graph.items())
        for graph in every_graph(range(4))
    )
    joints = handle.joints(np.arange(4), no_flag())
    assert best_graph(joints, np.full(4, 15), 8, handle.penalty, no_flag())[1] == families


@pytest.mark.parametrize("parents", [7, 8])
def test_a_node_gets_up_to_eight_parents(parents: int) -> None:
    """The search finds all parents of a sum of many numbers, and no family is taken for another."""
    dag = np.zeros((10, 10), np.uint8)
    dag[:parents, 9] = 1
    table = draw_linear(dag, 2000, 1)
    handle = gaussian_handle(table, log(10))
    found = search_rounds(handle, range(10), np.ones((10, 10), np.uint8), Effort(max_parents=8))
    assert np.array_equal(found.dag, dag)
    assert found.gain == total(handle, dag)
    fewer = search_rounds(handle, range(10), np.ones((10, 10), np.uint8), Effort(max_parents=6))
    assert fewer.dag.sum(axis=0).max() <= 6


def test_rivals_say_how_far_ahead_an_edge_is() -> None:
    """The best class without the only edge of two numbers is the empty one."""
    table = draw_linear(np.array([[0, 1], [0, 0]], np.uint8), 200, 5)
    handle = gaussian_handle(table, 1.0)
    found = search_rounds(handle, range(2), np.ones((2, 2), np.uint8), Effort())
    (rival,) = rivals(handle, found, np.ones((2, 2), np.uint8), 6, [(0, 1)])
    assert rival is not None
    assert rival.ahead == found.gain == total(handle, found.dag)


def test_rows_and_moments_can_follow_each_other() -> None:
    """A score forgets what it knew when it gets moments or rows, and both score as new handles do."""
    table = draw_blocks(["number"] * 3, 60, 3)
    codes = np.ascontiguousarray(table.columns.T > 0).astype(np.uint8)
    both = ScoreHandle(3, scale=SCALE, penalty=0)
    both.allow(10**6)
    gains = []
    for _ in range(2):
        both.set_moments(table.matrix, table.starts, 60)
        gains.append(search_rounds(both, range(3), np.ones((3, 3), np.uint8), Effort()).gain)
        with pytest.raises(ValueError, match="out of range"):
            both.add_node(0, 0, 2)
        both.set_rows(codes)
        with pytest.raises(ValueError, match="out of range"):
            both.local(0, integers(1))
        for node in range(3):
            both.add_node(node, node, 2)
        gains.append(search_rounds(both, range(3), np.ones((3, 3), np.uint8), Effort()).gain)
    assert gains[:2] == gains[2:]
    assert gains[0] == search_rounds(gaussian_handle(table), range(3), np.ones((3, 3), np.uint8), Effort()).gain


def test_wrong_moments_are_refused() -> None:
    """A matrix must be one of covariances with a block for each node, and figures must not overflow."""
    handle, matrix, starts = ScoreHandle(3, scale=SCALE, penalty=0), np.eye(3), np.arange(4)
    wrong: list[tuple[Any, ...]] = [
        (matrix.astype(np.float32), starts, 50),
        (matrix[:2], starts, 50),
        (np.triu(np.full((3, 3), 0.5)) + matrix / 2, starts, 50),
        (matrix, np.arange(3), 50),
        (matrix, integers(0, 1, 3), 50),
        (matrix, starts, 0.5),
        (matrix, starts, float("nan")),
        (matrix, starts, 1e12),
    ]
    sentence = r"^(the )?(matrix|starts|rows|number of blocks|scale) (must|is|cannot)"
    for arguments in wrong:
        with pytest.raises((TypeError, ValueError), match=sentence):
            handle.set_moments(*arguments)
    for factor in (-1.0, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="penalty_factor"):
            handle.set_moments(matrix, starts, 50, penalty_factor=factor)
    with pytest.raises(ValueError, match="tolerance"):
        handle.set_moments(matrix, starts, 50, tolerance=1e-13)
    assert largest_scale(3, 1e12) < SCALE <= largest_scale(3, 50)
    handle.set_moments(matrix, starts, 50)
    for node, parents in ((0, integers(1, 1)), (0, integers(0)), (3, integers()), (0, integers(3))):
        with pytest.raises(ValueError, match=r"out of range|cannot be"):
            handle.local(node, parents)
    with pytest.raises(ValueError, match="out of range"):
        handle.joints(integers(0, 1, 1, 1, 1), no_flag())
    with pytest.raises(ValueError, match="by moments"):
        handle.score_counts(integers(1, 2), 2.0)


def test_a_set_flag_ends_the_search() -> None:
    """A greedy search by moments looks at its flag."""
    table = draw_linear(draw_dag(10, 3, 1), 500, 1)
    stop = no_flag()
    stop[0] = INTERRUPTED
    marks = np.zeros((10, 10), np.uint8)
    search = open_search(gaussian_handle(table), range(10))
    assert isinstance(search, SearchHandle)
    assert search.greedy(marks, np.ones((10, 10), np.uint8), 8, stop) == 0
    assert not marks.any()


def test_units_of_counts_stay_as_they_were() -> None:
    """A unit of counts is as fine as 2⁻⁴⁰ nats, which moments take too for usual tables."""
    assert largest_scale(100, 10_000) > 2.0**30
    assert unit_for(1000, np.full(10, 3), 10.0, 1.0) == 2.0**-40

"""The bindings of scores and searches: what is not as the kernels need it is refused, and never read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from apsl_backends.kernels.bindings.scores import ScoreHandle
from apsl_backends.kernels.bindings.searches import SearchHandle, best_graph, extension_of, pattern_of
from apsl_rules.stopping import no_flag
from support.joint_scores import handle_for

CODES = np.random.default_rng(1).integers(0, 3, (4, 50)).astype(np.uint8)
OPENED = np.ones((4, 4), np.uint8)
EMPTY = np.zeros((4, 4), np.uint8)
NUMBERS = np.arange(4)
WRONG = (TypeError, ValueError)
FORM = "must be a contiguous array of"


def handle() -> ScoreHandle:
    """Return a score of four columns."""
    one = handle_for(CODES, [3] * 4, None, 1.0, [])
    one.allow(10**6)
    return one


def search() -> SearchHandle:
    """Return a search over four columns."""
    return SearchHandle(handle(), NUMBERS, most_known=64)


def unlike(array: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """Return arrays that differ from a right one by type, layout or shape."""
    strided = np.repeat(array, 2, axis=-1)[..., ::2]
    return [
        array.astype(np.float64),
        array.astype(np.int16),
        *([array.astype(array.dtype.newbyteorder())] if array.itemsize > 1 else []),
        strided,
        array[..., :-1] if array.ndim == 1 else array[:-1, :-1],
        array.reshape(1, *array.shape),
        *([np.asfortranarray(array[:, ::-1])] if array.ndim > 1 else []),
    ]


@pytest.mark.parametrize(
    ("parents", "names"),
    [
        ([[4], []], [[0, 1]]),
        ([[0], []], [[0, 1]]),
        ([[1, 1, 1], []], [[0, 1]]),
        ([[1], []], [[0, 0]]),
        ([[1], []], [[0, 1], [0, 2]]),
        ([[1], []], [[0, 1, 2]]),
        ([[1], []], [[0, 9]]),
    ],
)
def test_a_graph_that_cannot_be_renamed_is_refused(parents: list[list[int]], names: list[list[int]]) -> None:
    """Parents are other places, each once, and every row of names exchanges the same nodes."""
    with pytest.raises(WRONG):
        handle().renamed(parents, np.array(names), np.zeros(4, np.int64), 0)


@pytest.mark.parametrize(
    ("codes", "sentence"),
    [
        (CODES.T, f"codes {FORM} uint8"),
        (CODES[:, ::2], f"codes {FORM} uint8"),
        (CODES.astype(np.int64), "the codes cannot be dtype.'int64'"),
        (CODES.astype(np.float32), "the codes cannot be dtype.'float32'"),
        (CODES[:, :0], "number of rows"),
        (CODES[:0, :0], "number of rows"),
    ],
)
def test_wrong_codes_are_refused(codes: Any, sentence: str) -> None:
    """Codes must be contiguous, unsigned and of 8, 16 or 32 bits, and there must be a row."""
    with pytest.raises(WRONG, match=sentence):
        handle().set_rows(codes)


def test_wrong_weights_are_refused() -> None:
    """Weights must be as many as rows, and their sum must be countable."""
    right = np.ones(50, np.int32)
    for weights in unlike(right):
        with pytest.raises(TypeError, match=f"weights {FORM} int32"):
            handle().set_rows(CODES, weights)
    for value in (-1, 2**31 - 1):
        with pytest.raises(ValueError, match="sum of the weights"):
            handle().set_rows(CODES, np.full(50, value, np.int32))


def test_columns_out_of_range_are_refused() -> None:
    """Nodes, places and codes must be in range; a node without a column has no score."""
    fresh = ScoreHandle(4, ess=1.0, scale=1.0, penalty=0, empirical=False)
    with pytest.raises(ValueError, match="out of range"):
        fresh.add_node(0, 0, 3)
    fresh.set_rows(CODES)
    for node, place, card in ((-1, 0, 3), (4, 0, 3), (0, -1, 3), (0, 4, 3), (0, 0, 2), (0, 0, 0), (0, 0, -5)):
        with pytest.raises(ValueError, match=r"out of range|cannot be"):
            fresh.add_node(node, place, card)
    fresh.add_node(0, 0, 3)
    for call in (
        lambda: fresh.local(1, np.empty(0, np.int64)),
        lambda: fresh.local(0, np.array([1])),
        lambda: fresh.local(0, np.array([-1])),
        lambda: fresh.gains(0, np.empty(0, np.int64), np.array([2**40])),
        lambda: fresh.joints(np.array([0, 3]), no_flag()),
    ):
        with pytest.raises(ValueError, match="out of range"):
            call()


def test_wrong_log_priors_are_refused() -> None:
    """An empirical prior has a log prior for each level, and a uniform one has none."""
    empirical = ScoreHandle(4, ess=1.0, scale=1.0, penalty=0, empirical=True)
    empirical.set_rows(CODES)
    right = np.zeros(3, np.int32)
    for wrong in (None, *unlike(right), right - 1, right + 10**6):
        with pytest.raises(WRONG, match=f"log_priors ({FORM} int32|cannot be)"):
            empirical.add_node(0, 0, 3, wrong)
    with pytest.raises(ValueError, match="log_priors"):
        handle().add_node(0, 0, 3, right)
    with pytest.raises(ValueError, match="the prior"):
        empirical.score_counts(np.ones(3, np.int64), 3.0)


def test_wrong_lists_are_refused() -> None:
    """Lists of nodes and counts are contiguous 64-bit integers."""
    one = handle()
    for wrong in (NUMBERS.astype(np.int32), np.arange(8)[::2], NUMBERS.reshape(2, 2), NUMBERS.astype(float)):
        for name, call in (
            ("parents", lambda wrong=wrong: one.local(0, wrong)),
            ("nodes", lambda wrong=wrong: one.gains(0, wrong, NUMBERS[1:])),
            ("nodes", lambda wrong=wrong: one.gains(0, NUMBERS[:0], wrong)),
            ("members", lambda wrong=wrong: one.joints(wrong, no_flag())),
            ("counts", lambda wrong=wrong: one.score_counts(wrong, 3.0)),
        ):
            with pytest.raises(TypeError, match=f"{name} {FORM} int64"):
                call()
    for counts, configurations in ((np.array([-1]), 3.0), (NUMBERS, 0.0), (NUMBERS, float("inf"))):
        with pytest.raises(ValueError, match="cannot be"):
            one.score_counts(counts, configurations)
    with pytest.raises(ValueError, match="number of nodes"):
        one.joints(np.zeros(31, np.int64), no_flag())


@pytest.mark.parametrize(
    "members", [np.array([1, 0]), np.array([0, 0]), np.array([-1, 0]), np.array([0, 4]), np.array([0, 1], np.int32)]
)
def test_wrong_members_are_refused(members: Any) -> None:
    """Members of a search are numbers of nodes, in ascending order."""
    with pytest.raises(WRONG, match=rf"members ({FORM} int64 .* int32|cannot be array)"):
        SearchHandle(handle(), members, most_known=64)


def test_members_need_columns() -> None:
    """A search over nodes that have lost their columns is refused."""
    one = handle()
    opened = SearchHandle(one, NUMBERS, most_known=64)
    one.set_rows(CODES)
    for call in calls(opened, EMPTY.copy(), OPENED, no_flag()):
        with pytest.raises(ValueError, match="out of range"):
            call()


def calls(one: SearchHandle, marks: Any, opened: Any, stop: Any) -> list[Callable[[], object]]:
    """Return all calls of a search that take matrices."""
    return [
        lambda: one.greedy(marks, opened, 6, stop),
        lambda: one.climb(marks, opened, 6, patience=5, tabu=5, stop=stop),
        lambda: one.order(
            marks, opened, 6, near=np.arange(len(marks)), starts=1, kicks=0, most_loss=0, seed=1, stop=stop
        ),
        lambda: one.rivals(marks, opened, 6, np.array([[0, 1, -1]]), stop),
        lambda: one.best_move(marks, opened, 6, (0, 0, 1), stop),
    ]


def test_wrong_matrices_are_refused() -> None:
    """Matrices are square and contiguous, of bytes, and as wide as the search; a flag has two fields."""
    for wrong in unlike(EMPTY):
        for call in (*calls(search(), wrong, OPENED, no_flag()), *calls(search(), EMPTY.copy(), wrong, no_flag())):
            with pytest.raises(TypeError, match=f"a matrix of marks {FORM} uint8"):
                call()
        for function in (extension_of, pattern_of):
            if wrong.shape != (3, 3) or wrong.dtype != np.uint8:
                with pytest.raises(TypeError, match=f"marks {FORM} uint8"):
                    function(wrong)
    for wrong in (EMPTY + 2, EMPTY + 255):
        for call in calls(search(), wrong, OPENED, no_flag()):
            with pytest.raises(ValueError, match="marks"):
                call()
    with pytest.raises(ValueError, match="marks"):
        search().greedy(EMPTY.copy(), EMPTY + 3, 6, no_flag())
    for wrong in unlike(no_flag()):
        for call in calls(search(), EMPTY.copy(), OPENED, wrong):
            with pytest.raises(TypeError, match=f"stop {FORM} int64"):
                call()


def test_wrong_limits_and_features_are_refused() -> None:
    """Limits of parents and of recent graphs, and places, must be in range."""
    one = search()
    for limit in (-1, 25):
        with pytest.raises(ValueError, match="most parents"):
            one.greedy(EMPTY.copy(), OPENED, limit, no_flag())
    for tabu in (0, -1, 1 << 40):
        with pytest.raises(ValueError, match="tabu"):
            one.climb(EMPTY.copy(), OPENED, 6, patience=1, tabu=tabu, stop=no_flag())
    for feature in ([0, 4, -1], [-1, 0, -1], [0, 1, 4]):
        with pytest.raises(ValueError, match="out of range"):
            one.rivals(EMPTY, OPENED, 6, np.array([feature]), no_flag())
    shapes: list[Any] = [np.array([0, 1, -1]), np.zeros((2, 2), np.int64), np.zeros((1, 3), np.int32)]
    for features in shapes:
        with pytest.raises(TypeError, match=f"features {FORM} int64"):
            one.rivals(EMPTY, OPENED, 6, features, no_flag())
    for move in ((0, 4, 0), (0, 0, -1), (3, 0, 1), (1 << 32, 0, 1), (0, 1 << 64, 1)):
        with pytest.raises(ValueError, match=r"out of range|cannot be"):
            one.best_move(EMPTY, OPENED, 6, move, no_flag())
    assert one.rivals(EMPTY, OPENED, 6, np.empty((0, 3), np.int64), no_flag()) == []


def test_wrong_joints_are_refused() -> None:
    """An exact search needs a score for each subset."""
    joints, allowed = np.zeros(8, np.int64), np.full(3, 7)
    wrong: Any
    for wrong in (joints[:-1], joints.astype(np.int32), np.zeros(16, np.int64)[::2]):
        with pytest.raises(TypeError, match=f"joints {FORM} int64"):
            best_graph(wrong, allowed, 2, 0, no_flag())
    for wrong, name in ((allowed[:-1], "joints"), (allowed.astype(np.int32), "allowed")):
        with pytest.raises(TypeError, match=f"{name} {FORM} int64"):
            best_graph(joints, wrong, 2, 0, no_flag())
    with pytest.raises(ValueError, match="most parents"):
        best_graph(joints, allowed, -1, 0, no_flag())
    assert best_graph(np.zeros(1, np.int64), np.empty(0, np.int64), 2, 0, no_flag()) == ([], 0)


def test_numbers_that_lose_their_upper_bits_are_refused() -> None:
    """Beyond 64 bits the kernels would see another number."""
    one, none, huge = handle(), np.empty(0, np.int64), 1 << 64
    for call in (
        lambda: one.add_node(huge, 0, 3),
        lambda: one.add_node(0, huge, 3),
        lambda: one.add_node(0, 0, huge + 3),
        lambda: one.local(huge, none),
        lambda: one.gains(huge, none, NUMBERS[1:]),
        lambda: one.allow(huge),
        lambda: search().climb(EMPTY.copy(), OPENED, 6, patience=huge, tabu=1, stop=no_flag()),
        lambda: best_graph(np.zeros(2, np.int64), NUMBERS[:1], 1, huge, no_flag()),
    ):
        with pytest.raises(ValueError, match="cannot be"):
            call()
    chained = np.array([0, 0, 0, 5, 0, 5, 5, 15])
    assert best_graph(chained, np.full(3, 7), huge, 0, no_flag()) == best_graph(chained, np.full(3, 7), 3, 0, no_flag())


def test_figures_whose_sums_overflow_are_refused() -> None:
    """Penalties, joint scores and lists of parents stay so small that their sums can be counted."""
    with pytest.raises(ValueError, match="penalty"):
        ScoreHandle(4, ess=1.0, scale=1.0, penalty=1 << 61, empirical=False)
    with pytest.raises(ValueError, match="penalty"):
        best_graph(np.zeros(32, np.int64), np.full(5, 31), 5, 1 << 61, no_flag())
    with pytest.raises(ValueError, match="joints"):
        best_graph(np.array([0, -(1 << 63)]), NUMBERS[:1], 1, 0, no_flag())
    with pytest.raises(ValueError, match="number of parents"):
        handle().local(0, np.ones(1 << 17, np.int64))


def test_matrices_that_are_replaced_must_be_writable() -> None:
    """A search does not write to a matrix that nobody may change."""
    kept = EMPTY.copy()
    kept.setflags(write=False)
    with pytest.raises(TypeError, match="written to"):
        search().greedy(kept, OPENED, 6, no_flag())
    with pytest.raises(TypeError, match="written to"):
        search().climb(kept, OPENED, 6, patience=1, tabu=1, stop=no_flag())

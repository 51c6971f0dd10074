"""The kernels of scores against plain numpy, for codes of every width, with weights and with both priors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_backends.kernels import bindings
from apsl_backends.kernels.bindings import CallTooLongError, Codes, LogPriors, ScoreHandle, SearchHandle, Weights
from apsl_rules.stopping import INTERRUPTED, no_flag
from support.joint_scores import SCALE, PlainScore, best_parents, handle_for

KINDS = (np.uint8, np.uint16, np.uint32)
WIDTH = 5


class Drawn(NamedTuple):
    """A block of rows with a prior."""

    codes: Codes
    cards: list[int]
    weights: Weights | None
    ess: float
    log_priors: list[LogPriors]


@st.composite
def blocks(draw: st.DrawFn) -> Drawn:
    """Draw rows in which columns depend on each other; some have far more levels than rows."""
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    rows = draw(st.sampled_from([1, 7, 60, 700, 1500]))
    kind = draw(st.sampled_from(KINDS))
    most = draw(st.sampled_from([2, 4, 40, 250] + [3000] * (kind is not np.uint8)))
    cards = random.integers(1, most + 1, size=WIDTH)
    codes = random.integers(0, cards[:, None], size=(WIDTH, rows))
    for column in range(1, WIDTH):
        follows = random.random(rows) < random.choice([0.0, 0.5, 0.9])
        codes[column] = np.where(follows, codes[random.integers(column)] % cards[column], codes[column])
    weights = random.integers(0, 9, rows).astype(np.int32) if draw(st.booleans()) else None
    log_priors = [random.integers(0, 300, card).astype(np.int32) for card in cards] if draw(st.booleans()) else []
    return Drawn(codes.astype(kind), cards.tolist(), weights, draw(st.sampled_from([0.5, 10.0])), log_priors)


@settings(max_examples=60, deadline=None)
@given(blocks(), st.data())
def test_families_gains_and_joints_agree_with_plain_numpy(drawn: Drawn, data: st.DataObject) -> None:
    """All figures are those of the definition, and differences of joint scores are exact."""
    handle, plain = handle_for(*drawn), PlainScore(*drawn)
    node, *rest = data.draw(st.permutations(range(WIDTH)))
    parents = np.array(sorted(rest[: data.draw(st.integers(0, len(rest)))]), np.int64)
    own = handle.local(node, parents)
    assert own / SCALE == pytest.approx(plain.local(node, parents.tolist()), abs=1e-6, rel=1e-9)

    others = np.array(sorted(rest), np.int64)
    for other, gain in zip(others.tolist(), handle.gains(node, parents, others).tolist(), strict=True):
        changed = np.array(sorted({*parents.tolist()} ^ {other}), np.int64)
        sign = 1 if other in parents else -1
        assert gain == handle.local(node, changed) - own + sign * handle.penalty

    joints = handle.joints(np.arange(WIDTH), no_flag())
    before = sum(1 << one for one in parents.tolist())
    assert joints[before | 1 << node] - joints[before] == own
    chosen = data.draw(st.integers(0, (1 << WIDTH) - 1))
    members = [one for one in range(WIDTH) if chosen >> one & 1]
    assert joints[chosen] / SCALE == pytest.approx(plain.joint(members), abs=1e-6, rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(blocks())
def test_counts_and_rows_give_the_same_joint_score(drawn: Drawn) -> None:
    """What is counted elsewhere scores as rows do."""
    uniform = handle_for(*drawn._replace(log_priors=[]))
    weights = np.ones(drawn.codes.shape[1], np.int64) if drawn.weights is None else drawn.weights.astype(np.int64)
    counts = np.bincount(drawn.codes[0], weights).astype(np.int64)
    joints = uniform.joints(np.array([0]), no_flag())
    assert uniform.score_counts(counts, float(drawn.cards[0])) == joints[1]


@settings(max_examples=30, deadline=None)
@given(blocks(), st.integers(0, 3), st.integers(0, int(3 * SCALE)))
def test_the_best_graph_is_that_of_every_order(drawn: Drawn, most: int, penalty: int) -> None:
    """Over four nodes the score is that of the best parents in the best order, and the parents have it."""
    joints = handle_for(*drawn).joints(np.arange(4), no_flag())
    parents, score = bindings.best_graph(joints, np.full(4, 15), most, penalty, no_flag())
    assert score == best_parents(joints, 4, penalty, most)
    assert score == sum(
        int(joints[before | 1 << node] - joints[before]) - penalty * before.bit_count()
        for node, before in enumerate(parents)
    )
    assert all(before.bit_count() <= most for before in parents)


def test_rows_can_be_replaced() -> None:
    """Nodes lose their columns with the rows, and a score of other rows knows nothing of the former ones."""
    first, second = np.array([[0, 1, 0, 1], [0, 1, 0, 1]], np.uint8), np.array([[0, 1, 0, 1], [0, 0, 1, 1]], np.uint8)
    handle = handle_for(first, [2, 2], None, 1.0, [])
    before = handle.local(0, np.array([1]))
    handle.set_rows(second)
    with pytest.raises(ValueError, match="out of range"):
        handle.local(0, np.array([1]))
    for node in range(2):
        handle.add_node(node, node, 2)
    assert handle.local(0, np.array([1])) < before


def test_known_families_are_counted_once() -> None:
    """A second search over the same nodes counts nothing again, until the rows are others."""
    codes = np.random.default_rng(1).integers(0, 3, (6, 300)).astype(np.uint8)
    codes[1] = codes[0]
    handle = handle_for(codes, [3] * 6, None, 1.0, [])
    opened = np.ones((6, 6), np.uint8)
    counted = []
    for _ in range(3):
        handle.allow(10**9)
        marks = np.zeros((6, 6), np.uint8)
        search = SearchHandle(handle, np.arange(6), least_known=1 << 10, most_known=1 << 12)
        assert search.greedy(marks, opened, 6, no_flag()) > 0
        assert marks[0, 1] == marks[1, 0] == 1
        counted.append(handle.counted)
        if len(counted) == 2:
            handle.forget()
    assert counted[0] == counted[1] > 0
    assert counted[2] == 2 * counted[0]


def test_a_flag_and_a_limit_end_searches() -> None:
    """A search that is to end keeps the class that it has, and so does one without moves left."""
    codes = np.random.default_rng(2).integers(0, 2, (5, 200)).astype(np.uint8)
    codes[1] = codes[0]
    handle = handle_for(codes, [2] * 5, None, 1.0, [])
    stop, opened = no_flag(), np.ones((5, 5), np.uint8)
    stop[0] = INTERRUPTED
    search = SearchHandle(handle, np.arange(5), least_known=2, most_known=64)
    for most, flag in ((10**9, stop), (0, no_flag())):
        handle.allow(most)
        marks = np.zeros((5, 5), np.uint8)
        assert search.greedy(marks, opened, 6, flag) == 0
        assert not marks.any()
        assert search.rivals(marks, opened, 6, np.array([[0, 1, -1]]), flag) == [None]
    assert search.climb(np.zeros((5, 5), np.uint8), opened, 6, patience=9, tabu=9, stop=stop) == 0


def test_a_call_that_is_too_long_changes_nothing() -> None:
    """A call that may compare few moves leaves the pattern and the count of moves as they are, and can be repeated."""
    codes = np.random.default_rng(3).integers(0, 2, (6, 200)).astype(np.uint8)
    codes[1], codes[3] = codes[0], codes[2]
    handle = handle_for(codes, [2] * 6, None, 1.0, [])
    handle.allow(10**6)
    search = SearchHandle(handle, np.arange(6), least_known=16, most_known=1 << 10)
    marks, opened, features = np.zeros((6, 6), np.uint8), np.ones((6, 6), np.uint8), np.array([[0, 1, -1], [0, 2, -1]])
    with pytest.raises(CallTooLongError):
        search.greedy(marks, opened, 6, no_flag(), most=5)
    assert not marks.any()
    assert handle.tried == 0
    expected = marks.copy()
    gain = search.greedy(expected, opened, 6, no_flag())
    handle.allow(10**6)
    assert search.greedy(marks, opened, 6, no_flag(), most=10**5) == gain
    assert (marks == expected).all()
    with pytest.raises(CallTooLongError):
        search.rivals(marks, opened, 6, features, no_flag(), most=1)
    assert search.rivals(marks, opened, 6, features, no_flag(), most=10**5) == search.rivals(
        marks, opened, 6, features, no_flag()
    )


def test_graphs_that_are_none_are_refused() -> None:
    """A cycle has no pattern, and marks without an extension have none."""
    cycle = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], np.uint8)
    square = np.zeros((4, 4), np.uint8)
    for one in range(4):
        square[one, (one + 1) % 4] = square[(one + 1) % 4, one] = 1
    handle = handle_for(np.zeros((3, 9), np.uint8), [2] * 3, None, 1.0, [])
    handle.allow(10**6)
    search = SearchHandle(handle, np.arange(3), least_known=2, most_known=64)
    with pytest.raises(ValueError, match="out of range"):
        bindings.pattern_of(cycle)
    with pytest.raises(ValueError, match="out of range"):
        bindings.extension_of(square)
    with pytest.raises(ValueError, match="out of range"):
        search.climb(cycle, np.ones((3, 3), np.uint8), 6, patience=9, tabu=9, stop=no_flag())


def test_scores_refuse_wrong_settings() -> None:
    """Numbers that no score takes are refused at once."""
    settings: dict[str, Any] = {"nodes": 3, "ess": 1.0, "scale": 1.0, "penalty": 0, "empirical": False}
    for name, value in (
        *(("nodes", one) for one in (0, -1, 1 << 18)),
        *(("ess", one) for one in (0.0, -1.0, 1e300, float("nan"))),
        *(("scale", one) for one in (0.0, float("inf"), float("nan"))),
        ("penalty", 1 << 62),
    ):
        with pytest.raises(ValueError, match="cannot be"):
            ScoreHandle(**{**settings, name: value})

"""The score of columns near a target from rows and from counts, and its kernels against plain numpy."""

from __future__ import annotations

from typing import Any, NamedTuple

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_backends.kernels.bindings.scores import LogPriors, ScoreHandle, Weights
from apsl_backends.kernels.bindings.searches import CallTooLongError, SearchHandle, best_graph, extension_of, pattern_of
from apsl_backends.kernels.library import Codes
from apsl_backends.scores.bde import BDeu
from apsl_backends.search.local_score import LocalBde
from apsl_backends.search.rounds import Effort, search_rounds
from apsl_rules import learn, network
from apsl_rules.data import tables as data_tables
from apsl_rules.data.counts import CachedCounts
from apsl_rules.data.tables import Table
from apsl_rules.errors import DataError, TooManyCombinationsError
from apsl_rules.graphs.networks import sample
from apsl_rules.names import Node
from apsl_rules.parts import part_json
from apsl_rules.stopping import INTERRUPTED, no_flag
from support.counted import table_counts
from support.joint_scores import SCALE, PlainScore, best_parents, handle_for
from support.scoring import coded, tables


def scores(drawn: Table, weight: float) -> tuple[LocalBde, LocalBde]:
    """Return the score of a table from its rows and from its counts."""
    data = (drawn, CachedCounts(table_counts(drawn)))
    rows, counts = (LocalBde(one, ess=7.0, penalty=1.0, empirical_weight=weight) for one in data)
    return rows, counts


@settings(max_examples=50)
@given(tables(min_columns=3, max_columns=5), st.sampled_from([0.0, 0.5, 1.0]), st.data())
def test_rows_and_counts_score_alike(drawn: Table, weight: float, data: st.DataObject) -> None:
    """Families score as by the plain score, from rows and from counts, in whole units, under the same numbers."""
    plain = BDeu(drawn, ess=7.0, penalty=1.0, empirical_weight=weight)
    rows, counts = scores(drawn, weight)
    some = data.draw(st.permutations(drawn.names))
    for score in (rows, counts):
        score.join(some[:2])
        score.join(some)
    assert rows.number == counts.number

    node, *parents = data.draw(st.permutations(drawn.names))[: data.draw(st.integers(1, 3))]
    expected = plain.local(plain.number[node], plain.numbers(parents))

    for score in (rows, counts):
        assert score.local(score.number[node], [score.number[one] for one in parents]) == expected


def test_rows_with_filled_in_values_count_for_less() -> None:
    """All rows count for as many as have two columns, on average; equivalent graphs tie, from rows and from counts."""
    random = np.random.default_rng(1)
    codes = np.repeat(random.integers(0, 2, (1, 400)), 3, axis=0).astype(np.uint8)
    codes[1:][random.random((2, 400)) < 0.2] ^= 1
    whole = coded(codes, ["x", "y", "z"])
    holes = random.random(codes.shape) < 0.5
    holed = attrs.evolve(whole, codes=np.where(holes, 2, codes).astype(np.uint8), incomplete=np.ones(3, np.bool_))
    complete, _ = scores(whole, 0.5)
    rows, counts = scores(holed, 0.5)
    gains = []
    for score in (complete, rows, counts):
        score.join(whole.names)
        x, y, z = (score.number[node] for node in whole.names)
        first = score.local(y, [x]) + score.local(z, [x, y]) + score.local(x, [])
        assert first == score.local(z, []) + score.local(y, [z]) + score.local(x, [y, z])
        gains.append(score.nats(score.local(y, [x]) - score.local(y, [])))
    assert gains[1] == gains[2]
    assert 0.1 < gains[1] / gains[0] < 0.4


@given(tables(min_columns=3, max_columns=5), st.data())
def test_numbers_stay_once_they_are_given(drawn: Table, data: st.DataObject) -> None:
    """Columns that join later get numbers of their own, and nobody's number changes."""
    score, _ = scores(drawn, 0.5)
    first, *others = data.draw(st.permutations(drawn.names))
    score.join([first])
    before = dict(score.number)
    joined = score.join([first, *others])
    assert before.items() <= score.number.items()
    assert list(joined) == sorted(score.number.values())
    assert {score.nodes[number] for number in joined} == set(drawn.names)


@settings(max_examples=50)
@given(tables(min_columns=3, max_columns=5), st.sampled_from([0.0, 0.5]), st.data())
def test_later_runs_on_a_table_score_alike(drawn: Table, weight: float, data: st.DataObject) -> None:
    """A score that was left at the table counts as a new one does, even if columns get other numbers."""
    effort = Effort(max_parents=2, patience=5)
    for _ in range(3):
        order = data.draw(st.permutations(drawn.names))
        kept, new = (
            LocalBde(one, ess=7.0, penalty=1.0, empirical_weight=weight) for one in (drawn, attrs.evolve(drawn))
        )
        found = []
        for score in (kept, new):
            for node in order:
                numbers = score.join(order[: order.index(node) + 1])
            opened = np.ones((len(numbers), len(numbers)), np.uint8)
            found.append(search_rounds(score.handle, numbers, opened, effort))
        assert (found[0].marks == found[1].marks).all()
        assert found[0].gain == found[1].gain
        del kept, new, score


def test_a_score_is_left_at_the_table() -> None:
    """The next run on a table need not count what the one before has counted, another table knows nothing of it."""
    drawn = coded([[0, 1, 0, 1, 1, 0], [0, 1, 0, 1, 0, 0], [1, 1, 0, 0, 0, 0]], "abc")
    counted = []
    for one in (drawn, drawn, attrs.evolve(drawn)):
        score = LocalBde(one, ess=1.0, penalty=0.0, empirical_weight=0.5)
        before = score.handle.counted
        search_rounds(score.handle, score.join(one.names), np.ones((3, 3), np.uint8), Effort())
        counted.append(score.handle.counted - before)
        del score
    assert counted[0] == counted[2] > counted[1] == 0


def test_missing_values_are_filled_in() -> None:
    """A score of columns with holes counts all rows; from counts it is the same."""
    random = np.random.default_rng(1)
    names: tuple[Node, ...] = ("a", "b", "c")
    codes = random.integers(0, 2, (3, 200)).astype(np.uint8)
    codes[1, :20] = 2
    holed = Table(names, codes, np.array([2, 2, 2]), ((0, 1),) * 3, np.array([False, True, False]))
    rows, counts = scores(holed, 0.5)
    for score in (rows, counts):
        score.join(names)
    assert rows.is_changed
    for node in names:
        assert rows.local(rows.number[node], ()) == counts.local(counts.number[node], ())


def test_nothing_to_score_is_refused() -> None:
    """A table needs a row and a column."""
    empty = coded(np.empty((2, 0), np.uint8), ["a", "b"])
    with pytest.raises(DataError, match="0 rows and 2 columns cannot be scored"):
        LocalBde(empty, ess=1.0, penalty=0.0, empirical_weight=0.0)


def test_too_many_distinct_rows_are_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the rows near a target cannot be held, the sentence says what to do; other failures stay as they are."""
    drawn = coded(np.random.default_rng(1).integers(0, 2, (3, 50)), "abc")
    kept = CachedCounts(table_counts(drawn))
    score = LocalBde(kept, ess=1.0, penalty=0.0, empirical_weight=0.5)
    for error, sentence in (
        (TooManyCombinationsError("large"), "the 3 columns near the target have more distinct rows than can be held"),
        (DataError("the cluster is gone"), "the cluster is gone"),
    ):

        def refuse(_places: object, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr(kept, "joint", refuse)
        with pytest.raises(DataError, match=sentence):
            score.join("abc")


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
    parents, score = best_graph(joints, np.full(4, 15), most, penalty, no_flag())
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
        search = SearchHandle(handle, np.arange(6), most_known=1 << 12)
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
    search = SearchHandle(handle, np.arange(5), most_known=64)
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
    search = SearchHandle(handle, np.arange(6), most_known=1 << 10)
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
    search = SearchHandle(handle, np.arange(3), most_known=64)
    with pytest.raises(ValueError, match="out of range"):
        pattern_of(cycle)
    with pytest.raises(ValueError, match="out of range"):
        extension_of(square)
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


def test_many_rows_that_repeat_are_scored_by_their_combinations() -> None:
    """Where a sample says that it pays; the part is the same, byte for byte, and rows that differ stay as they are."""
    rows = sample(network("alarm"), (1 << 17) + 1, seed=3)
    near = [rows.place[name] for name in ("HR", "CATECHOL", "HRBP", "TPR", "SAO2")]
    assert len(rows.block(near).weights) < 500
    assert not attrs.evolve(rows, codes=rows.codes[:, :-1]).block(near).weights.size
    different = np.random.default_rng(1).integers(0, 4, (12, rows.rows), np.uint8)
    assert coded(different, range(12)).block(range(12)).is_whole
    parts = []
    for most in (1 << 17, 1 << 22):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(data_tables, "_MANY_ROWS", most)
            parts.append(part_json(learn(attrs.evolve(rows), "HR", hidden="excluded")))
    assert parts[0] == parts[1]

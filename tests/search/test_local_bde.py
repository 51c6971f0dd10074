"""The score of the columns near a target: the same from rows, from counts, and whatever joins first."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_backends.scores.bde import BDeu
from apsl_backends.search.local_score import LocalBde
from apsl_backends.search.rounds import Effort, search_rounds
from apsl_rules.data.counts import CachedCounts
from apsl_rules.data.tables import Table
from apsl_rules.errors import DataError, TooManyCombinationsError
from apsl_rules.names import Node
from support.counted import table_counts
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

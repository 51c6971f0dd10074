"""Missing values filled in: nothing known changes, shares are kept, and no order plays a part."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_backends.scores.columns import impute

Codes = npt.NDArray[np.uint8]


def holed(seed: int, rows: int, share: float) -> tuple[Codes, npt.NDArray[np.int64]]:
    """Draw three columns that follow each other, with holes; a hole is the code after the last level."""
    random = np.random.default_rng(seed)
    cards = np.array([2, 3, 2], np.int64)
    first = random.integers(0, 2, rows)
    second = np.where(random.random(rows) < 0.8, first * 2, random.integers(0, 3, rows))
    third = np.where(random.random(rows) < 0.9, first, random.integers(0, 2, rows))
    codes = np.stack([first, second, third]).astype(np.uint8)
    holes = random.random(codes.shape) < share
    codes[holes] = np.broadcast_to(cards[:, None], codes.shape)[holes]
    return codes, cards


def weighted(codes: Codes) -> npt.NDArray[np.int64]:
    """Return a weight of one for each row."""
    return np.ones(codes.shape[1], np.int64)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 80), st.sampled_from([0.05, 0.3]))
def test_every_hole_is_filled_and_nothing_else_changes(seed: int, rows: int, share: float) -> None:
    """Rows that are complete stay as they are, and each level of a column occurs at least as often as before."""
    codes, cards = holed(seed, rows, share)

    filled, weights = impute(codes, cards, weighted(codes))

    assert (filled < cards[:, None]).all()
    assert int(weights.sum()) == rows
    counts = {tuple(row): weight for row, weight in zip(filled.T.tolist(), weights.tolist(), strict=True)}
    complete = codes[:, (codes < cards[:, None]).all(axis=0)]
    kept, times = np.unique(complete, axis=1, return_counts=True)
    for row, number in zip(kept.T.tolist(), times.tolist(), strict=True):
        assert counts[tuple(row)] >= number
    for before, after, card in zip(codes, filled, cards.tolist(), strict=True):
        assert (np.bincount(after, weights, card) >= np.bincount(before, minlength=card + 1)[:card]).all()


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 60))
def test_the_order_of_rows_is_of_no_account(seed: int, rows: int) -> None:
    """Rows in another order, and equal rows counted together, are filled in alike."""
    codes, cards = holed(seed, rows, 0.2)
    order = np.random.default_rng(seed).permutation(rows)
    distinct, counts = np.unique(codes, axis=1, return_counts=True)

    plain = impute(codes, cards, weighted(codes))
    for one, weights in ((codes[:, order], weighted(codes)), (distinct, counts)):
        again = impute(np.ascontiguousarray(one), cards, weights)
        assert (again[0] == plain[0]).all()
        assert (again[1] == plain[1]).all()


def test_associations_are_kept() -> None:
    """Where a column goes with another one, filled values go with it as observed ones do."""
    codes, cards = holed(1, 5000, 0.2)
    filled, weights = impute(codes, cards, weighted(codes))
    known = (codes[0] < 2) & (codes[2] < 2)

    observed = (codes[0, known] == codes[2, known]).mean()
    kept = weights[filled[0] == filled[2]].sum() / weights.sum()

    assert abs(observed - kept) < 0.01


def test_rows_that_lack_two_columns_do_not_join_them() -> None:
    """Two independent columns stay so, though many rows lack both: neither is filled in by the order of the other."""
    random = np.random.default_rng(2)
    codes = random.integers(0, 2, (2, 4000)).astype(np.uint8)
    codes[random.random(codes.shape) < 0.7] = 2

    filled, weights = impute(codes, np.array([2, 2], np.int64), weighted(codes))

    known = (codes < 2).all(axis=0)
    observed = (codes[0, known] == codes[1, known]).mean()
    assert abs(weights[filled[0] == filled[1]].sum() / weights.sum() - observed) < 0.05


def test_a_column_without_any_value_gets_one_level() -> None:
    """Nothing tells its levels apart."""
    codes = np.array([[0, 1, 0, 1], [1, 1, 1, 1]], np.uint8)

    filled, weights = impute(codes, np.array([2, 1], np.int64), weighted(codes))

    assert (filled[1] == 0).all()
    assert weights.tolist() == [2, 2]

"""Tests and searches in plain numpy, to check the kernels against: a table of counts is one ``bincount``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2

Numbers = npt.NDArray[np.int64]


class CodedRows(NamedTuple):
    """Columns by rows, how many levels each column has (a code equal to that is a missing value), and weights."""

    codes: npt.NDArray[np.unsignedinteger]
    cards: Numbers
    weights: Numbers | None = None

    @property
    def incomplete(self) -> npt.NDArray[np.bool_]:
        """Whether a value is missing, for each column."""
        found: npt.NDArray[np.bool_] = np.any(self.codes == self.cards[:, None], axis=1)
        return found

    @property
    def rows(self) -> int:
        """The number of rows that the lines stand for."""
        return self.codes.shape[1] if self.weights is None else int(self.weights.sum())

    @property
    def expanded(self) -> CodedRows:
        """The same rows without weights."""
        if self.weights is None:
            return self
        return CodedRows(np.ascontiguousarray(np.repeat(self.codes, self.weights, axis=1)), self.cards)


class PlainTest(NamedTuple):
    """A test: its statistic, degrees of freedom and complete rows."""

    statistic: float
    dof: int
    rows: int


def table_of(rows: CodedRows, places: Sequence[int]) -> Numbers:
    """Count the complete rows by the codes of some columns, one axis for each."""
    cards = rows.cards[list(places)]
    chosen = rows.codes[list(places)].astype(np.int64)
    complete = (chosen < cards[:, None]).all(axis=0)
    cells = np.zeros(complete.sum(), np.int64)
    for column, card in zip(chosen, cards.tolist(), strict=True):
        cells = cells * card + column[complete]
    weights = None if rows.weights is None else rows.weights[complete]
    counts = np.bincount(cells, weights, minlength=prod(cards.tolist()))
    return np.rint(counts).astype(np.int64).reshape(cards)


def is_varied(rows: CodedRows, place: int) -> bool:
    """Return whether at least two levels of a column occur."""
    return bool((table_of(rows, [place]) > 0).sum() > 1)


def plain_test(rows: CodedRows, places: Sequence[int], *, chi: bool = False, full: bool = False) -> PlainTest:
    """Test x and y, the first two places, given the others."""
    counts = table_of(rows, places)
    strata = counts.reshape(*counts.shape[:2], -1).astype(np.float64)
    of_x, of_y, of_all = strata.sum(1, keepdims=True), strata.sum(0, keepdims=True), strata.sum((0, 1), keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = of_x * of_y / of_all
        shares = (strata - expected) ** 2 / expected if chi else 2.0 * strata * np.log(strata / expected)
    levels = ((of_x > 0).sum(0).clip(1) - 1) * ((of_y > 0).sum(1).clip(1) - 1)
    dof = int(levels.sum())
    if full and dof:
        dof = (counts.shape[0] - 1) * (counts.shape[1] - 1) * strata.shape[2]
    return PlainTest(float(np.nansum(shares)) if dof else 0.0, dof, int(counts.sum()))


class PlainSearch(NamedTuple):
    """A search: the test that separates or is weakest, if any; the tests made; the subset; whether it separates."""

    test: PlainTest | None
    tests: int
    chosen: tuple[int, ...]
    is_independent: bool


def plain_search(
    rows: CodedRows, places: Sequence[int], fixed: int, most: int, *, alpha: float, rows_per_cell: float = 0.0
) -> PlainSearch:
    """Try all subsets of the pool, small ones first, until one separates by G²."""
    base, pool = list(places[: 2 + fixed]), list(places[2 + fixed :])
    weakest: PlainTest | None = None
    where: tuple[int, ...] = ()
    weakest_log, tests = 0.0, 0
    for chosen in chain.from_iterable(combinations(range(len(pool)), size) for size in range(most + 1)):
        tests += 1
        asked = [*base, *(pool[at] for at in chosen)]
        needed = rows_per_cell * prod(rows.cards[asked].tolist())
        test = plain_test(rows, asked)
        if rows.rows < needed or test.rows < needed or test.dof == 0:
            continue
        log_p = float(chi2.logsf(test.statistic, test.dof))
        if log_p > np.log(alpha):
            return PlainSearch(test, tests, chosen, is_independent=True)
        if weakest is None or log_p > weakest_log:
            weakest, weakest_log, where = test, log_p, chosen
    return PlainSearch(weakest, tests, where, is_independent=False)

"""Tests of whether a column is made alike everywhere: its level, its slopes and its spread, given other columns.

The question is Chow's: do environments share one regression? It is asked as a score test whose covariance comes from
the rows themselves, so that skewed noise, heavy tails and spreads that differ along the given columns do no harm. A
likelihood ratio of normal noise would have to be corrected for the kurtosis, and only where that is everywhere alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import exp, log, sqrt
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data import Dataset
from apsl_rules.evidence import Decision, Verdict
from apsl_rules.names import Node
from apsl_rules.oracles import Oracle

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
#: What differs most: the mean or the shares, how they follow the given columns, or the spread.
Aspect: TypeAlias = Literal["level", "slopes", "spread"]
How: TypeAlias = Literal["values", "scores"]

#: The name of the test in verdicts.
CHANGE = "change"
#: A change of less than this is called small, in nats for each row: in two tables of one size, levels that are an
#: eighth of a standard deviation apart.
LEAST = 0.002
#: The fewest rows of an environment that is compared, and of a level or a cell of its own.
_FEWEST, _FEWEST_IN_CELL = 20, 10
#: The most cells of given categories that are compared one by one.
_MOST_CELLS = 24
#: Values further from the middle are taken to be so many standard deviations away.
_FURTHEST = 5.0
_STEPS, _CLOSE = 12, 1e-8
#: Directions with less of the variance than this are taken to be none.
_RANK = 1e-9


@attrs.frozen
class ChangeTest:
    """Whether a column is made alike in all environments, given others.

    Attributes
    ----------
    verdict
        The answer: the environment, the column and what is given, with its figures.
    nats
        How much a row tells of the environment by the change, on average.
    aspect
        What differs most; None where nothing was compared.
    level, spread
        Of a number in two environments: by how many of its standard deviations its level is higher in the second than
        in the first, given the others, and how many times as large its spread is.
    """

    verdict: Verdict
    nats: float = 0.0
    aspect: Aspect | None = None
    level: float | None = None
    spread: float | None = None

    @property
    def is_small(self) -> bool:
        """Return whether it is a change, and a small one."""
        return self.verdict.dependent and self.nats < LEAST


class RowChanges:
    """Tests changes of columns between environments on the rows of a table in memory.

    Environments are compared in the order of ``levels``, or of the levels of their column.
    """

    def __init__(self, data: Dataset, environment: Node, alpha: float, levels: Sequence[Any] = ()) -> None:
        self._data, self._environment, self._alpha = data, environment, alpha
        codes, own = data.categories.codes_of(environment), data.categories.levels_of(environment)
        order = np.array([*([*levels].index(level) for level in own if levels), *range(0 if levels else len(own)), -1])
        self._codes = order[codes]
        self._known: dict[tuple[Node, frozenset[Node]], ChangeTest] = {}
        self._embedded: dict[tuple[Node, How], _Given] = {}

    def test(self, column: Node, given: Sequence[Node] = ()) -> ChangeTest:
        """Return whether a column is made alike in all environments, given others; each question is answered once."""
        asked = (column, frozenset(given))
        if asked not in self._known:
            self._known[asked] = self._test(column, tuple(given))
        return self._known[asked]

    def _test(self, column: Node, given: tuple[Node, ...]) -> ChangeTest:
        """Return the weaker answer of two: on the values of numbers, and on their normal scores.

        What does not change is made alike whatever the scale. A relation that is straight on one of the two may be
        curved, and its noise uneven, on the other.
        """
        numbers = [node for node in (column, *given) if not self._data.is_category(node)]
        found = [self._on(column, given, how) for how in (("values", "scores") if numbers else ("values",))]
        weaker = min(found, key=lambda one: (one.verdict.dependent, one.nats))
        return attrs.evolve(weaker, level=found[0].level, spread=found[0].spread)

    def _on(self, column: Node, given: tuple[Node, ...], how: How) -> ChangeTest:
        rows = self._rows(column, given)
        environments = _several(self._codes[rows])
        if environments is None:
            return self._untested(column, given, len(rows))
        kept, places = environments
        rows = rows[kept]
        basis = _Basis.of([self._given(node, how) for node in given], rows)
        if len(rows) < 4 * basis.nuisance.shape[1]:
            return self._untested(column, given, len(rows))
        inside = _indicators(places)
        if self._data.is_category(column):
            found = _scores_of_levels(self._data.categories.codes_of(column)[rows], basis, inside)
            level = spread = None
        else:
            y = self._given(column, how).first[rows, 0]
            found = _scores_of_number(y, basis, inside)
            level, spread = _sizes(y, basis, places) if inside.shape[1] == 1 else (None, None)
        statistic, freedom = _statistic(found.joint)
        if not freedom:
            return self._untested(column, given, len(rows))
        log_p, p = log_tail(statistic, freedom), exp(log_tail(statistic, freedom))
        decision: Decision = "dependent" if log_p < log(self._alpha) else "independent"
        asked = (self._environment, column, given)
        verdict = Verdict(*asked, decision, CHANGE, statistic, p, freedom, len(rows), None if p else log_p)
        return ChangeTest(verdict, nats_a_row(statistic, freedom, len(rows)), found.aspect, level, spread)

    def _untested(self, column: Node, given: tuple[Node, ...], rows: int) -> ChangeTest:
        """Return that too few rows could be compared."""
        return ChangeTest(Verdict(self._environment, column, given, "unreliable", CHANGE, n=rows))

    def _rows(self, column: Node, given: Sequence[Node]) -> Integers:
        """Return the rows that are complete in some columns."""
        there = self._codes >= 0
        for node in (column, *given):
            is_category = self._data.is_category(node)
            there = there & (self._data.categories.codes_of(node) >= 0 if is_category else ~self._gaps(node))
        return np.flatnonzero(there)

    def _gaps(self, node: Node) -> npt.NDArray[np.bool_]:
        return np.isnan(self._data.values(node))

    def _given(self, node: Node, how: How) -> _Given:
        key = (node, how)
        if key not in self._embedded:
            if self._data.is_category(node):
                self._embedded[key] = _Given(np.empty((0, 0)), self._data.categories.codes_of(node))
            else:
                self._embedded[key] = _Given(_embedded(self._data.values(node), how), None)
        return self._embedded[key]


@attrs.frozen(eq=False)
class _Given:
    """A given column: a number with its powers, or the codes of a category."""

    first: Floats
    codes: Integers | None


@attrs.frozen(eq=False)
class _Basis:
    """What a column is regressed on: ``nuisance`` columns, and which of them may differ between environments.

    A regression bends (cubes of numbers, products of two); whether it differs is asked of fewer columns.
    """

    nuisance: Floats
    compared: tuple[int, ...]

    @classmethod
    def of(cls, given: Sequence[_Given], rows: Integers) -> _Basis:
        numbers = [one.first[rows] for one in given if one.codes is None]
        categories = [one.codes[rows] for one in given if one.codes is not None]
        cells = _cells(categories) if categories else np.empty((len(rows), 0))
        columns, compared = [np.ones((len(rows), 1))], [0]
        for block in (*(one for one in [cells] if one.shape[1]), *(number[:, :2] for number in numbers)):
            at = sum(one.shape[1] for one in columns)
            compared += range(at, at + block.shape[1])
            columns.append(block)
        columns += [number[:, 2:] for number in numbers]
        straight = [number[:, :1] for number in numbers]
        products = [one * other for at, one in enumerate(straight) for other in straight[:at]]
        products += [one * cells for one in straight if 0 < cells.shape[1] * len(straight) <= _MOST_CELLS]
        return cls(np.hstack([*columns, *products]), tuple(compared))

    @cached_property
    def compared_columns(self) -> Floats:
        """Return the columns whose slopes are compared."""
        return self.nuisance[:, list(self.compared)]


@attrs.frozen(eq=False)
class _Scores:
    """What each row says of the difference of levels, of slopes and of spreads; the sums are 0 if there is none."""

    level: Floats
    slopes: Floats
    spread: Floats

    @property
    def joint(self) -> Floats:
        """Return all of them side by side."""
        return np.hstack([self.level, self.slopes, self.spread])

    @property
    def aspect(self) -> Aspect:
        """Return what differs most."""
        surprises: dict[Aspect, float] = {
            "level": _surprise(self.level),
            "slopes": _surprise(self.slopes),
            "spread": _surprise(self.spread),
        }
        return max(surprises, key=lambda one: surprises[one])


def _embedded(values: Floats, how: How) -> Floats:
    """Return a number as a standard column z, with z² - 1 and z³ - 3z."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    there = ~np.isnan(values)
    z = np.full(len(values), np.nan)
    if how == "scores":
        z[there] = ndtri((rankdata(values[there]) - 0.5) / max(1, there.sum()))
    else:
        spread = values[there].std()
        z[there] = (values[there] - values[there].mean()) / spread if spread > 0 else 0.0
        z = np.clip(z, -_FURTHEST, _FURTHEST)
    found: Floats = np.stack([z, z**2 - 1, z**3 - 3 * z], axis=1)
    return found


def _several(codes: Integers) -> tuple[Integers, Integers] | None:
    """Return the rows of environments with enough of them, and which one each row is from; None if there is one."""
    counts = np.bincount(codes) if len(codes) else np.zeros(0, np.int64)
    enough = np.flatnonzero(counts >= _FEWEST)
    if len(enough) < 2:  # noqa: PLR2004 - nothing to compare with
        return None
    kept = np.flatnonzero(np.isin(codes, enough))
    return kept, np.searchsorted(enough, codes[kept])


def _indicators(codes: Integers) -> Floats:
    """Return a column for each code but the first."""
    found: Floats = (codes[:, None] == np.arange(1, int(codes.max(initial=0)) + 1)).astype(np.float64)
    return found


def _common(codes: Integers) -> Integers:
    """Return codes from 0 on, those of few rows as one."""
    counts = np.bincount(codes)
    place = np.cumsum(counts >= _FEWEST_IN_CELL) - 1
    place[counts < _FEWEST_IN_CELL] = (counts >= _FEWEST_IN_CELL).sum()
    found: Integers = place[codes]
    return found


def _cells(categories: Sequence[Integers]) -> Floats:
    """Return the indicators of the cells of categories, or of their levels where the cells are many."""
    joint = np.zeros(len(categories[0]), np.int64)
    for codes in categories:
        joint = joint * (int(codes.max(initial=0)) + 1) + codes
    joint = np.unique(joint, return_inverse=True)[1]
    is_few = joint.max(initial=0) < _MOST_CELLS
    return _indicators(_common(joint)) if is_few else np.hstack([_indicators(_common(one)) for one in categories])


def _scores_of_number(y: Floats, basis: _Basis, inside: Floats) -> _Scores:
    """Return the scores of each row for the levels, slopes and spreads of a number."""
    bases = np.linalg.qr(basis.nuisance)[0]
    left = y - bases @ (bases.T @ y)
    away = np.abs(left)
    away = away - bases @ (bases.T @ away)
    design, slopes = _differing(basis, inside)
    alone = inside - bases @ (bases.T @ inside)
    scores = (design - bases @ (bases.T @ design)) * left[:, None]
    return _Scores(scores[:, ~slopes], scores[:, slopes], alone * away[:, None])


def _sizes(y: Floats, basis: _Basis, places: Integers) -> tuple[float | None, float | None]:
    """Return how far apart the levels of two environments are, in standard deviations, and the ratio of spreads."""
    inside = (places == 1).astype(np.float64)
    bases = np.linalg.qr(basis.nuisance)[0]
    left, apart = y - bases @ (bases.T @ y), inside - bases @ (bases.T @ inside)
    if y.std() == 0 or (apart @ apart) <= _RANK * len(y):
        return None, None
    by = (apart @ left) / (apart @ apart)
    away = np.abs(left - by * apart)
    first, second = away[places == 0].mean(), away[places == 1].mean()
    return float(by / y.std()), float(second / first) if first > 0 else None


def _scores_of_levels(codes: Integers, basis: _Basis, inside: Floats) -> _Scores:
    """Return the scores of each row for the log-odds of each level but the first."""
    design, slopes = _differing(basis, inside)
    nothing = np.empty((len(codes), 0))
    found = list(_scores_of_shares(_indicators(_common(codes)), basis.nuisance, design))
    level, slope = (np.hstack([nothing, *(one[:, kind] for one in found)]) for kind in (~slopes, slopes))
    return _Scores(level, slope, nothing)


def _scores_of_shares(levels: Floats, given: Floats, design: Floats) -> Iterator[Floats]:
    for level in levels.T:
        rate = _logistic(level, given)
        spread = rate * (1 - rate)
        weighted = given * spread[:, None]
        fitted = np.linalg.lstsq(given.T @ weighted, weighted.T @ design, rcond=None)[0]
        yield (design - given @ fitted) * (level - rate)[:, None]


def _differing(basis: _Basis, inside: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the compared columns in each environment but the first, and which of them are for slopes."""
    compared = basis.compared_columns
    design = (inside[:, :, None] * compared[:, None, :]).reshape(len(inside), -1)
    return design, np.tile(np.arange(compared.shape[1]) > 0, inside.shape[1])


def _logistic(level: Floats, given: Floats) -> Floats:
    """Return the rate of each row by logistic regression, held back a little where cells have but one level."""
    slopes = np.zeros(given.shape[1])
    share = np.clip(level.mean(), 1e-6, 1 - 1e-6)
    slopes[0] = log(share / (1 - share))
    held = 1e-4 * np.eye(given.shape[1])
    held[0, 0] = 0.0
    for _ in range(_STEPS):
        rate = 1 / (1 + np.exp(-np.clip(given @ slopes, -30, 30)))
        curve = given.T @ (given * (rate * (1 - rate))[:, None]) + held + 1e-9 * np.eye(len(slopes))
        step = np.linalg.solve(curve, given.T @ (level - rate) - held @ slopes)
        slopes = slopes + np.clip(step, -3, 3)
        if np.abs(step).max() < _CLOSE:
            break
    found: Floats = 1 / (1 + np.exp(-np.clip(given @ slopes, -30, 30)))
    return found


def _statistic(scores: Floats) -> tuple[float, int]:
    """Return how far the sums of scores are from 0 by their covariance, and its rank."""
    if not scores.shape[1]:
        return 0.0, 0
    scale = np.sqrt((scores**2).sum(axis=0))
    used = scores[:, scale > 0] / scale[scale > 0]
    if not used.shape[1]:
        return 0.0, 0
    values, vectors = np.linalg.eigh(used.T @ used)
    kept = values > _RANK * values[-1] * len(values)
    along = vectors[:, kept].T @ used.sum(axis=0)
    return float((along**2 / values[kept]).sum()), int(kept.sum())


def _surprise(scores: Floats) -> float:
    statistic, freedom = _statistic(scores)
    return -log_tail(statistic, freedom) if freedom else 0.0


def log_tail(statistic: float, freedom: int) -> float:
    """Return ln p of a chi-square statistic, also where p is below the smallest float.

    >>> round(log_tail(3.841, 1), 2), round(log_tail(4000.0, 2), 1)
    (-3.0, -2000.0)
    """
    from scipy.special import chdtrc, gammaln

    tail = float(chdtrc(freedom, statistic))
    if tail > 1e-290:  # noqa: PLR2004 - near the smallest float
        return log(tail)
    half = statistic / 2
    return float((freedom / 2 - 1) * log(half) - half - gammaln(freedom / 2))


def nats_a_row(statistic: float, freedom: int, rows: int) -> float:
    """Return what a statistic is worth for each row, less what chance gives.

    >>> round(nats_a_row(200.0, 2, 1000), 3)
    0.111
    """
    return max(0.0, -0.5 * log(max(1 - statistic / rows, 1e-12)) - freedom / (2 * rows))


def correlation_of(nats: float) -> float:
    """Return the correlation of two normal columns that is worth so many nats a row."""
    return sqrt(1 - exp(-2 * nats))


class OracleChanges:
    """Tests whether a column is made alike in all environments by asking whether it depends on theirs."""

    def __init__(self, oracle: Oracle, environment: Node) -> None:
        self._oracle, self._environment = oracle, environment

    def test(self, column: Node, given: Sequence[Node] = ()) -> ChangeTest:
        """Return whether a column is made alike in all environments, given others."""
        (verdict,) = self._oracle.verdicts([(self._environment, column, tuple(given))])
        if verdict.statistic is None or not verdict.n:
            return ChangeTest(verdict, float("inf") if verdict.dependent else 0.0)
        nats = max(0.0, verdict.statistic - (verdict.dof or 0)) / (2 * verdict.n)
        return ChangeTest(verdict, nats, "level")

"""Normal scores of numbers: average ranks r of n through the normal quantile of (r - ½)/n, standardised.

Up to a million rows the ranks are exact, from a sort. Beyond that a sort would cost far more than the covariance. Then
the values are counted between knots: those of a sample, and all values in the tails, beyond the outer 0.8 percent of
the sample. A value that equals a knot has its exact rank, so ties and tails do; others are interpolated between two
knots, among some ten-thousandth of the rows. Scores are off by about 1e-5 and covariances by less than 1e-6. Where too
many rows lie between two knots, a column is sorted all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

import attrs
import numpy as np

from apsl_backends.kernels.bindings.scores import ScoreCurve, ValueCounts, count_values, score_values, values_outside
from apsl_backends.kernels.library import Floats, Integers, normal_quantiles
from apsl_rules.errors import DataError

#: The most rows that are sorted.
MOST_SORTED = 1 << 20
_SAMPLED, _TAIL, _STEP = 1 << 17, 1024, 16
#: How many times as many rows as expected may lie in the tails.
_MOST_IN_TAILS = 4
#: The largest share of the rows between two knots; the expected one is _STEP / _SAMPLED.
_MOST_BETWEEN = 32 * _STEP / _SAMPLED
_COUNTED, _HEAD = 4, 64
#: Below this a power of two is an ordinary number.
_PLAIN_POWER = 1000


@attrs.frozen(eq=False)
class Standardised:
    """A number with mean 0 and variance 1, NaN where it is missing, and its distinct values, counted up to four.

    ``scale`` is its standard deviation, None where the values are ranks.
    """

    values: Floats
    distinct: int
    scale: float | None = None

    def degree(self, highest: int) -> int:
        """Return the highest polynomial that does not depend on the lower ones."""
        return max(0, min(highest, self.distinct - 1))


def normal_scores(values: Floats, most_sorted: int = MOST_SORTED) -> Standardised:
    """Return the normal scores of a number."""
    if len(values) > most_sorted:
        curve = curve_of_chunks(len(values), lambda: (values,))
        if curve is not None:
            return Standardised(score_values(values, curve), min(len(curve.knots), _COUNTED))
    return _scores_of_sorted(values)


def likeness_of(scores: Floats, values: Floats) -> float:
    """Return the correlation of standardised scores and values that are missing in the same rows."""
    products = scores * values
    total = float(products.sum())
    if np.isfinite(total):  # nothing is missing
        return total / max(1, len(products))
    return float(np.nan_to_num(products).sum()) / max(1, int(np.count_nonzero(~np.isnan(scores))))


def _scores_of_sorted(values: Floats) -> Standardised:
    """Return the exact normal scores of a number; a missing value has none."""
    order = np.argsort(values)[: len(values) - int(np.count_nonzero(np.isnan(values)))]  # NaN is at the end
    if not len(order):
        return Standardised(values, 0)
    ordered = values[order]
    is_new = ordered[1:] != ordered[:-1]
    scores = np.empty(len(values))
    if len(order) < len(values):
        scores[:] = np.nan
    if is_new.all():
        scores[order] = _scores_without_ties(len(order))
        return Standardised(scores, min(len(order), _COUNTED))
    rows = np.diff(np.flatnonzero(is_new), prepend=-1, append=len(order) - 1)
    scores[order] = np.repeat(scores_of_counts(rows), rows)
    return Standardised(scores, min(len(rows), _COUNTED))


def scores_of_counts(rows: Integers) -> Floats:
    """Return the normal scores of distinct values in their order, each of which stands in so many rows."""
    total = int(rows.sum())
    if len(rows) < 2:  # noqa: PLR2004 - a constant tells nothing
        return np.zeros(len(rows))
    scores = normal_quantiles((np.cumsum(rows) - rows / 2) / total)
    scores -= float((scores * rows).sum()) / total
    scores /= np.sqrt(float((scores * scores * rows).sum()) / total)
    return scores


def curve_of_sorted(values: Floats) -> ScoreCurve | None:
    """Return the exact curve of normal scores; None if all values are missing."""
    distinct, rows = np.unique(values[~np.isnan(values)], return_counts=True)
    return curve_of_distinct(distinct, scores_of_counts(rows)) if len(distinct) else None


def curve_of_distinct(distinct: Floats, scores: Floats) -> ScoreCurve:
    """Return the curve of values that are all known."""
    return ScoreCurve(distinct, scores, scores, np.zeros(len(scores)))


def sample_places(rows: int) -> Integers:
    """Return the places of a sample of many rows, always the same."""
    places: Integers = np.random.default_rng(rows).integers(0, rows, _SAMPLED)
    places.sort()
    return places


def knots_of_sample(sample: Floats) -> Floats:
    """Return the knots from a sample without its tails: values that occur twice, and every sixteenth of the others."""
    ordered = np.sort(sample[~np.isnan(sample)])
    found, rows = np.unique(ordered[_TAIL : len(ordered) - _TAIL], return_counts=True)
    is_kept = rows > 1
    is_kept[::_STEP] = is_kept[-1:] = True
    return np.ascontiguousarray(found[is_kept])


def curve_of_counts(knots: Floats, equal: Integers, inside: Integers, tails: tuple[int, int]) -> ScoreCurve | None:
    """Return the curve of normal scores through knots; None if too many rows lie between two of them.

    ``equal`` has the rows at each knot and ``inside`` those between two.
    """
    total = int(equal.sum() + inside.sum())
    if int(inside.max(initial=0)) > max(1, _MOST_BETWEEN * total):
        return None
    below = np.concatenate([np.zeros(1, np.int64), np.cumsum(equal[:-1] + inside)])
    edge = 0.5  # the rank of the outermost row, less the half
    at = normal_quantiles((below + equal / 2) / total)
    above: Floats = normal_quantiles(np.minimum(below + equal, total - edge) / total)
    next_below: Floats = normal_quantiles(np.maximum(below[1:], edge) / total)
    middle = (above[:-1] + next_below) / 2
    mean = float((at * equal).sum() + (middle * inside).sum()) / total
    square = float(((at - mean) ** 2 * equal).sum() + ((middle - mean) ** 2 * inside).sum()) / total
    scale = 1.0 / np.sqrt(square) if square > 0 else 0.0
    with np.errstate(over="ignore"):
        slope = np.append((next_below - above[:-1]) * scale / np.diff(knots), 0.0)
    return ScoreCurve(knots, (at - mean) * scale, (above - mean) * scale, slope, tails)


def curve_of_chunks(rows: int, chunks: Callable[[], Iterable[Floats]]) -> ScoreCurve | None:
    """Return the curve of normal scores of a number with many rows, which comes in chunks, twice.

    It is None where counts between knots would be too coarse.
    """
    central = knots_of_sample(_sample(rows, chunks()))
    if not len(central):
        return None
    counts = ValueCounts(np.zeros(len(central), np.int64), np.zeros(len(central) + 1, np.int64))
    tails: list[Floats] = []
    left = rows * _MOST_IN_TAILS * _TAIL // _SAMPLED
    for chunk in chunks():
        some = values_outside(chunk, central[0], central[-1], left)
        if some is None:
            return None
        tails.append(some)
        left -= len(some)
        counted = count_values(chunk, central)
        counts.equal[:] += counted.equal
        counts.between[:] += counted.between
    return curve_between(central, counts, *np.unique(np.concatenate(tails), return_counts=True))


def _sample(rows: int, chunks: Iterable[Floats]) -> Floats:
    """Return a sample of the rows, always the same."""
    places = sample_places(rows)
    taken: list[Floats] = []
    start = 0
    for chunk in chunks:
        low, high = np.searchsorted(places, [start, start + len(chunk)])
        taken.append(chunk[places[low:high] - start])
        start += len(chunk)
    return np.concatenate(taken)


def curve_between(central: Floats, counts: ValueCounts, tails: Floats, rows: Integers) -> ScoreCurve | None:
    """Return the curve through central knots, with the counts at and between them, and all distinct values of tails.

    ``rows`` says in how many rows each of these stands.
    """
    below = int(np.searchsorted(tails, central[0]))
    above = len(tails) - below
    equal = np.concatenate([rows[:below], counts.equal, rows[below:]])
    inside = np.concatenate([np.zeros(below, np.int64), counts.between[1:-1], np.zeros(above, np.int64)])
    knots = np.concatenate([tails[:below], central, tails[below:]])
    return curve_of_counts(knots, equal, inside, (below, above))


@lru_cache(maxsize=4)
def _scores_without_ties(rows: int) -> Floats:
    return scores_of_counts(np.ones(rows, np.int64))


@attrs.frozen
class Line:
    """Standardises values: divided by a power of two, less their mean and its rest, in standard deviations.

    ``distinct`` is the number of distinct values, counted up to four.
    """

    power: int
    centre: float
    rest: float
    scale: float
    distinct: int = _COUNTED

    @property
    def deviation(self) -> float:
        """Return the standard deviation of the values."""
        return float(np.ldexp(self.scale, self.power))

    def of(self, values: Floats, room: Floats | None = None) -> Floats:
        """Return standardised values, in a ``room`` where one is given: fresh pages of many rows are dear."""
        if self.distinct <= 1:
            return np.where(np.isnan(values), np.nan, 0.0)
        found = _shifted(values, -self.power, room)
        found -= self.centre
        found -= self.rest
        found /= self.scale
        return found

    def standardise(self, values: Floats) -> Standardised:
        """Return the values less their mean, in standard deviations."""
        return Standardised(self.of(values), self.distinct, self.deviation)


def line_of(values: Floats) -> Line:
    """Return the line that standardises a number, some of which may be missing."""
    gone = np.isnan(values)
    known = values[~gone] if gone.any() else values
    distinct = _distinct(known)
    if distinct <= 1:
        return Line(0, 0.0, 0.0, 0.0, distinct)
    if not np.isfinite(known).all():
        message = "a number has infinite values, which have no mean; take its normal scores, or leave the column out"
        raise DataError(message)
    line = _line_of_rows(known) if len(known) > MOST_SORTED else _line_of_sorted(np.sort(known))
    return attrs.evolve(line, distinct=distinct)


def _line_of_sorted(ordered: Floats) -> Line:
    """Return the line of sorted values; where none is there twice, nothing is to be counted."""
    if (ordered[1:] != ordered[:-1]).all():
        return _line_of_counts(ordered, np.ones(1, np.int64), len(ordered), ordered)
    return _line_of_counts(*np.unique(ordered, return_counts=True))


def values_of_counts(distinct: Floats, rows: Integers) -> tuple[Floats, float]:
    """Return distinct values in their order, each with its rows, standardised, and the standard deviation."""
    if len(distinct) < 2:  # noqa: PLR2004 - a constant tells nothing
        return np.zeros(len(distinct)), 0.0
    line = _line_of_counts(distinct, rows)
    return line.of(distinct), line.deviation


def _line_of_counts(distinct: Floats, rows: Integers, total: float | None = None, room: Floats | None = None) -> Line:
    """Return the line of distinct values; the order of the rows does not matter, to the last bit."""
    power, total = power_above(distinct), float(total or rows.sum())
    values = _shifted(distinct, -power, room)
    centre = float((values * rows).sum()) / total
    values -= centre
    rest = float((values * rows).sum()) / total
    values -= rest
    return Line(power, centre, rest, float(np.sqrt(float((values * values * rows).sum()) / total)))


def _line_of_rows(known: Floats) -> Line:
    power = power_above(known)
    values = _shifted(known, -power)
    centre = float(values.mean())
    values -= centre
    rest = float(values.mean())
    values -= rest
    return Line(power, centre, rest, float(np.sqrt((values * values).mean())))


def scaled(values: Floats, known: Floats) -> Floats:
    """Return values times the power of two that takes the largest known one below 1, so that no square overflows."""
    return _shifted(values, -power_above(known))


def _shifted(values: Floats, power: int, room: Floats | None = None) -> Floats:
    """Return values times a power of two, as ``ldexp`` does, which takes five times as long."""
    if abs(power) >= _PLAIN_POWER:
        return np.ldexp(values, power, out=room)
    return np.multiply(values, 2.0**power, out=room)


def power_above(known: Floats) -> int:
    """Return the power of two that no known value reaches."""
    return int(np.frexp(np.abs(known).max(initial=0.0))[1])


def _distinct(values: Floats) -> int:
    """Return how many distinct values there are, at most 4; most columns have so many in their first rows."""
    if len(np.unique(values[:_HEAD])) >= _COUNTED:
        return _COUNTED
    found, left = 0, values
    while len(left) and found < _COUNTED:
        found += 1
        left = left[left != left[0]]
    return found

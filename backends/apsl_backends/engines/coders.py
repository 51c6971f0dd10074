"""Embed columns: indicators of levels, normal scores of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.engines.arrow_columns import places_in, plain
from apsl_backends.engines.normal_scores import (
    Standardised,
    curve_of_chunks,
    curve_of_sorted,
    scaled,
    scores_of_counts,
    values_of_counts,
)
from apsl_backends.kernels.bindings.embedded import CategoryColumn, NumberColumn
from apsl_backends.kernels.bindings.scores import ScoreCurve, score_values
from apsl_backends.kernels.library import Floats, Integers
from apsl_rules.data import CategoryCodes, NumberValues
from apsl_rules.data.moments import MOST_ROWS_SEEN, ColumnUnit, Embedding, MomentHeading, is_nearly_normal
from apsl_rules.names import Node

#: Levels with fewer rows are pooled.
LEAST_ROWS = 5


def indicators_of(rows: Integers) -> tuple[Integers, int]:
    """Return for each level of a category, which stands in so many rows, its indicator or -1, and how many there are.

    The most frequent level is the reference, the first of several. Levels with fewer than five rows share an indicator,
    the last one, or belong to the reference if they have fewer than five rows together.
    """
    numbers = np.full(len(rows), -1, np.int64)
    if not len(rows):
        return numbers, 0
    is_rare = (rows < LEAST_ROWS) & (np.arange(len(rows)) != int(rows.argmax()))
    usual = np.flatnonzero(~is_rare)
    usual = usual[usual != int(rows.argmax())]
    numbers[usual] = np.arange(len(usual))
    if int(rows[is_rare].sum()) < LEAST_ROWS:
        return numbers, len(usual)
    numbers[is_rare & (rows > 0)] = len(usual)
    return numbers, len(usual) + 1


def unit_of(levels: tuple[Any, ...], rows: Integers) -> ColumnUnit:
    """Return which level of a category has which indicator; a level without rows is left out."""
    indicators = indicators_of(rows)[0].tolist()
    codes = tuple(np.flatnonzero(rows).tolist())
    return ColumnUnit(
        levels=tuple(levels[code] for code in codes), indicators=tuple(indicators[code] for code in codes), codes=codes
    )


@attrs.frozen(eq=False)
class NumberCoder:
    """A number: its values are looked up among the distinct ones, put on a curve, or taken as they are."""

    width: int
    missing: int
    unit: ColumnUnit
    distinct: Any = None
    scores: Floats | ScoreCurve | None = None
    likeness: float = np.nan
    plain: Floats | ScoreCurve | None = None

    def code(self, column: Any) -> NumberColumn:
        """Return a column as standardised numbers."""
        if isinstance(self.scores, np.ndarray):
            places = places_in(column, self.distinct)
            plain = self.plain[places] if isinstance(self.plain, np.ndarray) else None
            return NumberColumn(self.scores[places], self.width, plain)
        values = floats_of(column)
        plain = score_values(values, self.plain) if isinstance(self.plain, ScoreCurve) else None
        return NumberColumn(values if self.scores is None else score_values(values, self.scores), self.width, plain)


@attrs.frozen(eq=False)
class CategoryCoder:
    """A category whose values are looked up among the distinct ones; ``is_cut`` says that its levels are intervals."""

    width: int
    missing: int
    unit: ColumnUnit
    distinct: Any
    codes: npt.NDArray[Any]
    indicators: Integers
    is_cut: bool = False

    def code(self, column: Any) -> CategoryColumn:
        """Return a column as codes."""
        return CategoryColumn(self.codes[places_in(column, self.distinct)], self.indicators, self.width)


Coder: TypeAlias = NumberCoder | CategoryCoder


def floats_of(column: Any) -> Floats:
    """Return an Arrow column of numbers as floats, NaN where it is missing."""
    import pyarrow as pa

    values: Floats = plain(column).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(values)


def coder_of(read: NumberValues | CategoryCodes, distinct: Any, rows: Integers, embedding: Embedding) -> Coder:
    """Return the coder of a column with known distinct values, each of which stands in so many rows."""
    if read.is_category:
        known_rows = read.totals[: read.card]
        codes = read.codes.astype(np.uint8 if read.card <= np.iinfo(np.uint8).max else np.uint16)
        indicators, width = indicators_of(known_rows)
        unit = unit_of(read.levels, known_rows)
        return CategoryCoder(width, int(read.totals[read.card]), unit, distinct, codes, indicators, read.is_cut)
    known = ~np.isnan(read.values)
    values, places = np.unique(read.values[known], return_inverse=True)
    counts = np.bincount(places, rows[known], len(values)).astype(np.int64)
    scores, plain = np.full((2, len(read.values)), np.nan)
    found, scale = _scores(values, counts, embedding)
    scores[known] = found[places]
    degree = Standardised(scores, min(len(values), 4)).degree(embedding.degree)
    missing, unit = int(rows[~known].sum()), ColumnUnit(scale)
    if scale is not None:
        return NumberCoder(degree, missing, unit, distinct, scores)
    as_they_are, _ = values_of_counts(values, counts)
    plain[known] = as_they_are[places]
    present = int(counts.sum())
    likeness = float((found * as_they_are * counts).sum()) / max(present, 1)
    is_near = is_nearly_normal(np.array(likeness), np.array(present))
    is_kept = is_near or int(rows.sum()) <= MOST_ROWS_SEEN
    return NumberCoder(degree, missing, unit, distinct, scores, likeness, plain if is_kept else None)


def curve_coder(rows: int, chunks: Callable[[], Iterable[Floats]], embedding: Embedding) -> NumberCoder:
    """Return the coder of a number with millions of distinct values, which comes in chunks as often as asked."""
    missing = sum(int(np.isnan(chunk).sum()) for chunk in chunks())
    if embedding.numbers == "values":
        curve: ScoreCurve | None = _line(rows - missing, chunks)
    else:
        curve = curve_of_chunks(rows, chunks) or curve_of_sorted(np.concatenate(list(chunks())))
    assert curve is not None  # noqa: S101 - there are millions of values
    if embedding.numbers == "values":
        return NumberCoder(embedding.degree, missing, ColumnUnit(1 / float(curve.slope[0])), scores=curve)
    line = _line(rows - missing, chunks)
    likeness = sum(float(np.nansum(score_values(chunk, curve) * score_values(chunk, line))) for chunk in chunks()) / (
        rows - missing
    )
    is_near = is_nearly_normal(np.array(likeness), np.array(rows - missing))
    plain = line if is_near else None
    return NumberCoder(embedding.degree, missing, ColumnUnit(), scores=curve, likeness=likeness, plain=plain)


def _line(rows: int, chunks: Callable[[], Iterable[Floats]]) -> ScoreCurve:
    """Return the line that takes the mean away and divides by the standard deviation."""
    low = min(float(np.fmin.reduce(chunk, initial=np.inf)) for chunk in chunks())
    span = np.array([max(float(np.fmax.reduce(chunk - low, initial=0.0)) for chunk in chunks())])
    mean = sum(float(np.nansum(scaled(chunk - low, span))) for chunk in chunks()) / rows
    scale = np.sqrt(sum(float(np.nansum((scaled(chunk - low, span) - mean) ** 2)) for chunk in chunks()) / rows)
    start = np.array([-mean / scale])
    return ScoreCurve(np.array([low]), start, start, scaled(np.array([1.0 / scale]), span))


def _scores(values: Floats, rows: Integers, embedding: Embedding) -> tuple[Floats, float | None]:
    """Return the scores of values, each with its rows, and the standard deviation where scores are no ranks."""
    if embedding.numbers == "normal-scores":
        return scores_of_counts(rows), None
    return values_of_counts(values, rows)


def likeness_of_coders(coders: Sequence[Coder]) -> Floats:
    """Return the correlation of normal scores and values of each column, NaN where there are no scores."""
    return np.array([one.likeness if isinstance(one, NumberCoder) else np.nan for one in coders])


def heading_of_coders(
    names: Sequence[Node], coders: Sequence[Coder], rows: int, kinds: Any, notes: tuple[str, ...]
) -> MomentHeading:
    """Return the heading of columns of these names."""
    return MomentHeading(
        tuple(names),
        rows,
        np.array([isinstance(one, NumberCoder) for one in coders], np.bool_),
        np.array([one.width for one in coders], np.int64),
        np.array([one.missing for one in coders], np.int64),
        kinds,
        notes,
        tuple(one.unit for one in coders),
    )

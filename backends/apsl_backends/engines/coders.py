"""Embed columns: indicators of levels, normal scores of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.engines.arrow_columns import places_in, plain
from apsl_backends.engines.normal_scores import (
    Standardised,
    curve_of_chunks,
    curve_of_sorted,
    power_above,
    scaled,
    scores_of_counts,
)
from apsl_backends.kernels.bindings import CategoryColumn, Floats, Integers, NumberColumn, ScoreCurve, score_values
from apsl_rules.data import CategoryCodes, MixedTable, NumberValues
from apsl_rules.data.moments import ColumnUnit, Embedding, MomentHeading
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
    found = [(level, place) for level, place, count in zip(levels, indicators, rows.tolist(), strict=False) if count]
    return ColumnUnit(levels=tuple(level for level, _ in found), indicators=tuple(place for _, place in found))


@attrs.frozen(eq=False)
class CurveCoder:
    """A number whose values come as numbers: their scores are read from a curve."""

    curve: ScoreCurve
    width: int
    missing: int
    unit: ColumnUnit

    def code(self, column: Any) -> NumberColumn:
        """Return a column as standardised numbers."""
        return NumberColumn(score_values(floats_of(column), self.curve), self.width)


@attrs.frozen(eq=False)
class LookedUpNumber:
    """A number whose values are looked up among the distinct ones."""

    distinct: Any
    scores: Floats
    width: int
    missing: int
    unit: ColumnUnit

    def code(self, column: Any) -> NumberColumn:
        """Return a column as standardised numbers."""
        return NumberColumn(self.scores[places_in(column, self.distinct)], self.width)


@attrs.frozen(eq=False)
class CategoryCoder:
    """A category whose values are looked up among the distinct ones."""

    distinct: Any
    codes: npt.NDArray[np.uint16]
    indicators: Integers
    width: int
    missing: int
    unit: ColumnUnit

    def code(self, column: Any) -> CategoryColumn:
        """Return a column as codes."""
        return CategoryColumn(self.codes[places_in(column, self.distinct)], self.indicators, self.width)


Coder: TypeAlias = CurveCoder | LookedUpNumber | CategoryCoder


def floats_of(column: Any) -> Floats:
    """Return an Arrow column of numbers as floats, NaN where it is missing."""
    import pyarrow as pa

    values: Floats = plain(column).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(values)


def coder_of(
    read: NumberValues | CategoryCodes, distinct: Any, rows: Integers, embedding: Embedding
) -> LookedUpNumber | CategoryCoder:
    """Return the coder of a column with known distinct values, each of which stands in so many rows."""
    if isinstance(read, CategoryCodes):
        totals = np.bincount(read.codes, rows, read.card + 1).astype(np.int64)
        codes = read.codes.astype(np.uint16)
        known_rows = totals[: read.card]
        unit = unit_of(read.levels, known_rows)
        return CategoryCoder(distinct, codes, *indicators_of(known_rows), int(totals[read.card]), unit)
    known = ~np.isnan(read.values)
    values, places = np.unique(read.values[known], return_inverse=True)
    counts = np.bincount(places, rows[known], len(values)).astype(np.int64)
    scores = np.full(len(read.values), np.nan)
    found, scale = _scores(values, counts, embedding)
    scores[known] = found[places]
    degree = Standardised(scores, min(len(values), 4)).degree(embedding.degree)
    return LookedUpNumber(distinct, scores, degree, int(rows[~known].sum()), ColumnUnit(scale))


def coders_of_table(table: MixedTable, embedding: Embedding) -> tuple[list[Coder], list[Any]]:
    """Return the coders of the columns of a table in memory, and these as Arrow has them: numbers and codes."""
    import pyarrow as pa

    number_place = {name: place for place, name in enumerate(table.number_names)}
    coders: list[Coder] = []
    columns: list[Any] = []
    for name in table.names:
        if name in number_place:
            values = table.numbers[number_place[name]]
            found, rows = np.unique(values, return_counts=True)
            coders.append(coder_of(NumberValues(found), pa.array(found), rows.astype(np.int64), embedding))
            columns.append(pa.array(values))
        else:
            place = table.categories.place[name]
            codes, card = table.categories.codes[place], int(table.categories.cards[place])
            known = np.arange(card + 1)
            rows = np.bincount(codes, minlength=card + 1).astype(np.int64)
            distinct = pa.array(known.astype(codes.dtype))
            coders.append(
                coder_of(CategoryCodes(known, tuple(table.categories.levels[place])[:card]), distinct, rows, embedding)
            )
            columns.append(pa.array(codes))
    return coders, columns


def curve_coder(rows: int, chunks: Callable[[], Iterable[Floats]], embedding: Embedding) -> CurveCoder:
    """Return the coder of a number with millions of distinct values, which comes in chunks as often as asked."""
    missing = sum(int(np.isnan(chunk).sum()) for chunk in chunks())
    if embedding.numbers == "values":
        curve: ScoreCurve | None = _line(rows - missing, chunks)
    else:
        curve = curve_of_chunks(rows, chunks) or curve_of_sorted(np.concatenate(list(chunks())))
    assert curve is not None  # noqa: S101 - there are millions of values
    scale = 1 / float(curve.slope[0]) if embedding.numbers == "values" else None
    return CurveCoder(curve, embedding.degree, missing, ColumnUnit(scale))


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
    if len(values) < 2:  # noqa: PLR2004 - a constant tells nothing
        return scores_of_counts(rows), 0.0
    power, total = power_above(values), float(rows.sum())
    values = np.ldexp(values, -power)
    centred: Floats = values - float((values * rows).sum()) / total
    centred -= float((centred * rows).sum()) / total
    scale = np.sqrt(float((centred * centred * rows).sum()) / total)
    return centred / scale, float(np.ldexp(scale, power))


def heading_of_coders(
    names: Sequence[Node], coders: Mapping[int, Coder], rows: int, kinds: Any, notes: tuple[str, ...]
) -> MomentHeading:
    """Return the heading of the columns that are kept, in the order of their places."""
    kept = sorted(coders)
    return MomentHeading(
        tuple(names[place] for place in kept),
        rows,
        np.array([not isinstance(coders[place], CategoryCoder) for place in kept], np.bool_),
        np.array([coders[place].width for place in kept], np.int64),
        np.array([coders[place].missing for place in kept], np.int64),
        kinds,
        notes,
        tuple(coders[place].unit for place in kept),
    )

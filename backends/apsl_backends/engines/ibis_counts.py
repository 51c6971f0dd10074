"""Counts by any database that ibis knows: a GROUP BY of the columns as they are for each set of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any, Self

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.engines.arrow_columns import codes_of, distinct_of, plain, require_set_aside
from apsl_backends.engines.ibis_rows import IbisRows
from apsl_backends.engines.memory_counts import SAMPLED
from apsl_rules.data import Codes, Distinct, dictionary, plan_counting, replace_names
from apsl_rules.data.counts import Heading, Joint, collapse
from apsl_rules.names import Node

#: The most sets of columns whose complete rows are counted in one statement.
_SETS_AT_ONCE = 64


@attrs.frozen(eq=False)
class _Column:
    """How a column is grouped, what values come of it, and the code of each."""

    expression: Any
    distinct: Any
    codes: npt.NDArray[np.intp]

    def missing(self, card: int) -> Any:
        """Return a condition for missing values, which have the code after the last level."""
        gone = [value for value, code in zip(self.distinct.to_pylist(), self.codes, strict=True) if code == card]
        condition = self.expression.isnull()
        if any(isinstance(value, float) and isnan(value) for value in gone):
            condition |= self.expression.isnan()
        named = [value for value in gone if value is not None and not (isinstance(value, float) and isnan(value))]
        return condition | self.expression.isin(named) if named else condition


class IbisCounts:
    """A source of counts that sends one statement for each set of columns."""

    cheap = 4096

    def __init__(self, rows: IbisRows, heading: Heading, columns: Sequence[_Column]) -> None:
        self.kind = rows.kind
        self.heading = heading
        self._rows = rows
        self._columns = tuple(columns)
        self._wide = int(heading.spans.max()) > np.iinfo(np.uint8).max + 1

    @classmethod
    def of(cls, source: Any, *, names: Sequence[Node] | None = None, **reading: Any) -> Self:
        """Count in a table of a database: an address, an ibis table; ``reading`` are the options of ``table``."""
        rows = IbisRows.of(source)
        given = replace_names(rows.names, names)
        plan = plan_counting(given, **reading).without(rows.types_set_aside)
        found = rows.distinct(plan.places)
        known: dict[int, Distinct] = {}
        for place, one in found.items():
            if one is None:
                some = distinct_of(
                    rows.first_values(place), given[place], rows.rows(plan.places), rows.count_distinct(place)
                )
                known[place] = require_set_aside(some, given[place], plan)
            else:
                known[place] = Distinct(one.column, one.rows)
        made = dictionary(given, known, plan)
        columns = []
        for number, (place, codes) in enumerate(zip(made.places, made.codes, strict=True)):
            read, card = found[place], int(made.heading.cards[number])
            assert read is not None  # noqa: S101 - refused above
            column = _Column(rows.value(place), read.distinct, codes)
            is_cut = given[place] in made.cut and len(codes) > made.heading.spans[number]
            columns.append(_cut_in_database(column, card) if is_cut else column)
        return cls(rows, made.heading, columns)

    def joints(self, sets: Sequence[tuple[int, ...]], most: int) -> list[Joint | None]:
        """Count sets of columns, a statement for each; None for a set with more than so many combinations."""
        return [self._joint(places, most) for places in sets]

    def complete(self, sets: Sequence[tuple[int, ...]]) -> list[int]:
        """Count the complete rows of each set of columns."""
        places = sorted({place for one in sets for place in one})
        missing = {place: self._columns[place].missing(int(self.heading.cards[place])) for place in places}
        found: list[int] = []
        for start in range(0, len(sets), _SETS_AT_ONCE):
            found += self._rows.complete(missing, sets[start : start + _SETS_AT_ONCE])
        return found

    def sample(self) -> Codes:
        """Return the codes of some rows."""
        every = range(len(self._columns))
        return self._to_codes(self._rows.first(self._expressions(every), SAMPLED), every)

    def _joint(self, places: tuple[int, ...], most: int) -> Joint | None:
        arrow = self._rows.combinations(self._expressions(places), most)
        if arrow is None:
            return None
        weights = plain(arrow.column(len(places))).to_numpy().astype(np.int64)
        spans = self.heading.spans[list(places)].tolist()
        codes, summed = collapse(self._to_codes(arrow, places), spans, weights)
        self._check_totals(places, codes, summed)
        return Joint(places, codes, summed)

    def _check_totals(self, places: tuple[int, ...], codes: Codes, weights: npt.NDArray[np.int64]) -> None:
        """Refuse counts that do not add up to those of each column when the table was opened."""
        for place, of_column in zip(places, codes, strict=True):
            known = self.heading.totals[place]
            found = np.bincount(of_column, weights, len(known)).astype(np.int64)
            if not np.array_equal(found, known):
                name, before, now = self.heading.names[place], int(known.sum()), int(found.sum())
                counts = f"{before:,} rows and then {now:,}" if now != before else "other values than before"
                self._rows.refuse_change(f"column {name!r} had {counts}")

    def _expressions(self, places: Sequence[int]) -> Mapping[int, Any]:
        return {place: self._columns[place].expression for place in places}

    def _to_codes(self, arrow: Any, places: Sequence[int]) -> Codes:
        """Return the codes of the values in the first columns of a result."""
        return codes_of(arrow, [self._columns[place] for place in places], wide=self._wide)


def _cut_in_database(column: _Column, card: int) -> _Column:
    """Let the database find the interval of a number, where intervals are in the order of the numbers."""
    import ibis
    import pyarrow as pa

    known = column.codes < card
    values, codes = column.distinct.filter(pa.array(known)).to_pylist(), column.codes[known]
    order = sorted(range(len(values)), key=values.__getitem__)
    ordered = codes[order]
    if (np.diff(ordered) < 0).any():
        return column
    highest = {int(code): values[place] for place, code in zip(order, ordered, strict=True)}
    *lower, (last, _) = highest.items()
    is_gone = column.missing(card)
    steps = [(column.expression <= value, code) for code, value in lower]
    found = ibis.cases((is_gone, ibis.null("int64")), *steps, else_=last)
    return _Column(found.cast("int64"), pa.array([*range(card), None], pa.int64()), np.arange(card + 1))

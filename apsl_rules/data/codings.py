"""Codes for columns that stay in an engine: a table is read as ever, but from the distinct values of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Column, Numbers, numbers, summarise
from apsl_rules.data.dataset import Heading
from apsl_rules.data.kinds import MOST_LEVELS, ColumnKind, ColumnSummary, as_cut, ordered_of
from apsl_rules.data.read_table import ColumnReader
from apsl_rules.data.reading import (
    UNCUT,
    USUAL_CUT,
    Discretize,
    MissingRule,
    Plan,
    Reading,
    advice_on_levels,
    notes_on_cuts,
    problem_of_numbers,
    with_missing,
)
from apsl_rules.data.sources import check_names
from apsl_rules.data.store import View
from apsl_rules.data.values import Coded, code, code_cut
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import Node, count_of
from apsl_rules.notes import argument


@attrs.frozen(eq=False)
class Distinct:
    """The distinct values of a column, missing ones included, and in how many rows each stands.

    Where these are only some of very many, ``summary`` is that of all of them.
    """

    values: Column
    rows: npt.NDArray[np.int64]
    summary: ColumnSummary | None = None

    def known(self, name: Node) -> ColumnSummary | None:
        """Return the summary of all values of a column of this name, where only some are here."""
        return None if self.summary is None else attrs.evolve(self.summary, name=name)

    def summarise(self, name: Node) -> ColumnSummary:
        """Return the summary of all values of a column of this name."""
        return self.known(name) or summarise(self.values, name, self.rows)


@attrs.frozen(eq=False)
class NumberValues:
    """A number: the value of each distinct value in the order in which they were given, NaN for missing ones."""

    values: npt.NDArray[np.float64]
    is_category: ClassVar[Literal[False]] = False


@attrs.frozen(eq=False)
class CategoryCodes:
    """A category: the code of each distinct value in the order in which they were given, and the levels.

    A missing value has the code after the last level. ``totals`` are the rows of each code, and ``is_cut`` says that
    the levels are intervals of numbers.
    """

    codes: npt.NDArray[np.intp]
    levels: tuple[Any, ...]
    totals: npt.NDArray[np.int64]
    is_cut: bool
    is_category: ClassVar[Literal[True]] = True

    @property
    def card(self) -> int:
        """Return the number of levels."""
        return len(self.levels)

    @classmethod
    def of(
        cls, coded: Coded, rows: npt.NDArray[np.int64], name: Node, missing: MissingRule, *, is_cut: bool
    ) -> CategoryCodes:
        """Take a coded column whose values stand in so many rows."""
        codes, levels = coded.codes[0].astype(np.intp), coded.levels[0]
        gone = codes < 0
        codes = np.where(gone, len(levels), codes)
        if missing == "level" and int(rows[gone].sum()):
            levels = with_missing(name, levels)
        if len(levels) > MOST_LEVELS:
            raise DataError(advice_on_levels(name, len(levels)))
        return cls(codes, levels, np.bincount(codes, rows, len(levels) + 1).astype(np.int64), is_cut)


@attrs.frozen(eq=False)
class Dictionary:
    """The columns that are kept, by place among those given, what became of all, and notes; ``rows`` of the table."""

    columns: Mapping[int, NumberValues | CategoryCodes]
    kinds: tuple[ColumnKind, ...]
    notes: tuple[str, ...]
    rows: int

    @property
    def places(self) -> tuple[int, ...]:
        """Return the places of the columns that are kept."""
        return tuple(self.columns)

    def cut(self, names: Sequence[Node], columns: Mapping[int, Distinct], discretize: Discretize) -> Dictionary:
        """Cut all numbers into intervals, for tests that count levels, unless the caller asked for no cut."""
        left = {place: read for place, read in self.columns.items() if not read.is_category}
        ordered = ordered_of(self.kinds)
        cut = [names[place] for place in left if names[place] not in ordered]
        if cut and isinstance(discretize, str) and discretize == UNCUT:
            raise DataError(problem_of_numbers(cut))
        made = dict(self.columns)
        for place, read in left.items():
            rows, is_cut = columns[place].rows, names[place] in cut
            column = numbers(read.values)
            coded = code_cut(column, USUAL_CUT, rows) if is_cut else code(column, names[place], "observed")
            made[place] = CategoryCodes.of(coded, rows, names[place], "testwise", is_cut=is_cut)
        kinds = as_cut(self.kinds, cut)
        return attrs.evolve(self, columns=made, kinds=kinds, notes=(*self.notes, *notes_on_cuts(cut)))

    def heading(self, names: Sequence[Node]) -> Heading:
        """Return the heading of columns that all are categories."""
        read = {place: one for place, one in self.columns.items() if one.is_category}
        cards = np.array([len(one.levels) for one in read.values()], np.int64)
        incomplete = np.array([one.totals[-1] > 0 for one in read.values()], np.bool_)
        totals = tuple(
            one.totals[: card + gap]
            for one, card, gap in zip(read.values(), cards.tolist(), incomplete.tolist(), strict=True)
        )
        levels = tuple(one.levels for one in read.values())
        known = tuple(names[place] for place in read)
        return Heading(known, cards, levels, incomplete, self.rows, totals, self.notes, self.kinds)


def plan_elsewhere(names: Sequence[Node], **reading: Any) -> Plan:
    """Check the options of ``table`` for a table whose rows stay elsewhere."""
    check_names(names)
    if reading.get("missing") == "complete":
        message = (
            f"{argument('missing', 'complete')} needs the table in memory; give {argument('missing', 'testwise')}, or "
            f"{argument('counts', 'memory')}"
        )
        raise InvalidArgumentError(message)
    return Reading(**reading).plan(names)


def read_distinct(names: Sequence[Node], columns: Mapping[int, Distinct], plan: Plan) -> Dictionary:
    """Read columns of which the distinct values are known, each by its place among the names."""
    first = next(iter(columns.values()), None)
    rows = 0 if first is None else int(first.rows.sum())
    if rows < 2:  # noqa: PLR2004 - nothing varies in one row
        message = f"the table has {count_of(rows, 'row')}; at least 2 are needed"
        raise DataError(message)
    view = _View(_Source(tuple(names), rows, columns), plan.places)
    store = _Store(view, plan.missing)
    reader = ColumnReader.read(view, plan, store)
    kinds, notes = reader.settle(view.source.names, plan.aside)
    made = {plan.places[place]: store.columns[place] for place in sorted(store.columns)}
    return Dictionary(made, kinds, notes, rows)


@attrs.frozen(eq=False)
class _Source:
    """Columns of distinct values as a source, by their places among all names; ``rows`` of the table."""

    names: tuple[Node, ...]
    rows: int
    columns: Mapping[int, Distinct]

    def column(self, place: int) -> Column:
        """Return the distinct values of a column."""
        return self.columns[place].values

    def integers(self, start: int, stop: int) -> None:  # noqa: ARG002 - columns have different lengths
        """Return no block: columns are read one by one."""
        return


class _View(View):
    """Columns of distinct values, each of which stands in some rows."""

    source: _Source

    def counted(self, place: int) -> npt.NDArray[np.int64]:
        """Return in how many rows each value of a column stands."""
        return self.source.columns[self.places[place]].rows

    def known(self, place: int) -> ColumnSummary | None:
        """Return the summary of a column of which only some values are here."""
        return self.source.columns[self.places[place]].known(self.names[place])


class _Store:
    """The columns that were read, by place in a view."""

    def __init__(self, view: _View, missing: MissingRule) -> None:
        self.columns: dict[int, NumberValues | CategoryCodes] = {}
        self.absent = np.zeros(len(view.names), np.int64)
        self._view = view
        self._missing = missing

    @property
    def is_empty(self) -> bool:
        """Whether no column was kept."""
        return not self.columns

    def put(self, places: Sequence[int], coded: Coded, *, is_cut: bool = False) -> None:
        """Keep a coded column at its place."""
        (place,) = places
        rows = self._view.counted(place)
        self.absent[place] = int(rows[coded.codes[0] < 0].sum())
        self.columns[place] = CategoryCodes.of(coded, rows, self._view.names[place], self._missing, is_cut=is_cut)

    def put_number(self, place: int, column: Numbers) -> None:
        """Keep a number at its place."""
        self.absent[place] = int(self._view.counted(place)[column.missing].sum())
        self.columns[place] = NumberValues(np.where(column.missing, np.nan, column.values.astype(np.float64)))

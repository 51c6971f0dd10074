"""Views of a source: its columns and rows as they are read, and the store that gathers coded columns into a table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Column, Numbers, Source, numbers, summarise
from apsl_rules.data.dataset import Codes, Floats
from apsl_rules.data.kinds import MOST_LEVELS, ColumnKind, ColumnSummary, as_cut, infer_kind, ordered_of
from apsl_rules.data.reading import (
    UNCUT,
    USUAL_CUT,
    Discretize,
    MissingRule,
    advice_on_levels,
    notes_on_cuts,
    problem_of_numbers,
    with_missing,
)
from apsl_rules.data.tables import LocalTable, MixedTable, Table
from apsl_rules.data.values import Coded, Cut, code, code_cut
from apsl_rules.errors import DataError
from apsl_rules.names import Node, count_of
from apsl_rules.notes import Note, argument


@attrs.frozen(eq=False, slots=False)
class View:
    """The columns at some places, and some rows in any order and number, or all of them."""

    source: Source
    places: tuple[int, ...]
    chosen: npt.NDArray[np.intp] | None = None

    @cached_property
    def names(self) -> tuple[Node, ...]:
        """Return the labels of the columns."""
        return tuple(self.source.names[place] for place in self.places)

    @cached_property
    def rows(self) -> int:
        """Return the number of rows."""
        return self.source.rows if self.chosen is None else len(self.chosen)

    @cached_property
    def _is_whole(self) -> bool:
        return self.places == tuple(range(len(self.source.names)))

    def column(self, place: int) -> Column:
        """Return one column."""
        column = self.source.column(self.places[place])
        return column if self.chosen is None else column.take(self.chosen)

    def counted(self, place: int) -> npt.NDArray[np.int64] | None:  # noqa: ARG002 - for views of distinct values
        """Return in how many rows each value of a column stands, or None where it is one."""
        return None

    def known(self, place: int) -> ColumnSummary | None:  # noqa: ARG002 - for views of distinct values
        """Return the summary of a column of which only some values are here, or None where all are."""
        return None

    def reason_in_source(self, place: int) -> str | None:
        """Return why a column would be set aside if each row of the source stood for itself, or None.

        Rows that stand for many hold an identifier several times, but it says no more for that.
        """
        if self.chosen is None:
            return None
        found = infer_kind(summarise(self.source.column(self.places[place]), self.names[place]))
        return found.detail if found.kind == "set aside" else None

    def integers(self, start: int, stop: int) -> npt.NDArray[np.integer[Any]] | None:
        """Return a run of columns as the rows of one integer array, where they are that and stand side by side."""
        first = self.places[start]
        if not self._is_whole and self.places[start:stop] != tuple(range(first, first + stop - start)):
            return None
        block = self.source.integers(first, first + stop - start)
        return block if block is None or self.chosen is None else block[:, self.chosen]

    def codes(self) -> npt.NDArray[np.uint8] | None:
        """Return all columns as they are if they may be codes that nobody can change, which only some sources have."""
        lend = getattr(self.source, "lend_codes", None)
        return lend() if lend is not None and self._is_whole and self.chosen is None else None

    def rows_at(self, chosen: npt.NDArray[np.intp]) -> View:
        """Return the same columns with some of these rows."""
        return View(self.source, self.places, chosen if self.chosen is None else self.chosen[chosen])


MOST_ROWS = 10**8


#: Grouped tables have at most so many columns.
MOST_GROUPED = 20


_COUNT_NAMES = frozenset({"freq", "frequency", "count", "counts", "n", "weight", "weights"})


_FEWEST, _MOST = 4, 100_000


def repeat_rows(source: Source, name: Node) -> npt.NDArray[np.intp]:
    """Return the row numbers of a source, each as often as a column of weights says."""
    column = source.column(source.names.index(name))
    counted = column if not column.is_label else None
    wrong = "holds labels" if counted is None else _problem(counted.values, counted.missing)
    if counted is None or wrong is not None:
        message = (
            f"column {name!r} cannot be weights, because it {wrong}; weights are whole numbers from 0 on that say how "
            f"many rows each row stands for"
        )
        raise DataError(message)
    weights = counted.values.astype(np.int64)
    total = int(weights.sum(dtype=object) if weights.max() > MOST_ROWS else weights.sum())
    if total > MOST_ROWS:
        message = f"the weights {name!r} stand for {total:,} rows; at most {MOST_ROWS:,} can be read"
        raise DataError(message)
    if total < 2:  # noqa: PLR2004 - nothing varies in one row
        message = f"the weights {name!r} stand for {count_of(total, 'row')}; at least 2 are needed"
        raise DataError(message)
    return np.repeat(np.arange(source.rows), weights)


def _problem(values: npt.NDArray[np.generic], missing: npt.NDArray[np.bool_]) -> str | None:
    if missing.any():
        return "has missing values"
    if values.dtype.kind not in "iu":
        return "has fractions"
    return "has negative values" if values.min() < 0 else None


def is_count_name(name: Node) -> bool:
    """Whether a name is usual for a number of rows."""
    return str(name).casefold() in _COUNT_NAMES


def notenote_on_weights(name: Node, codes: Codes, others: Sequence[int]) -> tuple[str, ...]:
    """Return a note if a column looks like the number of rows for each combination of the others, which all differ."""
    rows = codes.shape[1]
    if not 0 < len(others) <= MOST_GROUPED or not _FEWEST <= rows <= _MOST:
        return ()
    if np.unique(codes[list(others)], axis=1).shape[1] < rows:
        return ()
    told = f"column {name!r} looks like the number of rows that each row stands for"
    return (Note(f"{told}; give {argument('weights', name)} to count them so"),)


_BYTE_LEVELS = 255
#: So many numbers at most are kept together, so that few are moved in the end and little room is left unused.
_TOGETHER = 1024


class Store:
    """Codes a byte each until a column needs two, a missing value being one more code; numbers with NaN for those.

    ``lent`` are columns in the form of codes that nobody can change, such as a memory map. They are taken as they are
    while every column is its own code, and copied only when one is not.
    """

    def __init__(
        self, names: tuple[Node, ...], rows: int, missing: MissingRule, lent: npt.NDArray[np.uint8] | None = None
    ) -> None:
        self.names = names
        self.rows = rows
        self.missing = missing
        self._lent = lent
        self.codes: Codes = np.empty((len(names), rows), dtype=np.uint8) if lent is None else lent
        self.levels: dict[int, tuple[Any, ...]] = {}
        self.absent = np.zeros(len(names), dtype=np.int64)
        self.number_places: list[int] = []
        self._numbers: list[Floats] = []

    @classmethod
    def of(cls, view: View, missing: MissingRule) -> Store:
        """Return an empty store for the columns of a view."""
        return cls(view.names, view.rows, missing, view.codes())

    @property
    def is_empty(self) -> bool:
        """Whether no column was kept."""
        return not self.levels and not self.number_places

    def put(self, places: Sequence[int], coded: Coded, *, is_cut: bool = False) -> None:  # noqa: ARG002 - codes do for it
        """Keep encoded columns at their places."""
        codes, levels = coded.codes, list(coded.levels)
        where: Any = slice(places[0], places[-1] + 1) if places[-1] - places[0] + 1 == len(places) else list(places)
        if codes.dtype.kind == "i":
            gone = codes < 0
            absent = gone.sum(axis=1)
            self.absent[where] = absent
            codes = np.where(gone, np.array([[len(known)] for known in levels]), codes)
            if self.missing == "level":
                levels = [
                    with_missing(self.names[place], known) if count else known
                    for place, known, count in zip(places, levels, absent.tolist(), strict=True)
                ]
        most = max(len(known) for known in levels)
        if most > MOST_LEVELS:
            name = next(self.names[place] for place, known in zip(places, levels, strict=True) if len(known) == most)
            raise DataError(advice_on_levels(name, most))
        self.levels.update(zip(places, levels, strict=True))
        if self._lent is not None:
            if np.array_equal(self._lent[where], codes):
                return
            self._lent, self.codes = None, self.codes.copy()
        if most > _BYTE_LEVELS and self.codes.dtype == np.uint8:
            self.codes = self.codes.astype(np.uint16)
        self.codes[where] = codes

    def put_number(self, place: int, column: Numbers) -> None:
        """Keep a number at its place, instead of the codes that were kept there."""
        self.levels.pop(place, None)
        filled = len(self.number_places) % _TOGETHER
        if filled == 0:
            room = min(_TOGETHER, len(self.names) - len(self.number_places))
            self._numbers.append(np.empty((room, self.rows), dtype=np.float64))
        row = self._numbers[-1][filled]
        row[:] = column.values
        if column.missing.any():
            row[column.missing] = np.nan
            self.absent[place] = np.count_nonzero(column.missing)
        self.number_places.append(place)

    def is_whole_number(self, place: int) -> bool:
        """Whether a column holds whole numbers, no labels, and no missing value."""
        if place in self.levels:
            return not self.absent[place] and all(
                isinstance(level, int) and not isinstance(level, bool) for level in self.levels[place]
            )
        number = self.number_places.index(place)
        values = self._numbers[number // _TOGETHER][number % _TOGETHER]
        return bool((values == np.rint(values)).all())

    def complete_rows(self) -> npt.NDArray[np.intp]:
        """Return the numbers of the rows in which nothing is missing."""
        kept = np.ones(self.rows, np.bool_)
        for place, levels in self.levels.items():
            if self.absent[place]:
                kept &= self.codes[place] < len(levels)
        for number, place in enumerate(self.number_places):
            if self.absent[place]:
                kept &= ~np.isnan(self._numbers[number // _TOGETHER][number % _TOGETHER])
        return np.flatnonzero(kept)

    def finish(self, columns: tuple[ColumnKind, ...], notes: tuple[str, ...]) -> LocalTable:
        """Return the table, of categories alone or with numbers."""
        kept = sorted(self.levels)
        names = tuple(self.names[place] for place in kept)
        levels = tuple(self.levels[place] for place in kept)
        whole = len(kept) == len(self.names)
        categories = Table(
            names=names,
            codes=self.codes if whole else self.codes[kept],
            cards=np.array([len(known) for known in levels], dtype=np.int64),
            levels=levels,
            incomplete=(self.absent[kept] > 0) & (self.missing in ("testwise", "complete")),
            notes=notes,
            columns=columns,
        )
        if not self.number_places:
            return categories
        blocks = self._numbers
        numbers = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        numbers = numbers[: len(self.number_places)]
        order = np.argsort(self.number_places)
        if (order[1:] < order[:-1]).any():
            numbers = numbers[order]
        places = sorted(self.number_places)
        numbers.setflags(write=False)
        return MixedTable(
            names=tuple(self.names[place] for place in sorted([*kept, *places])),
            categories=categories,
            numbers=numbers,
            number_names=tuple(self.names[place] for place in places),
            columns=columns,
            notes=notes,
        )


def count_levels(table: LocalTable, discretize: Discretize = None) -> Table:
    """Return a table for tests that count levels: numbers are cut unless the caller asked for no cut."""
    if "counts" in table.can:
        return table.categories
    uncut = [name for name in table.number_names if name not in ordered_of(table.columns)]
    if uncut and isinstance(discretize, str) and discretize == UNCUT:
        raise DataError(problem_of_numbers(uncut))
    return cut_numbers(table)


def cut_numbers(table: LocalTable, cut: Cut = USUAL_CUT) -> Table:
    """Return a table in which every number is cut into intervals, which a note says; ordered ones keep their levels."""
    store = Store(table.names, table.rows, "testwise")
    categories = table.categories
    if categories.names and categories.codes.dtype == np.uint16:
        store.codes = store.codes.astype(np.uint16)
    for place, name in enumerate(categories.names):
        at = table.place[name]
        store.codes[at] = categories.codes[place]
        store.levels[at] = categories.levels[place]
        store.absent[at] = int(categories.incomplete[place])
    ordered = ordered_of(table.columns)
    for name in table.number_names:
        values = table.values(name)
        column = numbers(values)
        store.put([table.place[name]], code(column, name, "observed") if name in ordered else code_cut(column, cut))
    cuts = [name for name in table.number_names if name not in ordered]
    return store.finish(as_cut(table.columns, cuts), (*table.notes, *notes_on_cuts(cuts))).categories


def note_on_weights(view: View, store: Store) -> tuple[str, ...]:
    """Return a note on a column that looks like weights among categories alone."""
    if len(view.names) > MOST_GROUPED:
        return ()
    named = [place for place in (*store.levels, *store.number_places) if is_count_name(view.names[place])]
    if len(named) != 1 or not set(store.number_places) <= set(named) or view.chosen is not None:
        return ()
    place = named[0]
    others = [other for other in store.levels if other != place]
    whole = store.is_whole_number(place)
    return notenote_on_weights(view.names[place], store.codes, others) if whole else ()

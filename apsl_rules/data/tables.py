"""Tables in memory: columns of codes, columns of numbers beside them, and rows that stand for several."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Column, Labels, Numbers, Source, numbers, summarise
from apsl_rules.data.kinds import ColumnKind, ColumnSummary, infer_kind
from apsl_rules.errors import DataError
from apsl_rules.memory import DatasetMemory
from apsl_rules.names import Node, count_of
from apsl_rules.notebook_view import NotebookView

Codes: TypeAlias = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]


def _read_only(codes: Codes) -> Codes:
    """Return contiguous codes through which nobody can change them."""
    kept: Codes = codes[:] if codes.flags.c_contiguous else codes.copy()
    kept.setflags(write=False)
    return kept


@attrs.frozen(eq=False, slots=False, repr=False)
class Table(NotebookView):
    """Columns as integer codes, one contiguous run of memory for each column.

    ``codes[i, r]`` is the code of column i in row r, from 0 to ``cards[i] - 1``; a missing value (only under the
    policy ``testwise``) has the code ``cards[i]`` and the column is flagged in ``incomplete``.
    ``cards[i]`` is one more than the largest code observed, and ``levels[i]`` names the codes. ``notes`` say what was
    assumed when the table was read, and ``columns`` tell the kind of each column of the source, also of those that
    were set aside. A table never changes, so what is worked out about it can be kept with it.

    Attributes
    ----------
    names
        The columns, in the order of the source.
    codes
        The codes, one row of the array for each column.
    cards
        How many levels each column has.
    levels
        The levels of each column, in the order of their codes.
    """

    names: tuple[Node, ...]
    codes: Codes = attrs.field(converter=_read_only)
    cards: npt.NDArray[np.int64]
    levels: tuple[tuple[Any, ...], ...]
    incomplete: npt.NDArray[np.bool_]
    notes: tuple[str, ...] = ()
    columns: tuple[ColumnKind, ...] = ()

    def __repr__(self) -> str:
        return f"<Table of {count_of(self.rows, 'row')} and {count_of(len(self.names), 'category', 'categories')}>"

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return int(self.codes.shape[1])

    @cached_property
    def place(self) -> dict[Node, int]:
        """Return the column number of each name."""
        return {name: number for number, name in enumerate(self.names)}

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in attrs.fields(Table)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {"codes": _read_only(state["codes"])})

    @cached_property
    def memory(self) -> DatasetMemory:
        """Return what was counted on this table so far, for later runs."""
        return DatasetMemory()


Floats: TypeAlias = npt.NDArray[np.float64]


@attrs.frozen(eq=False, slots=False, repr=False)
class MixedTable(NotebookView):
    """A table of which at least one column is a number.

    ``names`` are all columns in the order of the source. ``categories`` is a table of those that are categories, which
    may be none. ``numbers[i, r]`` is the value of the number ``number_names[i]`` in row r, NaN where it is missing.
    ``columns`` tell the kind of each column of the source, also of those that were set aside, and ``notes`` what was
    assumed when the table was read. A table never changes, so what is worked out about it can be kept with it.

    Attributes
    ----------
    names
        All columns that are used, in the order of the source.
    numbers
        The values of the numbers, one row of the array for each.
    number_names
        The names of the numbers, in the order of ``numbers``.
    """

    names: tuple[Node, ...]
    categories: Table
    numbers: Floats
    number_names: tuple[Node, ...]
    columns: tuple[ColumnKind, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        categories = count_of(len(self.categories.names), "category", "categories")
        numbers = count_of(len(self.number_names), "number")
        return f"<MixedTable of {count_of(self.rows, 'row')}, {categories} and {numbers}>"

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return int(self.numbers.shape[1])

    @cached_property
    def place(self) -> dict[Node, int]:
        """Return the column number of each name."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def is_number(self) -> npt.NDArray[np.bool_]:
        """Return for each column whether it is a number."""
        numbers = set(self.number_names)
        return np.array([name in numbers for name in self.names], np.bool_)

    @cached_property
    def incomplete(self) -> npt.NDArray[np.bool_]:
        """Return for each column whether it has missing values."""
        gone = dict(zip(self.categories.names, self.categories.incomplete.tolist(), strict=True))
        gone |= {name: bool(np.isnan(row).any()) for name, row in zip(self.number_names, self.numbers, strict=True)}
        return np.array([gone[name] for name in self.names], np.bool_)

    @cached_property
    def memory(self) -> DatasetMemory:
        """Return what was worked out on this table so far, for later runs."""
        return DatasetMemory()


RowNumbers = npt.NDArray[np.intp]


@attrs.frozen(eq=False, slots=False)
class View:
    """The columns at some places, and some rows in any order and number, or all of them."""

    source: Source
    places: tuple[int, ...]
    chosen: RowNumbers | None = None

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
        if self.chosen is None:
            return column
        if isinstance(column, Labels):
            return attrs.evolve(column, codes=column.codes[self.chosen])
        return numbers(column.values[self.chosen], column.missing[self.chosen])

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

    def rows_at(self, chosen: RowNumbers) -> View:
        """Return the same columns with some of these rows."""
        return View(self.source, self.places, chosen if self.chosen is None else self.chosen[chosen])


_NARROW = 256


@attrs.frozen(eq=False)
class Dense:
    """Codes without holes: ``codes[i, r]`` is the rank of a value among ``levels[i]``."""

    codes: Codes | npt.NDArray[np.intp]
    levels: list[tuple[int, ...]]


def dense(block: npt.NDArray[np.integer[Any]]) -> Dense:
    """Encode the columns that are the rows of a block, each by the sorted values seen in it."""
    low, high = block.min(axis=1), block.max(axis=1)
    # Unsigned arithmetic wraps round, so that the span is right at the ends of the 64-bit range too.
    span = high.astype(np.uint64) - low.astype(np.uint64)
    if (span < _NARROW).all():
        return _narrow(block, low, span.astype(np.intp))
    if len(block) == 1:
        return _wide(block)
    parts = [dense(block[place : place + 1]) for place in range(len(block))]
    return Dense(np.concatenate([part.codes for part in parts]), [part.levels[0] for part in parts])


def _narrow(block: npt.NDArray[np.integer[Any]], low: npt.NDArray[Any], span: npt.NDArray[np.intp]) -> Dense:
    width = int(span.max()) + 1
    codes: npt.NDArray[np.uint8] = (block - low[:, None]).astype(np.uint8)
    cells = codes + np.arange(0, len(block) * width, width)[:, None]
    seen = np.bincount(cells.ravel(), minlength=len(block) * width).reshape(len(block), width) > 0
    holes = seen.sum(axis=1) <= span
    if holes.any():
        ranks = (np.cumsum(seen, axis=1) - 1).astype(np.uint8)
        codes = ranks.ravel()[cells]
    shared: dict[tuple[int, int], tuple[int, ...]] = {}
    levels = []
    for place, (first, count) in enumerate(zip(low.tolist(), (span + 1).tolist(), strict=True)):
        if holes[place]:
            levels.append(tuple(first + step for step in np.flatnonzero(seen[place]).tolist()))
        else:
            levels.append(shared.setdefault((first, count), tuple(range(first, first + count))))
    return Dense(codes, levels)


def _wide(block: npt.NDArray[np.integer[Any]]) -> Dense:
    values, codes = np.unique(block[0], return_inverse=True)
    return Dense(codes[None, :], [tuple(values.tolist())])


MOST_ROWS = 10**8
#: Grouped tables have at most so many columns.
MOST_GROUPED = 20

_COUNT_NAMES = frozenset({"freq", "frequency", "count", "counts", "n", "weight", "weights"})
_FEWEST, _MOST = 4, 100_000


def repeat_rows(source: Source, name: Node) -> npt.NDArray[np.intp]:
    """Return the row numbers of a source, each as often as a column of weights says."""
    column = source.column(source.names.index(name))
    wrong = _problem(column.values, column.missing) if isinstance(column, Numbers) else "holds labels"
    if wrong is not None or not isinstance(column, Numbers):
        message = (
            f"column {name!r} cannot be weights, because it {wrong}; weights are whole numbers from 0 on that say how "
            f"many rows each row stands for"
        )
        raise DataError(message)
    weights = column.values.astype(np.int64)
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


def note_on_counts(name: Node, codes: Codes, others: Sequence[int]) -> tuple[str, ...]:
    """Return a note if a column looks like the number of rows for each combination of the others, which all differ."""
    rows = codes.shape[1]
    if not 0 < len(others) <= MOST_GROUPED or not _FEWEST <= rows <= _MOST:
        return ()
    if np.unique(codes[list(others)], axis=1).shape[1] < rows:
        return ()
    told = f"column {name!r} looks like the number of rows that each row stands for"
    return (f"{told}; give weights={name!r} to count them so",)

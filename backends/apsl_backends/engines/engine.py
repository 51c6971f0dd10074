"""What an engine is: columns with names, their values summarised, and work done on sections of the rows.

An engine needs ``fold`` and ``identity``; everything else follows from these. One that knows better ways to summarise
columns, to count combinations or to keep rows near the work overrides those methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar

import attrs
import numpy as np

from apsl_backends.engines.arrow_columns import Summary, count_values
from apsl_backends.engines.coders import Coder
from apsl_backends.kernels.bindings.embedded import CategoryColumn, NumberColumn
from apsl_backends.kernels.library import Integers
from apsl_rules.data import SECTION, ColumnKind, LocalTable, OneHot, Place, arranged, joined_codes
from apsl_rules.data.counts import ChosenCounts, CountSource, Heading
from apsl_rules.errors import DataError
from apsl_rules.names import Node

Answer = TypeVar("Answer")
#: Coded columns of some rows.
Part: TypeAlias = Sequence[NumberColumn | CategoryColumn]

#: So many answers are joined at once.
_JOINED = 16

_CHANGED = (
    "{origin!r} changed while it was read: {what}; leave the table unchanged while learning, or read a copy of it"
)


class Engine(ABC):
    """Rows of columns somewhere; columns are asked for by their places among ``names``.

    Attributes
    ----------
    kind
        The name of the engine, such as "duckdb".
    names
        The names of the columns.
    origin
        Where the rows are, for sentences: a path, an address.
    is_identified
        Whether ``identity`` has an answer.
    moved
        The bytes that came from the engine, where it tells.
    """

    kind: str
    names: tuple[Node, ...]
    origin: str = "the table"
    is_identified: bool = True
    moved: int = 0

    @abstractmethod
    def fold(self, places: Sequence[int], work: Callable[[Any], Answer]) -> Iterable[Answer]:
        """Do work on each section of some columns, an Arrow table, and return the answers in the order of the rows.

        All sections but the last have 2**16 rows, or a multiple of that.
        """

    @abstractmethod
    def identity(self) -> bytes:
        """Return bytes that change with the contents of the rows, so that answers can be kept for later runs."""

    def head(self, places: Sequence[int], rows: int) -> Any:
        """Return the first rows of some columns as an Arrow table, at most so many; None if there are none."""
        return next(iter(self.fold(places, partial(_first, rows=rows))), None)

    def summaries(self, places: Sequence[int]) -> Mapping[int, Summary]:
        """Return the distinct values of columns with the rows of each."""
        sections = list(self.fold(places, count_columns))
        return {
            place: Summary.joined([section[number] for section in sections], self.names[place])
            for number, place in enumerate(places)
        }

    @property
    def is_ordered(self) -> bool:
        """Return whether rows come in the same order whatever columns are asked for."""
        return True

    @property
    def types_set_aside(self) -> Mapping[int, str]:
        """Return the types of the columns, by place, that can neither be counted nor be taken as numbers."""
        return {}

    def code(self, columns: Sequence[int], coders: Sequence[Coder], rows: int) -> Rows:
        """Return the rows of columns by their codes and scores."""
        return StreamedRows(self, tuple(columns), tuple(coders), rows)

    def count(self, columns: Sequence[int], coders: Sequence[Coder], heading: Heading) -> CountSource:
        """Return the counts of columns of categories."""
        from apsl_backends.engines.counts import FoldedCounts

        return FoldedCounts(self, columns, heading, self.code(columns, coders, heading.rows))

    def refuse_change(self, what: str) -> None:
        """End with the sentence that a table changed."""
        raise DataError(_CHANGED.format(origin=self.origin, what=what))


class ReadColumns(Protocol):
    """The columns of an engine as they were read."""

    def thinned(self) -> LocalTable:
        """Return about 10,000 of the rows."""

    def counts(self, names: Sequence[Node], columns: tuple[ColumnKind, ...], notes: tuple[str, ...]) -> CountSource:
        """Return the counts of some columns, which are categories."""


@attrs.frozen(eq=False)
class JoinedColumns:
    """The columns of an engine of which some are joined."""

    read: ReadColumns
    sets: tuple[OneHot, ...]

    def thinned(self) -> LocalTable:
        """Return about 10,000 of the rows."""
        return self.read.thinned().joined(self.sets)

    def counts(self, names: Sequence[Node], columns: tuple[ColumnKind, ...], notes: tuple[str, ...]) -> CountSource:
        """Return the counts of some columns, which are categories."""
        sets = [one for one in self.sets if one.name in names]
        members = [name for one in sets for name in one.members]
        source = self.read.counts([*names, *members], columns, notes)
        heading = attrs.evolve(source.heading.joined(sets), columns=columns, notes=notes)
        return ChosenCounts(source, tuple(arranged(source.heading.names, sets)), heading)


class ArrowEngine(Engine):
    """Rows of an Arrow table in this process."""

    kind = "memory"

    def __init__(self, table: Any, identity: Callable[[], bytes] = bytes) -> None:
        self.names = tuple(table.column_names)
        self.table = table
        self._identify = identity

    def identity(self) -> bytes:
        """Return what is in the table."""
        return self._identify()

    def fold(self, places: Sequence[int], work: Callable[[Any], Answer]) -> Iterator[Answer]:
        """Do work on each section."""
        chosen = self.table.select(list(places))
        return (work(chosen.slice(low, SECTION)) for low in range(0, chosen.num_rows, SECTION))


def _first(section: Any, rows: int) -> Any:
    return section.slice(0, rows)


def count_columns(section: Any) -> list[tuple[Any, Any]]:
    """Return the distinct values of each column of a section, and in how many rows each stands."""
    return [count_values(column) for column in section.columns]


class Rows(ABC):
    """The rows of an engine, coded."""

    #: The most bytes of columns that are gathered from here; None for as many as the memory takes.
    most_gathered: int | None = None

    def select(self, places: Sequence[int]) -> Rows:
        """Return the rows of some columns."""
        return ChosenRows(self, [((place,), None) for place in places])

    @abstractmethod
    def fold(self, places: Sequence[int], work: Callable[[Part], Answer]) -> Iterable[Answer]:
        """Do work on some columns of each part of the rows, and return the answers in the order of the rows."""

    def first(self, places: Sequence[int], work: Callable[[Part], Answer]) -> Answer:
        """Do work on some columns of the first part of the rows."""
        return next(iter(self.fold(places, work)))

    def reduce(
        self, places: Sequence[int], work: Callable[[Part], Answer], join: Callable[[Sequence[Answer]], Answer]
    ) -> Answer:
        """Do work on each part of the rows and join the answers, which may be joined in any order."""
        held: list[Answer] = []
        for answer in self.fold(places, work):
            held.append(answer)
            if len(held) == _JOINED:
                held = [join(held)]
        return join(held)


@attrs.frozen(eq=False)
class StreamedRows(Rows):
    """Rows that an engine reads anew for each question, section by section."""

    engine: Engine
    columns: tuple[int, ...]
    coders: tuple[Coder, ...]
    rows: int

    def fold(self, places: Sequence[int], work: Callable[[Part], Answer]) -> Iterator[Answer]:
        """Read and code the columns, and do work on each section; a change of their number of rows is an error."""
        unique = sorted(set(places))
        order = [unique.index(place) for place in places]
        coded = partial(code_and_work, coders=[self.coders[place] for place in unique], order=order, work=work)
        seen = 0
        for rows, answer in self.engine.fold([self.columns[place] for place in unique], coded):
            seen += rows
            yield answer
        if unique and seen != self.rows:
            self.engine.refuse_change(f"it had {self.rows:,} rows and then {seen:,}")


class ChosenRows(Rows):
    """Some columns of rows: ``parts`` has those that make each, ``shapes`` the indicators of joined ones."""

    def __init__(
        self, rows: Rows, parts: Sequence[Place], shapes: Mapping[Node, tuple[Integers, int]] | None = None
    ) -> None:
        self.most_gathered = rows.most_gathered
        self._rows = rows
        self._parts = tuple(parts)
        self._shapes = shapes or {}

    def fold(self, places: Sequence[int], work: Callable[[Part], Answer]) -> Iterable[Answer]:
        """Do work on some of the columns."""
        return self._rows.fold(*self._asked(places, work))

    def first(self, places: Sequence[int], work: Callable[[Part], Answer]) -> Answer:
        """Do work on some columns of the first part of the rows."""
        return self._rows.first(*self._asked(places, work))

    def reduce(
        self, places: Sequence[int], work: Callable[[Part], Answer], join: Callable[[Sequence[Answer]], Answer]
    ) -> Answer:
        """Do work on each part of the rows and join the answers."""
        return self._rows.reduce(*self._asked(places, work), join)

    def _asked(
        self, places: Sequence[int], work: Callable[[Part], Answer]
    ) -> tuple[list[int], Callable[[Part], Answer]]:
        parts = [self._parts[place] for place in places]
        return [at for made_of, _ in parts for at in made_of], partial(
            _join_and_work, parts=parts, shapes=self._shapes, work=work
        )


def _join_and_work(
    part: Part, parts: Sequence[Place], shapes: Mapping[Node, tuple[Integers, int]], work: Callable[[Part], Answer]
) -> Answer:
    left, made = iter(part), list[NumberColumn | CategoryColumn]()
    for at, one in parts:
        some = [next(left) for _ in at]
        made.append(
            some[0] if one is None else CategoryColumn(joined_codes([each[0] for each in some]), *shapes[one.name])
        )
    return work(made)


def ones_of(flags: Part) -> Integers:
    """Return how many ones each of some columns has, and last in how many rows there is a single one."""
    ones = np.stack([one[0] == 1 for one in flags])
    found: Integers = np.append(ones.sum(axis=1), np.count_nonzero(ones.sum(axis=0) == 1))
    return found


def code_and_work(
    section: Any, coders: Sequence[Coder], order: Sequence[int], work: Callable[[Part], Answer]
) -> tuple[int, Answer]:
    """Return the number of rows of a section, and what work makes of its columns."""
    coded = [coder.code(section.column(number)) for number, coder in enumerate(coders)]
    return section.num_rows, work([coded[number] for number in order])


def in_sections(parts: Iterable[Any]) -> Iterator[Any]:
    """Yield the rows of Arrow tables of any length in tables of SECTION rows, but the last one."""
    import pyarrow as pa

    waiting: list[Any] = []
    rows = 0
    for part in parts:
        waiting.append(part)
        rows += part.num_rows
        if rows < SECTION:
            continue
        left = pa.concat_tables(waiting)
        while left.num_rows >= SECTION:
            yield left.slice(0, SECTION)
            left = left.slice(SECTION)
        waiting, rows = [left], left.num_rows
    if rows:
        yield pa.concat_tables(waiting)

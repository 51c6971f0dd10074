"""Tables in memory: columns of codes, and columns of numbers beside them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.counts import collapse
from apsl_rules.data.dataset import (
    NO_TRAFFIC,
    Codes,
    CountedDataset,
    Dataset,
    Floats,
    Heading,
    Integers,
    Joint,
    RowNumbers,
    Totals,
    Traffic,
    codes_joined,
    names_joined,
    thin_rows,
    thin_step,
)
from apsl_rules.data.derived import notes_on_derived
from apsl_rules.data.duplicates import array_fingerprint, same_orders, same_partitions
from apsl_rules.data.kinds import ColumnKind, Roles
from apsl_rules.data.one_hot import OneHot, arranged, joined_columns
from apsl_rules.data.roles import groups_of_rows, is_constant_in
from apsl_rules.memory import Kind
from apsl_rules.names import Node, count_of, require_known


def _read_only(codes: Codes) -> Codes:
    """Return contiguous codes through which nobody can change them."""
    kept: Codes = codes[:] if codes.flags.c_contiguous else codes.copy()
    kept.setflags(write=False)
    return kept


@attrs.frozen(eq=False)
class RowsUsed:
    """Counts rows without missing values; it refers to arrays, so that what a table keeps does not refer to it.

    Attributes
    ----------
    codes, cards, incomplete
        The codes of a table, how many levels each column has, and which columns have missing values.
    """

    codes: Codes
    cards: Integers
    incomplete: npt.NDArray[np.bool_]

    def __call__(self, places: Sequence[int]) -> int:
        """Count the rows in which none of some columns is missing."""
        kept = np.ones(self.codes.shape[1], np.bool_)
        for place in places:
            if self.incomplete[place]:
                kept &= self.codes[place] < self.cards[place]
        return int(kept.sum())


#: Tables with more rows are scored by their distinct rows, if at most half of so many rows of a sample are.
_MANY_ROWS, _SAMPLED = 1 << 17, 1 << 14


@attrs.frozen(eq=False, slots=False, repr=False)
class Table(CountedDataset):
    """Categories in memory as integer codes, one contiguous run of memory for each column.

    ``codes[i, r]`` is the code of column i in row r, from 0 to ``cards[i] - 1``; a missing value (only under the
    policy ``testwise``) has the code ``cards[i]`` and the column is flagged in ``incomplete``.
    ``cards[i]`` is one more than the largest code observed, and ``levels[i]`` names the codes. A table never changes,
    so what is worked out about it can be kept with it.

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
    columns, notes
        How each column of the source was read, and what was assumed then.
    roles, beside
        The columns that say something of the rows, by role, and their values in the same rows.
    before
        The table before one-hot columns were joined.
    """

    names: tuple[Node, ...]
    codes: Codes = attrs.field(converter=_read_only)
    cards: Integers
    levels: tuple[tuple[Any, ...], ...]
    incomplete: npt.NDArray[np.bool_]
    notes: tuple[str, ...] = ()
    columns: tuple[ColumnKind, ...] = ()
    roles: Roles = attrs.field(factory=dict)
    beside: LocalTable | None = None
    before: LocalTable | None = attrs.field(default=None, repr=False)

    can = frozenset({"counts", "rows", "fingerprint"})

    def __repr__(self) -> str:
        return f"<Table of {count_of(self.rows, 'row')} and {count_of(len(self.names), 'category', 'categories')}>"

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return int(self.codes.shape[1])

    @cached_property
    def heading(self) -> Heading:  # type: ignore[override]
        """Return all of the table but its rows."""
        totals = Totals(self.codes, self.cards + self.incomplete)
        known = self.names, self.cards, self.levels, self.incomplete, self.rows
        return Heading(*known, totals, self.notes, self.columns)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in attrs.fields(Table)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {"codes": _read_only(state["codes"])})

    @cached_property
    def rows_used(self) -> RowsUsed:
        """Count rows without missing values."""
        return RowsUsed(self.codes, self.cards, self.incomplete)

    def complete(self, sets: Sequence[tuple[int, ...]]) -> list[int]:
        """Count, for each set of columns by place, the rows in which none of them is missing."""
        there = {place: self.codes[place] < self.cards[place] for place in {place for one in sets for place in one}}
        return [int(np.count_nonzero(np.logical_and.reduce([there[place] for place in one]))) for one in sets]

    def joint(self, places: Sequence[int]) -> Joint:
        """Return the combinations of some columns, in their order, each once."""
        codes, weights = collapse(self.codes[list(places)], self.heading.spans[list(places)].tolist())
        return Joint(tuple(places), codes, weights)

    def block(self, places: Sequence[int]) -> Joint:
        """Return all rows as they are; those with missing values, or of many that are often equal, as combinations."""
        if self.incomplete[list(places)].any() or self._repeats(places):
            return self.joint(places)
        return Joint(tuple(range(len(self.names))), self.codes, np.empty(0, np.int64))

    def _repeats(self, places: Sequence[int]) -> bool:
        """Return whether there are many rows, and a sample says that counting their combinations takes far less."""
        if self.rows <= _MANY_ROWS:
            return False
        sample = self.codes[list(places), :: self.rows // _SAMPLED]
        _, weights = collapse(sample, self.heading.spans[list(places)].tolist())
        return 2 * len(weights) <= int(sample.shape[1])

    @property
    def in_memory(self) -> Table:
        """Return the table itself."""
        return self

    @property
    def categories(self) -> Table:  # type: ignore[override]
        """Return the table itself: all columns are categories."""
        return self

    def codes_of(self, node: Node) -> npt.NDArray[np.int64]:
        """Return the codes of a column in the order of the rows, -1 where a value is missing."""
        place = self.place[node]
        codes: npt.NDArray[np.int64] = self.codes[place].astype(np.int64)
        codes[codes >= self.cards[place]] = -1
        return codes

    def select(self, names: Collection[Node]) -> Table:
        """Return the table with some of its columns."""
        places = [place for place, one in enumerate(self.names) if one in names]
        return attrs.evolve(
            self,
            names=tuple(self.names[place] for place in places),
            codes=self.codes[places],
            cards=self.cards[places],
            levels=tuple(self.levels[place] for place in places),
            incomplete=self.incomplete[places],
            columns=tuple(one for one in self.columns if one.name in names),
            before=None,
        )

    def thinned(self) -> Table:
        """Return about 10,000 of the rows, with all levels."""
        step = thin_step(self.rows)
        if step == 1:
            return self
        codes = self.codes.take(thin_rows(self.rows, step), axis=1)
        return attrs.evolve(self, codes=codes, roles={}, beside=None, before=None)

    def set_aside(self, reasons: Mapping[Node, str], notes: Sequence[str]) -> Table:
        """Return the table without some columns, each set aside for a reason."""
        left = self.select([name for name in self.names if name not in reasons])
        before = None if self.before is None else self.before.set_aside(reasons, notes)
        return attrs.evolve(left, columns=self._columns_without(reasons), notes=(*self.notes, *notes), before=before)

    def is_one_hot(self, members: Sequence[Node]) -> bool:
        """Return whether each row has a single one in some columns of ones and zeros."""
        ones = np.zeros(self.rows, np.int64)
        for name in members:
            ones += self.codes[self.place[name]] == 1
        return bool((ones == 1).all())

    def joined(self, sets: Sequence[OneHot]) -> Table:
        """Return the table with one-hot columns joined into categories."""
        if not sets:
            return self
        heading, parts = self.heading.joined(sets), arranged(self.names, sets)
        codes = codes_joined([self.codes[place] for at, _ in parts for place in at], parts)
        known = heading.cards, heading.levels, heading.incomplete, heading.notes, heading.columns
        return Table(heading.names, codes, *known, self.roles, self.beside, self)

    def resampled(self, rows: RowNumbers, *, declared: bool) -> Table:
        """Return some rows. Levels that they do not show are none of its levels, unless all are declared."""
        codes: Any = self.codes.take(rows, axis=1)  # in C order, as the kernels want it
        cards, incomplete = self.cards.copy(), self.incomplete.copy()
        levels = list(self.levels)
        for place, (column, card) in enumerate(zip(codes, self.cards.tolist(), strict=True)):
            seen = np.bincount(column, minlength=card + 1) > 0
            incomplete[place] = seen[card]
            kept = seen[:card]
            if declared:
                kept[: np.flatnonzero(kept)[-1:].sum() + 1] = True
            if not kept.any():
                kept[0] = True  # nothing but missing values: a column that never varies
            if kept.all():
                continue
            cards[place] = kept.sum()
            levels[place] = tuple(level for level, keep in zip(self.levels[place], kept.tolist(), strict=False) if keep)
            column[:] = np.append(np.cumsum(kept) - 1, kept.sum()).astype(codes.dtype)[column]
        beside = None if self.beside is None else self.beside.resampled(rows, declared=declared)
        return Table(self.names, codes, cards, tuple(levels), incomplete, self.notes, roles=self.roles, beside=beside)

    def fingerprint_of(self, node: Node) -> bytes:
        """Return a hash of the contents of a column, whatever its name and the names of its levels."""
        require_known(node, self.place, "column")
        place = self.place[node]
        return self.memory.once(_FINGERPRINT, place, lambda: self._hash(place))

    def _hash(self, place: int) -> bytes:
        # A column hashes alike in a wide and in a narrow table, so the width follows from the column alone.
        narrow = int(self.cards[place]) <= np.iinfo(np.uint8).max
        kind = f"{'b' if narrow else 'h'}{'?' if self.incomplete[place] else ''}{self.cards[place]}"
        return array_fingerprint(self.codes[place].astype(np.uint8 if narrow else "<u2", copy=False), kind=kind)

    def _alike(self) -> list[list[int]]:
        return same_partitions(self)


_FINGERPRINT: Kind[bytes] = Kind("hash of a column")


@attrs.frozen(eq=False, slots=False, repr=False)
class MixedTable(Dataset):
    """A table in memory of which at least one column is a number.

    ``names`` are all columns in the order of the source. ``categories`` is a table of those that are categories, which
    may be none. ``numbers[i, r]`` is the value of the number ``number_names[i]`` in row r, NaN where it is missing.
    A table never changes, so what is worked out about it can be kept with it.

    Attributes
    ----------
    names
        All columns that are used, in the order of the source.
    numbers
        The values of the numbers, one row of the array for each.
    number_names
        The names of the numbers, in the order of ``numbers``.
    columns, notes
        How each column of the source was read, and what was assumed then.
    roles, beside
        The columns that say something of the rows, by role, and their values in the same rows.
    before
        The table before one-hot columns were joined.
    """

    names: tuple[Node, ...]
    categories: Table
    numbers: Floats
    number_names: tuple[Node, ...]
    columns: tuple[ColumnKind, ...] = ()
    notes: tuple[str, ...] = ()
    roles: Roles = attrs.field(factory=dict)
    beside: LocalTable | None = None
    before: LocalTable | None = attrs.field(default=None, repr=False)

    can = frozenset({"moments", "rows"})

    def __repr__(self) -> str:
        categories = count_of(len(self.categories.names), "category", "categories")
        numbers = count_of(len(self.number_names), "number")
        return f"<MixedTable of {count_of(self.rows, 'row')}, {categories} and {numbers}>"

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return int(self.numbers.shape[1])

    @cached_property
    def is_number(self) -> npt.NDArray[np.bool_]:
        """Return for each column whether it is a number."""
        numbers = set(self.number_names)
        return np.array([name in numbers for name in self.names], np.bool_)

    @cached_property
    def missing(self) -> Integers:
        """Return how many values are missing in each column."""
        gone = dict(zip(self.categories.names, self.categories.missing.tolist(), strict=True))
        gone |= {name: np.count_nonzero(np.isnan(self.values(name))) for name in self.number_names}
        return np.array([gone[name] for name in self.names], np.int64)

    @cached_property
    def incomplete(self) -> npt.NDArray[np.bool_]:
        """Return for each column whether it has missing values."""
        return self.missing > 0

    def values(self, node: Node) -> Floats:
        """Return the values of a number in the order of the rows, NaN where they are missing."""
        found: Floats = self.numbers[self._number_place[node]]
        return found

    @cached_property
    def _number_place(self) -> dict[Node, int]:
        return {name: place for place, name in enumerate(self.number_names)}

    def complete(self, sets: Sequence[tuple[int, ...]]) -> list[int]:
        """Count, for each set of columns by place, the rows in which none of them is missing."""
        there = {place: self._is_there(self.names[place]) for place in {place for one in sets for place in one}}
        return [int(np.count_nonzero(np.logical_and.reduce([there[place] for place in one]))) for one in sets]

    def _is_there(self, node: Node) -> npt.NDArray[np.bool_]:
        return self.categories.codes_of(node) >= 0 if self.is_category(node) else ~np.isnan(self.values(node))

    @cached_property
    def constant_in_groups(self) -> tuple[Node, ...]:
        """Return the columns that are the same in all rows of each group, where rows are in groups."""
        groups = groups_of_rows(self)
        if groups is None:
            return ()
        found = []
        for name in self.names:
            values = self.categories.codes_of(name) if self.is_category(name) else self.values(name)
            there = values >= 0 if self.is_category(name) else ~np.isnan(values)
            found += [name] if is_constant_in(values[there], groups[there]) else []
        return tuple(found)

    def select(self, names: Collection[Node]) -> MixedTable:
        """Return the table with some of its columns."""
        numbers = [place for place, one in enumerate(self.number_names) if one in names]
        return attrs.evolve(
            self,
            names=tuple(one for one in self.names if one in names),
            categories=self.categories.select(names),
            numbers=self.numbers[numbers],
            number_names=tuple(self.number_names[place] for place in numbers),
            columns=tuple(one for one in self.columns if one.name in names),
            before=None,
        )

    def thinned(self) -> MixedTable:
        """Return about 10,000 of the rows, with all levels."""
        step = thin_step(self.rows)
        if step == 1:
            return self
        numbers = np.ascontiguousarray(self.numbers[:, thin_rows(self.rows, step)])
        categories = self.categories.thinned()
        return attrs.evolve(self, categories=categories, numbers=numbers, roles={}, beside=None, before=None)

    def is_one_hot(self, members: Sequence[Node]) -> bool:
        """Return whether each row has a single one in some columns of ones and zeros."""
        return self.categories.is_one_hot(members)

    def joined(self, sets: Sequence[OneHot]) -> MixedTable:
        """Return the table with one-hot columns joined into categories."""
        if not sets:
            return self
        columns, notes = joined_columns(self.columns, sets), (*(one.note() for one in sets), *self.notes)
        names = names_joined(self.names, arranged(self.names, sets))
        categories = attrs.evolve(self.categories.joined(sets), columns=columns, notes=notes)
        return attrs.evolve(self, names=names, categories=categories, columns=columns, notes=notes, before=self)

    def set_aside(self, reasons: Mapping[Node, str], notes: Sequence[str]) -> LocalTable:
        """Return the table without some columns, each set aside for a reason; without numbers categories are left."""
        left: LocalTable = self.select([name for name in self.names if name not in reasons])
        if not (left.number_names or left.roles):  # columns with a role need sums
            left = left.categories
        before = None if self.before is None else self.before.set_aside(reasons, notes)
        return attrs.evolve(left, columns=self._columns_without(reasons), notes=(*self.notes, *notes), before=before)

    def resampled(self, rows: RowNumbers, *, declared: bool) -> MixedTable:
        """Return some rows. Levels that they do not show are none of its levels, unless all are declared."""
        categories = self.categories.resampled(rows, declared=declared)
        beside = None if self.beside is None else self.beside.resampled(rows, declared=declared)
        numbers = np.ascontiguousarray(self.numbers[:, rows])
        return attrs.evolve(self, categories=categories, numbers=numbers, beside=beside, before=None)

    def regrouped(self, groups: Integers) -> MixedTable:
        """Return the same rows in other groups, one number for each row; they have the name of the first column."""
        assert self.beside is not None  # noqa: S101 - rows that have groups have columns that say so
        name = self.roles["groups"][0]
        levels = tuple(range(int(groups.max(initial=0)) + 1))
        codes = groups.astype(np.uint16)[None, :]
        table = Table((name,), codes, np.array([len(levels)]), (levels,), np.zeros(1, np.bool_))
        beside: LocalTable = table
        if isinstance(self.beside, MixedTable):
            beside = attrs.evolve(self.beside, names=(name, *self.beside.number_names), categories=table)
        return attrs.evolve(self, roles={**self.roles, "groups": (name,)}, beside=beside)

    def notes_on(self, members: Sequence[Node], before: Traffic = NO_TRAFFIC, unused: Sequence[str] = ()) -> list[str]:
        """Return what stands out: columns that follow from others; of each group of duplicates one is looked at."""
        del before
        return [*self.notes, *notes_on_derived(self, members), *unused]

    def _alike(self) -> list[list[int]]:
        found = [(self.categories.names, same_partitions(self.categories))]
        found.append((self.number_names, same_orders(self.numbers)))
        return [[self.place[names[place]] for place in group] for names, groups in found for group in groups]


#: A table in memory.
LocalTable: TypeAlias = Table | MixedTable

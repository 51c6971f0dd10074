"""Rows in time: sort them, and add what the columns were at earlier steps as columns of their own.

A column ``x`` gets one ``x[t-1]`` for each lag, within groups of rows. Where times are regular, a row without a row one
step before it is left out. Where they are not, the row before counts as the step before, and a note says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Column, Labels, PandasFrame, Source
from apsl_rules.data.kinds import Kind, group_columns, time_columns
from apsl_rules.data.readers import PlainTable
from apsl_rules.data.reading import ALL, Reading
from apsl_rules.data.roles import TIME, combined, is_constant_in, lagged
from apsl_rules.data.times import Steps, Times, collisions, times_of
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import Node, count_of, listed, listing
from apsl_rules.notes import Note, argument

Integers: TypeAlias = npt.NDArray[np.int64]
Rows: TypeAlias = npt.NDArray[np.intp]
_FEWEST = 5


@attrs.frozen(eq=False)
class RowsInTime:
    """The rows of a source sorted by group and time; ``before`` has the rows that are so many steps earlier."""

    source: Source
    reading: Reading
    rows: Rows
    before: tuple[Rows, ...]
    groups: Integers
    note: Note

    @classmethod
    def of(cls, source: Source, reading: Reading) -> RowsInTime:
        """Sort the rows of a source by the columns that say when they were."""
        names, place = source.names, {name: at for at, name in enumerate(source.names)}
        time = reading.times(names)
        owners = group_columns(reading.groups)
        when = times_of(time, [source.column(place[name]) for name in time])
        group = np.zeros(source.rows, np.int64)
        if owners:
            group = combined([_codes_of(source.column(place[name])) for name in owners])
        there = np.flatnonzero(when.there & (group >= 0))
        order = there[np.lexsort((when.values[there], group[there]))]
        times, groups = when.take(order), group[order]
        if twice := list(collisions(groups, times)):
            raise DataError(_problem_of_collisions(source, reading, time, len(twice)))
        times = times.in_months(groups)
        steps = Steps.of(times.steps(groups))
        before = _before(times, groups, steps, reading.lags)
        kept = np.flatnonzero(np.logical_and.reduce([one >= 0 for one in before]))
        if len(kept) < _FEWEST:
            raise DataError(_too_many_lags(groups, reading, len(kept), source.rows))
        note = _note(reading, times, steps, len(kept), source.rows)
        return cls(source, reading, order[kept], tuple(order[one[kept]] for one in before), groups[kept], note)

    def plain(self) -> PlainTable:
        """Return the rows without the columns of earlier steps."""
        places = range(len(self.source.names))
        return self._table([(self.source.names[place], self._column(place, self.rows)) for place in places])

    def with_lags(self, kinds: Mapping[Node, Kind]) -> tuple[PlainTable, Reading]:
        """Return the rows with the columns of earlier steps, and how these are read; ``kinds`` are those of columns.

        What is set aside, and what never varies inside a group, gets no column of earlier steps.
        """
        names, aside = self.source.names, {*self.reading.times(self.source.names), *group_columns(self.reading.groups)}
        aside |= {self.reading.sampling_weights}
        columns = [(name, self._column(place, self.rows)) for place, name in enumerate(names)]
        of: dict[Node, Node] = {}
        for lag, rows in enumerate(self.before, 1):
            for place, name in enumerate(names):
                if name in aside or kinds.get(name, "set aside") == "set aside" or self._is_constant(columns[place][1]):
                    continue
                called = lagged(name, lag)
                if called in names:
                    message = f"the table has a column {called!r} already; rename it, or leave it out of the table"
                    raise DataError(message)
                of[called] = name
                columns.append((called, self._column(place, rows)))
        return self._table(columns), _read_alike(self.reading, of, kinds)

    def _is_constant(self, column: Any) -> bool:
        values = column.codes if isinstance(column, Labels) else column
        return len(self.groups) > 0 and bool(self.groups.max() > 0) and is_constant_in(values, self.groups)

    def _column(self, place: int, rows: Rows) -> Any:
        column: Column = self.source.column(place).take(rows)
        if column.is_label:
            return column
        return np.where(column.missing, np.nan, column.values) if column.missing.any() else column.values

    def _table(self, columns: Sequence[tuple[Node, Any]]) -> PlainTable:
        return PlainTable(tuple(name for name, _ in columns), tuple(one for _, one in columns), len(self.rows))


def named_or_earlier(names: Sequence[Node], reading: Reading) -> list[Node]:
    """Return the columns that are the only ones to read, or of which an earlier step is."""
    only = set(listed("only", reading.only, "names of columns, such as ['id']"))
    steps = range(1, reading.lags + 1)
    return [name for name in names if name in only or any(lagged(name, lag) in only for lag in steps)]


def _read_alike(reading: Reading, of: Mapping[Node, Node], kinds: Mapping[Node, Kind]) -> Reading:
    """Return how columns of earlier steps are read as well: as those that they are of."""
    told = dict(reading.kinds or {})
    alike = {called: kinds[name] for called, name in of.items() if kinds[name] in ("category", "number")}
    changed: dict[str, Any] = {"kinds": {**alike, **told}}
    for name in ("discretize", "na"):
        given = getattr(reading, name)
        if isinstance(given, Mapping):
            changed[name] = {**{called: given[one] for called, one in of.items() if one in given}, **given}
    if reading.only is not None:
        only = listed("only", reading.only, "names of columns, such as ['id']")
        is_every = of.keys().isdisjoint(only)  # no column of an earlier step is named by itself
        changed["only"] = [*only, *(called for called, name in of.items() if is_every and name in only)]
    return attrs.evolve(reading, **changed)


def _codes_of(column: Column) -> Integers:
    if column.is_label:
        return column.codes.astype(np.int64)
    codes = np.unique(column.values, return_inverse=True)[1].astype(np.int64)
    codes[column.missing] = -1
    return codes


def _before(times: Times, groups: Integers, steps: Steps, lags: int) -> list[Rows]:
    """Return for each lag the row that is so many steps before each row, -1 where there is none."""
    count = len(groups)
    found = [np.full(count, -1, np.intp) for _ in range(lags)]
    for back in range(1, min(lags, count - 1) + 1):
        rows = np.arange(back, count)
        rows = rows[groups[rows] == groups[rows - back]]
        if not steps.regular:
            found[back - 1][rows] = rows - back
            continue
        far = np.rint((times.values[rows] - times.values[rows - back]) / steps.usual).astype(np.int64)
        for lag in range(back, lags + 1):
            there = rows[far == lag]
            found[lag - 1][there] = there - back
    return found


def _problem_of_collisions(source: Source, reading: Reading, time: Sequence[Node], found: int) -> str:
    """Say that rows have the same time, and which column would tell them apart."""
    owners, apart = group_columns(reading.groups), None
    where = f" in a group of {listing(owners)}" if owners else ""
    advice = "take one of such rows out"
    if not owners and (apart := _tells_apart(source, time)) is not None:
        advice = f"give {argument('groups', apart)}, which tells such rows apart"
    rows = f"{count_of(found, 'row')} of {source.rows:,} {'has' if found == 1 else 'have'}"
    return f"{rows} the same {listing(time)} as another{where}; {advice}"


def _tells_apart(source: Source, time: Sequence[Node]) -> Node | None:
    """Return the column of fewest values that together with the time is different in each row."""
    names = source.names
    when = combined([_codes_of(source.column(names.index(name))) for name in time])
    found: list[tuple[int, int]] = []
    for place, name in enumerate(names):
        column = source.column(place)
        if name in time or (not column.is_label and column.values.dtype.kind not in "iu"):
            continue
        codes = _codes_of(column)
        levels = len(np.unique(codes))
        if 1 < levels <= source.rows / 2 and len(np.unique(combined([codes, when]))) == source.rows:
            found.append((levels, place))
    return names[min(found)[1]] if found else None


def _too_many_lags(groups: Integers, reading: Reading, kept: int, rows: int) -> str:
    largest = int(np.bincount(groups).max(initial=0)) if len(groups) else 0
    where = "the table has" if not group_columns(reading.groups) else "the largest group has"
    given = argument("lags", reading.lags)
    return (
        f"{given} leaves {count_of(kept, 'row')} of {rows:,}, since a row needs as many rows before it, and {where} "
        f"{count_of(largest, 'row')}; give fewer lags"
    )


def _note(reading: Reading, times: Times, steps: Steps, kept: int, rows: int) -> Note:
    time, lags = time_columns(reading.time), reading.lags
    by = listing(time)
    last = "[t-1]" if lags == 1 else f"[t-1] to [t-{lags}]"
    if steps.regular:
        told = f"rows are in time by {by}, in steps of {times.spell(steps.usual)}: columns {last} are earlier steps"
        if steps.gaps:
            told += f"; {count_of(steps.gaps, 'step')} {'is' if steps.gaps == 1 else 'are'} missing"
    else:
        told = (
            f"rows are in time by {by}, in steps from {times.spell(steps.least)} to {times.spell(steps.most)}: columns "
            f"{last} are earlier rows, however long before"
        )
    told += f"; {kept:,} of {count_of(rows, 'row')} have all of them"
    severity: Any = "info" if steps.regular else "warning"
    fields = {"lags": lags, "rows": rows, "kept": kept, "gaps": steps.gaps}
    return Note(told, TIME, severity, time=[*time], **fields)


def in_time(opened: Source, reading: Reading) -> tuple[Source, Reading, tuple[str, ...]]:
    """Return a source with columns of earlier steps, how it is read, and a note on its rows in time."""
    from apsl_rules.data.read_table import table

    if reading.weights is not None:
        message = (
            f"{argument('weights', reading.weights)} says how many rows a row stands for, and in time each stands for "
            f"itself; leave weights out, or leave time out"
        )
        raise InvalidArgumentError(message)
    rows, names = RowsInTime.of(opened, reading), frozenset(opened.names)
    aside = {*reading.times(names), *group_columns(reading.groups), reading.sampling_weights, *(reading.drop or ())}
    alone = table(
        rows.plain(),
        missing=reading.missing,
        levels=reading.levels,
        kinds=_of_names(reading.kinds, names),
        drop=[name for name in aside if name in names],
        only=None if reading.only is None else named_or_earlier(opened.names, reading),
        na=_of_names(reading.na, names),
    )
    kinds = {one.name: one.kind for one in alone.columns}
    with_lags, read_alike = rows.with_lags(kinds)
    notes = opened.notes if isinstance(opened, PlainTable | PandasFrame) else ()
    return attrs.evolve(with_lags, notes=notes), read_alike, (rows.note,)


def _of_names(given: Any, names: Collection[Node]) -> Any:
    """Return what is said of some columns; what is said of columns of earlier steps is left out."""
    if not isinstance(given, Mapping):
        return given
    return {name: said for name, said in given.items() if name in names or name == ALL}

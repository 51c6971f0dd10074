"""Describe a table to a person: its size, its columns, and what stands out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules._documents import label
from apsl_rules.data.by_definition import Definition, definitions, taken_apart_for
from apsl_rules.data.derived import find_derived
from apsl_rules.data.kinds import CONSTANT, ColumnKind, why_set_aside
from apsl_rules.data.tables import LocalTable
from apsl_rules.names import Node, count_of, in_order, listing, require_known, shown
from apsl_rules.notes import Note, Sentence, argument, labels_in
from apsl_rules.showing import WIDTH, NotebookView, in_columns

_SHOWN = 5
#: How many bars a column has at most.
MOST_BARS = 12
#: In tables of more columns nobody looks for what defines what, unless a target is named.
_MOST_DEFINED = 30
_EIGHTHS = "▁▂▃▄▅▆▇█"


@attrs.frozen
class Bar:
    """How many rows of a column have a level, or a number within an interval.

    Attributes
    ----------
    rows
        How many rows there are.
    level
        The level, None of an interval.
    low, high
        The ends of the interval.
    """

    rows: int
    level: str | None = None
    low: float | None = None
    high: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the bar as plain data."""
        return {name: value for name, value in attrs.asdict(self).items() if value is not None}


@attrs.frozen
class ColumnDescription:
    """What a column is taken for and holds, and the options that change it.

    Attributes
    ----------
    name, kind, detail, missing
        As those of the column; of a column that is set aside ``detail`` is the reason.
    distinct
        How many different values are there, None of a column that was set aside.
    bars
        Its histogram: levels in the order of their frequency, those of an ordered scale in their own, and intervals of
        numbers that are equally wide. Rows of further levels are in no bar.
    options
        Each argument that would take it for something else, as a sentence that every surface spells in its own way.
    """

    name: Node
    kind: str
    detail: str
    missing: int = 0
    distinct: int | None = None
    bars: tuple[Bar, ...] = ()
    options: tuple[Sentence, ...] = ()

    @property
    def sketch(self) -> str:
        """Return the histogram as a few letters that rise and fall with it."""
        most = max((bar.rows for bar in self.bars), default=0)
        return "".join(_EIGHTHS[min(7, int(8 * bar.rows / most))] if bar.rows and most else " " for bar in self.bars)

    def to_dict(self) -> dict[str, Any]:
        """Return the column as plain data."""
        return {
            "name": label(self.name),
            "kind": self.kind,
            "detail": self.detail,
            "missing": self.missing,
            "distinct": self.distinct,
            "bars": [bar.to_dict() for bar in self.bars],
            "options": [str(one) for one in self.options],
        }


@attrs.frozen
class Description(NotebookView):
    """The size of a table, its columns, and what stands out in it.

    Attributes
    ----------
    rows, columns, bytes
        The size of the table without the columns that are set aside, and of its codes and numbers.
    constant, incomplete
        The columns that never vary, and those with missing values.
    duplicates
        Groups of columns that differ at most in the names of their levels; constants are not among them.
    details, described
        Every column of the source with its kind and what it holds, also those that are set aside; and the same with
        histograms and options.
    derived, defined
        What follows from other columns, in sentences; and what is set aside for a target, by target.
    notes
        What was assumed when the table was read.
    repeated
        How many rows are equal to an earlier one in all columns that are used.
    """

    rows: int
    columns: int
    constant: tuple[Node, ...]
    duplicates: tuple[tuple[Node, ...], ...]
    incomplete: tuple[Node, ...]
    bytes: int
    details: tuple[ColumnKind, ...] = ()
    derived: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    repeated: int = 0
    described: tuple[ColumnDescription, ...] = ()
    defined: tuple[Definition, ...] = ()

    def __str__(self) -> str:
        return self.spoken(str)

    def spoken(self, spell: Callable[[str], str], width: int = WIDTH) -> str:
        """Return the description as text, each sentence spelled for a surface, no column wider than there is room."""
        aside = sum(one.kind == "set aside" for one in self.details)
        columns = count_of(self.columns + aside, "column") + (f" ({aside:,} set aside)" if aside else "")
        lines = [f"{count_of(self.rows, 'row')}, {columns}, {count_of(self.bytes, 'byte')}"]
        cells = []
        for one in self.described:
            gone = f"; {_share(one.missing / self.rows, 1)} missing" if one.missing else ""
            cells.append([shown(one.name), one.kind, one.sketch, f"{one.detail}{gone}"])
        lines += in_columns(cells, width=width).split("\n") if cells else []
        if self.constant:
            lines.append(f"constant: {listing(self.constant)}")
        lines.extend(f"duplicate columns: {listing(group)}" for group in self.duplicates)
        if self.incomplete:
            lines.append(f"with missing values: {listing(self.incomplete)}")
        lines.extend(f"derived: {spell(one)}" for one in self.derived)
        lines.extend(f"if {shown(one.target)} is the target: {spell(one.note())}" for one in self.defined)
        if self.repeated and any(one.kind == "number" for one in self.details):
            verb = "repeats" if self.repeated == 1 else "repeat"
            lines.append(
                f"{count_of(self.repeated, 'row')} {verb} an earlier one; if entered twice, leave out the copies"
            )
        lines.extend(f"note: {spell(note)}" for note in self.notes)
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain data."""
        return {
            "rows": self.rows,
            "columns": [one.to_dict() for one in self.described],
            "constant": [label(name) for name in self.constant],
            "duplicates": [[label(name) for name in group] for group in self.duplicates],
            "derived": list(self.derived),
            "by_definition": [
                {"target": label(one.target), "columns": [label(name) for name in one.columns], "text": str(one.note())}
                for one in self.defined
            ],
            "repeated_rows": self.repeated,
            "notes": list(self.notes),
            "details_of_notes": [one.to_dict() for one in self.notes if isinstance(one, Note)],
            "bytes": self.bytes,
        }


def describe(table: LocalTable, target: Node = None) -> Description:
    """Report the size of a table, what its columns hold, and which are constant, duplicate, derived or incomplete.

    Of very many columns only the first by name are compared to find derived ones. With a ``target`` only what is set
    aside for it is told; without one the same for each column, if they are few.
    """
    told = list[Definition]()
    if target is not None:
        table, told = taken_apart_for(table, [target])
        require_known(target, table.place, "target")
    targets = [target] if target is not None else table.names if len(table.names) <= _MOST_DEFINED else []
    defined = tuple(found for found in (*told, *(definitions(table, one) for one in targets)) if found)
    labels = labels_in(table.notes)
    coded = table.categories
    aside = [one.name for one in table.columns if one.kind == "set aside" and one.detail == CONSTANT]
    constant = [coded.names[place] for place in np.flatnonzero(~coded.heading.varied).tolist()]
    return Description(
        rows=table.rows,
        columns=len(table.names),
        constant=in_order([*constant, *aside]),
        duplicates=coded.find_duplicates(),
        incomplete=in_order(name for name, gone in zip(table.names, table.incomplete, strict=True) if gone),
        bytes=coded.codes.nbytes + sum(table.values(name).nbytes for name in table.number_names),
        details=tuple(_detail(table, one) for one in table.columns),
        described=tuple(_describe_column(table, one, labels.get(one.name)) for one in table.columns),
        defined=defined,
        derived=tuple(one for one in find_derived(table, table.names) if not _is_told(one, defined)),
        notes=tuple(note for note in table.notes if not labels_in([note])),
        repeated=_repeated_rows(table),
    )


def _is_told(note: str, defined: Sequence[Definition]) -> bool:
    """Return whether what defines a target says the same as a note on derived columns."""
    columns = set(note.fields["columns"]) if isinstance(note, Note) else set()
    return any(one.target in columns and not columns.isdisjoint(one.told) for one in defined)


def _describe_column(table: LocalTable, column: ColumnKind, label_of_file: str | None) -> ColumnDescription:
    """Return a column with its label, its histogram and its options."""
    told = _detail(table, column)
    if label_of_file:
        told = attrs.evolve(told, detail=f"{label_of_file}: {told.detail}")
    distinct: int | None = None
    bars: tuple[Bar, ...] = ()
    if table.is_category(column.name):
        heading = table.categories.heading
        place = heading.place[column.name]
        card = int(heading.cards[place])
        totals = heading.totals[place][:card]
        distinct = int((totals > 0).sum())
        order = np.argsort(-totals, kind="stable")[:MOST_BARS].tolist()
        bars = tuple(Bar(int(totals[at]), level=_level(heading.levels[place][at])) for at in order)
    elif column.name in table.place:
        values = table.values(column.name)
        values = values[~np.isnan(values)]
        levels, counts = np.unique(values, return_counts=True)
        distinct = len(levels)
        if column.kind == "ordered" and distinct <= MOST_BARS:
            bars = tuple(Bar(rows, _level(one)) for one, rows in zip(levels.tolist(), counts.tolist(), strict=True))
        else:
            bars = _intervals(values)
    return ColumnDescription(
        told.name, told.kind, told.detail, told.missing, distinct, bars, tuple(_options(table, column))
    )


def _intervals(values: npt.NDArray[np.float64]) -> tuple[Bar, ...]:
    """Return a histogram of numbers in intervals that are equally wide."""
    if not len(values):
        return ()
    # Halves, so that the width of the widest range is a float.
    edges = 2 * np.linspace(values.min() / 2, values.max() / 2, MOST_BARS + 1)
    inner = np.searchsorted(edges[1:-1], values, side="right")
    counts = np.bincount(inner, minlength=MOST_BARS)
    return tuple(
        Bar(rows, low=low, high=high)
        for rows, low, high in zip(counts.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    )


def _options(table: LocalTable, column: ColumnKind) -> list[Sentence]:
    """Return the arguments that would take a column for something else."""
    name = column.name
    if column.kind == "set aside":
        told = why_set_aside(table.columns, name)
        return [told] if isinstance(told, Sentence) else []
    kinds = {"category": ["number"], "number": ["category"], "ordered": ["category", "number"]}[column.kind]
    if column.kind == "category" and not _spells_numbers(table, name):
        kinds = []
    ways = [argument("kinds", {name: kind}) for kind in kinds]
    if column.kind == "number":
        ways.append(argument("discretize", {name: "quantile:3"}))
    return [Sentence(one) for one in (*ways, argument("drop", [name]))]


def _spells_numbers(table: LocalTable, name: Node) -> bool:
    """Return whether the levels of a category are numbers."""
    heading = table.categories.heading
    levels = heading.levels[heading.place[name]]
    return all(isinstance(one, int | float | np.number) and not isinstance(one, bool) for one in levels)


def _repeated_rows(table: LocalTable) -> int:
    """Count the rows that are equal to an earlier one, by a hash of each row."""
    hashes = np.zeros(table.rows, np.uint64)
    for codes in table.categories.codes:
        _mix(hashes, codes.astype(np.uint64))
    for values in map(table.values, table.number_names):
        _mix(hashes, np.where(np.isnan(values), 0.5, values + 0.0).view(np.uint64))  # -0.0 is 0.0
        _mix(hashes, np.isnan(values).astype(np.uint64))
    return int(table.rows - len(np.unique(hashes)))


def _mix(hashes: npt.NDArray[np.uint64], values: npt.NDArray[np.uint64]) -> None:
    """Mix the values of a column into the hashes of the rows: the finaliser of SplitMix64 (Steele et al. 2014)."""
    hashes += values + np.uint64(0x9E3779B97F4A7C15)
    hashes ^= hashes >> np.uint64(30)
    hashes *= np.uint64(0xBF58476D1CE4E5B9)
    hashes ^= hashes >> np.uint64(27)
    hashes *= np.uint64(0x94D049BB133111EB)
    hashes ^= hashes >> np.uint64(31)


def describe_columns(table: LocalTable) -> tuple[ColumnKind, ...]:
    """Return what each column holds, also of a table that does not say how it was read."""
    unread = (ColumnKind(name, "category" if table.is_category(name) else "number") for name in table.names)
    return tuple(_detail(table, one) for one in table.columns or unread)


def _detail(table: LocalTable, column: ColumnKind) -> ColumnKind:
    """Return a column with the shares of its levels, or its range and quartiles."""
    if table.is_category(column.name):
        heading = table.categories.heading
        place = heading.place[column.name]
        card = int(heading.cards[place])
        return attrs.evolve(column, detail=_shares(heading.levels[place][:card], heading.totals[place][:card]))
    if column.kind == "ordered" and column.name in table.place:
        values = table.values(column.name)
        levels, totals = np.unique(values[~np.isnan(values)], return_counts=True)
        return attrs.evolve(column, detail=_shares(levels.tolist(), totals.astype(np.int64)))
    if column.name in table.place:
        values = table.values(column.name)
        low, *quartiles, high = np.quantile(values[~np.isnan(values)], [0, 0.25, 0.5, 0.75, 1]).tolist()
        middle = ", ".join(f"{one:.6g}" for one in quartiles)
        return attrs.evolve(column, detail=f"{low:.6g} to {high:.6g}, quartiles {middle}")
    return column


def _shares(levels: Sequence[Any], totals: npt.NDArray[np.int64]) -> str:
    """Return the most frequent levels of a column with their shares."""
    order = np.argsort(-totals, kind="stable")[:_SHOWN].tolist()
    shares = [f"{_level(levels[at])} {_share(totals[at] / max(1, totals.sum()), 0)}" for at in order]
    rest = len(totals) - len(shares)
    return ", ".join(shares) + (f" and {count_of(rest, 'level')} more" if rest else "")


def _level(level: Any) -> str:
    return f"{level:.6g}" if isinstance(level, float) else shown(level)


def _share(share: float, digits: int) -> str:
    """Return a share in per cent; one that would be rounded to zero is said to be below the smallest that is not."""
    least = 10.0 ** -(digits + 2)
    return f"<{least:.{digits}%}" if 0 < share < least / 2 else f"{share:.{digits}%}"

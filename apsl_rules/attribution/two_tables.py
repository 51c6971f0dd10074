"""Two tables read as one: the columns that both have, and one that says which table a row is from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from apsl_rules.data import Dataset, LocalTable, Stacked, open_source, table
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import Node, count_of, listing, nearest
from apsl_rules.notes import Note

#: The fewest rows of each table.
FEWEST_ROWS = 20


@attrs.frozen(eq=False)
class TwoTables:
    """Two tables as one dataset; the column ``which`` says by ``labels`` which of the two a row is from.

    Attributes
    ----------
    columns
        The columns that are compared.
    rows
        How many rows each table has.
    notes
        What is not compared, and why.
    """

    data: LocalTable
    which: Node
    labels: tuple[str, str]
    columns: tuple[Node, ...]
    rows: tuple[int, int]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, before: Any, after: Any, target: Node, labels: tuple[str, str], reading: dict[str, Any]) -> TwoTables:
        """Read two tables as one; columns that only one of them has are left out."""
        first, second = open_source(before), open_source(after)
        shared = tuple(name for name in first.names if name in second.names)
        _require_target(target, shared, first.names, second.names, labels)
        for one, label in zip((first, second), labels, strict=True):
            if one.rows < FEWEST_ROWS:
                message = f"the table {label!r} has {count_of(one.rows, 'row')}; at least {FEWEST_ROWS} are needed"
                raise DataError(message)
        which = _free_name(shared)
        stacked = Stacked((first, second), shared, (*shared, which), labels)
        given = {name: value for name, value in reading.items() if value is not None}
        kinds = {**given.pop("kinds", {}), which: "category"}
        if "only" in given:
            given["only"] = [*given["only"], which]
        data = table(stacked, kinds=kinds, **given)
        _require_used(target, data, labels)
        told = [
            Note(f"only {label!r} has {listing(left)}, so that nothing is said of it", "left out", columns=[*left])
            for label, names in zip(labels, (first.names, second.names), strict=True)
            if (left := [name for name in names if name not in shared])
        ]
        apart = [name for name in data.names if name not in (which, target) and _tells_apart(data, name, which)]
        if apart:
            said = f"no value of {listing(apart)} occurs in both tables, so that it says which table a row is from"
            told.append(Note(f"{said}; left out", "left out", columns=[*apart]))
            data = data.select([name for name in data.names if name not in apart])
        columns = tuple(name for name in data.names if name != which)
        return cls(data, which, labels, columns, (first.rows, second.rows), (*told, *data.notes))


def _require_target(
    target: Node, shared: Sequence[Node], first: Sequence[Node], second: Sequence[Node], labels: tuple[str, str]
) -> None:
    if target in shared:
        return
    for names, has, lacks in ((first, *labels), (second, *labels[::-1])):
        if target in names:
            message = f"the table {lacks!r} has no column {target!r}, which {has!r} has; give a column of both"
            raise InvalidArgumentError(message, argument="target")
    hint = nearest(str(target), map(str, shared)) or f"; both have {listing(shared)}"
    message = f"no table has a column {target!r}{hint}"
    raise InvalidArgumentError(message, argument="target")


def _require_used(target: Node, data: Dataset, labels: tuple[str, str]) -> None:
    if target not in data.place:
        why = data.why_not(target) or "it is not used"
        message = f"{target!r} cannot be compared between {labels[0]!r} and {labels[1]!r}: {why}"
        raise DataError(message)


def _free_name(taken: Sequence[Node]) -> str:
    name = "table"
    while name in taken:
        name += "_"
    return name


def _tells_apart(data: LocalTable, column: Node, which: Node) -> bool:
    """Return whether no value of a column, or no part of its range, occurs in both tables."""
    second = data.categories.codes_of(which) == 1
    if data.is_category(column):
        codes = data.categories.codes_of(column)
        return not np.intersect1d(codes[second & (codes >= 0)], codes[~second & (codes >= 0)]).size
    values = data.values(column)
    sides = [values[side & ~np.isnan(values)] for side in (second, ~second)]
    if not all(len(one) for one in sides):
        return False
    (one, other) = sorted(sides, key=lambda side: float(side.min()))
    return bool(one.max() < other.min())

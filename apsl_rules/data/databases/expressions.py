"""What is asked of a database, as expressions of ibis, which quotes every name and writes the statements.

Columns go by names of our own, c0, c1 and so on, so that no name of a user's stands in a result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from apsl_rules.errors import DataError
from apsl_rules.names import Node

#: What the number of rows is called in results.
COUNT = "n"


def value_of(table: Any, name: Node) -> Any:
    """Return a column as values that can be levels or numbers.

    Decimal numbers become floats, as they do in memory, and rare types text.
    """
    column = table[name]
    kind = column.type()
    if kind.is_decimal():
        return column.cast("float64")
    if kind.is_numeric() or kind.is_boolean() or kind.is_string() or kind.is_temporal():
        return column
    if _is_neither(kind):
        message = f"column {name!r} holds {kind}, which has no levels and is no number; leave it out (drop)"
        raise DataError(message)
    return column.cast("string")


def _is_neither(kind: Any) -> bool:
    """Return whether values of a type are neither levels nor numbers."""
    return bool(kind.is_nested() or kind.is_json() or kind.is_binary() or kind.is_geospatial() or kind.is_null())


def types_set_aside(table: Any) -> dict[int, str]:
    """Return the types of those columns, by place, whose values are neither levels nor numbers."""
    kinds = (table[name].type() for name in table.columns)
    return {place: type(kind).__name__.lower() for place, kind in enumerate(kinds) if _is_neither(kind)}


def select(table: Any, values: Mapping[int, Any]) -> Any:
    """Return some columns under names of our own."""
    return table.select(**{f"c{place}": value for place, value in values.items()})


def group(table: Any, values: Mapping[int, Any], most: int | None = None) -> Any:
    """Return the combinations of some columns that occur, each with its number of rows, but no more than one above."""
    chosen = select(table, values)
    keys = [f"c{place}" for place in values]
    found = chosen.group_by(keys).agg(**{COUNT: chosen.count()})
    return found if most is None else found.limit(most + 1)


def complete_rows(table: Any, missing: Mapping[int, Any], sets: Sequence[Sequence[int]]) -> Any:
    """Return for each set of columns the number of rows in which none of them is missing."""
    import ibis

    counts = {}
    for number, places in enumerate(sets):
        gone = [missing[place] for place in places]
        counts[f"c{number}"] = ibis.or_(*gone).ifelse(0, 1).sum()
    return table.agg(**counts)

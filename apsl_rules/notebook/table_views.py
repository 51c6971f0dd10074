"""Tables in a notebook: their columns with kind, levels and share missing, and their first rows."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from apsl_rules.data import MixedTable, Table, describe_columns
from apsl_rules.names import Node, count_of
from apsl_rules.notebook.pieces import MOST_ROWS, card, figure, fold, name, notes, table, text, title

_FIRST_ROWS = 5
_MOST_COLUMNS = 20


def table_html(source: Table | MixedTable) -> str:
    """Return the columns of a table, its first rows and what was assumed when it was read."""
    some = _narrow(source)
    rows = [
        [
            name(one.name),
            text(one.kind),
            text(one.detail),
            f"{one.missing / max(1, source.rows):.1%}" if one.missing else "",
        ]
        for one in describe_columns(some)
    ]
    aside = len(source.columns) - len(source.names)
    head = title(
        f"table of {count_of(source.rows, 'row')} and {count_of(len(source.names), 'column')}"
        + (f"; {count_of(aside, 'further column')} set aside" if aside > 0 else "")
    )
    total = max(len(source.columns), len(source.names))
    columns = table(("column", "kind", "holds", "missing"), rows, words=3, what="column", total=total)
    return card(head, columns, fold("first rows", _first_rows(source)), notes(source.notes))


def _narrow(source: Table | MixedTable) -> Table | MixedTable:
    """Return the table with the first columns only, where there are many: only those are described."""
    if len(source.names) <= MOST_ROWS and len(source.columns) <= MOST_ROWS:
        return source
    listed = [one.name for one in source.columns[:MOST_ROWS]] or list(source.names[:MOST_ROWS])
    kept = set(listed)
    kinds = tuple(one for one in source.columns if one.name in kept)
    if isinstance(source, Table):
        return _columns_of(source, kept, kinds)
    numbers = [place for place, one in enumerate(source.number_names) if one in kept]
    return attrs.evolve(
        source,
        names=tuple(one for one in source.names if one in kept),
        categories=_columns_of(source.categories, kept, source.categories.columns),
        numbers=source.numbers[numbers],
        number_names=tuple(source.number_names[place] for place in numbers),
        columns=kinds,
    )


def _columns_of(coded: Table, kept: set[Node], columns: tuple[Any, ...]) -> Table:
    places = [place for place, one in enumerate(coded.names) if one in kept]
    return attrs.evolve(
        coded,
        names=tuple(coded.names[place] for place in places),
        codes=coded.codes[places],
        cards=coded.cards[places],
        levels=tuple(coded.levels[place] for place in places),
        incomplete=coded.incomplete[places],
        columns=columns,
    )


def _first_rows(source: Table | MixedTable) -> str:
    """Return the first rows with their values."""
    listed = source.names[:_MOST_COLUMNS]
    values = [_values(source, one) for one in listed]
    rows = [[column[at] for column in values] for at in range(min(_FIRST_ROWS, source.rows))]
    rest = len(source.names) - len(listed)
    heads = [*map(name, listed), *([f"and {count_of(rest, 'more column')}"] if rest else [])]
    return table(heads, rows, words=len(heads), what="row", total=source.rows)


def _values(source: Table | MixedTable, node: Node) -> list[str]:
    """Return the first values of a column as text; a missing one is empty."""
    coded = source if isinstance(source, Table) else source.categories
    if node in coded.place:
        place = coded.place[node]
        levels, codes = coded.levels[place], coded.codes[place, :_FIRST_ROWS].tolist()
        return [figure(_plain(levels[code])) if code < len(levels) else "" for code in codes]
    numbers = source.numbers if isinstance(source, MixedTable) else np.empty((0, 0))
    row = numbers[source.number_names.index(node)] if isinstance(source, MixedTable) else numbers
    return ["" if np.isnan(value) else f"{value:.6g}" for value in row[:_FIRST_ROWS].tolist()]


def _plain(level: Any) -> Any:
    return level.item() if isinstance(level, np.generic) else level

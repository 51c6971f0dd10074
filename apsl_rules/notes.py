"""What a reader of a part should know of the table behind it: constant columns, and copies among its members."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from apsl_rules.coded import Codes, Table
from apsl_rules.names import Node, listing

_ROWS_PER_CELL = 5


def notes_on(table: Table, members: Sequence[Node]) -> tuple[str, ...]:
    """Give a sentence for each thing that stands out; copies are looked for among the members only."""
    from apsl_rules.data import describe

    notes = []
    constant = [table.names[place] for place in np.flatnonzero(table.cards == 1).tolist()]
    if constant:
        notes.append(f"columns that never vary and so are adjacent to nothing: {listing(constant)}")
    many = [name for name in members if 2 * table.cards[table.place[name]] * _ROWS_PER_CELL > table.rows]
    if many:
        cut = f"discretize={{{many[0]!r}: 'quantile:3'}}"
        notes.append(f"columns with too many levels for any test on {table.rows} rows: {listing(many)}; try {cut}")
    copies = describe(_columns(table, members)).duplicates
    notes += [f"columns that say the same, so that each hides the others: {listing(group)}" for group in copies]
    return tuple(notes)


def _columns(table: Table, names: Sequence[Node]) -> Table:
    """Give a table of some columns only."""
    places = [table.place[name] for name in names]
    codes: Codes = table.codes[places]
    return Table(
        names=tuple(names),
        codes=codes,
        cards=table.cards[places],
        levels=tuple(table.levels[place] for place in places),
        incomplete=table.incomplete[places],
    )

"""A table with numbers as categories alone, for tests that count levels."""

from __future__ import annotations

import attrs
import numpy as np

from apsl_rules.data.columns import Numbers
from apsl_rules.data.cuts import Cut
from apsl_rules.data.levels import code_cut
from apsl_rules.data.mixed_table import MixedTable
from apsl_rules.data.reading import UNCUT, USUAL_CUT, Discretize
from apsl_rules.data.sentences import notes_on_cuts, problem_of_numbers
from apsl_rules.data.store import Store
from apsl_rules.data.table import Table
from apsl_rules.errors import DataError


def count_levels(table: Table | MixedTable, discretize: Discretize = None) -> Table:
    """Return a table for tests that count levels: numbers are cut unless the caller asked for no cut."""
    if isinstance(table, Table):
        return table
    if isinstance(discretize, str) and discretize == UNCUT:
        raise DataError(problem_of_numbers(table.number_names))
    return cut_numbers(table)


def cut_numbers(table: MixedTable, cut: Cut = USUAL_CUT) -> Table:
    """Return a table in which every number is cut into intervals; a note says so."""
    store = Store(table.names, table.rows, "testwise")
    categories = table.categories
    if categories.names and categories.codes.dtype == np.uint16:
        store.codes = store.codes.astype(np.uint16)
    for place, name in enumerate(categories.names):
        at = table.place[name]
        store.codes[at] = categories.codes[place]
        store.levels[at] = categories.levels[place]
        store.absent[at] = int(categories.incomplete[place])
    for name, values in zip(table.number_names, table.numbers, strict=True):
        store.put([table.place[name]], code_cut(Numbers(values, np.isnan(values)), cut))
    numbers = set(table.number_names)
    columns = tuple(
        attrs.evolve(one, kind="category", detail=f"{one.detail}, cut") if one.name in numbers else one
        for one in table.columns
    )
    finished = store.finish(columns, (*table.notes, *notes_on_cuts(table.number_names)))
    return finished.categories if isinstance(finished, MixedTable) else finished

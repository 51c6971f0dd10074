"""Any table as categories and numbers: ``table()``, with a clear sentence for what cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from apsl_rules.data.column_reader import ColumnReader
from apsl_rules.data.kinds import Kind
from apsl_rules.data.levels import LevelRule
from apsl_rules.data.mixed_table import MixedTable
from apsl_rules.data.open_table import Matrix, open_source
from apsl_rules.data.reading import ALL, Discretize, MissingRule, Reading
from apsl_rules.data.sentences import note_on_complete, problem_of_few_rows
from apsl_rules.data.table import Table
from apsl_rules.data.view import View
from apsl_rules.data.weights import repeat_rows
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import Node

_FEWEST_COMPLETE = 5


def table(
    source: Any,
    *,
    names: Iterable[Node] | None = None,
    kinds: Mapping[Node, Kind] | None = None,
    drop: Iterable[Node] | None = None,
    only: Iterable[Node] | None = None,
    weights: Node | None = None,
    missing: MissingRule = "testwise",
    discretize: Discretize = None,
    levels: LevelRule = "observed",
) -> Table | MixedTable:
    """Read a table of any kind once, so that everything that takes data can use it.

    Every column gets a kind. Text, truth values, declared categories, numbers with two values, whole numbers with three
    and codes from 0 or 1 up to ten are categories; all other numbers are numbers. Constants, identifiers, free text,
    dates and times are set aside. Notes name these columns, and ``columns`` of the result has the kind of each.

    Parameters
    ----------
    source
        A pandas, polars or pyarrow table or another that narwhals reads (lazy ones are collected), a 2-d numpy array,
        or the path of a CSV, Parquet, Feather, Excel, JSON lines or integer text file. A ``Table`` or ``MixedTable`` is
        given back as it is.
    names
        Labels for the columns, any hashables, instead of the table's own. The columns of an array are otherwise
        called X1, X2 and so on, those of a text file 1, 2 and so on. A text file holds categories alone.
    kinds
        The kinds of columns by name, "category", "number" or "set aside", instead of those inferred; "*" stands for
        all columns that are not named.
    drop, only
        Columns to leave out, or the only ones to read.
    weights
        The name of a column of whole numbers that says how many rows each row stands for. It is then no variable.
    missing
        What to do about missing values: keep them apart so that each test leaves out the rows that it cannot use
        (``testwise``), use only the rows in which nothing is missing (``complete``), count them as one more level
        called "missing" (``level``; numbers with missing values are then cut, as by ``discretize``, if need be into
        three intervals), or ``refuse`` them.
    discretize
        How to cut numbers into categories, such as ``quantile:3`` or ``width:4``. Without it numbers stay numbers. A
        mapping from names says how to cut those columns, "*" stands for all other numbers, and ``none`` leaves a
        column uncut.
    levels
        ``observed`` makes codes of the values seen, sorted. ``declared`` keeps the order of a category and its unseen
        levels below the largest one seen, and so the integers from 0 of an integer column. All integers are categories
        then, and constant columns stay.

    Returns
    -------
    Table or MixedTable
        A ``Table`` if all columns are categories: their codes and the names of the levels. Otherwise a
        ``MixedTable``, which also has the numbers.

    Raises
    ------
    DataError
        When the table cannot be read as asked; the message has all that is wrong with it.

    Examples
    --------
    >>> import numpy as np
    >>> small = table(np.array([[7, 1], [5, 0], [7, 1]]), names=["size", "ill"])
    >>> small.names, [column.kind for column in small.columns]
    (('size', 'ill'), ['category', 'category'])
    """
    reading = Reading(missing, discretize, levels, kinds, drop, only, weights)
    if isinstance(source, Table | MixedTable):
        given = {"names": names, "discretize": discretize, "kinds": kinds, "drop": drop, "only": only}
        told = next((name for name, value in {**given, "weights": weights}.items() if value is not None), None)
        if told is not None:
            message = (
                f"the table was read already, so {told}= comes too late; give it together with the data that the "
                f"table was made from"
            )
            raise InvalidArgumentError(message)
        return source
    opened = open_source(source, names)
    plan = reading.plan(opened.names)
    if isinstance(opened, Matrix) and opened.holds_codes and plan.kind is None:
        plan = attrs.evolve(plan, kind="category")
    chosen = None if weights is None else repeat_rows(opened, weights)
    view = View(opened, plan.places, chosen)
    read = ColumnReader.read(view, plan)
    notes: tuple[str, ...] = ()
    if missing == "complete" and not read.problems and read.store.absent.any():
        complete = read.store.complete_rows()
        if len(complete) < _FEWEST_COMPLETE:
            raise DataError(problem_of_few_rows(len(complete), view.rows))
        notes = note_on_complete(view.names, read.store.absent, view.rows, len(complete))
        read = ColumnReader.read(view.rows_at(complete), read.settled_plan())
    return read.finish(opened.names, weights, notes)


def coded_table(
    source: Any,
    *,
    names: Iterable[Node] | None = None,
    missing: MissingRule = "testwise",
    levels: LevelRule = "observed",
) -> Table:
    """Read a table whose columns all are categories, constants and identifiers too; the options are those of ``table``.

    >>> import numpy as np
    >>> coded_table(np.array([[7, 1], [5, 1], [7, 1]])).levels
    ((5, 7), (1,))
    """
    read = source if isinstance(source, Table) else None
    if read is None:
        given = table(source, names=names, missing=missing, levels=levels, kinds={ALL: "category"})
        read = given if isinstance(given, Table) else given.categories
    return read

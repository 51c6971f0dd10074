"""Describe a table of any kind: in memory, in files, or the first rows of one that stays in a database."""

from __future__ import annotations

from typing import Any, Unpack

import attrs

from apsl_rules.data import Description, FileTable, table
from apsl_rules.data import describe as describe_table
from apsl_rules.data.databases import FIRST_ROWS, first_rows_of, is_database, is_ibis_table
from apsl_rules.learning.settings import READING, Request, Settings, with_settings
from apsl_rules.names import Node, count_of
from apsl_rules.notes import Note


@with_settings(*READING)
def describe(source: Any, target: Node = None, **settings: Unpack[Settings]) -> Description:
    """Describe the columns of a table: kinds, histograms, missing values, copies, and the options that change these.

    Parameters
    ----------
    source
        A table as for ``learn``. Of one in a database, and of files that stay where they are, the first 10,000 rows are
        read, and a note says so.
    target
        The column of interest: what would be set aside for it is told. Without one it is told for each column, if they
        are few.
    settings
        The settings that say how a table is read.

    Examples
    --------
    >>> import pandas as pd
    >>> found = describe(pd.DataFrame({"size": [1.5, 2.5, 2.0] * 10, "kind": ["a", "b", "b"] * 10}))
    >>> [(one.name, one.kind, [bar.rows for bar in one.bars if bar.rows]) for one in found.described]
    [('size', 'number', [10, 10, 10]), ('kind', 'category', [20, 10])]
    """
    request = Request.of(settings, "describe")
    rows, note = first_rows(source)
    report = describe_table(table(rows, **request.reading), target)
    return report if note is None else attrs.evolve(report, notes=(note, *report.notes))


def first_rows(source: Any) -> tuple[Any, Note | None]:
    """Return a source, or the first rows of one that stays where it is, with a note that says of how many."""
    if not (isinstance(source, FileTable) or is_database(source) or is_ibis_table(source)):
        return source, None
    rows, total = first_rows_of(source)
    if len(rows) < FIRST_ROWS:
        return rows, None
    known = "" if total is None else f" of about {count_of(total, 'row')}"
    told = f"described are the first {FIRST_ROWS:,} rows{known}, as the source gives them; what is learned rests on all"
    return rows, Note(told, "first rows", rows=len(rows), **({} if total is None else {"total": total}))

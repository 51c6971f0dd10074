"""The codes of columns from their distinct values alone, for tables of which the rows stay elsewhere.

Whatever names the levels and orders them for a table in memory does so here: the distinct values of a column are
encoded as a small table would be, and each value counts for as many rows as have it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Column
from apsl_rules.data.counts.source import Heading
from apsl_rules.data.levels import MOST_LEVELS, ContinuousError, LevelRule, code
from apsl_rules.data.open_table import check_names
from apsl_rules.data.read_table import (
    MissingRule,
    advice_on_continuous,
    advice_on_levels,
    check_gaps,
    check_rules,
    coding_of,
    notes_on_cuts,
    notes_on_gaps,
    with_missing,
)
from apsl_rules.errors import DataError
from apsl_rules.names import Node, count_of


@attrs.frozen(eq=False)
class Distinct:
    """The distinct values of a column, missing ones included, and in how many rows each stands."""

    values: Column
    rows: npt.NDArray[np.int64]


@attrs.frozen(eq=False)
class Dictionary:
    """A heading, and for each column the codes of its distinct values, in the order in which they were given.

    ``cut`` are the columns whose codes are intervals.
    """

    heading: Heading
    codes: tuple[npt.NDArray[np.intp], ...]
    cut: tuple[Node, ...]


def dictionary(
    names: Sequence[Node],
    columns: Sequence[Distinct],
    *,
    missing: MissingRule = "testwise",
    discretize: str | Mapping[Node, str] | None = None,
    levels: LevelRule = "observed",
) -> Dictionary:
    """Encode columns of which the distinct values are known; the options are those of ``table``."""
    check_rules(missing, levels)
    check_names(names)
    rows = int(columns[0].rows.sum()) if columns else 0
    if rows < 2:  # noqa: PLR2004 - nothing varies in one row
        message = f"the table has {count_of(rows, 'row')}; at least 2 are needed"
        raise DataError(message)
    coding = coding_of(levels, discretize, tuple(names))
    continuous: dict[Node, int] = {}
    known: list[tuple[Any, ...]] = []
    coded: list[npt.NDArray[np.intp]] = []
    absent = np.zeros(len(names), np.int64)
    cut: list[Node] = []
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        try:
            one = code(column.values, name, coding, column.rows)
        except ContinuousError as error:
            continuous[name] = error.distinct
            continue
        if one.cut:
            cut.append(name)
        codes, labels = one.codes[0].astype(np.intp), one.levels[0]
        gone = codes < 0
        absent[place] = int(column.rows[gone].sum())
        coded.append(np.where(gone, len(labels), codes))
        known.append(with_missing(name, labels) if missing == "level" and absent[place] else labels)
        if len(known[-1]) > MOST_LEVELS:
            raise DataError(advice_on_levels(name, len(known[-1])))
    if continuous:
        raise DataError(advice_on_continuous(continuous))
    check_gaps(names, absent, rows, missing)
    cards = np.array([len(one) for one in known], np.int64)
    incomplete = (absent > 0) & (missing == "testwise")
    totals = tuple(
        np.bincount(codes, column.rows, span).astype(np.int64)
        for codes, column, span in zip(coded, columns, (cards + incomplete).tolist(), strict=True)
    )
    notes = (*notes_on_cuts(cut, discretize), *notes_on_gaps(names, absent, rows, missing))
    heading = Heading(tuple(names), cards, tuple(known), incomplete, rows, totals, notes)
    return Dictionary(heading, tuple(coded), tuple(cut))

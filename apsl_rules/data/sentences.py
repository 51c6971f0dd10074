"""The sentences about a table that is read: what is wrong with it, and what was assumed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from apsl_rules.data.kinds import MOST_LEVELS
from apsl_rules.data.reading import USUAL_CUT, MissingRule
from apsl_rules.errors import DataError
from apsl_rules.names import Node, count_of, listing

MISSING_LEVEL = "missing"

_SHOWN = 8


def with_missing(name: Node, levels: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the levels of a column with one more for its missing values."""
    if MISSING_LEVEL in levels:
        message = (
            f"column {name!r} has missing values and also a level {MISSING_LEVEL!r}; "
            f"rename that level, or fill the missing values"
        )
        raise DataError(message)
    return (*levels, MISSING_LEVEL)


def refuse(problems: Sequence[str]) -> None:
    """Raise all problems of a table in one message, if there are any."""
    if len(problems) == 1:
        raise DataError(problems[0])
    if problems:
        told = ". ".join(f"({number}) {problem}" for number, problem in enumerate(problems, 1))
        message = f"{len(problems)} problems with the table: {told}"
        raise DataError(message)


def problem_of_gaps(names: Sequence[Node], absent: npt.NDArray[np.int64], rows: int) -> str | None:
    """Return a sentence on missing values where they are to be refused."""
    gaps = _gaps(names, absent)
    if not gaps:
        return None
    return (
        f"values are missing in {columns_named(gaps)} ({_shares(gaps, rows)}); give missing='testwise' to leave "
        f"out rows test by test, missing='complete' to use complete rows alone, or missing='level' to count them as a "
        f"level"
    )


def notes_on_gaps(
    names: Sequence[Node], absent: npt.NDArray[np.int64], rows: int, missing: MissingRule
) -> tuple[str, ...]:
    """Return a sentence on the columns with missing values, where tests leave out rows for them."""
    gaps = _gaps(names, absent)
    if not gaps or missing != "testwise":
        return ()
    return (f"values are missing in {columns_named(gaps)} ({_shares(gaps, rows)}); each test leaves out such rows",)


def note_on_complete(names: Sequence[Node], absent: npt.NDArray[np.int64], rows: int, complete: int) -> tuple[str, ...]:
    """Return a sentence on the rows that were left out because a value is missing there."""
    gaps = _gaps(names, absent)
    told = f"values are missing in {columns_named(gaps)} ({_shares(gaps, rows)})"
    return (f"{told}; only the {count_of(complete, 'complete row')} of {rows:,} are used",)


def problem_of_few_rows(complete: int, rows: int) -> str:
    """Return a sentence on too few complete rows."""
    return (
        f"only {count_of(complete, 'row')} of {rows:,} {'is' if complete == 1 else 'are'} complete, which is too few; "
        f"give missing='testwise', or leave out the columns with many missing values"
    )


def advice_on_levels(name: Node, count: int) -> str:
    """Return advice on a column with too many levels."""
    return (
        f"column {name!r} has {count:,} levels; at most {MOST_LEVELS:,} can be encoded, so group them, "
        f"cut the column with discretize=, or leave it out"
    )


def notes_on_cuts(unasked: Collection[Node]) -> tuple[str, ...]:
    """Return a sentence on numbers that were cut although nobody said how."""
    if not unasked:
        return ()
    how = f"{USUAL_CUT.bins} intervals with about as many rows each"
    return (f"{columns_named(unasked)} cut into {how}; choose other cuts with discretize=",)


def problem_of_numbers(numbers: Collection[Node]) -> str:
    """Return a sentence on numbers that nothing may cut, where levels are counted."""
    what = "is a number" if len(numbers) == 1 else "are numbers"
    return (
        f"{columns_named(numbers)} {what}, with discretize='none', and this test counts levels; leave that out, or "
        f"take another test"
    )


def columns_named(names: Collection[Node]) -> str:
    """Return "column 'a'" or "columns 'a', 'b'"."""
    return f"column{'s' * (len(names) > 1)} {listing(names)}"


def _gaps(names: Sequence[Node], absent: npt.NDArray[np.int64]) -> dict[Node, int]:
    return {names[place]: int(absent[place]) for place in np.flatnonzero(absent).tolist()}


def _shares(gaps: Mapping[Node, int], rows: int) -> str:
    return f"{', '.join(f'{count:,}' for count in list(gaps.values())[:_SHOWN])} of {count_of(rows, 'row')}"

"""What columns with a role say of the rows: groups, weights of a sample, and times with the steps before them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from apsl_rules.data.kinds import Roles, TimeColumns
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import Node, count_of, listing
from apsl_rules.notes import Note, argument, named

if TYPE_CHECKING:
    from apsl_rules.data.dataset import Dataset
    from apsl_rules.data.tables import LocalTable

Integers: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]


def check_weights(roles: Roles, beside: LocalTable) -> None:
    """Refuse weights that no row of a sample can have."""
    for name in roles.get("sampling_weights", ()):
        values = beside.values(name)
        if np.nanmin(values) < 0 or not np.nansum(values) > 0:
            what = "has negative values" if np.nanmin(values) < 0 else "is 0 in every row"
            message = f"column {name!r} cannot be weights, because it {what}; give weights from 0 on"
            raise DataError(message)


def note_on_rows_without(names: Sequence[Node], gone: int, rows: int) -> tuple[Note, ...]:
    """Return a note on the rows that were left out since a column with a role has no value there."""
    told = f"{gone:,} of {count_of(rows, 'row')} have no value in {listing(names)} and are left out"
    return (Note(told, "rows without a role", "warning", columns=[*names], rows=gone),)


def groups_of_rows(data: Dataset) -> Integers | None:
    """Return the number of the group of each row of a table in memory, None where rows are independent."""
    columns = [_beside(data).categories.codes_of(name) for name in data.roles.get("groups", ())]
    return combined(columns) if columns else None


def weights_of_rows(data: Dataset) -> Floats | None:
    """Return the weights of a sample for each row of a table in memory, None where there are none."""
    return next((_beside(data).values(name) for name in data.roles.get("sampling_weights", ())), None)


def _beside(data: Dataset) -> LocalTable:
    beside: LocalTable | None = getattr(data, "beside", None)
    if beside is None:
        message = f"the columns with a role stay in {data.kind} with the rows; take a sample into memory to see them"
        raise DataError(message)
    return beside


def is_constant_in(values: npt.NDArray[Any], groups: Integers) -> bool:
    """Return whether values are the same in all rows of each group, and differ between groups."""
    if not len(values):
        return False
    order = np.argsort(groups, kind="stable")
    sorted_values, sorted_groups = values[order], groups[order]
    inside = sorted_groups[1:] == sorted_groups[:-1]
    differs = sorted_values[1:] != sorted_values[:-1]
    return bool(inside.any()) and not bool((inside & differs).any()) and bool(differs.any())


def combined(columns: Sequence[Integers]) -> Integers:
    """Return the numbers of the combinations of some columns, -1 where one of them has no value."""
    number = columns[0].astype(np.int64)
    for other in columns[1:]:
        gone = (number < 0) | (other < 0)
        number = number * (int(other.max(initial=0)) + 1) + other
        number[gone] = -1
    there = number >= 0
    number[there] = np.unique(number[there], return_inverse=True)[1]
    return number


def check_times(time: TimeColumns, lags: int, environments: bool) -> None:  # noqa: FBT001 - whether there are some
    """Refuse lags without a time, and settings that do not go with one."""
    if time is None and lags != 1:
        message = (
            f"{argument('lags', lags)} needs the column that says when each row was; give {argument('time', 'date')}, "
            f"with the name of that column"
        )
        raise InvalidArgumentError(message, argument="lags")
    if time is not None and environments:
        message = (
            f"{named('time')} and {named('environment')} cannot be given together: tests of environments compare rows "
            f"that do not follow one another; leave one of the two out"
        )
        raise InvalidArgumentError(message, argument="time")


#: The code of the note that says how rows are in time; its fields have the columns and the number of lags.
TIME = "time"


def lagged(name: Node, lag: int) -> str:
    """Return what a column is called so many steps before.

    >>> lagged("rain", 1)
    'rain[t-1]'
    """
    return f"{name}[t-{lag}]"


def earlier(nodes: Collection[Node], lags: int) -> dict[Node, tuple[Node, int]]:
    """Return the columns of earlier steps, each with the column that it is of and how many steps before.

    >>> earlier(["rain", "river", "rain[t-1]"], 1)
    {'rain[t-1]': ('rain', 1)}
    """
    if not lags:
        return {}
    of: dict[Node, tuple[Node, int]] = {lagged(node, lag): (node, lag) for node in nodes for lag in range(1, lags + 1)}
    return {node: of[node] for node in nodes if node in of}

"""Roles of columns: what a column says of the rows, when it is no node.

A role is named by the setting that gives it. ``Reading.plan`` takes the columns with a role out of those that are read
as nodes, ``Plan.roles`` tells them, and the dataset has them in ``roles``, with their values beside its columns. To add
a role, name it in ``Role``, say how its columns are read in ``KIND_OF_ROLE`` and what they say of the rows in ``SAYS``
(and in ``kinds.SETTING_OF``), and let ``Reading.roles`` collect it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from apsl_rules.data.kinds import GROUPS, SAMPLING_WEIGHTS, Kind
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import Node, count_of, listed, listing
from apsl_rules.notes import Note, argument, named

if TYPE_CHECKING:
    from apsl_rules.data.dataset import Dataset
    from apsl_rules.data.tables import LocalTable

Integers: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
#: What a column says of the rows, by the name of the setting.
Role: TypeAlias = Literal["groups", "sampling_weights"]
#: The columns of each role.
Roles: TypeAlias = Mapping[Role, tuple[Node, ...]]
#: The column or the columns whose rows belong together; "auto" notices them, None takes all rows as independent.
GroupColumns: TypeAlias = Node | Iterable[Node] | None
#: The column that says when each row was, or several together, the largest part first; None where there is no order.
TimeColumns: TypeAlias = Node | Iterable[Node] | None

#: The word for groups that are to be noticed, and that of the command line for none.
AUTO, NO_GROUPS = "auto", "none"
#: How the columns of a role are read, whatever they hold.
KIND_OF_ROLE: Mapping[Role, Kind] = {"groups": "category", "sampling_weights": "number"}
#: What the columns of a role say, which is why they are set aside.
SAYS: Mapping[Role, str] = {"groups": GROUPS, "sampling_weights": SAMPLING_WEIGHTS}


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


def is_auto(groups: object) -> bool:
    """Return whether groups are to be noticed."""
    return isinstance(groups, str) and groups == AUTO


def group_columns(groups: GroupColumns) -> tuple[Node, ...]:
    """Return the columns that a caller named as groups.

    >>> group_columns("school"), group_columns(["school", "class"]), group_columns(None)
    (('school',), ('school', 'class'), ())
    """
    if groups is None or (isinstance(groups, str) and groups in (AUTO, NO_GROUPS)):
        return ()
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        return (groups,)
    return tuple(dict.fromkeys(listed("groups", groups, "names of columns, such as ['school']")))


def time_columns(time: TimeColumns) -> tuple[Node, ...]:
    """Return the columns that a caller named as times, the largest part first.

    >>> time_columns("date"), time_columns(["year", "month"]), time_columns(None)
    (('date',), ('year', 'month'), ())
    """
    if time is None:
        return ()
    if isinstance(time, str) or not isinstance(time, Iterable):
        return (time,)
    return tuple(dict.fromkeys(listed("time", time, "names of columns, such as ['year', 'month']")))


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


def role_names(roles: Roles) -> tuple[Node, ...]:
    """Return the columns of all roles, each once."""
    return tuple(dict.fromkeys(name for names in roles.values() for name in names))


def role_of(roles: Roles, name: Node) -> Role | None:
    """Return the role of a column, if it has one."""
    return next((role for role, names in roles.items() if name in names), None)


def places_of(roles: Roles, names: Sequence[Node]) -> dict[int, str]:
    """Return what is said of the columns of roles that are set aside, by place."""
    return {names.index(name): SAYS[role] for role, some in roles.items() for name in some}

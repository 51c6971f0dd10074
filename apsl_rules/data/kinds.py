"""The kind of each column: a category, an ordered scale, a number, or set aside, and why; and columns with a role.

A kind follows from a summary of the column, which any source can fill: a table in memory, or a database that counts.

A role is what a column says of the rows, when it is no node; it is named by the setting that gives it. ``Reading.plan``
takes the columns with a role out of those that are read as nodes, ``Plan.roles`` tells them, and the dataset has them
in ``roles``, with their values beside its columns. To add a role, name it in ``Role``, say how its columns are read in
``KIND_OF_ROLE`` and what they say of the rows in ``SAYS`` (and ``SETTING_OF``), and let ``Reading.roles`` collect it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias, get_args

import attrs

from apsl_rules.names import Node, count_of, listed, listing
from apsl_rules.notes import Note, Sentence, argument

#: An ordered column is a scale of few whole numbers: it is read as a number and shown by its levels.
Kind: TypeAlias = Literal["category", "ordered", "number", "set aside"]
#: What can be asked of a column of dates in the place of its kind.
DatePart: TypeAlias = Literal["year", "quarter", "month", "day", "weekday", "hour"]
#: The kind of each part: those that begin again with every year or week have no ends.
KIND_OF_PART: Mapping[DatePart, Kind] = {
    "year": "number",
    "quarter": "category",
    "month": "category",
    "day": "number",
    "weekday": "category",
    "hour": "number",
}
ColumnType: TypeAlias = Literal["text", "boolean", "category", "integer", "float", "date"]

#: Whole numbers with more values than this are numbers; a scale of fewer is ordered.
MOST_CODES = 10
#: Whole numbers with at most so many values are categories, whatever they are.
FEW_CODES = 3
#: In a table of codes alone, whole numbers up to this one are codes.
LARGEST_CODE = 63
#: A category in memory can have so many levels.
MOST_LEVELS = 65_535

#: The details of a constant, of a column without values, of one that was left out as asked, and of that for weights.
CONSTANT = "it has only one value"
ALL_MISSING = "all values are missing"
DROPPED = "left out as asked"
WEIGHTS = "says how many rows each row stands for"
#: How the detail of a column begins that was set aside because the target defines it, or it the target.
BY_DEFINITION = "it follows from the target: it "
#: How the detail of a column begins that stands for a level of a category.
JOINED = "stands for a level of "
DATES = "it holds dates or times"
GROUPS = "says which rows belong together"
SAMPLING_WEIGHTS = "says how much of the population each row stands for"
TIMES = "says when each row was"
#: The settings that give columns a role, by what such columns say of the rows.
SETTING_OF: Mapping[str, str] = {
    WEIGHTS: "weights",
    GROUPS: "groups",
    SAMPLING_WEIGHTS: "sampling_weights",
    TIMES: "time",
}

_NEVER_VARY = (CONSTANT, ALL_MISSING)
_ROWS_PER_LEVEL = 5
_FEWEST_CODED_COLUMNS = 10
_FEWEST_ROWS = 10
_DIFFERENT = 0.9
_LONG_TEXT = 40
_ID_WORD = re.compile(
    r"(?:^|[\W_])(?:ids?|uuid|guid|key|row|rows|row[ _.]?names?|row[ _.]?id|case|obs|serial)$"
    r"|^(?:(?:row|case|obs|record|sample)[\W_]?)?(?:idx|index)$",
    re.IGNORECASE,
)
#: Words of names that say that the order of the rows means something: a time, a dose, a place in a ranking.
_ORDER_NAME = re.compile(
    r"(?:^|[\W_])(?:time|date|period|trend|rank|order|year|quarter|month|week|day|hour|minute|second|round|trial|wave|"
    r"age|dose|score|t)(?:s|[\W_]|$)",
    re.IGNORECASE,
)
_ID_ENDING = re.compile(r"[a-z](?:Id|ID)$")


@attrs.frozen
class ColumnKind:
    """A column of a table as it was read: its kind, what that rests on in a few words, and its missing values.

    Attributes
    ----------
    name
        The name of the column.
    kind
        "category", "ordered", "number" or "set aside".
    detail
        What the kind rests on, or what the column holds, in a few words.
    missing
        How many values are missing.
    """

    name: Node
    kind: Kind
    detail: str = ""
    missing: int = 0

    @property
    def asked_kind(self) -> Kind | DatePart:
        """Return the kind that would read the column so again: of dates the part that stands for them."""
        first = self.detail.partition(", ")[0]
        return next((part for part in get_args(DatePart) if part == first), self.kind)


@attrs.frozen
class ColumnSummary:
    """What the kind of a column follows from.

    ``distinct`` counts the different values that are there. For numbers it may stop at any count above ``MOST_CODES``,
    if ``different`` is known: whether no value stands in two rows. ``low`` and ``high`` are the smallest and the
    largest number, ``letters`` the mean length of a text, and ``spelt_numbers`` says that all texts
    are numbers.
    """

    name: Node
    type: ColumnType
    present: int
    distinct: int
    missing: int = 0
    different: bool = False
    whole: bool = False
    low: float = 0
    high: float = 0
    letters: float = 0
    spelt_numbers: bool = False

    @property
    def may_be_codes(self) -> bool:
        """Whether these are whole numbers that could be the codes of a table of codes, some of which nobody used."""
        starts = self.low in (0, 1) or (self.low > 0 and self.distinct <= MOST_CODES)
        return self.whole and starts and self.high <= LARGEST_CODE


def infer_kind(summary: ColumnSummary, *, codes: bool = False, missing_level: bool = False) -> ColumnKind:
    """Return the kind of a column.

    ``codes`` says that the table holds codes alone, so that whole numbers are categories however many they are.
    ``missing_level`` says that missing values count as a level.

    >>> infer_kind(ColumnSummary("age", "integer", present=500, distinct=61, whole=True, low=18, high=90)).kind
    'number'
    """
    levels = summary.distinct + (missing_level and summary.missing > 0)
    aside = _reason(summary, levels, codes=codes)
    if aside is not None:
        return ColumnKind(summary.name, "set aside", aside, summary.missing)
    if is_category(summary, codes=codes) or (is_scale(summary) and levels > summary.distinct):
        return ColumnKind(summary.name, "category", count_of(levels, "level"), summary.missing)
    if is_scale(summary):
        return ColumnKind(summary.name, "ordered", ordered_detail(summary), summary.missing)
    return ColumnKind(summary.name, "number", number_detail(summary.low, summary.high), summary.missing)


def is_category(summary: ColumnSummary, *, codes: bool = False) -> bool:
    """Whether a column is a category, if it is not set aside."""
    if summary.type not in ("integer", "float") or summary.distinct <= 2:  # noqa: PLR2004 - two values have no scale
        return True
    return (codes and summary.may_be_codes) or (summary.whole and summary.distinct <= FEW_CODES)


def is_scale(summary: ColumnSummary) -> bool:
    """Whether a column holds few whole numbers, but too many for a category that nobody declared."""
    return summary.whole and FEW_CODES < summary.distinct <= MOST_CODES


def is_coded(columns: int, wide: int) -> bool:
    """Whether columns that all may be codes are a table of codes, where so many have more than ``MOST_CODES`` values.

    Benchmark tables have a few variables of many levels among many of few levels.
    """
    return columns >= _FEWEST_CODED_COLUMNS and 2 * wide <= columns


def number_detail(low: float, high: float) -> str:
    """Return the range of a number in words."""
    return f"{low + 0:.6g} to {high + 0:.6g}"  # no -0


def ordered_detail(summary: ColumnSummary) -> str:
    """Return the levels and the range of an ordered column in words."""
    return f"{count_of(summary.distinct, 'level')}, {number_detail(summary.low, summary.high)}"


def ordered_of(columns: Iterable[ColumnKind]) -> frozenset[Node]:
    """Return the names of the ordered columns."""
    return frozenset(one.name for one in columns if one.kind == "ordered")


def as_cut(columns: Iterable[ColumnKind], cut: Collection[Node]) -> tuple[ColumnKind, ...]:
    """Return columns of which some numbers were cut, and all that are ordered taken for their levels."""
    return tuple(
        attrs.evolve(one, kind="category", detail=f"{one.detail}, cut")
        if one.name in cut
        else attrs.evolve(one, kind="category", detail=one.detail.partition(",")[0])
        if one.kind == "ordered"
        else one
        for one in columns
    )


def _reason(summary: ColumnSummary, levels: int, *, codes: bool) -> str | None:
    """Return why a column is set aside, or None."""
    if summary.present == 0:
        return ALL_MISSING
    if levels == 1:
        return CONSTANT
    if summary.type == "date":
        return DATES
    if summary.type in ("text", "category"):
        return _reason_of_labels(summary)
    return None if codes else _reason_of_whole_numbers(summary)


def _reason_of_whole_numbers(summary: ColumnSummary) -> str | None:
    """Return why whole numbers that are all different are set aside, or None: amounts and times with gaps are kept."""
    if not (summary.whole and summary.different and summary.present >= _FEWEST_ROWS):
        return None
    if is_id_name(summary.name):
        return "its whole numbers are all different, as those of an identifier"
    counts_rows = summary.low in (0, 1) and summary.high - summary.low + 1 == summary.present
    return "its whole numbers count the rows" if counts_rows and not _ORDER_NAME.search(str(summary.name)) else None


def _reason_of_labels(summary: ColumnSummary) -> str | None:
    many = summary.present >= _FEWEST_ROWS
    if many and summary.distinct > _DIFFERENT * summary.present:
        if summary.spelt_numbers and not is_id_name(summary.name):
            return "it holds numbers as text, nearly all different"
        return "its labels are nearly all different, as those of an identifier"
    if many and summary.letters > _LONG_TEXT and 2 * summary.distinct > summary.present:
        return "it holds free text"
    if summary.distinct > MOST_LEVELS:
        return f"it has {summary.distinct:,} levels, and at most {MOST_LEVELS:,} can be encoded"
    return None


def is_id_name(name: Node) -> bool:
    """Whether a name is usual for an identifier.

    >>> [is_id_name(name) for name in ("id", "PassengerId", "customer_id", "row names", "acid", "paid")]
    [True, True, True, True, False, False]
    """
    text = str(name).strip()
    return bool(_ID_WORD.search(text) or _ID_ENDING.search(text))


def is_crowded(summary: ColumnSummary) -> bool:
    """Whether a category has so many levels that few rows are left for each."""
    return summary.distinct > MOST_CODES and summary.present < _ROWS_PER_LEVEL * summary.distinct


#: As many columns are named in advice that is to be followed for all of them.
_NAMED = 8
_OF_TYPE = "it holds values of the type "


def of_type(kind: str) -> str:
    """Return why a column of a type is set aside that has neither levels nor numbers."""
    return f"{_OF_TYPE}{kind}, which are neither levels nor numbers"


def notes_on_kinds(columns: Iterable[ColumnKind], crowded: Sequence[Node] = ()) -> tuple[str, ...]:
    """Return sentences on the columns that were set aside, and on categories with too many levels for the rows."""
    reasons: dict[str, list[Node]] = {}
    for column in columns:
        is_told = column.detail == DROPPED or column.detail in SETTING_OF
        is_told |= column.detail.startswith((BY_DEFINITION, JOINED))
        if column.kind == "set aside" and not is_told:
            reasons.setdefault(column.detail, []).append(column.name)
    notes = [
        Note(_aside(names, reason), "set aside", "warning", columns=names, reason=reason)
        for reason, names in reasons.items()
    ]
    if crowded:
        what = "column" if len(crowded) == 1 else "columns"
        told = (
            f"{what} {listing(crowded)} {'has' if len(crowded) == 1 else 'have'} so many levels that few rows are left "
            f"for each, so hardly any test can use {_them(crowded)}; join levels, or give {_taken(crowded[0], 'drop')}"
        )
        notes.append(Note(told, "many levels", "warning", columns=[*crowded]))
    return tuple(notes)


def _aside(names: Sequence[Node], reason: str) -> str:
    which = f"column {names[0]!r} is" if len(names) == 1 else f"columns {listing(names)} are"
    if len(names) > 1:
        reason = reason.replace("it has", "each has").replace("it holds", "each holds").replace("its ", "their ")
    if reason == ALL_MISSING or reason.startswith((_OF_TYPE, _OF_TYPE.replace("it holds", "each holds"))):
        return f"{which} set aside: {reason}"
    if "numbers as text" in reason:
        back = argument("kinds", dict.fromkeys(names, "number")) if len(names) <= _NAMED else _taken(names[0], "number")
    elif reason == DATES or reason == DATES.replace("it holds", "each holds"):
        back = f"{_taken(names[0], 'number')}, as days, or as a part of them, as {_taken(names[0], 'month')}"
    else:
        back = _taken(names[0], "number" if "whole numbers" in reason else "category")
    return f"{which} set aside: {reason}; take {_them(names)} back with {back}"


def _taken(name: Node, kind: str) -> str:
    return argument("drop", [name]) if kind == "drop" else argument("kinds", {name: kind})


def _them(names: Sequence[Node]) -> str:
    return "it" if len(names) == 1 else "them"


def why_never_varies(columns: Iterable[ColumnKind], name: Node) -> str | None:
    """Return why a column has nothing that others could depend on, or None if it is not such a column."""
    return next((one.detail for one in columns if one.name == name and one.detail in _NEVER_VARY), None)


def why_set_aside(columns: Iterable[ColumnKind], name: Node) -> str | None:
    """Return a sentence that says why a column is no variable of its table, or None if it is one or unknown."""
    for column in columns:
        if column.name == name and column.kind == "set aside":
            if column.detail == DROPPED:
                way = f"take it out of {argument('drop')}, or put it into {argument('only')}"
                return Sentence(f"column {name!r} was {DROPPED}; {way}")
            if column.detail in SETTING_OF:
                given = argument(SETTING_OF[column.detail], name)
                none = argument("groups", "none", python="groups=None")
                way = f"give {none}" if column.detail == GROUPS else f"leave {given} out"
                return Sentence(f"column {name!r} {column.detail}, so it is no variable; {way}")
            if column.detail.startswith(BY_DEFINITION):
                return Sentence(f"column {name!r} was set aside: {column.detail}; give {argument('keep', [name])}")
            if column.detail.startswith(JOINED):
                return Sentence(f"column {name!r} {column.detail}; give {argument('keep', [name])} to take it apart")
            told = _aside([name], column.detail).replace(" is set aside", " was set aside")
            return f"column {name!r} was set aside: {CONSTANT}" if column.detail == CONSTANT else Sentence(told)
    return None


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


def role_names(roles: Roles) -> tuple[Node, ...]:
    """Return the columns of all roles, each once."""
    return tuple(dict.fromkeys(name for names in roles.values() for name in names))


def role_of(roles: Roles, name: Node) -> Role | None:
    """Return the role of a column, if it has one."""
    return next((role for role, names in roles.items() if name in names), None)


def places_of(roles: Roles, names: Sequence[Node]) -> dict[int, str]:
    """Return what is said of the columns of roles that are set aside, by place."""
    return {names.index(name): SAYS[role] for role, some in roles.items() for name in some}

"""The options of reading a table: check them once, decide each column, and say what is wrong in one message."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Column, Numbers, Rows, as_numbers, summarise
from apsl_rules.data.kinds import (
    DROPPED,
    KIND_OF_PART,
    KIND_OF_ROLE,
    MOST_LEVELS,
    ColumnKind,
    ColumnSummary,
    DatePart,
    GroupColumns,
    Kind,
    Role,
    Roles,
    TimeColumns,
    group_columns,
    infer_kind,
    is_crowded,
    number_detail,
    of_type,
    ordered_detail,
    role_names,
    time_columns,
)
from apsl_rules.data.times import as_days, date_part
from apsl_rules.data.values import Cut, LevelRule, MissingCodes, blank, codes_by_column, parse_cut
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import Node, count_of, listed, listing, mapping, nearest, require_known, spelt
from apsl_rules.notes import Note, argument, named

MissingRule: TypeAlias = Literal["refuse", "testwise", "level", "complete"]
Discretize: TypeAlias = str | Mapping[Node, str] | None

#: The word for cutting no column.
UNCUT = "none"
#: The name that stands for all columns without a word of their own.
ALL = "*"
#: How numbers are cut where levels are counted and the caller does not say how.
USUAL_CUT = Cut("quantile", 3)


@attrs.frozen
class Reading:
    """The options of ``table`` but the names, as the caller gave them."""

    missing: MissingRule = "testwise"
    discretize: Discretize = None
    levels: LevelRule = "observed"
    kinds: Mapping[Node, Kind | DatePart] | None = None
    drop: Iterable[Node] | None = None
    only: Iterable[Node] | None = None
    weights: Node | None = None
    na: MissingCodes = None
    groups: GroupColumns = None
    sampling_weights: Node | None = None
    time: TimeColumns = None
    lags: int = 1

    def times(self, names: Collection[Node]) -> tuple[Node, ...]:
        """Return the columns that say when each row was; they must be among the names."""
        found = time_columns(self.time)
        for name in found:
            require_known(name, names, f"column in {named('time')}")
        return found

    def roles(self, names: Collection[Node]) -> Roles:
        """Return the columns that have a role, and so are no nodes; they must be among the names, each with one."""
        asked: dict[Role, tuple[Node, ...]] = {"groups": group_columns(self.groups)}
        asked["sampling_weights"] = () if self.sampling_weights is None else (self.sampling_weights,)
        roles: Roles = {role: some for role, some in asked.items() if some}
        for role, some in roles.items():
            for name in some:
                require_known(name, names, f"column in {named(role)}")
        counting = () if self.weights is None else (self.weights,)
        known = [*counting, *self.times(names), *(one for some in roles.values() for one in some)]
        twice = next((name for at, name in enumerate(known) if name in known[:at]), None)
        if twice is not None:
            message = f"column {twice!r} is given two roles; name it in one of the settings only"
            raise InvalidArgumentError(message)
        return roles

    def plan(self, names: Sequence[Node]) -> Plan:
        """Check the options against the names of the columns and return what they mean."""
        _check_choice("missing", self.missing, get_args(MissingRule))
        _check_choice("levels", self.levels, get_args(LevelRule))
        known = set(names)
        kinds = mapping("kinds", self.kinds, "{'age': 'number'}")
        for name, kind in kinds.items():
            _check_choice("kinds", kind, (*get_args(Kind), *(() if name == ALL else get_args(DatePart))), name)
            if name != ALL or ALL in known:
                require_known(name, known, f"column in {named('kinds')}")
        cuts, usual = _cuts(self.discretize, known)
        na = codes_by_column(self.na)
        for name in na:
            if name != ALL or ALL in known:
                require_known(name, known, f"column in {named('na')}")
        dropped = _names("drop", self.drop, known)
        only = _names("only", self.only, known)
        if self.weights is not None:
            require_known(self.weights, known, f"column in {named('weights')}")
        roles = self.roles(known)
        counting = () if self.weights is None else (self.weights,)
        apart = {*self.times(known), *role_names(roles), *counting, *(dropped or ())}
        places = tuple(
            place for place, name in enumerate(names) if (only is None or name in only) and name not in apart
        )
        if not places:
            message = f"no column is left; take some out of {argument('drop')}, or name more in {argument('only')}"
            raise InvalidArgumentError(message)
        parts = {name: kind for name, kind in kinds.items() if kind in KIND_OF_PART}
        kinds |= {name: KIND_OF_PART[part] for name, part in parts.items()}
        usual_kind = None if ALL in known else kinds.pop(ALL, None)
        return Plan(self.missing, self.levels, kinds, usual_kind, cuts, usual, places, na=na, roles=roles, parts=parts)

    def of_roles(self, names: Sequence[Node], roles: Roles) -> Plan:
        """Return the plan that reads the columns of roles alone, each as its role needs it."""
        kinds = {name: KIND_OF_ROLE[role] for role, some in roles.items() for name in some}
        only = tuple(names.index(name) for name in kinds)
        na = codes_by_column(self.na)
        return Plan("testwise", "observed", kinds, None, {}, None, only, na=na, takes_constants=True)


@attrs.frozen
class Plan:
    """What the options mean for columns of known names; ``places`` are those of the columns that are read.

    ``cuts`` says how to cut columns that are named, None for those that stay numbers, and ``cut`` the other numbers.
    ``inferred`` are kinds that were found in more rows and stay.
    ``aside`` says of some columns that are not read why they are set aside. ``na`` are the codes for missing values.
    ``roles`` has the columns that say something of the rows, which are not among the places; columns with a role may
    be constant. ``parts`` are those of the dates in some columns that stand for them.
    """

    missing: MissingRule
    levels: LevelRule
    kinds: Mapping[Node, Kind]
    kind: Kind | None
    cuts: Mapping[Node, Cut | None]
    cut: Cut | None
    places: tuple[int, ...]
    inferred: Mapping[Node, Kind] = attrs.field(factory=dict)
    aside: Mapping[int, str] = attrs.field(factory=dict)
    na: Mapping[Node, tuple[Any, ...]] = attrs.field(factory=dict)
    roles: Roles = attrs.field(factory=dict)
    takes_constants: bool = False
    parts: Mapping[Node, DatePart] = attrs.field(factory=dict)

    def without(self, types: Mapping[int, str]) -> Plan:
        """Return the plan with columns set aside whose types, by place, have neither levels nor numbers."""
        aside = {place: of_type(types[place]) for place in self.places if place in types}
        return attrs.evolve(self, places=tuple(one for one in self.places if one not in aside), aside=aside)

    def asked_kind(self, name: Node) -> Kind | None:
        """Return the kind that the caller gave a column; one that is to be cut is a number."""
        if name in self.kinds:
            return self.kinds[name]
        if self.cuts.get(name) is not None:
            return "number"
        return self.inferred.get(name, self.kind)

    def missing_codes(self, name: Node) -> tuple[Any, ...]:
        """Return the codes for missing values that the caller named for a column."""
        return self.na.get(name, self.na.get(ALL, ()))

    def asked_cut(self, name: Node) -> Cut | None:
        """Return how to cut a number, if at all."""
        return self.cuts.get(name, self.cut)

    def is_named(self, name: Node) -> bool:
        """Whether the caller said something about a column by its name."""
        return name in self.kinds or name in self.cuts


def _cuts(discretize: Discretize, known: set[Node]) -> tuple[dict[Node, Cut | None], Cut | None]:
    """Return the cuts of single columns and that of all others."""
    if not isinstance(discretize, Mapping):
        return {}, _cut(discretize)
    cuts = {name: _cut(text) for name, text in discretize.items()}
    usual = None if ALL in known else cuts.pop(ALL, None)
    for name in cuts:
        require_known(name, known, f"column in {named('discretize')}")
    return cuts, usual


def _cut(text: str | None) -> Cut | None:
    return None if text is None or (isinstance(text, str) and text == UNCUT) else parse_cut(text)


def _names(option: str, given: Any, known: set[Node]) -> set[Node] | None:
    if given is None:
        return None
    names = listed(option, given, "names of columns, such as ['id']")
    for name in names:
        require_known(name, known, f"column in {named(option)}")
    return set(names)


def _check_choice(option: str, value: object, allowed: tuple[str, ...], column: Node = None) -> None:
    if not isinstance(value, str) or value not in allowed:
        given = argument(option, value if isinstance(value, str) else spelt(value), python=f"{option}={spelt(value)}")
        if column is not None:
            given = f"{argument(option, python=f'{option}={{{column!r}: ...}}')}: the kind {spelt(value)}"
        hint = nearest(value, allowed) if isinstance(value, str) else ""
        message = f"{given} is not known{hint or f'; give one of {listing(allowed)}'}"
        raise InvalidArgumentError(message)


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
        f"values are missing in {columns_named(gaps)} ({_shares(gaps, rows)}); give "
        f"{argument('missing', 'testwise')} to leave out rows test by test, {argument('missing', 'complete')} to use "
        f"complete rows alone, or {argument('missing', 'level')} to count them as a level"
    )


def notes_on_gaps(
    names: Sequence[Node], absent: npt.NDArray[np.int64], rows: int, missing: MissingRule
) -> tuple[str, ...]:
    """Return a sentence on the columns with missing values, where tests leave out rows for them."""
    gaps = _gaps(names, absent)
    if not gaps or missing != "testwise":
        return ()
    told = f"values are missing in {columns_named(gaps)} ({_shares(gaps, rows)}); each test leaves out such rows"
    return (Note(told, "missing values", columns=[*gaps], missing=[*gaps.values()]),)


def note_on_complete(names: Sequence[Node], absent: npt.NDArray[np.int64], rows: int, complete: int) -> tuple[str, ...]:
    """Return a sentence on the rows that were left out because a value is missing there."""
    gaps = _gaps(names, absent)
    told = f"values are missing in {columns_named(gaps)} ({_shares(gaps, rows)})"
    used = f"{told}; only the {count_of(complete, 'complete row')} of {rows:,} are used"
    return (Note(used, "complete rows", "warning", columns=[*gaps], rows=rows, complete=complete),)


def problem_of_few_rows(complete: int, rows: int) -> str:
    """Return a sentence on too few complete rows."""
    return (
        f"only {count_of(complete, 'row')} of {rows:,} {'is' if complete == 1 else 'are'} complete, which is too few; "
        f"give {argument('missing', 'testwise')}, or leave out the columns with many missing values"
    )


def advice_on_levels(name: Node, count: int) -> str:
    """Return advice on a column with too many levels."""
    return (
        f"column {name!r} has {count:,} levels; at most {MOST_LEVELS:,} can be encoded, so group them, "
        f"cut the column with {argument('discretize')}, or leave it out"
    )


def notes_on_cuts(unasked: Collection[Node]) -> tuple[str, ...]:
    """Return a sentence on numbers that were cut although nobody said how."""
    if not unasked:
        return ()
    how = f"{USUAL_CUT.bins} intervals with about as many rows each"
    told = f"{columns_named(unasked)} cut into {how}; choose other cuts with {argument('discretize')}"
    return (Note(told, "numbers cut", columns=[*unasked], bins=USUAL_CUT.bins),)


def problem_of_numbers(numbers: Collection[Node]) -> str:
    """Return a sentence on numbers that nothing may cut, where levels are counted."""
    what = "is a number" if len(numbers) == 1 else "are numbers"
    return (
        f"{columns_named(numbers)} {what}, with {argument('discretize', 'none')}, and this test counts levels; leave "
        f"that out, or take another test"
    )


def columns_named(names: Collection[Node]) -> str:
    """Return "column 'a'" or "columns 'a', 'b'"."""
    return f"column{'s' * (len(names) > 1)} {listing(names)}"


def _gaps(names: Sequence[Node], absent: npt.NDArray[np.int64]) -> dict[Node, int]:
    return {names[place]: int(absent[place]) for place in np.flatnonzero(absent).tolist()}


def _shares(gaps: Mapping[Node, int], rows: int) -> str:
    return f"{', '.join(f'{count:,}' for count in list(gaps.values())[:_SHOWN])} of {count_of(rows, 'row')}"


@attrs.frozen(eq=False)
class Decision:
    """A column, its kind, and how to cut it if it is a number; ``crowded`` says that few rows are left for a level.

    ``words`` stood for missing values among numbers, in so many rows; ``suspects`` are numbers that may do so.
    """

    column: Column
    summary: ColumnSummary
    kind: ColumnKind
    cut: Cut | None = None
    crowded: bool = False
    words: Mapping[str, int] = attrs.field(factory=dict)
    suspects: tuple[int, ...] = ()


def decide(
    column: Column,
    name: Node,
    plan: Plan,
    rows: Rows | None = None,
    *,
    codes: bool = False,
    known: ColumnSummary | None = None,
) -> Decision:
    """Decide on a column; ``rows`` says in how many rows each of its values stands, if not in one.

    ``known`` is the summary of a column of which only some values are here. A column that cannot be what the caller
    asks for is refused.
    """
    asked, told = plan.asked_kind(name), plan.missing_codes(name)
    if known is not None and told:
        message = f"column {name!r} has too many distinct values to look for {argument('na')} in; leave it out there"
        raise DataError(message)
    blanked = blank(column, told, rows, is_category=asked == "category")
    part = plan.parts.get(name)
    if part is not None:
        if known is not None:
            message = f"column {name!r} has too many distinct values to take the {part} of each; leave it out"
            raise DataError(message)
        dates = date_part(blanked.column, name, part)
        decision = _decide(dates, name, plan, rows, codes=codes, known=None)
        return attrs.evolve(decision, kind=attrs.evolve(decision.kind, detail=f"{part}, {decision.kind.detail}"))
    decision = _decide(blanked.column, name, plan, rows, codes=codes, known=known)
    if decision.kind.kind == "set aside":
        return decision
    suspects = () if asked == "category" else blanked.suspects
    return attrs.evolve(decision, words=blanked.words, suspects=suspects)


def _decide(
    column: Column, name: Node, plan: Plan, rows: Rows | None, *, codes: bool, known: ColumnSummary | None
) -> Decision:
    labels = column if column.is_label else None
    summary = known or summarise(column, name, rows)
    found = infer_kind(summary, codes=codes, missing_level=plan.missing == "level")
    asked = plan.asked_kind(name)
    if asked is None and plan.levels == "declared" and (labels is not None or summary.whole):
        asked = "category"
    named = plan.is_named(name)
    if asked == "set aside":
        return Decision(column, summary, ColumnKind(name, asked, DROPPED, summary.missing))
    if asked is None or (summary.present == 0 and not named):
        return _as(found.kind, column, summary, found, plan)
    if summary.present == 0:
        message = f"all values are missing in column {name!r}; leave it out"
        raise DataError(message)
    if asked == "category":
        return _as(asked, column, summary, found, plan)
    numeric = _numeric(column, name, asked)
    if numeric is None or (summary.distinct == 1 and not plan.takes_constants):
        if not named:
            return _as(found.kind, column, summary, found, plan)
        raise DataError(_no_number(name, asked, plan, is_constant=numeric is not None))
    if labels is not None:
        column, summary = numeric, summarise(numeric, name, rows)
    return _as(asked, column, summary, found, plan)


def _numeric(column: Column, name: Node, asked: Kind) -> Numbers | None:
    """Return a column as the numbers that it is taken for: dates as days, ordered levels by their places."""
    numeric = as_numbers(column)
    if numeric is not None or not column.is_label:
        return numeric
    if asked == "ordered" and column.declared:
        return Numbers(column.codes, column.codes < 0)
    return as_days(column, name) if asked == "number" else None


def _no_number(name: Node, asked: Kind, plan: Plan, *, is_constant: bool) -> str:
    if is_constant:
        return f"column {name!r} has only one value, so it cannot be a number; leave it out"
    if name in plan.cuts:
        return f"column {name!r} holds labels, and only numbers can be cut; leave it out of {argument('discretize')}"
    if asked == "ordered":
        return f"column {name!r} holds labels without an order; give a categorical column whose categories have one"
    return f"column {name!r} holds labels, which are no numbers; give {argument('kinds', {name: 'category'})}"


def _as(kind: Kind, column: Column, summary: ColumnSummary, found: ColumnKind, plan: Plan) -> Decision:
    name = summary.name
    if kind == "set aside":
        return Decision(column, summary, found)
    is_number = not column.is_label
    if is_number and not (np.isfinite(summary.low) and np.isfinite(summary.high)):
        message = f"column {name!r} has infinite values; replace them, or leave the column out"
        raise DataError(message)
    if kind == "category" or not is_number:
        levels = summary.distinct
        is_declared = plan.levels == "declared" and summary.whole
        if is_declared:
            levels = int(summary.high) + 1
        levels += plan.missing == "level" and summary.missing > 0
        detail = found.detail if found.kind == "category" and not is_declared else count_of(levels, "level")
        crowded = not is_number and is_crowded(summary)
        return Decision(column, summary, ColumnKind(name, "category", detail, summary.missing), crowded=crowded)
    if kind == "ordered":
        if name not in plan.kinds and (plan.cut is not None or (plan.missing == "level" and summary.missing)):
            return _as("category", column, summary, found, plan)
        return Decision(column, summary, ColumnKind(name, kind, ordered_detail(summary), summary.missing))
    cut = plan.asked_cut(name)
    if cut is None and plan.missing == "level" and summary.missing:
        cut = USUAL_CUT
    detail = number_detail(summary.low, summary.high)
    return Decision(column, summary, ColumnKind(name, "number", detail, summary.missing), cut)

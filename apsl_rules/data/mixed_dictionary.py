"""Categories and numbers from the distinct values of columns, for tables of which the rows stay elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Numbers
from apsl_rules.data.decide import Decision, decide
from apsl_rules.data.dictionary_codes import Distinct, holds_codes
from apsl_rules.data.kinds import DROPPED, MOST_LEVELS, ColumnKind, notes_on_kinds
from apsl_rules.data.levels import code, code_cut
from apsl_rules.data.open_table import check_names
from apsl_rules.data.reading import Plan, Reading
from apsl_rules.data.sentences import advice_on_levels, notes_on_gaps, problem_of_gaps, refuse, with_missing
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import Node, count_of

Floats: TypeAlias = npt.NDArray[np.float64]


@attrs.frozen(eq=False)
class NumberValues:
    """A number: the value of each distinct value in the order in which they were given, NaN for missing ones."""

    values: Floats


@attrs.frozen(eq=False)
class CategoryCodes:
    """A category: the code of each distinct value in the order in which they were given, and the levels.

    A missing value has the code after the last level.
    """

    codes: npt.NDArray[np.intp]
    levels: tuple[Any, ...]

    @property
    def card(self) -> int:
        """Return the number of levels."""
        return len(self.levels)


@attrs.frozen(eq=False)
class MixedDictionary:
    """The columns that are kept, by place among those given, what became of all, and notes; ``rows`` of the table."""

    columns: Mapping[int, NumberValues | CategoryCodes]
    kinds: tuple[ColumnKind, ...]
    notes: tuple[str, ...]
    rows: int


def plan_moments(names: Sequence[Node], **reading: Any) -> Plan:
    """Check the options of ``table`` for a table with numbers whose rows stay elsewhere."""
    check_names(names)
    if reading.get("missing") == "complete":
        message = "missing='complete' needs the table in memory; give missing='testwise', or counts='memory'"
        raise InvalidArgumentError(message)
    return Reading(**reading).plan(names)


def mixed_dictionary(names: Sequence[Node], columns: Mapping[int, Distinct], plan: Plan) -> MixedDictionary:
    """Read columns of which the distinct values are known, each by its place among the names."""
    first = next(iter(columns.values()), None)
    rows = 0 if first is None else int(first.rows.sum())
    if rows < 2:  # noqa: PLR2004 - nothing varies in one row
        message = f"the table has {count_of(rows, 'row')}; at least 2 are needed"
        raise DataError(message)
    is_coded = holds_codes(names, columns, plan)
    made: dict[int, NumberValues | CategoryCodes] = {}
    kinds: dict[int, ColumnKind] = {}
    problems: list[str] = []
    crowded: list[Node] = []
    for place in plan.places:
        name = names[place]
        try:
            known = columns[place].summary
            decision = decide(columns[place].values, name, plan, columns[place].rows, known=known)
            if is_coded and decision.kind.kind == "number" and plan.asked_kind(name) is None:
                decision = decide(columns[place].values, name, plan, columns[place].rows, codes=True, known=known)
            kinds[place] = decision.kind
            if decision.kind.kind == "set aside":
                continue
            made[place] = _read(decision, columns[place], plan)
        except DataError as error:
            problems.append(str(error))
            continue
        if decision.cut is not None:
            kinds[place] = attrs.evolve(decision.kind, kind="category", detail=f"{decision.kind.detail}, cut")
        if decision.crowded:
            crowded.append(name)
    used = [names[place] for place in made]
    absent = np.array([kinds[place].missing for place in made], np.int64)
    if plan.missing == "refuse" and (gaps := problem_of_gaps(used, absent, rows)):
        problems.append(gaps)
    refuse(problems)
    told = tuple(
        kinds.get(place, ColumnKind(name, "set aside", plan.aside.get(place, DROPPED)))
        for place, name in enumerate(names)
    )
    aside = notes_on_kinds(told, crowded)
    if not made:
        message = f"no column is left to learn from: {'; '.join(aside)}"
        raise DataError(message)
    return MixedDictionary(made, told, (*aside, *notes_on_gaps(used, absent, rows, plan.missing)), rows)


def _read(decision: Decision, column: Distinct, plan: Plan) -> NumberValues | CategoryCodes:
    """Return a column as what it was decided to be."""
    name = decision.kind.name
    if decision.kind.kind == "number" and decision.cut is None and isinstance(decision.column, Numbers):
        values = decision.column.values.astype(np.float64)
        return NumberValues(np.where(decision.column.missing, np.nan, values))
    if decision.cut is not None and isinstance(decision.column, Numbers):
        one = code_cut(decision.column, decision.cut, column.rows)
    else:
        one = code(decision.column, name, plan.levels)
    codes, levels = one.codes[0].astype(np.intp), one.levels[0]
    gone = codes < 0
    if plan.missing == "level" and int(column.rows[gone].sum()):
        levels = with_missing(name, levels)
        codes = np.where(gone, len(levels) - 1, codes)
    if len(levels) > MOST_LEVELS:
        raise DataError(advice_on_levels(name, len(levels)))
    return CategoryCodes(np.where(codes < 0, len(levels), codes), tuple(levels))

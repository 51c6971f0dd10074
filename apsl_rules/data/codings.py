"""Codes for columns that stay in an engine, made from their distinct values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Column, Numbers, summarise
from apsl_rules.data.counts.source import Heading
from apsl_rules.data.cuts import LevelRule, code, code_cut
from apsl_rules.data.kinds import (
    DROPPED,
    MOST_LEVELS,
    ColumnKind,
    ColumnSummary,
    Kind,
    infer_kind,
    is_coded,
    notes_on_kinds,
)
from apsl_rules.data.reading import (
    USUAL_CUT,
    Decision,
    Discretize,
    MissingRule,
    Plan,
    Reading,
    advice_on_levels,
    decide,
    notes_on_cuts,
    notes_on_gaps,
    problem_of_gaps,
    problem_of_numbers,
    refuse,
    with_missing,
)
from apsl_rules.data.sources import check_names
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import Node, count_of


@attrs.frozen(eq=False)
class Distinct:
    """The distinct values of a column, missing ones included, and in how many rows each stands.

    Where these are only some of very many, ``summary`` is that of all of them.
    """

    values: Column
    rows: npt.NDArray[np.int64]
    summary: ColumnSummary | None = None

    def summarise(self, name: Node) -> ColumnSummary:
        """Return the summary of all values."""
        return self.summary or summarise(self.values, name, self.rows)


@attrs.frozen(eq=False)
class Dictionary:
    """A heading, and for each of its columns the codes of its distinct values, in the order in which they were given.

    ``places`` are those of the columns among all that were given, and ``cut`` the columns whose codes are intervals.
    """

    heading: Heading
    codes: tuple[npt.NDArray[np.intp], ...]
    cut: tuple[Node, ...]
    places: tuple[int, ...]


def plan_counting(
    names: Sequence[Node],
    *,
    missing: MissingRule = "testwise",
    discretize: Discretize = None,
    levels: LevelRule = "observed",
    kinds: Mapping[Node, Kind] | None = None,
    drop: Iterable[Node] | None = None,
    only: Iterable[Node] | None = None,
) -> Plan:
    """Check the options of ``table`` for a table whose rows stay elsewhere and are counted there."""
    check_names(names)
    if missing == "complete":
        message = "missing='complete' needs the table in memory; give missing='testwise', or counts='memory'"
        raise InvalidArgumentError(message)
    plan = Reading(missing, discretize, levels, kinds, drop, only).plan(names)
    if isinstance(discretize, str) or plan.cut is not None:
        return plan
    return attrs.evolve(plan, cut=USUAL_CUT, is_cut_asked=False)


def dictionary(names: Sequence[Node], columns: Mapping[int, Distinct], plan: Plan) -> Dictionary:
    """Encode columns of which the distinct values are known, each by its place among the names."""
    first = next(iter(columns.values()), None)
    rows = 0 if first is None else int(first.rows.sum())
    if rows < 2:  # noqa: PLR2004 - nothing varies in one row
        message = f"the table has {count_of(rows, 'row')}; at least 2 are needed"
        raise DataError(message)
    reader = _Reader(plan, holds_codes(names, columns, plan))
    for place in plan.places:
        try:
            reader.read(place, names[place], columns[place])
        except DataError as error:
            reader.problems.append(str(error))
    return reader.finish(names, columns, rows)


def holds_codes(names: Sequence[Node], columns: Mapping[int, Distinct], plan: Plan) -> bool:
    """Return whether a table holds codes alone, as ``ColumnReader`` finds out while it reads."""
    if plan.cut is not None and plan.is_cut_asked:
        return False
    found = (columns[place].summarise(names[place]) for place in plan.places)
    wide = 0
    for summary in found:
        if not summary.may_be_codes:
            return False
        wide += infer_kind(summary).kind == "number"
    return is_coded(len(plan.places), wide)


@attrs.define(eq=False)
class _Reader:
    """The columns encoded so far, by place."""

    plan: Plan
    holds_codes: bool
    kinds: dict[int, ColumnKind] = attrs.field(factory=dict)
    codes: dict[int, npt.NDArray[np.intp]] = attrs.field(factory=dict)
    levels: dict[int, tuple[Any, ...]] = attrs.field(factory=dict)
    absent: dict[int, int] = attrs.field(factory=dict)
    cut: list[Node] = attrs.field(factory=list)
    uncut: list[Node] = attrs.field(factory=list)
    crowded: list[Node] = attrs.field(factory=list)
    problems: list[str] = attrs.field(factory=list)

    def read(self, place: int, name: Node, column: Distinct) -> None:
        """Encode a column as its kind asks for."""
        decision = decide(column.values, name, self.plan, column.rows)
        if self.holds_codes and decision.kind.kind == "number" and self.plan.asked_kind(name) is None:
            decision = decide(column.values, name, self.plan, column.rows, codes=True)
        self.kinds[place] = decision.kind
        if decision.kind.kind == "set aside":
            return
        if decision.crowded:
            self.crowded.append(name)
        if decision.kind.kind == "number" and isinstance(decision.column, Numbers):
            if decision.cut is None:
                self.uncut.append(name)
                return
            one = code_cut(decision.column, decision.cut, column.rows)
            self.cut.append(name)
            self.kinds[place] = attrs.evolve(decision.kind, kind="category", detail=f"{decision.kind.detail}, cut")
        else:
            one = code(decision.column, name, self.plan.levels)
        codes, labels = one.codes[0].astype(np.intp), one.levels[0]
        gone = codes < 0
        self.absent[place] = int(column.rows[gone].sum())
        self.codes[place] = np.where(gone, len(labels), codes)
        is_level = self.plan.missing == "level" and self.absent[place] > 0
        self.levels[place] = with_missing(name, labels) if is_level else labels
        if len(self.levels[place]) > MOST_LEVELS:
            raise DataError(advice_on_levels(name, len(self.levels[place])))

    def finish(self, names: Sequence[Node], columns: Mapping[int, Distinct], rows: int) -> Dictionary:
        """Return the codes and the heading, or refuse the table for all its problems together."""
        kept = tuple(sorted(self.codes))
        known = [names[place] for place in kept]
        absent = np.array([self.absent[place] for place in kept], np.int64)
        if self.uncut:
            self.problems.append(problem_of_numbers(self.uncut))
        if self.plan.missing == "refuse" and (gaps := problem_of_gaps(known, absent, rows)):
            self.problems.append(gaps)
        refuse(self.problems)
        kinds = tuple(
            self.kinds.get(place, ColumnKind(name, "set aside", self.plan.aside.get(place, DROPPED)))
            for place, name in enumerate(names)
        )
        aside = notes_on_kinds(kinds, self.crowded)
        if not kept:
            message = f"no column is left to learn from: {'; '.join(aside)}"
            raise DataError(message)
        cards = np.array([len(self.levels[place]) for place in kept], np.int64)
        incomplete = (absent > 0) & (self.plan.missing == "testwise")
        totals = tuple(
            np.bincount(self.codes[place], columns[place].rows, span).astype(np.int64)
            for place, span in zip(kept, (cards + incomplete).tolist(), strict=True)
        )
        unasked = [name for name in self.cut if name not in self.plan.cuts and not self.plan.is_cut_asked]
        notes = (*aside, *notes_on_gaps(known, absent, rows, self.plan.missing), *notes_on_cuts(unasked))
        levels = tuple(self.levels[place] for place in kept)
        heading = Heading(tuple(known), cards, levels, incomplete, rows, totals, notes, kinds)
        return Dictionary(heading, tuple(self.codes[place] for place in kept), tuple(self.cut), kept)


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

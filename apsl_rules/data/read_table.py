"""Read a source into a table, column by column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Numbers, PandasFrame
from apsl_rules.data.kinds import (
    DROPPED,
    FEW_CODES,
    LARGEST_CODE,
    MOST_CODES,
    TIMES,
    WEIGHTS,
    ColumnKind,
    DatePart,
    GroupColumns,
    Kind,
    TimeColumns,
    is_auto,
    is_coded,
    notes_on_kinds,
    places_of,
    role_names,
)
from apsl_rules.data.one_hot import find_one_hot
from apsl_rules.data.readers import PlainTable
from apsl_rules.data.reading import (
    ALL,
    Decision,
    Discretize,
    MissingRule,
    Plan,
    Reading,
    decide,
    note_on_complete,
    notes_on_cuts,
    notes_on_gaps,
    problem_of_few_rows,
    problem_of_gaps,
    refuse,
)
from apsl_rules.data.roles import check_weights, note_on_rows_without
from apsl_rules.data.row_groups import notice_groups
from apsl_rules.data.sources import Matrix, open_source
from apsl_rules.data.store import Store, View, note_on_weights, repeat_rows
from apsl_rules.data.tables import LocalTable, MixedTable, Table
from apsl_rules.data.values import (
    Coded,
    LevelRule,
    MissingCodes,
    code,
    code_cut,
    code_integers,
    may_hold_codes,
    notes_on_suspects,
    notes_on_words,
)
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import Node, count_of

_FEWEST_COMPLETE = 5


def table(
    source: Any,
    *,
    names: Iterable[Node] | None = None,
    kinds: Mapping[Node, Kind | DatePart] | None = None,
    drop: Iterable[Node] | None = None,
    only: Iterable[Node] | None = None,
    weights: Node | None = None,
    missing: MissingRule = "testwise",
    discretize: Discretize = None,
    levels: LevelRule = "observed",
    na: MissingCodes = None,
    groups: GroupColumns = None,
    sampling_weights: Node | None = None,
    time: TimeColumns = None,
    lags: int = 1,
) -> LocalTable:
    """Read a table of any kind once, so that everything that takes data can use it.

    Every column gets a kind. Text, truth values, declared categories, numbers with two values and whole numbers with
    three are categories; short scales of four to ten whole numbers are ordered, read as numbers, shown as levels; all
    other numbers are numbers. In a table of small codes alone all columns are categories. Constants, identifiers, free
    text, dates and times are set aside. Notes name these columns, and ``columns`` of the result has the kind of each.

    Parameters
    ----------
    source
        A pandas, polars or pyarrow table or another that narwhals reads (lazy ones are collected), a 2-d numpy array,
        or the path of a CSV, Parquet, Feather, Excel, Stata, JSON lines or integer text file. A ``Table`` or
        ``MixedTable`` is given back as it is.
    names
        Labels for the columns, any hashables, instead of the table's own. The columns of an array are otherwise
        called X1, X2 and so on, those of a text file 1, 2 and so on. A text file holds categories alone.
    kinds
        The kinds of columns by name, "category", "ordered", "number" or "set aside", instead of those inferred; "*"
        stands for all columns that are not named. Dates are days as a "number", and may be taken by their "year",
        "quarter", "month", "day", "weekday" (1 is Monday) or "hour".
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
    na
        What stands for a missing value in all columns, one word or number or several (``na=999``), or a mapping from
        names (``na={"age": 999}``), "*" standing for all others.
    groups
        The column, or the columns together, that say which rows belong together, such as a school; "auto" notices
        them. They are then no variables. Rows without a group are left out.
    sampling_weights
        The name of a column that says how much of the population each row stands for, from 0 on, with fractions. It is
        then no variable, and rows without it are left out.
    time, lags
        The column, or the columns together, the largest part first, that say when each row was, such as a date or a
        year and a month. Rows are sorted by it, within groups, and each column gets one for each of so many earlier
        steps, ``x[t-1]``. It is then no variable, and rows without earlier steps are left out.

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
    reading = Reading(missing, discretize, levels, kinds, drop, only, weights, na, groups, sampling_weights, time, lags)
    if isinstance(source, Table | MixedTable):
        given: dict[str, Any] = {"names": names, "discretize": discretize, "kinds": kinds, "drop": drop, "only": only}
        given |= {"weights": weights, "na": na, "sampling_weights": sampling_weights, "time": time}
        given |= {"groups": None if is_auto(groups) or not (groups or source.roles) else groups}
        told = next((name for name, value in given.items() if value is not None), None)
        if told is not None:
            message = (
                f"the table was read already, so {told}= comes too late; give it together with the data that the "
                f"table was made from"
            )
            raise InvalidArgumentError(message)
        return source
    opened = open_source(source, names)
    noticed: tuple[str, ...] = ()
    if groups is not None:
        found = notice_groups(opened, reading)
        noticed, reading = found.notes, attrs.evolve(reading, groups=found.acting)
    if time is not None:
        from apsl_rules.data.lags import in_time

        opened, reading, told_of_time = in_time(opened, reading)
        noticed = (*noticed, *told_of_time)
    plan = reading.plan(opened.names)
    if isinstance(opened, Matrix) and opened.holds_codes and plan.kind is None:
        plan = attrs.evolve(plan, kind="category")
    chosen = None if weights is None else repeat_rows(opened, weights)
    view = View(opened, plan.places, chosen)
    left_out: tuple[str, ...] = ()
    if plan.roles:
        view, left_out = _with_roles(view, reading, plan)
    store = Store.of(view, missing)
    read = ColumnReader.read(view, plan, store)
    notes: tuple[str, ...] = ()
    if missing == "complete" and not read.problems and store.absent.any():
        complete = store.complete_rows()
        if len(complete) < _FEWEST_COMPLETE:
            raise DataError(problem_of_few_rows(len(complete), view.rows))
        notes = note_on_complete(view.names, store.absent, view.rows, len(complete))
        view = view.rows_at(complete)
        store = Store.of(view, missing)
        read = ColumnReader.read(view, read.settled_plan(), store)
    aside = {} if weights is None else {opened.names.index(weights): WEIGHTS}
    aside |= places_of(plan.roles, opened.names)
    aside |= {opened.names.index(name): TIMES for name in reading.times(opened.names)}
    notes = (*(opened.notes if isinstance(opened, PlainTable | PandasFrame) else ()), *notes)
    columns, notes = read.settle(opened.names, aside, notes)
    made = store.finish(columns, (*noticed, *left_out, *notes, *note_on_weights(view, store)))
    made = attrs.evolve(made, roles=plan.roles, beside=_beside(view, reading, plan)) if plan.roles else made
    is_told = plan.kind is not None or plan.levels == "declared" or time is not None
    return made if is_told else made.joined(find_one_hot(made, plan.kinds))


def _with_roles(view: View, reading: Reading, plan: Plan) -> tuple[View, tuple[str, ...]]:
    """Return the rows of a view in which all columns with a role have a value, and a note on the others."""
    beside = _beside(view, reading, plan)
    there = np.ones(view.rows, np.bool_)
    for name in role_names(plan.roles):
        there &= beside.categories.codes_of(name) >= 0 if beside.is_category(name) else ~np.isnan(beside.values(name))
    check_weights(plan.roles, beside)
    if there.all():
        return view, ()
    kept = np.flatnonzero(there)
    if len(kept) < _FEWEST_COMPLETE:
        raise DataError(problem_of_few_rows(len(kept), view.rows))
    return view.rows_at(kept), note_on_rows_without(role_names(plan.roles), view.rows - len(kept), view.rows)


def _beside(view: View, reading: Reading, plan: Plan) -> LocalTable:
    """Return the columns with a role, in the rows of a view."""
    of_roles = reading.of_roles(view.source.names, plan.roles)
    beside = View(view.source, of_roles.places, view.chosen)
    store = Store.of(beside, "testwise")
    read = ColumnReader.read(beside, of_roles, store)
    columns, _ = read.settle(view.source.names, {})
    return store.finish(tuple(one for one in columns if one.name in role_names(plan.roles)), ())


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
    if isinstance(source, Table):
        return source
    return table(source, names=names, missing=missing, levels=levels, kinds={ALL: "category"}).categories


_CELLS_AT_ONCE = 2**20
#: Whole numbers that differ by less than this are counted in one pass for a block of columns.
_NARROW = 256


class Keeps(Protocol):
    """Protocol: keeps the columns that were read; ``absent`` counts the missing values of each."""

    absent: npt.NDArray[np.int64]

    @property
    def is_empty(self) -> bool:
        """Whether no column was kept."""

    def put(self, places: Sequence[int], coded: Coded, *, is_cut: bool = False) -> None:
        """Keep encoded columns at their places; ``is_cut`` says that the levels are intervals of numbers."""

    def put_number(self, place: int, column: Numbers) -> None:
        """Keep a number at its place."""


@attrs.define(eq=False)
class ColumnReader:
    """The columns read so far: their kinds, what they hold, and all problems with them.

    ``waiting`` are the places of whole numbers that are categories if all columns of the table may be codes, and
    ordered or numbers otherwise, which only the last column decides; ``wide`` counts those of many values. ``scales``
    were kept as codes by then.
    """

    view: View
    plan: Plan
    store: Keeps
    kinds: dict[int, ColumnKind] = attrs.field(factory=dict)
    problems: list[str] = attrs.field(factory=list)
    crowded: list[Node] = attrs.field(factory=list)
    unasked: list[Node] = attrs.field(factory=list)
    words: dict[Node, Mapping[str, int]] = attrs.field(factory=dict)
    suspects: dict[Node, tuple[int, ...]] = attrs.field(factory=dict)
    waiting: list[int] = attrs.field(factory=list)
    scales: list[int] = attrs.field(factory=list)
    wide: int = 0
    may_be_codes: bool = True

    @classmethod
    def read(cls, view: View, plan: Plan, store: Keeps) -> ColumnReader:
        """Read all columns of a view into a store."""
        reader = cls(view, plan, store)
        step = max(1, _CELLS_AT_ONCE // view.rows)
        for start in range(0, len(view.names), step):
            stop = min(start + step, len(view.names))
            block = view.integers(start, stop)
            rest = range(start, stop) if block is None else reader._read_block(start, block)
            for place in rest:
                reader._read_column(place)
        codes = reader.may_be_codes and (not reader.wide or is_coded(len(view.names), reader.wide))
        for place in reader.waiting if codes else [*reader.waiting, *reader.scales]:
            reader._read_column(place, codes=codes)
        return reader

    def _read_block(self, start: int, block: npt.NDArray[np.integer[Any]]) -> list[int]:
        """Keep the columns of a block that are categories beyond doubt, and return the places of the others."""
        stop = start + len(block)
        places = list(range(start, stop))
        low, high = block.min(axis=1), block.max(axis=1)
        # Unsigned arithmetic wraps round, so that the span is right at the ends of the 64-bit range too.
        span = high.astype(np.uint64) - low.astype(np.uint64)
        asked = self._asked(places)
        sure = (span < _NARROW) & ((asked == "category") | ((asked == "") & (span > 0)))
        if self.plan.levels == "declared":
            sure &= low >= 0
        sure &= ~may_hold_codes(low, high) & ~self._has_codes(places)
        if not sure.any():
            return places
        some = np.flatnonzero(sure)
        names = [self.view.names[start + place] for place in some.tolist()]
        coded = code_integers(block if sure.all() else block[some], names, self.plan.levels)
        counts = np.array([len(levels) for levels in coded.levels])
        few = (asked[some] == "category") | (counts <= MOST_CODES)
        if not few.all():
            sure[some[~few]] = False
            kept = np.flatnonzero(few)
            coded = Coded(coded.codes[kept], [coded.levels[one] for one in kept.tolist()])
            some = some[few]
        if len(some):
            self.may_be_codes &= bool(low[some].min() >= 0 and high[some].max() <= LARGEST_CODE)
            at = (start + some).tolist()
            self.store.put(at, coded)
            is_free = (asked[some] == "") & (np.array([len(levels) for levels in coded.levels]) > FEW_CODES)
            self.scales += (start + some[is_free]).tolist()
            details = {count: count_of(count, "level") for count in set(map(len, coded.levels))}
            for place, levels in zip(at, coded.levels, strict=True):
                self.kinds[place] = ColumnKind(self.view.names[place], "category", details[len(levels)])
        return [place for place, done in zip(places, sure.tolist(), strict=True) if not done]

    def _has_codes(self, places: list[int]) -> npt.NDArray[np.bool_]:
        """Return for each of some columns whether the caller named codes for its missing values."""
        plan = self.plan
        return np.array([bool(plan.na) and bool(plan.missing_codes(self.view.names[place])) for place in places])

    def _asked(self, places: list[int]) -> npt.NDArray[np.str_]:
        """Return the kind that the caller asks for each of some columns of whole numbers, or nothing."""
        plan = self.plan
        usual = plan.kind or ("category" if plan.levels == "declared" else "")
        if not (plan.kinds or plan.cuts or plan.inferred):
            return np.full(len(places), usual)
        return np.array([plan.asked_kind(self.view.names[place]) or usual for place in places])

    def _read_column(self, place: int, *, codes: bool | None = None) -> None:
        """Read one column; ``codes`` says whether the table holds codes alone, once that is known."""
        name = self.view.names[place]
        try:
            rows, known = self.view.counted(place), self.view.known(place)
            decision = decide(self.view.column(place), name, self.plan, rows, codes=bool(codes), known=known)
            is_free = self.plan.asked_kind(name) is None and self.plan.levels != "declared"
            if is_free and (reason := self.view.reason_in_source(place)) is not None:
                aside = attrs.evolve(decision.kind, kind="set aside", detail=reason)
                decision = attrs.evolve(decision, kind=aside)
            if codes is None and self._waits(place, decision):
                self.waiting.append(place)
                return
            self._keep(place, decision)
        except DataError as error:
            self.problems.append(str(error))

    def _waits(self, place: int, decision: Decision) -> bool:
        """Whether only the other columns can tell that a column is one of codes."""
        kind, summary = decision.kind.kind, decision.summary
        if kind == "set aside":
            return False
        is_number = kind in ("number", "ordered") and decision.cut is None
        is_free = self.plan.asked_kind(self.view.names[place]) is None
        self.may_be_codes &= summary.may_be_codes and (is_free or not is_number)
        if not (is_number and self.may_be_codes):
            return False
        self.wide += summary.distinct > MOST_CODES
        return True

    def _keep(self, place: int, decision: Decision) -> None:
        column, kind = decision.column, decision.kind
        self.kinds[place] = kind
        if kind.kind == "set aside":
            return
        if decision.words:
            self.words[kind.name] = decision.words
        if decision.suspects:
            self.suspects[kind.name] = decision.suspects
        if decision.crowded:
            self.crowded.append(kind.name)
        if kind.kind in ("number", "ordered") and not column.is_label:
            if decision.cut is None:
                self.store.put_number(place, column)
                return
            coded = code_cut(column, decision.cut, self.view.counted(place))
            if self.plan.asked_cut(kind.name) is None:
                self.unasked.append(kind.name)
            self.kinds[place] = attrs.evolve(kind, kind="category", detail=f"{kind.detail}, cut")
        else:
            coded = code(column, kind.name, self.plan.levels)
        self.store.put([place], coded, is_cut=decision.cut is not None)

    def settled_plan(self) -> Plan:
        """Return the plan with the kinds that were found, for some of the rows."""
        found = {one.name: one.kind for one in self.kinds.values() if one.kind != "set aside"}
        return attrs.evolve(self.plan, inferred=found)

    def settle(
        self, names: tuple[Node, ...], aside: Mapping[int, str], notes: tuple[str, ...] = ()
    ) -> tuple[tuple[ColumnKind, ...], tuple[str, ...]]:
        """Return what became of all columns of the source, and notes, or refuse it for all its problems together.

        ``aside`` says of some columns that were not read why they are set aside.
        """
        rows, absent = self.view.rows, self.store.absent
        if self.plan.missing == "refuse" and (gaps := problem_of_gaps(self.view.names, absent, rows)):
            self.problems.append(gaps)
        refuse(self.problems)
        read = {self.view.places[place]: kind for place, kind in self.kinds.items()}
        columns = tuple(
            read[place] if place in read else ColumnKind(name, "set aside", aside.get(place, DROPPED))
            for place, name in enumerate(names)
        )
        found = (*notes_on_words(self.words), *notes_on_suspects(self.suspects))
        told = (*notes_on_kinds(columns, self.crowded), *found)
        if self.store.is_empty:
            message = f"no column is left to learn from: {'; '.join(told)}"
            raise DataError(message)
        gaps_told = notes_on_gaps(self.view.names, absent, rows, self.plan.missing)
        return columns, (*told, *notes_on_cuts(self.unasked), *notes, *gaps_told)

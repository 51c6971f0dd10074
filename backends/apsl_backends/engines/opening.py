"""Open an engine for counts or for moments: decide its columns from their summaries, and code them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import attrs
import numpy as np

from apsl_backends.engines.arrow_columns import Summary
from apsl_backends.engines.coders import (
    CategoryCoder,
    Coder,
    NumberCoder,
    coder_of,
    curve_coder,
    floats_of,
    heading_of_coders,
    likeness_of_coders,
)
from apsl_backends.engines.engine import Engine
from apsl_backends.engines.moments import MemoryMoments, Moments
from apsl_backends.engines.normal_scores import curve_of_distinct
from apsl_backends.kernels.bindings.embedded import CategoryColumn
from apsl_backends.kernels.bindings.scores import ScoreCurve
from apsl_backends.kernels.library import Floats
from apsl_rules.data import (
    NOTICED_ROWS,
    ColumnKind,
    Dictionary,
    LocalTable,
    MixedTable,
    NoticedGroups,
    Reading,
    Roles,
    Table,
    advice_on_levels,
    group_columns,
    notice_groups,
    open_source,
    places_of,
    plan_elsewhere,
    read_distinct,
    replace_names,
    role_names,
    thin_rows,
    thin_step,
)
from apsl_rules.data.counts import CountSource
from apsl_rules.data.moments import MOST_ROWS_SEEN, ColumnUnit, Embedding, is_nearly_normal
from apsl_rules.errors import DataError
from apsl_rules.names import Node


def counted(engine: Engine, *, names: Sequence[Node] | None = None, **reading: Any) -> CountSource:
    """Open an engine for counting; ``reading`` are the options of ``table``."""
    read = _Read.of(engine, names, reading)
    values = {place: one.counted for place, one in read.found.items()}
    read = attrs.evolve(read, made=read.made.cut(read.names, values, reading.get("discretize")))
    return engine.count(read.made.places, read.coders(Embedding()), read.made.heading(read.names))


def moments(
    engine: Engine, embedding: Embedding | None = None, *, names: Sequence[Node] | None = None, **reading: Any
) -> Moments:
    """Open an engine for sums of products; ``reading`` are the options of ``table``."""
    read = _Read.of(engine, names, reading)
    made, coders = read.made, read.coders(embedding or Embedding())
    kept = [read.names[place] for place in made.places]
    heading = heading_of_coders(kept, coders, made.rows, made.kinds, made.notes)
    places, with_roles = read.role_coders()
    heading = attrs.evolve(heading, roles=read.roles, role_units=tuple(one.unit for one in with_roles))
    rows = engine.code((*made.places, *places), [*coders, *with_roles], made.rows)
    return Moments(engine, heading, rows, likeness_of_coders(coders), read)


@attrs.frozen(eq=False)
class _Read:
    """The summaries of the columns that are read, and what is decided from these."""

    engine: Engine
    names: Sequence[Node]
    found: Mapping[int, Summary]
    made: Dictionary
    roles: Roles
    beside: Dictionary | None = None

    @classmethod
    def of(cls, engine: Engine, names: Sequence[Node] | None, reading: Mapping[str, Any]) -> _Read:
        """Ask an engine for the summaries of its columns, and decide these."""
        given = replace_names(engine.names, names)
        noticed = _noticed(engine, given, reading)
        reading = {**reading, "groups": noticed.acting}
        plan = plan_elsewhere(given, **reading).without(engine.types_set_aside)
        plan = attrs.evolve(plan, aside={**plan.aside, **places_of(plan.roles, given)})
        of_roles = Reading(**reading).of_roles(given, plan.roles)
        found = engine.summaries((*plan.places, *of_roles.places))
        counted = {place: one.counted for place, one in found.items()}
        made = read_distinct(given, {place: counted[place] for place in plan.places}, plan)
        made = attrs.evolve(made, notes=(*noticed.notes, *made.notes))
        beside = None
        if plan.roles:
            beside = read_distinct(given, {place: counted[place] for place in of_roles.places}, of_roles)
        return cls(engine, given, found, made, plan.roles, beside)

    def role_coders(self) -> tuple[tuple[int, ...], list[Coder]]:
        """Return the places of the columns with a role, and how each is coded."""
        if self.beside is None:
            return (), []
        places = tuple(self.names.index(name) for name in role_names(self.roles))
        return places, [self._role_coder(place, self.beside) for place in places]

    def _role_coder(self, place: int, beside: Dictionary) -> Coder:
        read, found = beside.columns[place], self.found[place]
        if read.is_category and found.values is not None:
            coder = coder_of(read, found.values, found.counted.rows, Embedding())
            nothing = np.full(read.card, -1)
            unit = ColumnUnit(levels=read.levels, codes=tuple(range(read.card)))
            assert isinstance(coder, CategoryCoder)  # noqa: S101 - of a category
            return attrs.evolve(coder, width=0, indicators=nothing, unit=unit)
        missing = int(found.counted.summarise(self.names[place]).missing)
        if not read.is_category:
            return NumberCoder(0, missing, ColumnUnit(1.0))
        name = self.names[place]
        raise DataError(advice_on_levels(name, found.counted.summarise(name).distinct))

    def thinned(self) -> LocalTable:
        """Return about 10,000 of the rows: those that are taken of a table in memory."""
        made = self.made
        coders = [self._coder_of_values(place) for place in made.places]
        work = partial(code_some, coders=coders, step=thin_step(made.rows))
        parts = list(self.engine.fold(made.places, work))
        read = {self.names[place]: one for place, one in made.columns.items()}
        found = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
        columns = dict(zip(read, found, strict=True))
        cards = {name: one.card for name, one in read.items() if one.is_category}
        codes = [columns[name] for name in cards]
        categories = Table(
            names=tuple(cards),
            codes=np.stack(codes) if codes else np.empty((0, len(found[0])), np.uint8),
            cards=np.array([*cards.values()], np.int64),
            levels=tuple(one.levels for one in read.values() if one.is_category),
            incomplete=np.array([bool((columns[name] == card).any()) for name, card in cards.items()], np.bool_),
        )
        numbers = tuple(name for name in read if name not in cards)
        values = np.stack([columns[name] for name in numbers]) if numbers else np.empty((0, len(found[0])))
        return MixedTable(tuple(read), categories, values, numbers)

    def _coder_of_values(self, place: int) -> Coder:
        """Return how a column is coded with the values of a number as they are."""
        read, found = self.made.columns[place], self.found[place]
        if read.is_category:
            return self._coder(place, Embedding())
        unit = ColumnUnit(1.0)
        return NumberCoder(0, 0, unit) if found.values is None else NumberCoder(0, 0, unit, found.values, read.values)

    def counts(self, names: Sequence[Node], columns: tuple[ColumnKind, ...], notes: tuple[str, ...]) -> CountSource:
        """Return the counts of some columns, which are categories."""
        kept = {place: one for place, one in self.made.columns.items() if self.names[place] in names}
        read = attrs.evolve(self, made=attrs.evolve(self.made, columns=kept, kinds=columns, notes=notes))
        return self.engine.count(read.made.places, read.coders(Embedding()), read.made.heading(self.names))

    def coders(self, embedding: Embedding) -> list[Coder]:
        """Return how each column that is kept is coded."""
        return [self._coder(place, embedding) for place in self.made.places]

    def _coder(self, place: int, embedding: Embedding) -> Coder:
        read, found = self.made.columns[place], self.found[place]
        if found.values is not None:
            return coder_of(read, found.values, found.counted.rows, embedding)
        if not read.is_category and found.is_number:
            return curve_coder(self.made.rows, partial(self.engine.fold, [place], first_floats), embedding)
        name = self.names[place]
        raise DataError(advice_on_levels(name, found.counted.summarise(name).distinct))


def _noticed(engine: Engine, names: Sequence[Node], reading: Mapping[str, Any]) -> NoticedGroups:
    """Notice groups in the first rows, or look at those that the caller named."""
    asked = reading.get("groups")
    if asked is None or asked == ():
        return NoticedGroups()
    places = [place for place in range(len(names)) if place not in engine.types_set_aside]
    first = engine.head(places, NOTICED_ROWS)
    if first is None or first.num_rows < 2:  # noqa: PLR2004 - what has no rows is refused when it is read
        return NoticedGroups(group_columns(asked))
    source = open_source(first, [names[place] for place in places])
    noticed = notice_groups(source, Reading(**reading))
    return attrs.evolve(noticed, acting=group_columns(asked)) if group_columns(asked) else noticed


def code_some(section: Any, coders: Sequence[Coder], step: int) -> list[Any]:
    """Return some rows of a section: the values of numbers, and the codes of categories."""
    if step > 1:
        section = section.take(thin_rows(section.num_rows, step))
    coded = [coder.code(column) for coder, column in zip(coders, section.columns, strict=True)]
    return [one.codes if isinstance(one, CategoryColumn) else one.values for one in coded]


def first_floats(section: Any) -> Any:
    """Return the first column of a section as floats."""
    return floats_of(section.column(0))


def counted_table(engine_of: Callable[[Any, Callable[[], bytes]], Engine], table: Table) -> CountSource:
    """Count a table in memory in an engine that takes its codes, an Arrow table, and what names its contents."""
    import pyarrow as pa

    heading = table.heading
    engine = engine_of(_arrow(table.names, table.codes), lambda: b"".join(map(table.fingerprint_of, table.names)))
    coders = []
    for codes, span, card in zip(table.codes, heading.spans.tolist(), heading.cards.tolist(), strict=True):
        every = np.arange(span).astype(codes.dtype)
        coders.append(CategoryCoder(0, 0, ColumnUnit(), pa.array(every), every, np.zeros(card, np.int64)))
    return engine.count(range(len(coders)), coders, heading)


def moments_of_table(
    engine_of: Callable[[Any, Callable[[], bytes]], Engine], table: MixedTable, embedding: Embedding | None = None
) -> Moments:
    """Add up a table in memory in an engine that takes its scores and codes."""
    import pyarrow as pa

    source = MemoryMoments(table, embedding)
    likeness = source.likeness(range(len(table.names)))
    is_near = is_nearly_normal(likeness, table.rows - source.heading.missing)
    plain = np.flatnonzero(is_near | (table.rows <= MOST_ROWS_SEEN)).tolist()
    columns = [*source.for_scores(plain).handle.columns, *source.columns_with_roles()]
    values = [one.codes if isinstance(one, CategoryColumn) else one.values for one in columns]
    engine = engine_of(_arrow((*table.names, *source.heading.role_place), values), bytes)
    coders: list[Coder] = []
    widths = [*source.heading.widths.tolist(), *(0 for _ in source.heading.role_place)]
    for column, width in zip(columns, widths, strict=True):
        if isinstance(column, CategoryColumn):
            every = np.arange(column.indicators.size + 1).astype(column.codes.dtype)
            coders.append(CategoryCoder(column.width, 0, ColumnUnit(), pa.array(every), every, column.indicators))
        else:
            curve = None if column.plain is None else _curve_between(column.values, column.plain)
            coders.append(NumberCoder(width, 0, ColumnUnit(), plain=curve))
    rows = engine.code(range(len(coders)), coders, table.rows)
    return Moments(engine, source.heading, rows, likeness, _SentColumns(engine_of, table))


@attrs.frozen(eq=False)
class _SentColumns:
    """The columns of a table in memory whose scores and codes went to an engine."""

    engine_of: Callable[[Any, Callable[[], bytes]], Engine]
    table: MixedTable

    def thinned(self) -> LocalTable:
        """Return about 10,000 of the rows."""
        return self.table.thinned()

    def counts(self, names: Sequence[Node], columns: tuple[ColumnKind, ...], notes: tuple[str, ...]) -> CountSource:
        """Return the counts of some columns, which are categories."""
        left = self.table.categories.select(names)
        return counted_table(self.engine_of, attrs.evolve(left, columns=columns, notes=notes))


def _curve_between(scores: Floats, values: Floats) -> ScoreCurve:
    """Return the curve through all pairs of a score and its value."""
    known = ~np.isnan(scores)
    distinct, places = np.unique(scores[known], return_index=True)
    return curve_of_distinct(distinct, np.ascontiguousarray(values[known][places]))


def _arrow(names: Sequence[Node], columns: Iterable[Any]) -> Any:
    """Return arrays as an Arrow table; names may be any hashables, and are those of the heading anyway."""
    import pyarrow as pa

    return pa.table([pa.array(values) for values in columns], names=[f"c{place}" for place in range(len(names))])

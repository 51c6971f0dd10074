"""Any database that ibis knows: ibis writes the statements, and each set of columns is a GROUP BY of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from math import isnan
from typing import Any, Self, TypeVar

from apsl_backends.engines.arrow_columns import MOST_DISTINCT, ColumnFigures, Summary, array_of, by_value, plain
from apsl_backends.engines.counts import Sets
from apsl_backends.engines.ibis_readers import (
    decoded,
    keeps_order,
    read_any,
    read_datafusion,
    read_duckdb,
    read_postgres,
    read_sqlite,
)
from apsl_backends.engines.sql import Grouped, SqlEngine
from apsl_rules.data.databases import (
    COUNT,
    Opened,
    ask,
    complete_rows,
    group,
    open_database,
    select,
    types_set_aside,
    value_of,
)
from apsl_rules.memory import check

Result = TypeVar("Result")

#: The rows from which it is guessed which columns are counted together when a table is opened.
_LOOKED_AT = 10_000
_FIRST_ROWS = 100_000
#: The most combinations that columns counted together are expected to have, and the most columns.
_TOGETHER, _WIDEST = 4096, 12
#: The most sets of columns whose complete rows are counted in one statement.
_SETS_AT_ONCE = 64
_COPIES, _BYTES_OF_VALUE = 3, 8


class IbisEngine(SqlEngine):
    """A table of a database that is asked for what it holds, and for nothing else."""

    is_identified = False

    def __init__(self, opened: Opened) -> None:
        super().__init__()
        self.opened = opened
        self.names = opened.names
        self.origin = opened.origin
        self.engine = opened.engine
        self.kind = f"{opened.engine} through ibis"
        self._binary = self._compares_loosely()

    @classmethod
    def of(cls, source: Any) -> Self:
        """Open an address or a table expression of ibis."""
        return source if isinstance(source, cls) else cls(open_database(source))

    def identity(self) -> bytes:
        """Refuse: a database does not say what is in its rows."""
        raise NotImplementedError

    @cached_property
    def types_set_aside(self) -> Mapping[int, str]:
        """Return the types of the columns, by place, that can neither be counted nor be taken as numbers."""
        return types_set_aside(self.opened.table)

    def value(self, place: int) -> Any:
        """Return a column as an expression."""
        value = value_of(self.opened.table, self.names[place])
        return self._binary(value) if self._binary is not None and value.type().is_string() else value

    # --- what occurs -------------------------------------------------------------------------------------------------

    def distinct(self, places: Sequence[int]) -> Mapping[int, Summary]:
        """Ask for distinct values; columns with few are counted together, since most engines read whole rows."""
        sample = self.first([self.value(place) for place in places], _LOOKED_AT)
        sizes = [len(sample.column(number).unique()) + 1 for number in range(len(places))]
        found: dict[int, Summary] = {}
        for some in _together(places, sizes):
            differs = len(some) == 1 and sizes[places.index(some[0])] > _LOOKED_AT
            found.update(self._read(some, differs=differs))
        return found

    def combinations(self, expressions: Sequence[Any], most: int) -> Any:
        """Return an Arrow table of the combinations that occur and their rows, or None if there are more."""
        found = self.fetch(group(self.opened.table, dict(enumerate(expressions)), most))
        return None if found.num_rows > most else found

    def complete(self, columns: Mapping[int, tuple[Any, list[Any]]], sets: Sets) -> list[int]:
        """Count the complete rows of each set of columns, those of many sets in one statement."""
        gone = {place: _is_gone(*column) for place, column in columns.items()}
        found: list[int] = []
        for start in range(0, len(sets), _SETS_AT_ONCE):
            some = sets[start : start + _SETS_AT_ONCE]
            row = self.fetch(complete_rows(self.opened.table, gone, some))
            found += [int(row.column(number)[0].as_py() or 0) for number in range(len(some))]
        return found

    def first(self, expressions: Sequence[Any], most: int) -> Any:
        """Return some of the rows."""
        return self.fetch(select(self.opened.table, dict(enumerate(expressions))).limit(most))

    def cut(self, column: Grouped, card: int) -> Grouped:
        """Let the database find the interval of a number, where intervals are in the order of the numbers."""
        import ibis

        known, gone = column.split()
        pairs = sorted(known.items())
        ordered = [code for _, code in pairs]
        if ordered != sorted(ordered):
            return column
        highest = {code: value for value, code in pairs}
        *lower, (last, _) = highest.items()
        steps = [(column.expression <= value, code) for code, value in lower]
        found = ibis.cases((_is_gone(column.expression, list(gone)), ibis.null("int64")), *steps, else_=last)
        return column.regrouped(found.cast("int64"), card)

    def rows(self) -> int:
        """Return the number of rows, as the database says now."""
        table = self.opened.table
        return int(self.fetch(table.agg(**{COUNT: table.count()})).column(0)[0].as_py())

    def _read(self, places: Sequence[int], *, differs: bool) -> dict[int, Summary]:
        """Read the distinct values of some columns in one statement; one whose first rows all differ is counted."""
        place = places[0]
        figures = self._figures(place) if differs else None
        if figures is None or figures.distinct < MOST_DISTINCT:
            found = self.combinations([self.value(one) for one in places], MOST_DISTINCT)
            if found is not None:
                rows = array_of(plain(found.column(found.num_columns - 1)).cast("int64"))
                values = [by_value(plain(found.column(number))) for number in range(len(places))]
                return {
                    one: Summary.joined([(value, rows)], self.names[one])
                    for one, value in zip(places, values, strict=True)
                }
            if len(places) > 1:
                apart = [self._read([one], differs=False) for one in places]
                return {one: summary for read in apart for one, summary in read.items()}
        some = self.first([self.value(place)], _FIRST_ROWS).column(0).unique()
        return {place: Summary.of_some(some, self.names[place], self.rows(), figures or self._figures(place))}

    def _figures(self, place: int) -> ColumnFigures:
        """Count the values of a column in the database."""
        value = self.value(place)
        ends = {"low": value.min(), "high": value.max()} if value.type().is_integer() else {}
        (found,) = self.fetch(
            self.opened.table.agg(present=value.count(), distinct=value.nunique(), **ends)
        ).to_pylist()
        low, high = found.get("low"), found.get("high")
        ends_known = low is not None and high is not None
        return ColumnFigures(found["present"], found["distinct"], *((int(low), int(high)) if ends_known else ()))

    # --- rows --------------------------------------------------------------------------------------------------------

    @cached_property
    def is_ordered(self) -> bool:
        """Return whether statements about different columns return the rows in the same order."""
        return self._ask(lambda: keeps_order(self.opened))

    def batches(self, places: Sequence[int]) -> Iterator[Any]:
        """Yield the rows of columns as Arrow tables, always in the same order.

        An engine without an order of its own sorts them.
        """
        values = {place: self.value(place) for place in places}
        chosen = select(self.opened.table, values)
        if not self.is_ordered:
            chosen = chosen.order_by([f"c{place}" for place in places])
        elif self.engine == "sqlite":
            chosen = self._by_row_number(values)
        return self._stream(chosen)

    def _by_row_number(self, values: Mapping[int, Any]) -> Any:
        """Return rows of SQLite as they are stored; of its own it may take the order of an index."""
        table = self.opened.table
        numbered = table.select(**{f"c{place}": value for place, value in values.items()}, at=table.rowid())
        return numbered.order_by("at").drop("at")

    def _stream(self, expression: Any) -> Iterator[Any]:
        """Yield the results of an expression part by part."""
        reader = self._ask(lambda: self._open_reader(expression))
        try:
            while (part := self._ask(lambda: next(reader, None))) is not None:
                check()
                yield part
        finally:
            self._ask(reader.close)

    def _open_reader(self, expression: Any) -> Any:
        schema = expression.schema().to_pyarrow()
        if self.engine == "sqlite":
            return read_sqlite(self.opened.backend, expression, schema)
        if self.engine == "postgres":
            return read_postgres(self.opened.backend, expression, schema, in_order=True)
        if self.engine == "duckdb":
            return read_duckdb(self.opened.backend, expression)
        if self.engine == "datafusion":
            return read_datafusion(self.opened.backend, expression)
        return read_any(expression)

    def fetch(self, expression: Any) -> Any:
        """Return the result of an expression as an Arrow table."""
        check()
        return self._ask(lambda: self._fetch(expression))

    def _fetch(self, expression: Any) -> Any:
        import pyarrow as pa

        schema = expression.schema().to_pyarrow()
        if self.engine == "sqlite":
            return pa.concat_tables([schema.empty_table(), *read_sqlite(self.opened.backend, expression, schema)])
        if self.engine == "postgres":
            return pa.concat_tables(read_postgres(self.opened.backend, expression, schema, in_order=False))
        return self.opened.backend.to_pyarrow(expression)

    def _ask(self, call: Callable[[], Result]) -> Result:
        return ask(call, self.origin, self.opened.redact)

    @property
    def bytes_in_memory(self) -> int:
        """Estimate the memory that reading and encoding the whole table would take."""
        return _COPIES * _BYTES_OF_VALUE * len(self.names) * self.rows()

    def read(self) -> Any:
        """Return all columns under their own names, as an Arrow table."""
        import pyarrow as pa

        places = range(len(self.names))
        empty = select(self.opened.table, {place: self.value(place) for place in places}).schema().to_pyarrow()
        return pa.concat_tables([decoded(empty.empty_table()), *self.batches(places)]).rename_columns(list(self.names))

    # --- text --------------------------------------------------------------------------------------------------------

    def _compares_loosely(self) -> Callable[[Any], Any] | None:
        """Return how text is told apart letter by letter in a table where the engine would not, if it would not.

        A collation of SQLite or PostgreSQL may take "a" and "A" for the same value, and no table in memory does.
        """
        if self.engine == "sqlite":
            found = self._ask(lambda: self.opened.backend.con.execute(_SQLITE_COLLATIONS).fetchone())
            return (lambda value: value.concat("")) if found is not None else None
        if self.engine == "postgres":
            found = self._ask(lambda: self.opened.backend.con.execute(_POSTGRES_COLLATIONS).fetchone())
            return _encoded if found is not None else None
        return None


def _together(places: Sequence[int], sizes: Sequence[int]) -> list[list[int]]:
    """Return which columns to count together, as the first rows make it likely that few combinations occur."""
    joined: list[list[int]] = []
    product = _TOGETHER + 1
    for size, place in sorted(zip(sizes, places, strict=True)):
        product *= size
        if product > _TOGETHER or len(joined[-1]) >= _WIDEST:
            joined.append([])
            product = size
        joined[-1].append(place)
    return joined


def _is_gone(expression: Any, gone: list[Any]) -> Any:
    """Return a condition for the values that stand for missing ones."""
    import ibis

    numbers_gone = [value for value in gone if isinstance(value, float) and isnan(value)]
    named = [value for value in gone if value is not None and value not in numbers_gone]
    condition = expression.isnull() & ibis.literal(None in gone)
    if numbers_gone:
        condition |= expression.isnan().fill_null(False)  # noqa: FBT003 - a literal
    return condition | expression.isin(named).fill_null(False) if named else condition  # noqa: FBT003 - a literal


_SQLITE_COLLATIONS = "SELECT 1 FROM sqlite_master WHERE lower(sql) LIKE '%collate%'"
_POSTGRES_COLLATIONS = (
    "SELECT 1 FROM pg_attribute a JOIN pg_collation c ON c.oid = a.attcollation "
    "WHERE NOT c.collisdeterministic AND a.attnum > 0"
)


def _encoded(value: Any) -> Any:
    """Return text of PostgreSQL as its bytes, which no collation takes for the same."""
    import ibis

    def convert_to(text: Any, encoding: Any) -> Any: ...

    builtin = ibis.udf.scalar.builtin(convert_to, signature=(("string", "string"), "binary"))
    return builtin(value, "UTF8")

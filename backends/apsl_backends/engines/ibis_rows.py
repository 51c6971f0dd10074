"""The rows of a table in a database, through ibis: its distinct values, combinations, and the rows themselves.

Ibis writes the statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.engines.arrow_columns import MOST_DISTINCT, ColumnFigures, by_value, column_of, plain
from apsl_backends.engines.ibis_readers import (
    decoded,
    keeps_order,
    read_any,
    read_datafusion,
    read_duckdb,
    read_postgres,
    read_sqlite,
)
from apsl_rules.data import Column
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
from apsl_rules.errors import DataError
from apsl_rules.names import Node
from apsl_rules.stopping import check

Result = TypeVar("Result")

#: The rows from which it is guessed which columns are counted together when a table is opened.
_LOOKED_AT = 10_000
_FIRST_ROWS = 100_000
#: The most combinations that columns counted together are expected to have, and the most columns.
_TOGETHER, _WIDEST = 4096, 12
_COPIES, _BYTES_OF_VALUE = 3, 8

CHANGED = "{origin!r} changed while it was read: {what}; leave the table unchanged while learning, or read a copy of it"


@attrs.frozen(eq=False)
class ReadValues:
    """The distinct values of a column as the database has them and as a table has them, and the rows of each."""

    distinct: Any
    column: Column
    rows: npt.NDArray[np.int64]


class IbisRows:
    """A table of a database that is asked for what it holds, and for nothing else."""

    def __init__(self, opened: Opened) -> None:
        self.opened = opened
        self.names: tuple[Node, ...] = opened.names
        self.origin = opened.origin
        self.engine = opened.engine
        self.kind = f"{opened.engine} through ibis"
        self.statements = 0
        self._binary = self._compares_loosely()
        self._known: dict[int, ReadValues | None] = {}
        self._differing: set[int] = set()

    @classmethod
    def of(cls, source: Any) -> IbisRows:
        """Open an address or a table expression of ibis."""
        return source if isinstance(source, IbisRows) else cls(open_database(source))

    @cached_property
    def types_set_aside(self) -> dict[int, str]:
        """Return the types of the columns, by place, that can neither be counted nor be taken as numbers."""
        return types_set_aside(self.opened.table)

    def value(self, place: int) -> Any:
        """Return a column as an expression."""
        value = value_of(self.opened.table, self.names[place])
        return self._binary(value) if self._binary is not None and value.type().is_string() else value

    # --- what occurs -------------------------------------------------------------------------------------------------

    def distinct(self, places: Sequence[int]) -> dict[int, ReadValues | None]:
        """Return the distinct values of columns and the rows of each, None where there are too many.

        Columns with few values are counted together, since most engines read whole rows.
        """
        absent = [place for place in places if place not in self._known]
        if absent:
            for some in self._joined(absent):
                self._read(some)
            self._same_totals()
        return {place: self._known[place] for place in places}

    def rows(self, places: Sequence[int]) -> int:
        """Return the number of rows, which distinct values tell where there are few."""
        known = next((one for place in places if (one := self._known.get(place)) is not None), None)
        if known is not None:
            return int(known.rows.sum())
        table = self.opened.table
        counted = self.fetch(table.agg(**{COUNT: table.count()}))
        return int(counted.column(0)[0].as_py())

    def combinations(self, values: Mapping[int, Any], most: int) -> Any:
        """Return an Arrow table of the combinations that occur and their rows, or None if there are more."""
        found = self.fetch(group(self.opened.table, values, most))
        return None if found.num_rows > most else found

    def complete(self, missing: Mapping[int, Any], sets: Sequence[tuple[int, ...]]) -> list[int]:
        """Count the rows in which no column of a set is missing, for each set."""
        found = self.fetch(complete_rows(self.opened.table, missing, sets))
        return [int(found.column(number)[0].as_py() or 0) for number in range(len(sets))]

    def first(self, values: Mapping[int, Any], most: int) -> Any:
        """Return some of the rows of columns."""
        return self.fetch(select(self.opened.table, values).limit(most))

    def first_values(self, place: int) -> Any:
        """Return some distinct values of a column."""
        return self.first({place: self.value(place)}, _FIRST_ROWS).column(0).unique()

    def count_distinct(self, place: int) -> ColumnFigures:
        """Count the values of a column in the database."""
        value = self.value(place)
        is_whole = value.type().is_integer()
        ends = {"low": value.min(), "high": value.max()} if is_whole else {}
        found = self.fetch(self.opened.table.agg(present=value.count(), distinct=value.nunique(), **ends)).to_pylist()[
            0
        ]
        low, high = found.get("low"), found.get("high")
        ends_known = low is not None and high is not None
        return ColumnFigures(
            int(found["present"]), int(found["distinct"]), *((int(low), int(high)) if ends_known else ())
        )

    def _joined(self, places: Sequence[int]) -> list[list[int]]:
        """Return which columns to count together, as the first rows make it likely that few combinations occur."""
        sample = self.first({place: self.value(place) for place in places}, _LOOKED_AT)
        sizes = [len(sample.column(number).unique()) + 1 for number in range(len(places))]
        self._differing = {place for place, size in zip(places, sizes, strict=True) if size > _LOOKED_AT}
        joined: list[list[int]] = []
        product = _TOGETHER + 1
        for size, place in sorted(zip(sizes, places, strict=True)):
            product *= size
            if product > _TOGETHER or len(joined[-1]) >= _WIDEST:
                joined.append([])
                product = size
            joined[-1].append(place)
        return joined

    def _read(self, places: Sequence[int]) -> None:
        """Read the distinct values of some columns in one statement."""
        if self._differing.issuperset(places) and self.count_distinct(places[0]).distinct >= MOST_DISTINCT:
            self._known[places[0]] = None
            return
        found = self.combinations({place: self.value(place) for place in places}, MOST_DISTINCT)
        if found is None and len(places) > 1:
            for place in places:
                self._read([place])
        elif found is None:
            self._known[places[0]] = None
        else:
            for number, place in enumerate(places):
                self._known[place] = _distinct_values(found, number, self.names[place])

    def _same_totals(self) -> None:
        """Refuse a table whose columns have different numbers of rows, which were read one after the other."""
        totals = sorted({int(one.rows.sum()) for one in self._known.values() if one is not None})
        if len(totals) > 1:
            self.refuse_change(f"it had {totals[0]:,} rows and then {totals[-1]:,}, or the reverse")

    def refuse_change(self, what: str) -> None:
        """End with the sentence that a table changed."""
        raise DataError(CHANGED.format(origin=self.origin, what=what))

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
        self.statements += 1
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
        self.statements += 1
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
        return _COPIES * _BYTES_OF_VALUE * len(self.names) * self.rows(())

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


def _distinct_values(found: Any, number: int, name: Node) -> ReadValues:
    """Return the distinct values of a column among combinations, sorted here, since engines sort text differently."""
    import pyarrow as pa

    values = by_value(plain(found.column(number)))
    counts = plain(found.column(found.num_columns - 1)).cast(pa.int64())
    summed = pa.table([values, counts], names=["v", "n"]).group_by("v", use_threads=False).aggregate([("n", "sum")])
    if len(summed):
        summed = summed.sort_by("v")
    distinct = plain(summed.column("v"))
    return ReadValues(distinct, column_of(distinct, name), summed.column("n_sum").to_numpy().astype(np.int64))

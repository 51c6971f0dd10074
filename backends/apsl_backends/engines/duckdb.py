"""DuckDB: files and tables larger than memory, asked in its own SQL."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from apsl_backends.engines.arrow_columns import MOST_DISTINCT, ColumnFigures, Summary, column_of, plain
from apsl_backends.engines.counts import Sets
from apsl_backends.engines.sql import Grouped, SqlEngine
from apsl_rules.data import SECTION, Column, Distinct, FileTable, PandasFrame
from apsl_rules.data.readers import MISSING_FIELDS, check_lines, shared_columns
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.memory import check
from apsl_rules.names import Node, listing, nearest
from apsl_rules.notes import argument
from apsl_rules.stopping import heeding

if TYPE_CHECKING:
    import pandas as pd

VIEW = "counted_rows"
_RAW = "given_rows"
_FIRST_ROWS = 100_000
_WHOLE_TYPES = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")


class DuckEngine(SqlEngine):
    """Rows that DuckDB reads, in a view of our own whose columns are c0, c1 and so on."""

    kind = "duckdb"

    def __init__(self, connection: Any, names: Sequence[Node], identity: Callable[[], bytes]) -> None:
        super().__init__()
        self.names = tuple(names)
        self._connection = connection
        self._identify = identity
        self._is_text = False
        self._rows: int | None = None

    @classmethod
    def of_file(cls, file: FileTable | str, *, memory_limit: str | None = None, threads: int | None = None) -> Self:
        """Ask the files of a table where they are.

        ``memory_limit`` bounds what DuckDB takes ("2GiB"), ``threads`` how many threads it uses (all by default).
        """
        table = file if isinstance(file, FileTable) else FileTable(file)
        connection, names, rows = _open_files(table, memory_limit, threads)
        made = cls(connection, names, table.identity)
        made.origin, made._rows, made._is_text = table.path, rows, table.kind in {"csv", "tsv"}
        return made

    @classmethod
    def of_arrow(cls, table: Any, identity: Callable[[], bytes], *, memory_limit: str | None = None) -> Self:
        """Ask an Arrow table."""
        connection = connect(memory_limit=memory_limit)
        columns = [f"c{place}" for place in range(table.num_columns)]
        connection.register(VIEW, table.rename_columns(columns))
        return cls(connection, columns, identity)

    def identity(self) -> bytes:
        """Return what is in the files."""
        return self._identify()

    def read(self) -> Any:
        """Return all columns under their own names, as an Arrow table."""
        return self._arrow(f"SELECT * FROM {VIEW}").rename_columns([*map(str, self.names)])  # noqa: S608 - our own name

    def value(self, place: int) -> str:
        """Return the name of a column."""
        return f"c{place}"

    def distinct(self, places: Sequence[int]) -> Mapping[int, Summary]:
        """Ask for the distinct values of each column; one with too many is counted, and some of its values are read."""
        with translate_errors(self.origin):
            found = {place: self._summary(place) for place in places}
        rows = int(found[places[0]].counted.rows.sum())
        if self._rows is not None and rows != self._rows:
            message = (
                f"DuckDB reads {rows:,} rows in {self.origin!r}, which has {self._rows:,}; write the file with one "
                f"kind of line end and without blank lines, or give {argument('counts', 'memory')}"
            )
            raise DataError(message)
        return found

    def combinations(self, expressions: Sequence[Any], most: int) -> Any:
        """Return an Arrow table of the combinations that occur, or None if they are more or take too much memory."""
        statement = f"SELECT {', '.join(expressions)}, count(*) FROM {VIEW} GROUP BY ALL LIMIT {most + 1}"  # noqa: S608
        try:
            arrow = self._arrow(statement)
        except DataError as error:
            if type(error.__cause__).__name__ == "OutOfMemoryException":
                return None
            raise
        return None if arrow.num_rows > most else arrow

    def complete(self, columns: Mapping[int, tuple[Any, list[Any]]], sets: Sets) -> list[int]:
        """Count the complete rows of each set of columns, in one statement."""
        gone = {place: " OR ".join(_is(name, one) for one in found) for place, (name, found) in columns.items()}
        counts = [f"count(*) FILTER (WHERE NOT ({' OR '.join(gone[one] for one in places)}))" for places in sets]
        with translate_errors(self.origin):
            (found,) = self._fetch(", ".join(counts))
        return [int(count) for count in found]

    def first(self, expressions: Sequence[Any], most: int) -> Any:
        """Return the first rows."""
        return self._arrow(f"SELECT {', '.join(expressions)} FROM {VIEW} LIMIT {most}")  # noqa: S608 - our own names

    def batches(self, places: Sequence[int]) -> Iterator[Any]:
        """Yield the rows of columns as Arrow tables, in the order of the rows."""
        import pyarrow as pa

        selected = ", ".join(f"c{place}" for place in places)
        with translate_errors(self.origin):
            reader = batches_of(self._connection.sql(f"SELECT {selected} FROM {VIEW}"), SECTION)  # noqa: S608 - our own
            try:
                for batch in reader:
                    check()
                    yield pa.Table.from_batches([batch])
            finally:
                reader.close()  # a statement that is not read to its end would keep the connection from the next one

    def cut(self, column: Grouped, card: int) -> Grouped:
        """Group a column of many numbers by the few codes that these have, which the database looks up."""
        import pyarrow as pa

        pairs = pa.table([column.values, pa.array(column.codes.astype(np.int64))], names=["v", "k"])  # noqa: PD011 - an attribute
        with translate_errors(self.origin):
            self._connection.register("cuts", pairs)
            self._connection.execute(f"CREATE OR REPLACE TEMP TABLE cut_{column.expression} AS SELECT v, k FROM cuts")  # noqa: S608
            self._connection.unregister("cuts")
        looked_up = f"(SELECT k FROM cut_{column.expression} WHERE v = {column.expression})"  # noqa: S608 - our own names
        return column.regrouped(looked_up, card)

    def _fetch(self, selected: str) -> Any:
        return self._connection.execute(f"SELECT {selected} FROM {VIEW}").fetchall()  # noqa: S608 - our own names

    def _arrow(self, statement: str) -> Any:
        with translate_errors(self.origin):
            return self._connection.sql(statement).to_arrow_table()

    def _summary(self, place: int) -> Summary:
        """Return the distinct values of a column, or some of them and the number of all where there are too many."""
        column, name = f"c{place}", self.names[place]
        ((about,),) = self._fetch(f"approx_count_distinct({column})")  # an estimate, which takes one pass
        if about <= MOST_DISTINCT // 2 or self._figures(column).distinct < MOST_DISTINCT:
            grouped = (
                f"SELECT {column}, count(*) FROM {VIEW} GROUP BY {column} ORDER BY {column} LIMIT {MOST_DISTINCT + 1}"  # noqa: S608
            )
            arrow = self._connection.sql(grouped).to_arrow_table()
            if arrow.num_rows <= MOST_DISTINCT:
                values, counts = arrow.column(0), arrow.column(1).to_numpy().astype(np.int64)
                fields = values.to_pylist() if self._is_text else None
                taken = column_of(values, name) if fields is None else _column_of_text(fields)
                return Summary(plain(values), Distinct(taken, counts))
        inner = f"SELECT {column} FROM {VIEW} LIMIT {_FIRST_ROWS}"  # noqa: S608 - our own names
        some = self._connection.sql(f"SELECT DISTINCT {column} FROM ({inner})").to_arrow_table().column(0)  # noqa: S608
        ((rows,),) = self._fetch("count(*)")
        return Summary.of_some(plain(some), name, rows, self._figures(column))

    def head(self, places: Sequence[int], rows: int) -> Any:
        """Return the first rows as a file in memory is read, with numbers where the fields of text are numbers."""
        first = super().head(places, rows)
        if first is None or not self._is_text:
            return first
        import pyarrow as pa

        read = [pa.array(_as_read_from_text(one.to_pylist())[0], from_pandas=True) for one in first.columns]
        return pa.table(read, names=first.column_names)

    def _figures(self, column: str) -> ColumnFigures:
        """Count the values of a column."""
        ((kind,),) = self._fetch(f"any_value(typeof({column}))")
        ends = f"min({column}), max({column})" if kind.removeprefix("U") in _WHOLE_TYPES else "NULL, NULL"
        return ColumnFigures(*self._fetch(f"count({column}), count(DISTINCT {column}), {ends}")[0])


def _is(expression: str, value: object) -> str:
    """Return the condition that an expression has a value."""
    if value is None:
        return f"{expression} IS NULL"
    if isinstance(value, str):
        quoted = value.replace("'", "''")
        return f"({expression} = '{quoted}') IS TRUE"
    if isinstance(value, int):
        return f"({expression} = {value}) IS TRUE"
    # DuckDB believes the statistics of Parquet files, which leave NaN out, and finds none by isnan.
    return f"(CAST({expression} AS VARCHAR) IN ('nan', '-nan')) IS TRUE"


def _column_of_text(fields: list[str | None]) -> Column:
    """Take distinct fields of one column for what a whole file of them would be taken for."""
    return PandasFrame(_as_read_from_text(fields), (0,)).column(0)


def _as_read_from_text(fields: list[str | None]) -> pd.DataFrame:
    """Take fields of one column for what a whole file of them would be taken for."""
    import pandas as pd

    lines = StringIO()
    writer = csv.writer(lines, quoting=csv.QUOTE_ALL)
    writer.writerows([MISSING_FIELDS[1] if field is None else field] for field in fields)
    lines.seek(0)
    return heeding(  # an interrupt within the parser is an error of its own, or a crash
        lambda _flag: pd.read_csv(
            lines,
            header=None,
            names=[0],
            keep_default_na=False,
            na_values=list(MISSING_FIELDS),
            skip_blank_lines=False,
            low_memory=False,
        )
    )


def connect(database: str = ":memory:", *, memory_limit: str | None = None, threads: int | None = None) -> Any:
    """Open a database, read-only if it is a file; nothing is ever installed or loaded from elsewhere."""
    duckdb = _duckdb()
    settings: dict[str, Any] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "temp_directory": gettempdir(),
    }
    if memory_limit is not None:
        settings["memory_limit"] = memory_limit
    if threads is not None:
        settings["threads"] = threads
    try:
        return duckdb.connect(database, read_only=database != ":memory:", config=settings)
    except (duckdb.InvalidInputException, duckdb.ParserException) as error:
        raise InvalidArgumentError(
            argument="memory_limit", value=memory_limit, advice=f"give a size such as '2GiB' ({_first_line(error)})"
        ) from error
    except duckdb.Error as error:
        message = f"cannot open the database {database!r} ({_first_line(error)}); check that it is a DuckDB file"
        raise DataError(message) from error


def _open_files(
    table: FileTable, memory_limit: str | None, threads: int | None
) -> tuple[Any, tuple[Node, ...], int | None]:
    """Connect to the files of a table; return the connection, the columns, and the number of rows where it is known."""
    files = [str(file) for file in table.files]
    if table.kind == "duckdb":
        connection = connect(files[0], memory_limit=memory_limit, threads=threads)
        chosen = _chosen_table(connection, table)
        with translate_errors(table.path):
            names = tuple(connection.table(_quote(chosen)).columns)
            _name_columns(connection, _quote(chosen), range(len(names)), len(names))
        return connection, names, None
    connection = connect(memory_limit=memory_limit, threads=threads)
    with translate_errors(table.path):
        if table.kind == "parquet":
            return connection, _open_parquet(connection, table), None
        names = table.columns
        lines = check_lines(table.files[0], table.separator, len(names), plain=True)
        _view_text(connection, table, len(names), mixed=lines.mixed)
        return connection, names, lines.rows


def _view_text(connection: Any, table: FileTable, width: int, *, mixed: bool) -> None:
    """Make the view of a text file that was checked, with every option that DuckDB would guess.

    It takes line ends of two kinds only when it is not strict, and then it reads in one thread to find all of them.
    """
    rows = connection.read_csv(
        str(table.files[0]),
        auto_detect=False,
        columns={f"c{place}": "VARCHAR" for place in range(width)},
        header=True,
        sep=table.separator,
        na_values=list(MISSING_FIELDS),
        quotechar='"',
        escapechar='"',
        encoding="utf-8",
        comment="",
        skiprows=0,
        strict_mode=not mixed,
        parallel=not mixed,
        null_padding=False,
        ignore_errors=False,
    )
    rows.create_view(_RAW)
    _name_columns(connection, _RAW, range(width), width)


def _open_parquet(connection: Any, table: FileTable) -> tuple[str, ...]:
    """Make the view of Parquet files: those with the same order of columns are read together, then all are joined."""
    columns = shared_columns(table.files)
    alike: dict[tuple[str, ...], list[int]] = {}
    for number, stored in enumerate(columns.stored):
        alike.setdefault(stored, []).append(number)
    selected = []
    for stored, (first, *others) in alike.items():
        connection.read_parquet([str(table.files[one]) for one in (first, *others)]).create_view(f"{_RAW}{first}")
        selected.append(_select(f"{_RAW}{first}", columns.places[first], len(stored)))
    connection.execute(f"CREATE TEMP VIEW {VIEW} AS {' UNION ALL '.join(selected)}")
    return columns.names


@contextmanager
def translate_errors(path: str) -> Iterator[None]:
    """Turn every failure of the database into one sentence, and its word for an interrupt into Python's."""
    duckdb = _duckdb()
    try:
        yield
    except duckdb.InterruptException as error:
        raise KeyboardInterrupt from error
    except RuntimeError as error:
        if isinstance(error, duckdb.Error) or "interrupted" not in str(error).lower():
            raise
        raise KeyboardInterrupt from error
    except duckdb.OutOfMemoryException as error:
        message = (
            f"counting in {path!r} takes more memory than allowed ({_first_line(error)}); raise "
            f"{argument('memory_limit')}, allow fewer columns to be given ({argument('max_conditioning')}), or "
            "join levels"
        )
        raise DataError(message) from error
    except duckdb.Error as error:
        message = f"cannot count in {path!r} ({_first_line(error)}); check that it is whole and readable"
        raise DataError(message) from error


def batches_of(relation: Any, rows: int) -> Any:
    """Return a reader of a result in batches of so many rows, which DuckDB 1 calls by another name."""
    return relation.to_arrow_reader(rows) if hasattr(relation, "to_arrow_reader") else relation.record_batch(rows)


def _name_columns(connection: Any, raw: str, kept: Any, count: int) -> None:
    connection.execute(f"CREATE TEMP VIEW {VIEW} AS {_select(raw, kept, count)}")


def _select(raw: str, kept: Any, count: int) -> str:
    """Select some of the columns of a view of our own, under names of our own."""
    inner = ", ".join(f"c{place}" for place in range(count))
    outer = ", ".join(f"c{place} AS c{number}" for number, place in enumerate(kept))
    return f"SELECT {outer} FROM {raw} AS given({inner})"  # noqa: S608 - own names


def _chosen_table(connection: Any, table: FileTable) -> str:
    with translate_errors(table.path):
        rows = connection.execute("SELECT table_name FROM information_schema.tables ORDER BY table_name").fetchall()
    known = [name for (name,) in rows]
    if table.table is None and len(known) == 1:
        return str(known[0])
    if table.table not in known:
        hint = nearest(table.table or "", known) or f"; it has {listing(known)}, so give {table.path}#TABLE"
        wanted = "no table was named" if table.table is None else f"there is no table {table.table!r}"
        message = f"{wanted} of {str(table.files[0])!r}{hint}"
        raise DataError(message)
    return str(table.table)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _duckdb() -> Any:
    try:
        import duckdb
        import pyarrow as pa  # noqa: F401 - DuckDB hands its results over through it
    except ImportError as error:
        message = (
            f"{argument('counts', 'duckdb')} needs duckdb and pyarrow ({error}); pip install "
            "'apsl_rules[duckdb,parquet]'"
        )
        raise InvalidArgumentError(message) from error
    return duckdb

"""Moments by DuckDB, for files larger than memory: the database reads, and the kernel adds section after section."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Self

from apsl_backends.engines.coders import Coder, coders_of_table, floats_of, heading_of_coders
from apsl_backends.engines.duckdb_connection import VIEW, batches_of, connect, open_files, translate_errors
from apsl_backends.engines.duckdb_counts import check_rows, count_distinct, first_values, read_distinct
from apsl_backends.engines.memory import SECTION
from apsl_backends.engines.streamed import ColumnReader, StreamedMoments, in_sections, read_columns
from apsl_backends.kernels.bindings import Floats
from apsl_rules.data import FileTable, MixedTable, plan_moments, replace_names
from apsl_rules.data.moments import Embedding, MomentHeading
from apsl_rules.names import Node
from apsl_rules.stopping import check


class DuckMoments(StreamedMoments):
    """A source of moments that reads the columns asked for, a statement each time."""

    kind = "duckdb"

    def __init__(
        self, connection: Any, heading: MomentHeading, coders: Sequence[Coder], columns: Sequence[int], path: str
    ) -> None:
        super().__init__(heading, coders, path)
        self._connection = connection
        self._columns = tuple(columns)

    @classmethod
    def of_file(
        cls,
        file: FileTable | str,
        embedding: Embedding | None = None,
        *,
        names: Sequence[Node] | None = None,
        memory_limit: str | None = None,
        threads: int | None = None,
        **reading: Any,
    ) -> Self:
        """Read the files of a table where they are; ``reading`` are the options of ``table``.

        ``memory_limit`` bounds what DuckDB takes ("2GiB"), ``threads`` how many threads it uses (all by default).
        """
        table = file if isinstance(file, FileTable) else FileTable(file)
        chosen = embedding or Embedding()
        opened = open_files(table, memory_limit=memory_limit, threads=threads)
        connection = opened.connection
        given = replace_names(opened.names, names)
        with translate_errors(table.path):
            plan = plan_moments(given, **reading)
            ((rows,),) = connection.execute(f"SELECT count(*) FROM {VIEW}").fetchall()  # noqa: S608 - our own name
            check_rows(table.path, rows, opened.rows)
            text = table.kind in {"csv", "tsv"}
            found = {place: read_distinct(connection, place, given[place], text=text) for place in plan.places}
            reader = ColumnReader(
                partial(first_values, connection),
                partial(count_distinct, connection),
                None if text else partial(_chunks, connection, table.path),
            )
            heading, coders = read_columns(given, found, rows, plan=plan, embedding=chosen, reader=reader)
        kept = sorted(coders)
        return cls(connection, heading, [coders[place] for place in kept], kept, table.path)

    @classmethod
    def of_table(
        cls, table: MixedTable, embedding: Embedding | None = None, *, memory_limit: str | None = None
    ) -> Self:
        """Read the columns of a table in memory."""
        import pyarrow as pa

        connection = connect(memory_limit=memory_limit)
        coders, columns = coders_of_table(table, embedding or Embedding())
        connection.register(VIEW, pa.table(columns, names=[f"c{place}" for place in range(len(columns))]))
        heading = heading_of_coders(table.names, dict(enumerate(coders)), table.rows, table.columns, table.notes)
        return cls(connection, heading, coders, range(len(columns)), "the table")

    def _sections(self, places: Sequence[int]) -> Iterator[Any]:
        selected = ", ".join(f"c{self._columns[place]}" for place in places)
        return _batches(self._connection, self.origin, selected)


def _batches(connection: Any, path: str, selected: str) -> Iterator[Any]:
    """Yield tables of SECTION rows, but the last one."""
    with translate_errors(path):
        reader = batches_of(connection.sql(f"SELECT {selected} FROM {VIEW}"), SECTION)  # noqa: S608 - our own
        try:
            yield from in_sections(_tables(reader))
        finally:
            reader.close()  # a statement that is not read to its end would keep the connection from the next one


def _tables(reader: Any) -> Iterator[Any]:
    import pyarrow as pa

    for batch in reader:
        check()
        yield pa.Table.from_batches([batch])


def _chunks(connection: Any, path: str, place: int) -> Iterator[Floats]:
    """Yield the values of a column of numbers in parts."""
    return (floats_of(batch.column(0)) for batch in _batches(connection, path, f"c{place}"))

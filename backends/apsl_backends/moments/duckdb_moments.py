"""Moments by DuckDB, for files larger than memory: the database reads, and the kernel adds section after section.

Rows come in the order of the file, so the covariance is the same bits as in memory wherever the ranks are. Ranks are
exact where a column has at most five million distinct values. Beyond that they are counted between knots, as in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Self

import numpy as np

from apsl_backends.counting.arrow_columns import MOST_DISTINCT, column_of
from apsl_backends.counting.duckdb_connection import VIEW, connect, open_files, translate_errors
from apsl_backends.counting.duckdb_counts import check_rows, read_distinct
from apsl_backends.kernels.border import CategoryColumn, EmbeddedHandle, Floats, NumberColumn, ProductSums
from apsl_backends.moments.coders import Coder, coder_of, coders_of_table, curve_coder, floats_of, heading_of_coders
from apsl_backends.moments.embedded_rows import SECTION
from apsl_backends.moments.gathered import GatheredMoments
from apsl_rules.data import (
    Distinct,
    FileTable,
    MixedTable,
    NumberValues,
    advice_on_levels,
    mixed_dictionary,
    plan_moments,
    replace_names,
)
from apsl_rules.data.moments import Embedding, MomentHeading
from apsl_rules.errors import DataError
from apsl_rules.names import Node
from apsl_rules.stopping import check, heeding

_FIRST_ROWS = 100_000


class DuckMoments(GatheredMoments):
    """A source of moments that reads the columns asked for, a statement each time."""

    kind = "duckdb"

    def __init__(
        self, connection: Any, heading: MomentHeading, coders: Sequence[Coder], columns: Sequence[int], path: str
    ) -> None:
        super().__init__(heading, path)
        self._connection = connection
        self._coders = tuple(coders)
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
            distinct = {
                place: _first_values(connection, place, given[place], rows)
                if one is None
                else Distinct(one.column, one.rows)
                for place, one in found.items()
            }
            made = mixed_dictionary(given, distinct, plan)
            coders: dict[int, Coder] = {}
            for place, read in made.columns.items():
                one = found[place]
                if one is not None:
                    coders[place] = coder_of(read, one.distinct, one.rows, chosen)
                elif isinstance(read, NumberValues) and not text:
                    coders[place] = curve_coder(rows, partial(_chunks, connection, table.path, place), chosen)
                else:
                    raise DataError(advice_on_levels(given[place], MOST_DISTINCT + 1))
        heading = heading_of_coders(given, coders, rows, made.kinds, made.notes)
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

    def _sums(self, places: Sequence[int]) -> ProductSums:
        total = ProductSums(int(self.heading.widths[list(places)].sum()))
        every = np.arange(len(places), dtype=np.int64)
        for columns in self._parts(places):
            first = columns[0] if columns else None
            rows = 0 if first is None else len(first[0])
            handle = EmbeddedHandle(columns, rows)
            added = heeding(partial(handle.section_sums, every, 0, rows), is_long=False)
            if added is not None:
                total.add(added)
        return total

    def _parts(self, places: Sequence[int]) -> Iterator[list[NumberColumn | CategoryColumn]]:
        unique = sorted(set(places))
        selected = ", ".join(f"c{self._columns[place]}" for place in unique)
        for batch in _batches(self._connection, self.origin, selected):
            coded = {place: self._coders[place].code(batch.column(number)) for number, place in enumerate(unique)}
            yield [coded[place] for place in places]


def _batches(connection: Any, path: str, selected: str) -> Iterator[Any]:
    """Yield tables of SECTION rows, but the last one."""
    import pyarrow as pa

    with translate_errors(path):
        reader = connection.sql(f"SELECT {selected} FROM {VIEW}").to_arrow_reader(SECTION)  # noqa: S608 - our own
        left: Any = None
        try:
            for batch in reader:
                check()
                one = pa.Table.from_batches([batch])
                left = one if left is None else pa.concat_tables([left, one])
                while left.num_rows >= SECTION:
                    yield left.slice(0, SECTION)
                    left = left.slice(SECTION)
        finally:
            reader.close()  # a statement that is not read to its end would keep the connection from the next one
        if left is not None and left.num_rows:
            yield left


def _chunks(connection: Any, path: str, place: int) -> Iterator[Floats]:
    """Yield the values of a column of numbers in parts."""
    return (floats_of(batch.column(0)) for batch in _batches(connection, path, f"c{place}"))


def _first_values(connection: Any, place: int, name: Node, rows: int) -> Distinct:
    """Return some values of a column with too many distinct ones to look at, as if these were all."""
    inner = f"SELECT c{place} FROM {VIEW} LIMIT {_FIRST_ROWS}"  # noqa: S608 - our own names
    values = connection.sql(f"SELECT DISTINCT c{place} FROM ({inner})").to_arrow_table().column(0)  # noqa: S608
    shares = np.full(len(values), rows // len(values), np.int64)
    shares[: rows % len(values)] += 1
    return Distinct(column_of(values, name), shares)

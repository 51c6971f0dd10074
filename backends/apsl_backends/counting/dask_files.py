"""Parquet files for the workers of a cluster: which of them reads which rows, and what values the columns have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from apsl_backends.counting.arrow_columns import MOST_DISTINCT, column_of
from apsl_backends.counting.dask_client import parts_of
from apsl_backends.counting.dask_pieces import Piece, RowGroups, distinct_values, footer_digest
from apsl_backends.counting.dask_watch import ask_cluster
from apsl_rules.data import Distinct, FileTable, advice_on_levels
from apsl_rules.data.readers import SharedColumns
from apsl_rules.errors import DataError
from apsl_rules.names import Node


class FoundDistinct(NamedTuple):
    """The distinct values of a column as Arrow has them, and as a column with the rows of each."""

    values: Any
    counted: Distinct


def pieces_of(table: FileTable, columns: SharedColumns, places: Sequence[int], client: Any) -> list[Piece]:
    """Cut some columns of files into pieces of row groups, some for each worker; a piece may span files."""
    import pyarrow.parquet as pq

    sizes = [
        (number, group, metadata.row_group(group).num_rows)
        for number, file in enumerate(table.files)
        for metadata in [pq.read_metadata(file)]
        for group in range(metadata.num_row_groups)
        if metadata.row_group(group).num_rows
    ]
    rows = sum(size for *_, size in sizes)
    if not rows:
        message = f"{table.path!r} has no rows; give a table with rows"
        raise DataError(message)
    share = -(-rows // parts_of(client, rows))
    cut: list[list[tuple[int, int]]] = []
    held = share
    for number, group, size in sizes:
        if held + size > share:
            cut.append([])
            held = 0
        cut[-1].append((number, group))
        held += size
    names = tuple(columns.names[place] for place in places)
    kinds = tuple(columns.kinds[place] for place in places)
    return [Piece(_row_groups(table, columns, places, one), names, kinds) for one in cut]


def _row_groups(
    table: FileTable, columns: SharedColumns, places: Sequence[int], groups: Sequence[tuple[int, int]]
) -> tuple[RowGroups, ...]:
    """Return the row groups of a piece, file by file."""
    by_file: dict[int, list[int]] = {}
    for number, group in groups:
        by_file.setdefault(number, []).append(group)
    return tuple(
        RowGroups(file, footer_digest(file), tuple(found), tuple(columns.places[number][place] for place in places))
        for number, found in by_file.items()
        for file in [str(table.files[number])]
    )


def gather_distinct(
    client: Any, table: FileTable, columns: SharedColumns, names: Sequence[Node], places: Sequence[int]
) -> dict[int, FoundDistinct]:
    """Return the distinct values of some columns of files, by their places."""
    pieces = pieces_of(table, columns, places, client)
    found = ask_cluster(
        client, lambda: client.gather([client.submit(distinct_values, piece, pure=False) for piece in pieces])
    )
    merged = {place: _merge_distinct([one[at] for one in found], names[place]) for at, place in enumerate(places)}
    return {
        place: FoundDistinct(values, Distinct(column_of(values, names[place]), rows))
        for place, (values, rows) in merged.items()
    }


def _merge_distinct(parts: Sequence[tuple[Any, Any]], name: Node) -> tuple[Any, Any]:
    """Join the distinct values that several pieces of a column have, sorted, and add up their rows."""
    import pyarrow as pa

    values = pa.concat_arrays([values for values, _ in parts])
    rows = pa.array(np.concatenate([rows for _, rows in parts]))
    grouped = pa.table([values, rows], names=["v", "n"]).group_by("v").aggregate([("n", "sum")]).sort_by("v")
    if grouped.num_rows > MOST_DISTINCT:
        raise DataError(advice_on_levels(name, grouped.num_rows))
    return grouped.column("v").combine_chunks(), grouped.column("n_sum").to_numpy().astype(np.int64)

"""Moments by a Dask cluster: each worker keeps some of the rows as numbers and codes, and adds them up by the kernel.

The sums of partitions are added in their order. Ranks come from the distinct values of all partitions, so they are
exact. Tests, and covariances of columns with missing values, gather the columns that are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Self, TypeAlias

import numpy as np

from apsl_backends.counting.dask_cluster import client_at, gather_distinct, parts_of, pieces_of, selected_columns
from apsl_backends.counting.dask_partitions import Piece, read_piece
from apsl_backends.counting.dask_watch import ask_cluster
from apsl_backends.kernels.border import CategoryColumn, EmbeddedHandle, NumberColumn, ProductSums
from apsl_backends.moments.coders import Coder, coder_of, coders_of_table, heading_of_coders
from apsl_backends.moments.embedded_rows import SECTION, EmbeddedRows
from apsl_backends.moments.gathered import GatheredMoments
from apsl_rules.data import FileTable, MixedTable, mixed_dictionary, plan_moments, replace_names
from apsl_rules.data.moments import Embedding, MomentHeading
from apsl_rules.data.readers import shared_columns
from apsl_rules.names import Node

Part: TypeAlias = list[NumberColumn | CategoryColumn]


class DaskMoments(GatheredMoments):
    """A source of moments whose rows lie on the workers of a cluster."""

    kind = "dask"

    def __init__(self, client: Any, heading: MomentHeading, place_rows: Callable[[], list[Any]], origin: str) -> None:
        super().__init__(heading, origin)
        self.client = client
        self._place_rows = place_rows
        self._partitions = ask_cluster(client, place_rows)

    @classmethod
    def of_table(
        cls, table: MixedTable, embedding: Embedding | None = None, *, address: str | None = None, client: Any = None
    ) -> Self:
        """Spread the rows of a table in memory over a cluster; this process keeps them, to send them again."""
        connected = client or client_at(address)
        coders, columns = coders_of_table(table, embedding or Embedding())
        coded = [coder.code(column) for coder, column in zip(coders, columns, strict=True)]
        parts = parts_of(connected, table.rows)
        sections = -(-table.rows // SECTION)
        cuts = sorted({min(table.rows, sections * part // parts * SECTION) for part in range(parts + 1)} | {table.rows})

        def place_rows() -> list[Any]:
            blocks = [[_cut(column, low, high) for column in coded] for low, high in pairwise(cuts)]
            return [connected.scatter([block], hash=False)[0] for block in blocks]

        heading = heading_of_coders(table.names, dict(enumerate(coders)), table.rows, table.columns, table.notes)
        return cls(connected, heading, place_rows, "the table")

    @classmethod
    def of_files(
        cls,
        table: FileTable,
        embedding: Embedding | None = None,
        *,
        address: str | None = None,
        client: Any = None,
        names: Sequence[Node] | None = None,
        **reading: Any,
    ) -> Self:
        """Let the workers read Parquet files, which all of them must be able to reach."""
        connected = client or client_at(address)
        shared = shared_columns(table.files)
        given = replace_names(shared.names, names)
        plan = plan_moments(given, **reading)
        distinct = gather_distinct(connected, table, shared, given, plan.places)
        made = mixed_dictionary(given, {place: one.counted for place, one in distinct.items()}, plan)
        coders: dict[int, Coder] = {
            place: coder_of(read, distinct[place].values, distinct[place].counted.rows, embedding or Embedding())
            for place, read in made.columns.items()
        }
        kept = sorted(coders)
        read_pieces = pieces_of(table, selected_columns(shared, kept), connected)
        ordered = [coders[place] for place in kept]

        def place_rows() -> list[Any]:
            return [connected.submit(_read_part, piece, ordered, pure=False) for piece in read_pieces]

        heading = heading_of_coders(given, coders, made.rows, made.kinds, made.notes)
        return cls(connected, heading, place_rows, table.path)

    def _sums(self, places: Sequence[int]) -> ProductSums:
        total = ProductSums(int(self.heading.widths[list(places)].sum()))
        for sums, errors in self._ask(_part_sums, list(places)):
            added = ProductSums(total.columns)
            added.sums[:], added.errors[:] = sums, errors
            total.add(added)
        return total

    def _parts(self, places: Sequence[int]) -> list[Part]:
        return self._ask(_some_columns, list(places))

    def _ask(self, work: Callable[[Part, list[int]], Any], places: list[int]) -> list[Any]:
        """Do work on all partitions, and return the answers in the order of the rows."""

        def ask() -> list[Any]:
            return list(
                self.client.gather([self.client.submit(work, part, places, pure=False) for part in self._partitions])
            )

        return ask_cluster(self.client, ask, self._place_again)

    def _place_again(self) -> None:
        """Send the rows out once more if some of them are gone for good."""
        if any(rows.status not in {"finished", "pending"} for rows in self._partitions):
            self._partitions = self._place_rows()


def _cut(column: NumberColumn | CategoryColumn, low: int, high: int) -> NumberColumn | CategoryColumn:
    if isinstance(column, CategoryColumn):
        return column._replace(codes=column.codes[low:high].copy())
    return column._replace(values=column.values[low:high].copy())


def _read_part(piece: Piece, coders: Sequence[Coder]) -> Part:
    """Read a piece of a file as numbers and codes."""
    return [coder.code(column) for coder, column in zip(coders, read_piece(piece), strict=True)]


def _some_columns(part: Part, places: list[int]) -> Part:
    return [part[place] for place in places]


def _part_sums(part: Part, places: list[int]) -> tuple[Any, Any]:
    """Return the sums of products over a partition, and what their additions lost."""
    columns = [part[place] for place in places]
    handle = EmbeddedHandle(columns, len(columns[0][0]) if columns else 0)
    found = EmbeddedRows(handle, ()).sums(np.arange(len(columns), dtype=np.int64))
    return found.sums, found.errors

"""Moments by a Dask cluster: each worker keeps some of the rows as numbers and codes, and adds them up by the kernel.

The sums of partitions are added in their order. Ranks come from the distinct values of all partitions, so they are
exact. Where values are missing, small columns are gathered. Of larger ones workers return the sums of each pattern of
missing values, and of the rows that are complete for a test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Self

from apsl_backends.engines.coders import Coder, coder_of, coders_of_table, heading_of_coders
from apsl_backends.engines.dask_client import client_at, parts_of
from apsl_backends.engines.dask_cluster import PlacedRows
from apsl_backends.engines.dask_moment_partitions import Answer, Part, part_sums, read_part, same, work_on
from apsl_backends.engines.dask_partitions import gather_distinct, pieces_of
from apsl_backends.engines.gathered import GatheredMoments
from apsl_backends.engines.memory import SECTION
from apsl_backends.engines.pattern_sums import join_sums
from apsl_backends.kernels.bindings import CategoryColumn, NumberColumn, ProductSums
from apsl_rules.data import FileTable, MixedTable, mixed_dictionary, plan_moments, replace_names
from apsl_rules.data.moments import Embedding, MomentHeading
from apsl_rules.data.readers import shared_columns
from apsl_rules.names import Node

#: The bytes of columns that are gathered from workers; more rows than that stay where they are.
MOST_GATHERED = 1 << 26


class DaskMoments(GatheredMoments):
    """A source of moments whose rows lie on the workers of a cluster."""

    kind = "dask"

    def __init__(self, client: Any, heading: MomentHeading, place_rows: Callable[[], list[Any]], origin: str) -> None:
        super().__init__(heading, origin)
        self._rows = PlacedRows(client, place_rows)

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
        distinct = gather_distinct(connected, table, shared, given, plan)
        made = mixed_dictionary(given, {place: one.counted for place, one in distinct.items()}, plan)
        coders: dict[int, Coder] = {
            place: coder_of(read, distinct[place].values, distinct[place].counted.rows, embedding or Embedding())
            for place, read in made.columns.items()
        }
        kept = sorted(coders)
        pieces = pieces_of(table, shared, kept, connected)
        ordered = [coders[place] for place in kept]

        def place_rows() -> list[Any]:
            return [connected.submit(read_part, piece, ordered, pure=False) for piece in pieces]

        heading = heading_of_coders(given, coders, made.rows, made.kinds, made.notes)
        return cls(connected, heading, place_rows, table.path)

    def _sums(self, places: Sequence[int]) -> ProductSums:
        return join_sums(self._over_parts(places, part_sums))

    def _parts(self, places: Sequence[int]) -> list[Part]:
        return self._over_parts(places, same)

    def _room(self) -> int:
        return min(super()._room(), MOST_GATHERED)

    def _over_parts(self, places: Sequence[int], work: Callable[[Part], Answer]) -> list[Answer]:
        return self._rows.ask_each(work_on, list(places), work)


def _cut(column: NumberColumn | CategoryColumn, low: int, high: int) -> NumberColumn | CategoryColumn:
    if isinstance(column, CategoryColumn):
        return column._replace(codes=column.codes[low:high].copy())
    return column._replace(values=column.values[low:high].copy())

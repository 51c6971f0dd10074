"""Counts on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Self, TypeVar

import numpy as np

from apsl_backends.engines.dask_client import ask_cluster, client_at, parts_of
from apsl_backends.engines.dask_partitions import (
    Answer,
    add_up,
    complete_rows,
    count_partition,
    first_rows,
    gather_distinct,
    pieces_of,
    read_codes,
)
from apsl_rules.data import Codes, FileTable, Table, dictionary, fingerprint, plan_counting, replace_names
from apsl_rules.data.counts import Heading, Joint, heading_of
from apsl_rules.data.readers import shared_columns
from apsl_rules.names import Node

Result = TypeVar("Result")


class PlacedRows:
    """The partitions of a table on the workers, in the order of the rows, and how to place them again.

    Rows that came from files are read again by another worker; rows that came from this process are sent again.
    """

    def __init__(self, client: Any, place: Callable[[], list[Any]]) -> None:
        self.client = client
        self._place = place
        self._partitions = ask_cluster(client, place)

    def ask(self, round_of: Callable[[list[Any]], Result]) -> Result:
        """Ask the cluster in one round over all partitions, and again with new partitions if some were lost."""
        return ask_cluster(self.client, lambda: round_of(self._partitions), self._place_again)

    def ask_each(self, work: Callable[..., Any], *given: Any) -> list[Any]:
        """Do the same work on every partition, and return the answers in the order of the rows."""

        def round_of(partitions: list[Any]) -> list[Any]:
            return list(self.client.gather([self.client.submit(work, rows, *given, pure=False) for rows in partitions]))

        return self.ask(round_of)

    def _place_again(self) -> None:
        """Place the rows once more if some of them are gone for good."""
        if any(rows.status not in {"finished", "pending"} for rows in self._partitions):
            self._partitions = self._place()


_BRANCHES = 4


class DaskCounts:
    """A source of counts whose rows lie on the workers of a cluster.

    ``sent`` counts the bytes of all counts that workers sent to each other and to this process.
    """

    kind = "dask"
    cheap = 0

    def __init__(
        self, client: Any, heading: Heading, place_rows: Callable[[], list[Any]], identity: Callable[[], bytes]
    ) -> None:
        self.client = client
        self.heading = heading
        self.sent = 0
        self._identify = identity
        self._rows = PlacedRows(client, place_rows)

    @classmethod
    def of_table(cls, table: Table, *, address: str | None = None, client: Any = None) -> Self:
        """Spread the rows of a table in memory over a cluster; this process keeps them, to send them again."""
        connected = client or client_at(address)
        parts = parts_of(connected, table.rows)
        cuts = [table.rows * part // parts for part in range(parts + 1)]

        def place_rows() -> list[Any]:
            blocks = [table.codes[:, low:high].copy() for low, high in pairwise(cuts)]
            return list(connected.scatter(blocks, hash=False))

        return cls(connected, heading_of(table), place_rows, lambda: b"".join(fingerprint(table, table.names)))

    @classmethod
    def of_files(
        cls,
        table: FileTable,
        *,
        address: str | None = None,
        client: Any = None,
        names: Sequence[Node] | None = None,
        **reading: Any,
    ) -> Self:
        """Let the workers read Parquet files, which all of them must be able to reach.

        ``reading`` are the options of ``table``.
        """
        connected = client or client_at(address)
        columns = shared_columns(table.files)
        given = replace_names(columns.names, names)
        plan = plan_counting(given, **reading)
        distinct = gather_distinct(connected, table, columns, given, plan)
        made = dictionary(given, {place: one.counted for place, one in distinct.items()}, plan)
        pieces = pieces_of(table, columns, made.places, connected)
        known = [(distinct[place].values, codes) for place, codes in zip(made.places, made.codes, strict=True)]
        wide = int(made.heading.spans.max()) > np.iinfo(np.uint8).max + 1

        def place_rows() -> list[Any]:
            return [connected.submit(read_codes, piece, known, wide=wide, pure=False) for piece in pieces]

        return cls(connected, made.heading, place_rows, table.identity)

    @cached_property
    def _identity(self) -> bytes:
        """Return what is in the rows, which is looked at only if answers are to be kept."""
        return self._identify()

    def fingerprint(self, place: int) -> bytes:
        """Return a name for the contents of a column: all that is in the rows, and how the column is coded."""
        return blake2b(self._identity + b"\0" + self.heading.coding(place), digest_size=16).digest()

    def joints(self, sets: Sequence[tuple[int, ...]], most: int) -> list[Joint | None]:
        """Count sets of columns on all workers and add up, in one round."""
        spans = self.heading.spans.tolist()
        asked = list(sets)

        def round_of(partitions: list[Any]) -> Answer:
            answers = [self.client.submit(count_partition, rows, spans, asked, most, pure=False) for rows in partitions]
            while len(answers) > 1:
                groups = [answers[low : low + _BRANCHES] for low in range(0, len(answers), _BRANCHES)]
                answers = [self.client.submit(add_up, group, spans, asked, most, pure=False) for group in groups]
            answer: Answer = answers[0].result()
            return answer

        answer = self._rows.ask(round_of)
        self.sent += answer.sent
        return [None if one is None else Joint(places, *one) for places, one in zip(asked, answer.counted, strict=True)]

    def complete(self, sets: Sequence[tuple[int, ...]]) -> list[int]:
        """Count, for each set of columns, the rows in which none of them is missing."""
        counted = self._rows.ask_each(complete_rows, self.heading.cards.tolist(), list(sets))
        return [int(count) for count in np.sum(counted, axis=0)]

    def sample(self) -> Codes:
        """Return the codes of the first rows."""
        first: Codes = self._rows.ask(
            lambda partitions: self.client.submit(first_rows, partitions[0], pure=False).result()
        )
        return first

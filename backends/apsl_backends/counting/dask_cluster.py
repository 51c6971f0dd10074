"""Counts by a Dask cluster: each worker keeps some of the rows as codes, and a round is one tree of sums.

A lost worker costs time and nothing else. Rows that came from files are read again by another worker; rows that came
from this process are sent again. A cluster that is gone as a whole is given up within seconds.
"""

from __future__ import annotations

import atexit
import logging
import re
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from hashlib import blake2b
from importlib import import_module
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from apsl_backends.counting.arrow_columns import MOST_DISTINCT, column_of
from apsl_backends.counting.dask_partitions import (
    Answer,
    Piece,
    add_up,
    complete_rows,
    count_partition,
    distinct_values,
    read_codes,
)
from apsl_backends.counting.dask_watch import ask_cluster, within
from apsl_backends.counting.table_counts import SAMPLED
from apsl_rules.data import (
    Codes,
    Distinct,
    FileTable,
    Table,
    advice_on_levels,
    dictionary,
    fingerprint,
    plan_counting,
    replace_names,
)
from apsl_rules.data.counts import Heading, Joint, heading_of
from apsl_rules.data.readers import SharedColumns, shared_columns
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import Node

_ADDRESS = re.compile(r"(?:[a-z]+://)?[^\s/]+:\d{1,5}|inproc://\S+")
_BRANCHES = 4
_PATIENCE = 5
_ROWS_AT_LEAST = 1 << 16
_PARTITIONS_PER_WORKER = 2


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
        self._place_rows = place_rows
        self._partitions = ask_cluster(client, place_rows)

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
        distinct = gather_distinct(connected, table, columns, given, plan.places)
        made = dictionary(given, {place: one.counted for place, one in distinct.items()}, plan)
        pieces = pieces_of(table, selected_columns(columns, made.places), connected)
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

        def ask() -> Answer:
            answers = [
                self.client.submit(count_partition, rows, spans, asked, most, pure=False) for rows in self._partitions
            ]
            while len(answers) > 1:
                groups = [answers[low : low + _BRANCHES] for low in range(0, len(answers), _BRANCHES)]
                answers = [self.client.submit(add_up, group, spans, asked, most, pure=False) for group in groups]
            answer: Answer = answers[0].result()
            return answer

        answer = ask_cluster(self.client, ask, self._place_again)
        self.sent += answer.sent
        return [None if one is None else Joint(places, *one) for places, one in zip(asked, answer.counted, strict=True)]

    def complete(self, sets: Sequence[tuple[int, ...]]) -> list[int]:
        """Count, for each set of columns, the rows in which none of them is missing."""
        cards = self.heading.cards.tolist()

        def ask() -> list[Any]:
            return list(
                self.client.gather(
                    [
                        self.client.submit(complete_rows, rows, cards, list(sets), pure=False)
                        for rows in self._partitions
                    ]
                )
            )

        return [int(count) for count in np.sum(ask_cluster(self.client, ask, self._place_again), axis=0)]

    def sample(self) -> Codes:
        """Return the codes of the first rows."""
        first: Codes = ask_cluster(
            self.client,
            lambda: self.client.submit(_first_rows, self._partitions[0], pure=False).result(),
            self._place_again,
        )
        return first

    def _place_again(self) -> None:
        """Send the rows out once more if some of them are gone for good."""
        if any(rows.status not in {"finished", "pending"} for rows in self._partitions):
            self._partitions = self._place_rows()


def client_at(address: str | None) -> Any:
    """Connect to the cluster at an address, or to one in this process, which is started when first asked for."""
    if address is None:
        return _local_client()
    if not _ADDRESS.fullmatch(address):
        message = f"the Dask address is {address!r}; give HOST:PORT, such as 'dask:tcp://127.0.0.1:8786'"
        raise InvalidArgumentError(message)
    distributed = _import_distributed()
    for name in [one for one in logging.root.manager.loggerDict if one.partition(".")[0] == "distributed"]:
        logging.getLogger(name).setLevel(logging.CRITICAL)  # failures are reported as our own errors
    client = distributed.Client.__new__(distributed.Client)
    try:
        within(2 * _PATIENCE, lambda: client.__init__(address, set_as_default=False, timeout=_PATIENCE))
    except Exception as error:
        client.status = "closed"  # or else closing would wait for a lost scheduler
        reason = str(error) or f"nothing for {2 * _PATIENCE} seconds"
        message = f"no Dask scheduler answers at {address!r} ({reason}); start one, or give 'dask' for a local cluster"
        raise InvalidArgumentError(message) from error
    return client


@cache
def _local_client() -> Any:
    """Start a cluster of threads in this process; it ends with the process."""
    distributed = _import_distributed()
    cluster = distributed.LocalCluster(
        processes=False,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        scheduler_kwargs={"dashboard": False},
        silence_logs=50,
    )
    client = distributed.Client(cluster, set_as_default=False)

    def close() -> None:
        client.close()
        cluster.close()

    atexit.register(close)
    return client


def _import_distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError as error:
        message = f"counts='dask' needs distributed ({error}); pip install 'apsl_rules[dask]'"
        raise InvalidArgumentError(message) from error


def _first_rows(codes: Codes) -> Codes:
    return codes[:, :SAMPLED].copy()


def parts_of(client: Any, rows: int) -> int:
    """Return into how many partitions so many rows are divided."""
    workers = max(1, len(ask_cluster(client, client.scheduler_info)["workers"]))
    return max(1, min(_PARTITIONS_PER_WORKER * workers, rows // _ROWS_AT_LEAST))


def selected_columns(columns: SharedColumns, places: Sequence[int]) -> SharedColumns:
    """Return some of the columns, by their places among all."""
    return SharedColumns(
        tuple(columns.names[place] for place in places),
        columns.stored,
        tuple(tuple(at[place] for place in places) for at in columns.places),
    )


def pieces_of(table: FileTable, columns: SharedColumns, client: Any) -> list[Piece]:
    """Cut files into pieces of row groups, some for each worker."""
    import pyarrow.parquet as pq

    sizes = [
        (str(file), places, group, metadata.row_group(group).num_rows)
        for file, places in zip(table.files, columns.places, strict=True)
        for metadata in [pq.read_metadata(file)]
        for group in range(metadata.num_row_groups)
    ]
    share = -(-sum(rows for *_, rows in sizes) // parts_of(client, sum(rows for *_, rows in sizes)))
    pieces: list[Piece] = []
    held = 0
    for file, places, group, rows in sizes:
        if pieces and pieces[-1].file == file and held + rows <= share:
            pieces[-1] = Piece(file, (*pieces[-1].groups, group), places)
            held += rows
        else:
            pieces.append(Piece(file, (group,), places))
            held = rows
    return pieces


class FoundDistinct(NamedTuple):
    """The distinct values of a column as Arrow has them, and as a column with the rows of each."""

    values: Any
    counted: Distinct


def gather_distinct(
    client: Any, table: FileTable, columns: SharedColumns, names: Sequence[Node], places: Sequence[int]
) -> dict[int, FoundDistinct]:
    """Return the distinct values of some columns of files, by their places."""
    pieces = pieces_of(table, selected_columns(columns, places), client)
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

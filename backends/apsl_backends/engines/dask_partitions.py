"""What Dask workers do: read pieces of files, code them, count them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from os import SEEK_END
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.engines.arrow_columns import (
    MOST_DISTINCT,
    ColumnFigures,
    array_of,
    column_of,
    count_values,
    distinct_of,
    places_in,
    plain,
    require_set_aside,
)
from apsl_backends.engines.dask_client import ask_cluster, parts_of
from apsl_backends.engines.memory_counts import SAMPLED
from apsl_rules.data import Codes, Distinct, FileTable, Plan
from apsl_rules.data.counts import Weights, collapse
from apsl_rules.data.readers import SharedColumns, stored_kind
from apsl_rules.errors import DataError
from apsl_rules.names import Node

_SAME_FILES = "leave files unchanged while learning, and let all workers see the same ones"
_TAIL = 8
#: The values of a column with very many that are looked at to tell what they are.
_FIRST_VALUES = 100_000


class RowGroups(NamedTuple):
    """Some row groups of a Parquet file with a known footer, and the places of the columns in it."""

    file: str
    footer: bytes
    groups: tuple[int, ...]
    places: tuple[int, ...]


class Piece(NamedTuple):
    """The rows of a partition in the files, and the stored names and kinds of the columns."""

    slices: tuple[RowGroups, ...]
    names: tuple[str, ...]
    kinds: tuple[str, ...]


@attrs.frozen
class OpenPiece:
    """A piece whose files are open and have the columns that were planned."""

    piece: Piece
    files: tuple[Any, ...]

    @classmethod
    def of(cls, piece: Piece) -> OpenPiece:
        """Open the files; refuse one that lacks a column, or has another type in it than the others."""
        return cls(piece, tuple(_open_file(piece, one) for one in piece.slices))

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return sum(
            file.metadata.row_group(group).num_rows
            for file, one in zip(self.files, self.piece.slices, strict=True)
            for group in one.groups
        )

    def column(self, number: int) -> Any:
        """Return a column of the piece, text as a dictionary."""
        import pyarrow as pa

        chunks: list[Any] = []
        for file, one in zip(self.files, self.piece.slices, strict=True):
            stored = file.schema_arrow.names
            names = None if len(set(stored)) < len(stored) else [stored[one.places[number]]]
            with _whole(one.file):
                read = file.read_row_groups(list(one.groups), columns=names, use_threads=False)
            chunks += read.column(one.places[number] if names is None else names[0]).chunks
        kinds = {chunk.type for chunk in chunks}
        return pa.chunked_array(chunks if len(kinds) == 1 else [plain(chunk) for chunk in chunks])

    @contextmanager
    def naming(self, number: int) -> Iterator[None]:
        """Say in an error which column of which files it is about."""
        try:
            yield
        except DataError as error:
            files = ", ".join(repr(one.file) for one in self.piece.slices)
            message = f"column {self.piece.names[number]!r} in {files}: {error}"
            raise DataError(message) from error


def distinct_values(piece: Piece) -> list[tuple[Any, npt.NDArray[np.int64]]]:
    """Return the distinct values of each column of a piece, and in how many rows each stands."""
    opened = OpenPiece.of(piece)
    return [count_values(opened.column(number)) for number in range(len(piece.names))]


def read_codes(piece: Piece, dictionaries: Sequence[tuple[Any, npt.NDArray[np.intp]]], *, wide: bool) -> Codes:
    """Read a piece as codes, by the distinct values of each column and their codes."""
    opened = OpenPiece.of(piece)
    shape = len(dictionaries), opened.rows
    codes: Codes = np.empty(shape, np.uint16) if wide else np.empty(shape, np.uint8)
    for number, (distinct, known) in enumerate(dictionaries):
        with opened.naming(number):
            codes[number] = known[places_in(opened.column(number), distinct)]
    return codes


def footer_digest(file: str) -> bytes:
    """Return a digest of the end of a Parquet file, which has its columns, its rows and where all of them lie."""
    with _whole(file), Path(file).open("rb") as opened:
        opened.seek(-_TAIL, SEEK_END)
        length = int.from_bytes(opened.read(4), "little")
        opened.seek(-_TAIL - length, SEEK_END)
        return blake2b(opened.read(), digest_size=16).digest()


def _open_file(piece: Piece, one: RowGroups) -> Any:
    import pyarrow.parquet as pq

    with _whole(one.file):
        file = pq.ParquetFile(one.file)
    schema = file.schema_arrow
    for place, name, kind in zip(one.places, piece.names, piece.kinds, strict=True):
        if place >= len(schema) or schema.field(place).name != name:
            trouble = f"has no column {name!r} where it was when it was opened"
        elif stored_kind(schema.field(place).type) != kind:
            trouble = f"holds {stored_kind(schema.field(place).type)} in the column {name!r}, and {kind} when opened"
        else:
            continue
        message = f"{one.file!r} {trouble}; {_SAME_FILES}"
        raise DataError(message)
    if footer_digest(one.file) != one.footer:
        message = f"{one.file!r} is not what it was when it was opened; {_SAME_FILES}"
        raise DataError(message)
    text = [name for name, kind in zip(piece.names, piece.kinds, strict=True) if kind == "text"]
    return pq.ParquetFile(one.file, metadata=file.metadata, read_dictionary=text)


@contextmanager
def _whole(file: str) -> Iterator[None]:
    """Say that a file is damaged; one that is not there is another matter."""
    try:
        yield
    except (FileNotFoundError, PermissionError):
        raise
    except (OSError, ValueError) as error:
        message = f"cannot read the Parquet file {file!r} ({error}); check that it is whole and really Parquet"
        raise DataError(message) from error


Places: TypeAlias = tuple[int, ...]
Counted: TypeAlias = tuple[Codes, Weights] | None


class Answer(NamedTuple):
    """The counts of sets of columns, None for a set of too many combinations, and the bytes that were sent for them."""

    counted: list[Counted]
    sent: int


def count_partition(codes: Codes, spans: Sequence[int], sets: Sequence[Places], most: int) -> Answer:
    """Count sets of columns in the rows of a partition."""
    counted = [collapse(codes[list(places)], [spans[place] for place in places]) for places in sets]
    return _answer([one if len(one[1]) <= most else None for one in counted], 0)


def add_up(answers: Sequence[Answer], spans: Sequence[int], sets: Sequence[Places], most: int) -> Answer:
    """Add up the counts of several partitions."""
    summed: list[Counted] = []
    for number, places in enumerate(sets):
        parts = [answer.counted[number] for answer in answers]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            summed.append(None)
            continue
        codes: Codes = np.concatenate([part[0] for part in known], axis=1)
        weights = np.concatenate([part[1] for part in known])
        one = collapse(codes, [spans[place] for place in places], weights)
        summed.append(one if len(one[1]) <= most else None)
    return _answer(summed, sum(answer.sent for answer in answers))


def complete_rows(codes: Codes, cards: Sequence[int], sets: Sequence[Places]) -> npt.NDArray[np.int64]:
    """Count for each set of columns the rows in which none of them is missing."""
    present = {place: codes[place] < cards[place] for place in sorted({place for places in sets for place in places})}
    return np.array([np.logical_and.reduce([present[one] for one in places]).sum() for places in sets], np.int64)


def first_rows(codes: Codes) -> Codes:
    """Return the codes of the first rows of a partition."""
    return codes[:, :SAMPLED].copy()


def _answer(counted: list[Counted], sent_before: int) -> Answer:
    sent = sum(one[0].nbytes + one[1].nbytes for one in counted if one is not None)
    return Answer(counted, sent_before + sent)


class FoundDistinct(NamedTuple):
    """The distinct values of a column as Arrow has them, None where only some were looked at, and with their rows."""

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
    client: Any, table: FileTable, columns: SharedColumns, names: Sequence[Node], plan: Plan
) -> dict[int, FoundDistinct]:
    """Return the distinct values of the planned columns of files, by their places; some of an identifier's only."""
    pieces = pieces_of(table, columns, plan.places, client)
    found = ask_cluster(
        client, lambda: client.gather([client.submit(distinct_values, piece, pure=False) for piece in pieces])
    )
    return {
        place: _found_distinct([one[at] for one in found], names[place], plan) for at, place in enumerate(plan.places)
    }


def _found_distinct(parts: Sequence[tuple[Any, Any]], name: Node, plan: Plan) -> FoundDistinct:
    """Join the distinct values that several pieces of a column have, sorted, and add up their rows.

    A column with more values than are looked at must be one that is set aside.
    """
    import pyarrow as pa

    values = pa.concat_arrays([values for values, _ in parts])
    rows = pa.array(np.concatenate([rows for _, rows in parts]))
    grouped = pa.table([values, rows], names=["v", "n"]).group_by("v").aggregate([("n", "sum")])
    if grouped.num_rows > MOST_DISTINCT:
        some = distinct_of(values[:_FIRST_VALUES], name, int(array_of(rows).sum()), _figures(grouped))
        return FoundDistinct(None, require_set_aside(some, name, plan))
    ordered = grouped.sort_by("v")
    known = ordered.column("v").combine_chunks()
    counted = ordered.column("n_sum").to_numpy().astype(np.int64)
    return FoundDistinct(known, Distinct(column_of(known, name), counted))


def _figures(grouped: Any) -> ColumnFigures:
    """Count the values that are there, and return the ends of whole numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    there = grouped.filter(pc.is_valid(grouped.column("v")))
    values, present = there.column("v"), int(pc.sum(there.column("n_sum")).as_py())
    if not pa.types.is_integer(values.type):
        return ColumnFigures(present, len(values))
    ends = pc.min_max(values).as_py()
    return ColumnFigures(present, len(values), ends["min"], ends["max"])

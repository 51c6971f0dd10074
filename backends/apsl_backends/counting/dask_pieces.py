"""Pieces of Parquet files as a worker of a cluster reads them, column by column; each file must be as it was planned.

A worker loads numpy and pyarrow for this, and nothing heavier.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from os import SEEK_END
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.counting.arrow_columns import count_values, places_in, plain
from apsl_rules.data import Codes
from apsl_rules.data.readers import stored_kind
from apsl_rules.errors import DataError

_SAME_FILES = "leave files unchanged while learning, and let all workers see the same ones"
_TAIL = 8


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

"""A Dask cluster: workers read pieces of Parquet files and keep them coded, or take coded rows of this process.

Ranks come from the distinct values of all pieces, so they are exact, and the answers of partitions are put together in
the order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from itertools import accumulate, pairwise
from os import SEEK_END
from pathlib import Path
from typing import Any, NamedTuple

import attrs

from apsl_backends.engines.arrow_columns import plain
from apsl_backends.engines.coders import Coder
from apsl_backends.engines.dask_client import ask_cluster, client_at, parts_of
from apsl_backends.engines.engine import Answer, ArrowEngine, Engine, Part, Rows
from apsl_rules.data import SECTION, FileTable
from apsl_rules.data.readers import SharedColumns, shared_columns, stored_kind
from apsl_rules.errors import DataError

_SAME_FILES = "leave files unchanged while learning, and let all workers see the same ones"
_TAIL = 8
#: The answers that a worker joins, and the bytes of columns that are gathered; more rows than that stay where they are.
_BRANCHES, MOST_GATHERED = 4, 1 << 26


class RowGroups(NamedTuple):
    """Some row groups of a Parquet file with a known footer, and the places of the columns in it."""

    file: str
    footer: bytes
    groups: tuple[int, ...]
    places: tuple[int, ...]


class Piece(NamedTuple):
    """Row groups of files, the rows among theirs that belong to it, and the stored names and kinds of the columns."""

    slices: tuple[RowGroups, ...]
    skipped: int
    rows: int
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
        whole = pa.chunked_array(chunks if len(kinds) == 1 else [plain(chunk) for chunk in chunks])
        return whole.slice(self.piece.skipped, self.piece.rows)

    @contextmanager
    def naming(self, number: int) -> Iterator[None]:
        """Say in an error which column of which files it is about."""
        try:
            yield
        except DataError as error:
            files = ", ".join(repr(one.file) for one in self.piece.slices)
            message = f"column {self.piece.names[number]!r} in {files}: {error}"
            raise DataError(message) from error


def work_on_piece(piece: Piece, work: Callable[[Any], Answer]) -> Answer:
    """Read a piece of files and do work on its columns as they are stored."""
    import pyarrow as pa

    opened = OpenPiece.of(piece)
    return work(pa.table([opened.column(number) for number in range(len(piece.names))], names=list(piece.names)))


def read_part(piece: Piece, coders: Sequence[Coder]) -> Part:
    """Read a piece of files as numbers and codes."""
    opened = OpenPiece.of(piece)
    part = []
    for number, coder in enumerate(coders):
        with opened.naming(number):
            part.append(coder.code(opened.column(number)))
    return part


def work_on(part: Part, places: Sequence[int], work: Callable[[Part], Answer]) -> Answer:
    """Do work on some columns of a partition."""
    return work([part[place] for place in places])


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


def pieces_of(table: FileTable, columns: SharedColumns, places: Sequence[int], client: Any) -> list[Piece]:
    """Cut some columns of files into pieces of whole sections, some for each worker; a piece may span files.

    Pieces begin near row groups, so that hardly any row group is read twice.
    """
    import pyarrow.parquet as pq

    groups = [
        (number, group, metadata.row_group(group).num_rows)
        for number, file in enumerate(table.files)
        for metadata in [pq.read_metadata(file)]
        for group in range(metadata.num_row_groups)
        if metadata.row_group(group).num_rows
    ]
    ends = [0, *accumulate(size for *_, size in groups)]
    rows = ends[-1]
    if not rows:
        message = f"{table.path!r} has no rows; give a table with rows"
        raise DataError(message)
    share = -(-rows // parts_of(client, rows))
    cuts = [0]
    for end in ends:
        if end < rows and end - cuts[-1] >= share:
            cuts.append(end // SECTION * SECTION)
    names = tuple(columns.names[place] for place in places)
    kinds = tuple(columns.kinds[place] for place in places)
    pieces = []
    for low, high in pairwise(sorted({*cuts, rows})):
        among = [at for at in range(len(groups)) if ends[at] < high and ends[at + 1] > low]
        by_file: dict[int, list[int]] = {}
        for number, group, _ in (groups[at] for at in among):
            by_file.setdefault(number, []).append(group)
        slices = tuple(
            RowGroups(file, footer_digest(file), tuple(found), tuple(columns.places[number][place] for place in places))
            for number, found in by_file.items()
            for file in [str(table.files[number])]
        )
        pieces.append(Piece(slices, low - ends[among[0]], high - low, names, kinds))
    return pieces


class DaskEngine(Engine):
    """Rows in Parquet files that all workers can reach."""

    kind = "dask"

    def __init__(self, file: FileTable, *, address: str | None = None, client: Any = None) -> None:
        self.client = client or client_at(address)
        self.origin = file.path
        self._file = file
        self._columns = shared_columns(file.files)
        self.names = self._columns.names

    def identity(self) -> bytes:
        """Return what is in the files."""
        return self._file.identity()

    def fold(self, places: Sequence[int], work: Callable[[Any], Answer]) -> list[Answer]:
        """Let the workers read the columns and do the work, and return the answers in the order of the rows."""
        pieces = pieces_of(self._file, self._columns, places, self.client)
        submit = partial(self.client.submit, work_on_piece, work=work, pure=False)
        return list(ask_cluster(self.client, lambda: self.client.gather([submit(piece) for piece in pieces])))

    def code(self, columns: Sequence[int], coders: Sequence[Coder], rows: int) -> PlacedRows:  # noqa: ARG002 - footers tell
        """Let the workers keep the rows by their codes and scores."""
        pieces = pieces_of(self._file, self._columns, columns, self.client)
        submit = partial(self.client.submit, read_part, coders=list(coders), pure=False)
        return PlacedRows(self.client, lambda: [submit(piece) for piece in pieces])


class ScatteredEngine(ArrowEngine):
    """Rows of an Arrow table in this process, which keeps them, to send them to workers again."""

    kind = "dask"

    def __init__(
        self, table: Any, identity: Callable[[], bytes], *, address: str | None = None, client: Any = None
    ) -> None:
        super().__init__(table, identity)
        self.client = client or client_at(address)

    def code(self, columns: Sequence[int], coders: Sequence[Coder], rows: int) -> PlacedRows:
        """Spread the codes and scores over the workers, whole sections to each."""
        parts, sections = parts_of(self.client, rows), -(-rows // SECTION)
        cuts = sorted({min(rows, sections * part // parts * SECTION) for part in range(parts)} | {0, rows})

        def place_rows() -> list[Any]:
            blocks = [
                [
                    coder.code(self.table.column(place).slice(low, high - low))
                    for place, coder in zip(columns, coders, strict=True)
                ]
                for low, high in pairwise(cuts)
            ]
            return [self.client.scatter([block], hash=False)[0] for block in blocks]

        return PlacedRows(self.client, place_rows)


class PlacedRows(Rows):
    """The partitions of a table on the workers, in the order of the rows, and how to place them again.

    Rows that came from files are read again by another worker; rows that came from this process are sent again.
    """

    most_gathered = MOST_GATHERED

    def __init__(self, client: Any, place: Callable[[], list[Any]]) -> None:
        self.client = client
        self._place = place
        self._partitions = ask_cluster(client, place)

    def fold(self, places: Sequence[int], work: Callable[[Part], Answer]) -> list[Answer]:
        """Do the work on every partition where it is."""
        return self._ask(lambda: list(self.client.gather(self._submit(self._partitions, places, work))))

    def first(self, places: Sequence[int], work: Callable[[Part], Answer]) -> Answer:
        """Do work on the first partition."""

        def round_of() -> Answer:
            answer: Answer = self._submit(self._partitions[:1], places, work)[0].result()
            return answer

        return self._ask(round_of)

    def reduce(
        self, places: Sequence[int], work: Callable[[Part], Answer], join: Callable[[Sequence[Answer]], Answer]
    ) -> Answer:
        """Do the work on every partition, and let workers join a few answers at a time."""

        def round_of() -> Answer:
            answers = self._submit(self._partitions, places, work)
            while len(answers) > 1:
                groups = [answers[low : low + _BRANCHES] for low in range(0, len(answers), _BRANCHES)]
                answers = [self.client.submit(join, group, pure=False) for group in groups]
            answer: Answer = answers[0].result()
            return answer

        return self._ask(round_of)

    def _submit(self, partitions: Sequence[Any], places: Sequence[int], work: Callable[[Part], Answer]) -> list[Any]:
        return [self.client.submit(work_on, rows, list(places), work, pure=False) for rows in partitions]

    def _ask(self, round_of: Callable[[], Answer]) -> Answer:
        """Ask the cluster in one round, and again with new partitions if some were lost."""
        return ask_cluster(self.client, round_of, self._place_again)

    def _place_again(self) -> None:
        """Place the rows once more if some of them are gone for good."""
        if any(rows.status not in {"finished", "pending"} for rows in self._partitions):
            self._partitions = self._place()

"""Files that stay where they are, and the memory that is free for them."""

from __future__ import annotations

from functools import cached_property
from glob import glob, has_magic
from hashlib import file_digest, sha256
from os import PathLike, fspath
from pathlib import Path
from typing import Literal, TypeAlias

import attrs

from apsl_rules.data.readers.paths import FileKind, existing_file, file_kind, is_folder, is_there
from apsl_rules.data.readers.text import read_header
from apsl_rules.errors import DataError
from apsl_rules.names import Node, listing, nearest

KeptKind: TypeAlias = Literal["parquet", "csv", "tsv", "duckdb"]

DATABASE_ENDINGS = (".duckdb", ".db")
_IN_MEMORY: dict[FileKind, str] = {
    "txt": "a text file of integers",
    "xlsx": "an Excel workbook",
    "feather": "a Feather file",
    "dta": "a Stata file",
    "jsonl": "a file of JSON lines",
    "json": "a JSON document",
    "arrow": "an Arrow file",
    "ods": "an OpenDocument workbook",
    "sav": "an SPSS file",
    "zsav": "an SPSS file",
    "xpt": "a SAS transport file",
    "sas7bdat": "a SAS file",
    "sqlite": "an SQLite file",
}
_COPIES = 3


def _spell(path: str | PathLike[str]) -> str:
    return fspath(path)


@attrs.frozen(slots=False)
class FileTable:
    """A table in Parquet files, a CSV file or a DuckDB database, of which only counts are read.

    ``path`` may have wildcards (``rows-*.parquet``) or name a folder of Parquet files; ``database.duckdb#table`` names
    a table of a database, ``database.duckdb`` its only one.
    """

    path: str = attrs.field(converter=_spell)

    @cached_property
    def table(self) -> str | None:
        """Return the name of the table in a database, if the path has one."""
        name, mark, table = self.path.rpartition("#")
        return table if mark and name.casefold().endswith(DATABASE_ENDINGS) else None

    @cached_property
    def kind(self) -> KeptKind:
        """Return the kind of the files."""
        file = self.files[0]
        if file.name.casefold().endswith(DATABASE_ENDINGS):
            return "duckdb"
        kind = file_kind(file)
        if kind in ("parquet", "csv", "tsv"):
            return kind
        message = f"{self.path!r} is {_IN_MEMORY[kind]}, which is counted in memory only; write it as CSV or Parquet"
        raise DataError(message)

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """Return the files, sorted by name."""
        name = self.path if self.table is None else self.path[: -len(self.table) - 1]
        if not has_magic(name) or is_there(name):
            folder = Path(name)
            found = sorted(folder.glob("*.parquet")) if is_folder(folder) else [existing_file(name)]
        else:
            found = [existing_file(one) for one in sorted(glob(name, recursive=True))]  # noqa: PTH207 - any pattern
        if not found:
            problem = f"the folder {name!r} has no Parquet file" if is_folder(name) else f"no file matches {name!r}"
            message = f"{problem}; check the path"
            raise DataError(message)
        if len(found) > 1 and {file_kind(file) for file in found} != {"parquet"}:
            message = f"{self.path!r} stands for {len(found)} files, and only Parquet files go together; give one file"
            raise DataError(message)
        return tuple(found)

    def identity(self) -> bytes:
        """Return a hash of the content of the files, which identifies these rows wherever they are stored.

        Every byte is read, since times and sizes can stay while the content changes. Beside a database lies what was
        written to it last.
        """
        logs = [Path(f"{file}.wal") for file in self.files if self.kind == "duckdb"]
        hashes = [_content_hash(file) for file in (*self.files, *(log for log in logs if log.exists()))]
        return sha256(b"".join(hashes) + (self.table or "").encode()).digest()

    @property
    def columns(self) -> tuple[Node, ...]:
        """Return the names of the columns."""
        match self.kind:
            case "parquet":
                from apsl_rules.data.readers.stored import parquet_names

                return parquet_names(self.files[0])
            case "duckdb":
                return _duckdb_columns(self)
            case _:
                return tuple(read_header(self.files[0], self.separator))

    @property
    def separator(self) -> str:
        """Return what stands between the fields of a text file."""
        return "\t" if self.kind == "tsv" else ","

    @property
    def bytes_in_memory(self) -> int:
        """Estimate the memory that reading and encoding the whole table would take."""
        match self.kind:
            case "parquet":
                from apsl_rules.data.readers.stored import parquet_size

                return sum(parquet_size(file) for file in self.files)
            case "duckdb":
                return _COPIES * self.files[0].stat().st_size
            case _:
                packed = self.files[0].suffix in (".gz", ".zip")
                return int(_COPIES * self.files[0].stat().st_size * (8 if packed else 1))


def _duckdb_columns(table: FileTable) -> tuple[Node, ...]:
    """Ask a database for the columns of a table, or of its only one."""
    try:
        import duckdb
    except ImportError as error:
        message = f"{table.path!r} needs duckdb ({error}); pip install 'apsl_rules[duckdb,parquet]'"
        raise DataError(message) from error
    listed = "SELECT table_name, column_name FROM information_schema.columns ORDER BY table_name, ordinal_position"
    try:
        with duckdb.connect(str(table.files[0]), read_only=True) as connection:
            found = connection.execute(listed).fetchall()
    except duckdb.Error as error:
        message = f"cannot open the database {str(table.files[0])!r}; check that it is a DuckDB file"
        if _begins_with(table.files[0], b"SQLite format 3"):
            message = f"{str(table.files[0])!r} is a file of SQLite; give sqlite://{table.path}"
        raise DataError(message) from error
    known = sorted({name for name, _ in found})
    wanted = known[0] if table.table is None and len(known) == 1 else table.table
    if wanted not in known:
        asked = "no table was named" if wanted is None else f"there is no table {wanted!r}"
        hint = nearest(wanted or "", known) or f"; it has {listing(known)}, so give {table.path}#TABLE"
        message = f"{asked} in {str(table.files[0])!r}{hint}"
        raise DataError(message)
    return tuple(column for name, column in found if name == wanted)


def _begins_with(file: Path, mark: bytes) -> bool:
    with file.open("rb") as handle:
        return handle.read(len(mark)) == mark


def _content_hash(file: Path) -> bytes:
    try:
        with file.open("rb") as handle:
            return file_digest(handle, "sha256").digest()
    except OSError as error:
        message = f"cannot read the file {str(file)!r} ({error.strerror or error}); check that it is whole and readable"
        raise DataError(message) from error


def is_countable(source: object) -> bool:
    """Return whether a source is the path of a single file of columns in which others than we can count."""
    if not isinstance(source, str | PathLike):
        return False
    return fspath(source).casefold().removesuffix(".gz").endswith((".parquet", ".csv", ".tsv"))


def is_left_in_place(source: object) -> bool:
    """Return whether a source is a path that stands for a table from which only counts can be taken."""
    if not isinstance(source, str | PathLike):
        return False
    name = fspath(source)
    named = name.casefold().rpartition("#")[0] or name.casefold()
    if named.endswith(DATABASE_ENDINGS) or name.casefold().endswith(DATABASE_ENDINGS):
        return True
    return (has_magic(name) and not is_there(name)) or is_folder(name)


_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_USED = ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes")
_UNKNOWN = 1 << 62


def available_memory() -> int:
    """Return the bytes that are free: of the machine, of the group of processes, and of this process's own limit."""
    return max(0, min(_machine(), _group(), _process()))


def _machine() -> int:
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
    except OSError:
        return _UNKNOWN
    found = [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
    return found[0] if found else _UNKNOWN


def _group() -> int:
    for limit, used in zip(_LIMITS, _USED, strict=True):
        try:
            return int(Path(limit).read_text("ascii")) - int(Path(used).read_text("ascii"))
        except (OSError, ValueError):  # no such group, or "max"
            continue
    return _UNKNOWN


def _process() -> int:
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return _UNKNOWN
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return _UNKNOWN
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except OSError:
        return limit
    return limit - pages * resource.getpagesize()

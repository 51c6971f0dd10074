"""Write files whole or not at all, and logs of records that survive a killed process."""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import IO, Any, Self

from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import path_text

STDOUT = "/dev/stdout"
"""The path that stands for standard output, also where the system has no such file."""

# What a shell has opened for the process, perhaps to add to it; writing a file anew would destroy that.
_STREAM = re.compile(r"/dev/(stdin|stderr|fd/\d+)|/proc/(self|\d+)/fd/\d+")
_PRIVATE = 0o600
_NEW = 0o666  # the umask takes away from it, as for any new file
_ADVICE = {
    **dict.fromkeys((errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)), "choose a place with free space"),
    errno.EFBIG: "allow larger files, or write less",
    errno.ENAMETOOLONG: "give a shorter name",
}
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def write_text(path: str | Path, text: str) -> None:
    """Write a file beside its final place and move it there, so that no reader ever sees half of it."""
    content = encode_text(text, path_text(path, "the file to write"))
    with atomic_file(path) as draft:
        draft.write_bytes(content)


def encode_text(text: str, path: str | Path) -> bytes:
    """Return text as the UTF-8 that goes into a file, and refuse what UTF-8 cannot hold."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        message = (
            f"cannot write {str(path)!r}: a name has the lone surrogate {text[error.start]!r}, which UTF-8 cannot hold"
            f"; rename the node or level that has it"
        )
        raise InvalidArgumentError(message) from error


def is_stdout(path: str | Path) -> bool:
    """Whether a path stands for standard output."""
    return str(path) in (STDOUT, "/dev/fd/1", "/proc/self/fd/1")


@contextmanager
def atomic_file(path: str | Path) -> Iterator[Path]:
    """Yield an empty file that replaces a path once it is written, and is removed on an error.

    A link stays and its target is replaced. A file that was there keeps its mode, a new one gets that of the umask.
    What is there and is no file is refused, except standard output, which gets the content once it is whole.
    """
    path = path_text(path, "the file to write")
    if is_stdout(path):
        with tempfile.TemporaryDirectory() as folder:
            draft = Path(folder) / "draft"
            draft.touch()
            yield draft
            _print(draft)
        return
    try:
        target, before = _target(path)
        draft = target.with_name(f".{secrets.token_hex(8)}.tmp")
        try:
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _NEW if before is None else _PRIVATE))
            yield draft
            if before is not None:
                _keep(draft, before)
            draft.replace(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: str | Path, error: OSError) -> InvalidArgumentError:
    """Return the refusal of a path that the system could not write, with advice that suits its reason."""
    advice = _ADVICE.get(error.errno or 0, "give a path in a folder that exists and is writable")
    return InvalidArgumentError(f"cannot write {str(path)!r}: {error.strerror or error}; {advice}")


def check_place(path: str | Path) -> None:
    """Refuse a path at which there is something that is no file, before any work is done for it."""
    if not is_stdout(path):
        with suppress(OSError):  # reported when it is written
            _target(path)


def _target(path: str | Path) -> tuple[Path, os.stat_result | None]:
    """Follow links to the file that is to be written, and give its state if it is there already."""
    if _STREAM.fullmatch(os.fspath(path)):
        message = f"cannot write {str(path)!r}: it is a stream of this process; give a file, or {STDOUT!r} to print"
        raise InvalidArgumentError(message)
    try:
        before = os.stat(path)  # noqa: PTH116 - of the text itself, since a Path forgets a slash at the end
    except FileNotFoundError:
        if str(path).endswith(os.sep):
            message = f"cannot write {str(path)!r}: it is the name of a folder; give the path of a file"
            raise InvalidArgumentError(message) from None
        return Path(os.path.realpath(path)), None
    if not stat.S_ISREG(before.st_mode):
        kind = _KINDS.get(stat.S_IFMT(before.st_mode), "no file")
        message = f"cannot write {str(path)!r}: it is {kind}; give the path of a file, or {STDOUT!r} to print"
        raise InvalidArgumentError(message)
    return Path(os.path.realpath(path)), before


def _keep(draft: Path, before: os.stat_result) -> None:
    """Return a file the owner, where that is allowed, and the mode of the one that it replaces."""
    with suppress(OSError, AttributeError):  # not everyone may, and not every system has owners
        os.chown(draft, before.st_uid, before.st_gid)
    draft.chmod(stat.S_IMODE(before.st_mode))


def _print(draft: Path) -> None:
    """Copy a file to standard output, byte by byte where that takes bytes."""
    if not hasattr(sys.stdout, "buffer"):
        sys.stdout.write(draft.read_text("utf-8"))
        return
    sys.stdout.flush()
    with draft.open("rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()


#: How every record begins, and so a torn one; any other file is left as it is.
RECORD = b'{"key":'


class Log(Mapping[str, dict[str, Any]]):
    """A file of records by ``key``; open it with ``with``, by one process at a time.

    Records are read from the file when they are asked for, so that a long log takes little memory. The system has each
    one when ``add`` returns; it is asked to write them to the disk at least every ``seconds``, and at the end.
    """

    def __init__(self, path: Path, *, seconds: float = 0.0) -> None:
        self._path = path
        self._seconds = seconds
        self._written = monotonic()
        self._file: IO[bytes] | None = None
        self._is_new = False
        #: Where each record begins and ends in the file.
        self.places: dict[str, tuple[int, int]] = {}

    def __enter__(self) -> Self:
        """Lock the file, find its records, and cut off a torn last line."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._is_new = not self._path.exists()
            file = self._path.open("a+b")
        except OSError as error:
            raise cannot_write(self._path, error) from error
        try:
            self._take_up(file)
        except BaseException:
            file.close()
            raise
        self._file = file
        return self

    def _take_up(self, file: IO[bytes]) -> None:
        try:
            _lock(file)
        except BlockingIOError as error:
            message = f"another process is writing {str(self._path)!r}; wait for it, or give another place"
            raise InvalidArgumentError(message) from error
        file.seek(0)
        self.places, end = find_records(file, self._path)
        file.truncate(end)
        file.seek(end)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is None:
            return
        file, self._file = self._file, None
        with file:
            if self._is_new and not self.places:
                with suppress(OSError):  # Windows removes no open file
                    self._path.unlink()
            try:
                os.fsync(file.fileno())
            except OSError as failed:
                if error is None:
                    raise cannot_write(self._path, failed) from failed

    def add(self, record: dict[str, Any]) -> None:
        """Append a record."""
        if self._file is None:
            message = "the log is not open; use it in a with block"
            raise InvalidArgumentError(message)
        line = json.dumps({"key": record["key"], **record}, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        number = self._file.fileno()
        begin = os.lseek(number, 0, os.SEEK_END)
        try:
            _write_whole(number, line)
            if monotonic() - self._written >= self._seconds:
                os.fsync(number)
                self._written = monotonic()
        except OSError as error:
            os.ftruncate(number, begin)  # what is there stays whole
            raise cannot_write(self._path, error) from error
        self.places[record["key"]] = (begin, begin + len(line))

    def __getitem__(self, key: str) -> dict[str, Any]:
        return read_record(self._path, self.places[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


def read_record(path: Path, place: tuple[int, int]) -> dict[str, Any]:
    """Read one record of a log from its place in the file."""
    begin, end = place
    try:
        with path.open("rb") as file:
            file.seek(begin)
            record: dict[str, Any] = json.loads(file.read(end - begin))
    except (OSError, ValueError) as error:
        message = f"cannot read {str(path)!r} any more ({error}); the file was changed after it was opened"
        raise DataError(message) from error
    return record


def find_records(file: IO[bytes], path: Path) -> tuple[dict[str, tuple[int, int]], int]:
    """Return where each record of a log begins and ends, and where the last whole one ends.

    A line that is no record, nor the beginning of one, means that something else has written to the file.
    """
    places: dict[str, tuple[int, int]] = {}
    end = 0
    for number, line in enumerate(file, 1):
        if not line.endswith(b"\n") and line.startswith(RECORD[: len(line)]):
            break
        try:
            places[json.loads(line)["key"]] = (end, end + len(line))
        except (ValueError, TypeError, KeyError) as error:
            message = f"line {number} of {str(path)!r} is no record of finished work; delete the file to begin anew"
            raise DataError(message) from error
        end += len(line)
    return places, end


def _write_whole(number: int, line: bytes) -> None:
    """Write a line past all buffers, so that nothing of one that failed is written later."""
    while line:
        line = line[os.write(number, line) :]


def _lock(file: IO[bytes]) -> None:
    """Keep other processes out of a file, as far as the system can: Windows has no such locks."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

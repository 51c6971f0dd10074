"""The file of many parts: each is appended as soon as it is learned, and read again when it is asked for.

The first line has what all parts share, and the task: data, settings and depth. Each further line has one part. So the
file is both the memory of a long run and its result. A run that is killed leaves at most its last line torn.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from apsl_rules._documents import label, node_of
from apsl_rules._files import Log, find_records, read_record
from apsl_rules.errors import DataError
from apsl_rules.names import Node
from apsl_rules.parts.file import Frame
from apsl_rules.parts.journal_task import HEAD, SECONDS, VERSION, take_up_task
from apsl_rules.parts.part import Part

FORMAT = "apsl_rules parts"
#: How many parts are kept in memory.
_KEPT = 16


class PartsFile(Mapping[Node, Part]):
    """The parts in a file, by target; each is read when it is asked for, so that they take little memory."""

    def __init__(self, path: Path, frame: Frame, places: Mapping[Node, tuple[int, int]]) -> None:
        self._path = path
        self._frame = frame
        self._places = places
        self._kept: dict[Node, Part] = {}

    def __getitem__(self, target: Node) -> Part:
        part = self._kept.pop(target, None)
        if part is None:
            part = self._frame.part_of(_unpack(read_record(self._path, self._places[target])))
        self._kept[target] = part
        while len(self._kept) > _KEPT:
            self._kept.pop(next(iter(self._kept)), None)
        return part

    def __iter__(self) -> Iterator[Node]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": {}}

    def only(self, targets: Sequence[Node]) -> PartsFile:
        """Return the parts of some targets, in their order; those that are not there are left out."""
        return PartsFile(self._path, self._frame, {one: self._places[one] for one in targets if one in self._places})


class PartsJournal:
    """A file of parts that a run writes; open it with ``with``, by one process at a time.

    ``task`` says what the parts are learned from and how, each by its name; a file with another task is refused.
    """

    def __init__(self, path: Path, task: Mapping[str, str], frame: Frame) -> None:
        self._log = Log(path, seconds=SECONDS)
        self._path = path
        self._task = dict(task)
        self._frame = frame
        self._places: dict[Node, tuple[int, int]] = {}
        #: The questions that were computed for the parts in the file, as a shared oracle collects them.
        self.computed: list[tuple[str, int]] = []
        #: How many distinct tests each part asked for.
        self.asked: dict[Node, int] = {}

    def __enter__(self) -> Self:
        self._log.__enter__()
        try:
            self._take_up()
        except BaseException:
            self._log.__exit__(None, None, None)
            raise
        return self

    def _take_up(self) -> None:
        take_up_task(self._log, self._path, FORMAT, self._task, frame=self._frame.as_data)
        for key, place in self._log.places.items():
            if key != HEAD:
                target, record = node_of(json.loads(key)), self._log[key]
                self._places[target] = place
                self.computed += map(tuple, record["computed"])
                self.asked[target] = record["asked"]

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._log.__exit__(kind, error, at)

    def __contains__(self, target: Node) -> bool:
        return target in self._places

    def add(self, part: Part, computed: Sequence[tuple[str, int]]) -> None:
        """Append a part, and what was computed since the last one."""
        key = json.dumps(label(part.target))
        asked = part.counts.distinct
        record = {"key": key, "asked": asked, "computed": computed, "part": _pack(self._frame.part_data(part))}
        self._log.add(record)
        self._places[part.target] = self._log.places[key]
        self.asked[part.target] = asked

    @property
    def parts(self) -> PartsFile:
        """Return the parts in the file."""
        return PartsFile(self._path, self._frame, dict(self._places))


def load_parts(path: str | Path) -> PartsFile:
    """Read the parts that ``learn_many(..., journal=path)`` wrote, by target."""
    place = Path(path)
    try:
        with place.open("rb") as file:
            places, _ = find_records(file, place)
    except OSError as error:
        message = f"cannot read {str(place)!r}: {error.strerror or error}"
        raise DataError(message) from error
    head = read_record(place, places.pop(HEAD)) if HEAD in places else {}
    if head.get("format") != FORMAT or head.get("version") != VERSION:
        message = f"{str(place)!r} is no file of parts; learn_many(..., journal=path) writes one"
        raise DataError(message)
    return PartsFile(
        place, Frame.from_data(head["frame"]), {node_of(json.loads(key)): at for key, at in places.items()}
    )


def _pack(data: dict[str, Any]) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 1)).decode("ascii")


def _unpack(record: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(
        zlib.decompress(base64.b64decode(record["part"])).decode("utf-8", "surrogatepass")
    )
    return data

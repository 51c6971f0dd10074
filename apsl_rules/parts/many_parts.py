"""Many parts at once, in memory and in a journal."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import attrs

from apsl_rules._documents import label, node_of
from apsl_rules._files import RECORD, Log, find_records, read_record
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import Depth, Node, path_text, require_known
from apsl_rules.parts.file import Frame, part_of_data, read_document
from apsl_rules.parts.graph import FORMAT as GRAPH_FORMAT
from apsl_rules.parts.graph import LearnedGraph, graph_of_data
from apsl_rules.parts.part import Part, Visit
from apsl_rules.rules import Fact, Finding, Policy, Rulebook, found_distances, knowing, ledger
from apsl_rules.showing import NotebookView


@attrs.frozen(slots=False, repr=False)
class Parts(NotebookView, Mapping[Node, Part]):
    """Parts by target; ``asked`` tests would have been computed one by one, ``computed`` were.

    ``rulebook`` and ``conflicts`` say how their union is made. ``incomplete`` says which targets a limit or an
    interrupt kept from being learned.

    Attributes
    ----------
    depth, learner
        What was asked for.
    parts
        The parts by target, as a plain mapping.
    nodes
        All nodes of the source.
    """

    depth: Depth
    learner: str
    parts: Mapping[Node, Part]
    asked: int
    computed: int
    nodes: tuple[Node, ...]
    rulebook: Rulebook
    conflicts: Policy
    incomplete: str | None = None

    def __hash__(self) -> int:
        return hash((Parts, self.depth, self.learner, *self.parts))

    def __getitem__(self, target: Node) -> Part:
        require_known(target, self.parts, "target")
        return self.parts[target]

    def __iter__(self) -> Iterator[Node]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __repr__(self) -> str:
        state = f", incomplete={self.incomplete!r}" if self.incomplete else ""
        figures = f"asked={self.asked}, computed={self.computed}"
        return f"Parts(targets={len(self)}, depth={self.depth!r}, learner={self.learner!r}, {figures}{state})"

    @cached_property
    def union(self) -> LearnedGraph:
        """Return one graph of the edges of all parts: the rules fired once more from everything that any of them found.

        Edges that were met beyond the asked depth of every part are left out, as they are from the parts themselves.
        """
        asked = frozenset(pair for part in self.parts.values() for pair in part.edges)
        return LearnedGraph(self.learner, self.nodes, (_union(self),), self.incomplete, asked)


def _union(parts: Parts) -> Part:
    """Apply the rules to all findings, visit by visit, each fact of a visit once."""
    first = next(iter(parts.values()))
    book = ledger(knowing(parts.rulebook) if first.knowledge else parts.rulebook, parts.conflicts)
    visits: list[Visit] = []
    for node, (neighbours, findings) in _findings_by_node(parts.values()).items():
        begin = len(book.history)
        book = book.with_findings(findings)
        visits.append(Visit(node, neighbours, begin, len(book.history)))
    return attrs.evolve(
        first,
        depth="max",
        visits=tuple(visits),
        distances=found_distances(book, first.target, first.knowledge),
        ledger=book,
        incomplete=parts.incomplete,
        notes=tuple(dict.fromkeys(note for part in parts.values() for note in part.notes)),
        support={},
    )


def _findings_by_node(parts: Iterable[Part]) -> dict[Node, tuple[tuple[Node, ...], list[Finding]]]:
    """Gather the findings of each visited node over all parts."""
    found: dict[Node, dict[Fact, Finding]] = {}
    neighbours: dict[Node, tuple[Node, ...]] = {}
    for part in {id(part.ledger): part for part in parts}.values():  # parts of one search share it
        for visit in part.visits:
            neighbours.setdefault(visit.node, visit.neighbours)
            facts = found.setdefault(visit.node, {})
            for entry in part.history.entries[visit.begin : visit.end]:
                if isinstance(entry, Finding):
                    facts.setdefault(entry.fact, entry)
    return {node: (neighbours[node], list(facts.values())) for node, facts in found.items()}


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
        self._log = TaskLog(path, FORMAT, task, frame=frame.as_data)
        self._path = path
        self._frame = frame
        self._places: dict[Node, tuple[int, int]] = {}
        #: The questions that were computed for the parts in the file, as a shared oracle collects them.
        self.computed: list[tuple[str, int]] = []
        #: How many distinct tests each part asked for.
        self.asked: dict[Node, int] = {}

    def __enter__(self) -> Self:
        self._log.__enter__()
        for key, place in self._log.places.items():
            if key != HEAD:
                target, record = node_of(json.loads(key)), self._log[key]
                self._places[target] = place
                self.computed += map(tuple, record["computed"])
                self.asked[target] = record["asked"]
        return self

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
        message = (
            f"{str(place)!r} is no file of parts; learn_many(..., journal=path) or 'apsl many ... --journal FILE' "
            "writes one"
        )
        raise DataError(message)
    return PartsFile(
        place, Frame.from_data(head["frame"]), {node_of(json.loads(key)): at for key, at in places.items()}
    )


def load(path: str | Path) -> Part | PartsFile | LearnedGraph:
    """Read what was saved in the file at ``path``: a part, a learned graph, or the parts of a journal by target.

    >>> import tempfile
    >>> from apsl_rules import Dag, learn
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     learn(Dag({"a": [], "b": ["a"]}), "b").save(f"{folder}/part.json")
    ...     load(f"{folder}/part.json").target
    'b'
    """
    place = Path(path_text(path, "the file to read"))
    with suppress(OSError), place.open("rb") as file:
        if file.read(len(RECORD)) == RECORD:
            return load_parts(place)
    data = read_document(place)
    if isinstance(data, dict) and data.get("format") == GRAPH_FORMAT:
        return graph_of_data(data, str(place))
    return part_of_data(data, str(place))


def _pack(data: dict[str, Any]) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 1)).decode("ascii")


def _unpack(record: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(
        zlib.decompress(base64.b64decode(record["part"])).decode("utf-8", "surrogatepass")
    )
    return data


VERSION = 1
#: The key of the first line.
HEAD = "head"
#: How often a run makes sure that the disk has what it wrote.
SECONDS = 1.0
#: What is said of those pieces of a task that are kept as hashes.
_HASHED = {
    "data": "it was written for other data",
    "knowledge": "the background knowledge was another",
    "spec": "the learner had other settings",
}


class TaskLog(Log):
    """A log whose first line says of which task it is, with further things; one of another task is refused."""

    def __init__(self, path: Path, form: str, task: Mapping[str, str], **further: Callable[[], Any]) -> None:
        super().__init__(path, seconds=SECONDS)
        self._head = {"format": form, "version": VERSION}
        self._task = dict(task)
        self._further = further

    def __enter__(self) -> Self:
        super().__enter__()
        try:
            self._take_up_task()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _take_up_task(self) -> None:
        if not self.places:
            made = {name: make() for name, make in self._further.items()}
            self.add({"key": HEAD, **self._head, "task": self._task, **made})
            return
        head, task = self.get(HEAD, {}), self._task
        if any(head.get(key) != value for key, value in self._head.items()):
            message = f"{str(self._path)!r} is no journal of this kind of run; give another path, or delete the file"
            raise InvalidArgumentError(message)
        before = head["task"]
        wrong = next((name for name in {**task, **before} if before.get(name) != task.get(name)), None)
        if wrong is not None:
            now, then = task.get(wrong, "not given"), before.get(wrong, "not given")
            differs = _HASHED.get(wrong) or f"{wrong} is {now} now and was {then} then"
            message = (
                f"the journal {str(self._path)!r} is of another run: {differs}; give another path, or delete the file"
            )
            raise InvalidArgumentError(message)

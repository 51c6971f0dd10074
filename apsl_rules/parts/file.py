"""The saved part: one JSON file with everything that the viewing commands need.

The keys of version 1 are those of the schema ``apsl_specs/schemas/part.json``. Nodes are numbered by their place in
``nodes``; ``history``, ``store`` and ``proofs`` are lists of entries. An entry has a ``fact`` (relation name and node
numbers) and either ``evidence`` or a ``rule`` with its ``bindings`` and ``premises``; an entry with ``drops`` ends a
fact. A finding that stands in the history is written elsewhere as its ``place`` there. ``store`` is null where it
equals the history.
``partial`` and ``bidirected`` are there only when hidden causes were allowed, ``columns`` only when the part comes from
a table whose columns have kinds, ``knowledge`` only when some was given, ``support`` (an edge as two node numbers, and
a share) only in a part that ``stability`` gave.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import attrs

from apsl_rules._documents import DocumentError, fault, file_text, json_data, label, node_of, schema
from apsl_rules._files import write_text
from apsl_rules.data import ColumnKind
from apsl_rules.errors import PartFileError
from apsl_rules.evidence import evidence_data, evidence_of
from apsl_rules.names import Node
from apsl_rules.oracles import Counts
from apsl_rules.parts.part import Part, Visit
from apsl_rules.parts.replay import check_part, check_relations
from apsl_rules.rules import (
    NAMED,
    Conflict,
    Drop,
    Entry,
    Fact,
    Finding,
    Firing,
    Knowledge,
    MarkStore,
    Proof,
    Reason,
    Relation,
    Step,
    store_of,
    untested,
)

FORMAT = "apsl_rules part"
VERSION = 1


def save_part(part: Part, path: str | Path) -> None:
    """Write a part to a file, whole or not at all."""
    write_text(path, part_json(part))


def part_json(part: Part) -> str:
    """Return a part as JSON text: the same text for the same run, every time."""
    return json.dumps(_part_data(part), ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


@attrs.frozen(eq=False)
class Frame:
    """What the parts of one source have in common, which a file of many parts has once."""

    nodes: tuple[Node, ...]
    columns: tuple[ColumnKind, ...]
    knowledge: Knowledge
    numbers: Mapping[Node, int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "numbers", {node: number for number, node in enumerate(self.nodes)})

    def as_data(self) -> dict[str, Any]:
        """Return the frame as plain data."""
        named = {key: [[self.numbers[one] for one in entry] for entry in getattr(self.knowledge, key)] for key in NAMED}
        return {
            "nodes": [label(node) for node in self.nodes],
            "columns": _column_data(self.columns),
            "knowledge": {**named, "apart_within": list(self.knowledge.apart_within)},
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Return a frame from plain data."""
        nodes = tuple(map(node_of, data["nodes"]))
        named = {key: [[nodes[one] for one in entry] for entry in data["knowledge"][key]] for key in NAMED}
        known = Knowledge(**named, apart_within=data["knowledge"]["apart_within"])
        return cls(nodes, _columns_of(data["columns"]), known)

    def part_data(self, part: Part) -> dict[str, Any]:
        """Return a part as plain data without what is in the frame."""
        return _part_data(part, self)

    def part_of(self, data: dict[str, Any]) -> Part:
        """Return a part from what ``part_data`` gave; the file it comes from is checked by its writer."""
        return _Reader(data, self).part()


def _column_data(columns: Iterable[ColumnKind]) -> list[dict[str, Any]]:
    return [{**attrs.asdict(one), "name": label(one.name)} for one in columns]


def _columns_of(data: Iterable[Mapping[str, Any]]) -> tuple[ColumnKind, ...]:
    return tuple(ColumnKind(**{**one, "name": node_of(one["name"])}) for one in data)


def _part_data(part: Part, frame: Frame | None = None) -> dict[str, Any]:
    """Return a part as plain data, without what is in a frame."""
    writer = _Writer(part, None if frame is None else frame.numbers)
    data = {
        "format": FORMAT,
        "version": VERSION,
        "target": writer.number(part.target),
        "depth": part.depth,
        "learner": part.learner,
        "oracle": part.oracle,
        "settings": dict(part.settings),
        "incomplete": part.incomplete,
        "notes": list(part.notes),
        "order_dependent": part.order_dependent,
        "counts": attrs.asdict(part.counts),
        "rule_use": dict(part.rule_use),
        "arrows": writer.arrows(),
        "lines": writer.lines(),
        "nodes": [label(node) for node in part.nodes] if frame is None else None,
        "distances": [[writer.number(node), distance] for node, distance in part.distances.items()],
        "relations": [attrs.asdict(relation) for relation in part.store.relations.values()],
        "visits": [writer.visit(visit) for visit in part.visits],
        "history": [writer.entry(entry) for entry in part.history.entries],
    }
    if part.allows_hidden:
        data |= {"partial": writer.partial(), "bidirected": writer.bidirected()}
    if part.columns and frame is None:
        data["columns"] = _column_data(part.columns)
    if part.knowledge and frame is None:
        data["knowledge"] = writer.knowledge(part.knowledge)
    if part.support:
        data["support"] = sorted([*sorted(writer.numbers(pair)), share] for pair, share in part.support.items())
    writer.remember(part.history)
    same = part.store is part.history
    data["store"] = None if same else [writer.entry(entry) for entry in part.store.entries]
    data["proofs"] = [writer.entry(entry) for entry in part.proofs.entries]
    data["conflicts"] = [writer.conflict(one) for one in part.all_conflicts]
    return data


def load_part(path: str | Path) -> Part:
    """Read a part that ``part.save`` wrote from the file at ``path``."""
    try:
        text = file_text(path)
    except DocumentError as error:
        message = f"cannot read the part file {str(path)!r}: {error}"
        raise PartFileError(message) from error
    return parse_part(text, str(path))


def parse_part(text: str, origin: str) -> Part:
    """Read a part from JSON text."""
    try:
        data = json_data(text)
    except DocumentError as error:
        message = f"{origin!r} is no part file: not valid JSON ({error})"
        raise PartFileError(message) from error
    return part_of_data(data, origin)


def part_of_data(data: Any, origin: str) -> Part:
    """Read a part from the data of a JSON document."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        message = f"{origin!r} is no part file; save one with part.save() or 'apsl learn ... --out part.json'"
        raise PartFileError(message)
    if data.get("version") != VERSION:
        message = f"{origin!r} has part format version {data.get('version')!r}; this program reads version {VERSION}"
        raise PartFileError(message)
    try:
        wrong = fault(data, schema("part"))
        if wrong is None:
            return _Reader(data).part()
    except RecursionError as error:
        message = f"{origin!r} is a damaged part file: a label is nested too deeply"
        raise PartFileError(message) from error
    except ValueError as error:  # ours, in words
        message = f"{origin!r} is a damaged part file: {error}"
        raise PartFileError(message) from error
    except (KeyError, IndexError, TypeError, AttributeError, OverflowError) as error:
        message = f"{origin!r} is a damaged part file: an entry names something that is not there"
        raise PartFileError(message) from error
    message = f"{origin!r} is a damaged part file: {wrong}"
    raise PartFileError(message)


class _Writer:
    """Turns the pieces of one part into plain data."""

    def __init__(self, part: Part, numbers: Mapping[Node, int] | None = None) -> None:
        self._part = part
        self._number = {node: number for number, node in enumerate(part.nodes)} if numbers is None else numbers
        self._places: dict[int, int] = {}

    def remember(self, history: MarkStore) -> None:
        """Write findings as their place in the history from now on."""
        entries = enumerate(history.entries)
        self._places = {id(entry): place for place, entry in entries if isinstance(entry, Finding)}

    def arrows(self) -> list[list[int]]:
        return sorted(map(self.numbers, self._part.arrows))

    def lines(self) -> list[list[int]]:
        return sorted(sorted(self.numbers(pair)) for pair in self._part.lines)

    def partial(self) -> list[list[int]]:
        return sorted(map(self.numbers, self._part.partial))

    def bidirected(self) -> list[list[int]]:
        return sorted(sorted(self.numbers(pair)) for pair in self._part.bidirected)

    def number(self, node: Node) -> int:
        return self._number[node]

    def numbers(self, nodes: Iterable[Node]) -> list[int]:
        return [self._number[node] for node in nodes]

    def fact(self, fact: Fact) -> list[Any]:
        return [fact.relation, *self.numbers(fact.nodes)]

    def knowledge(self, knowledge: Knowledge) -> dict[str, Any]:
        named = {key: list(map(self.numbers, getattr(knowledge, key))) for key in NAMED}
        return {**named, "apart_within": list(knowledge.apart_within)}

    def visit(self, visit: Visit) -> dict[str, Any]:
        around = self.numbers(visit.neighbours)
        return {"node": self.number(visit.node), "neighbours": around, "begin": visit.begin, "end": visit.end}

    def entry(self, entry: Entry) -> dict[str, Any]:
        if isinstance(entry, Drop):
            return {"drops": self.fact(entry.fact), "because": self.entry(entry.because)}
        if id(entry) in self._places:
            return {"place": self._places[id(entry)]}
        if isinstance(entry, Finding):
            return {"fact": self.fact(entry.fact), "evidence": evidence_data(entry.evidence)}
        return {
            "fact": self.fact(entry.fact),
            "rule": entry.rule,
            "bindings": self.numbers(entry.bindings),
            "premises": [self.fact(premise) for premise in entry.premises],
        }

    def conflict(self, conflict: Conflict) -> dict[str, Any]:
        return {
            "pair": self.numbers(conflict.pair),
            "kind": conflict.kind,
            "outcome": conflict.outcome,
            "proofs": [self.proof(proof) for proof in conflict.proofs],
        }

    def proof(self, proof: Proof) -> list[dict[str, Any]]:
        return [
            {"text": step.text, "premises": list(step.premises), "reason": self.entry(step.reason)}
            for step in proof.steps
        ]


class _Reader:
    """Turns the data of one file back into a part; ``frame`` has what it shares with other parts."""

    def __init__(self, data: dict[str, Any], frame: Frame | None = None) -> None:
        self._data = data
        self._frame = frame
        self._nodes = tuple(node_of(one) for one in data["nodes"]) if frame is None else frame.nodes
        if frame is None and len(set(self._nodes)) < len(self._nodes):
            message = "two nodes have the same label"
            raise ValueError(message)
        self._relations = [Relation(**one) for one in data["relations"]]
        if untested.name not in {one.name for one in self._relations}:  # a file from before pairs could be untested
            self._relations.append(untested)
        self._by_name = check_relations(self._relations)
        self._history: list[Entry] = []
        self._history = [self._entry(one) for one in data["history"]]

    def part(self) -> Part:
        data = self._data
        history = store_of(self._relations, self._history)
        same = data["store"] is None
        store = history if same else store_of(self._relations, [self._entry(one) for one in data["store"]])
        proofs = store_of(self._relations, [self._entry(one) for one in data["proofs"]])
        part = Part(
            target=self._node(data["target"]),
            depth=data["depth"],
            learner=data["learner"],
            oracle=data["oracle"],
            nodes=self._nodes,
            visits=tuple(self._visit(one) for one in data["visits"]),
            distances={self._node(number): distance for number, distance in data["distances"]},
            counts=Counts(**data["counts"]),
            all_conflicts=tuple(self._conflict(one) for one in data["conflicts"]),
            store=store,
            history=history,
            make_proofs=lambda: proofs,
            rule_use=data["rule_use"],
            order_dependent=data["order_dependent"],
            settings=data["settings"],
            incomplete=data["incomplete"],
            notes=tuple(data["notes"]),
            support={frozenset((self._node(x), self._node(y))): share for x, y, share in data.get("support", ())},
            knowledge=self._knowledge(data.get("knowledge", {})) if self._frame is None else self._frame.knowledge,
            columns=_columns_of(data.get("columns", ())) if self._frame is None else self._frame.columns,
        )
        if self._frame is None:
            check_part(part)
            self._check_drawn(part)
        return part

    def _check_drawn(self, part: Part) -> None:
        """Refuse edges of the part other than those that the facts and the depth give."""
        writer = _Writer(part)
        if self._data["arrows"] != writer.arrows():
            message = "the arrows are not those that its facts give"
            raise ValueError(message)
        if self._data["lines"] != writer.lines():
            message = "the lines are not those that its facts give"
            raise ValueError(message)
        marked = (self._data.get("partial", []), self._data.get("bidirected", []))
        if marked != (writer.partial(), writer.bidirected()):
            message = "the partial and bidirected edges are not those that its facts give"
            raise ValueError(message)

    def _knowledge(self, data: dict[str, Any]) -> Knowledge:
        named = {key: [[self._node(one) for one in entry] for entry in data.get(key, ())] for key in NAMED}
        return Knowledge(**named, apart_within=data.get("apart_within", ()))

    def _node(self, number: Any) -> Node:
        if not (isinstance(number, int) and 0 <= number < len(self._nodes)):
            message = f"there is no node number {number}"
            raise ValueError(message)
        return self._nodes[number]

    def _fact(self, data: list[Any]) -> Fact:
        relation, *numbers = data
        fact = self._by_name[relation].fact(*(self._node(number) for number in numbers))
        if fact.nodes != tuple(self._nodes[number] for number in numbers):
            message = f"{data} names its nodes in another order than facts do"
            raise ValueError(message)
        return fact

    def _visit(self, data: dict[str, Any]) -> Visit:
        around = tuple(self._node(number) for number in data["neighbours"])
        return Visit(self._node(data["node"]), around, data["begin"], data["end"])

    def _entry(self, data: dict[str, Any]) -> Entry:
        if "drops" in data:
            return Drop(self._fact(data["drops"]), self._reason(data["because"]))
        return self._reason(data)

    def _reason(self, data: dict[str, Any]) -> Reason:
        if "place" in data:
            entry: Entry = self._history[data["place"]]
            if not isinstance(entry, Finding):
                message = f"entry {data['place']} of the history is no finding"
                raise ValueError(message)
            return entry
        fact = self._fact(data["fact"])
        if "evidence" in data:
            return Finding(fact, evidence_of(data["evidence"]))
        bindings = tuple(self._node(number) for number in data["bindings"])
        return Firing(data["rule"], bindings, tuple(self._fact(one) for one in data["premises"]), fact)

    def _conflict(self, data: dict[str, Any]) -> Conflict:
        x, y = (self._node(number) for number in data["pair"])
        return Conflict((x, y), data["kind"], data["outcome"], tuple(self._proof(one) for one in data["proofs"]))

    def _proof(self, data: list[dict[str, Any]]) -> Proof:
        steps = []
        for one in data:
            reason = self._reason(one["reason"])
            steps.append(Step(reason.fact, one["text"], reason, tuple(one["premises"])))
        return Proof(tuple(steps))

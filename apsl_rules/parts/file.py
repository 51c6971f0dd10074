"""The part file: one JSON document with the findings, the rules, and a copy of the conclusions.

The keys of version 2 are those of the schema ``apsl_specs/schemas/part.json``, and ``docs/part-file.md`` says what each
is. Nodes are numbered by their place in ``nodes``; a fact is the name of its relation and the numbers of its nodes.
Reading fires the rules again and compares what follows with the copy, so a file cannot state what does not follow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import attrs

from apsl_rules._documents import DocumentError, fault, file_text, json_data, label, node_of, schema
from apsl_rules._files import write_text
from apsl_rules.answers import Answer
from apsl_rules.data import ColumnKind
from apsl_rules.errors import PartFileError
from apsl_rules.evidence import KINDS, Evidence, evidence_data, evidence_of
from apsl_rules.knowledge import NAMED, Knowledge
from apsl_rules.names import Node, in_order, listing
from apsl_rules.notes import Note, note_of
from apsl_rules.oracles import Counts
from apsl_rules.parts.answered import with_answers
from apsl_rules.parts.conclusions import Numbers, conclusions, is_same_rule, renamed, rulebook_lines, wrong_conclusions
from apsl_rules.parts.part import Part, Visit
from apsl_rules.parts.shortcuts import installed_rulebooks
from apsl_rules.rules import (
    KNOWING,
    PAG,
    POLICIES,
    POSSIBLE,
    RELATIONS,
    SOUND,
    Fact,
    Finding,
    Ledger,
    Relation,
    Rule,
    Rulebook,
    adjacent,
    arrow,
    by_name,
    conflict,
    found_distances,
    gap,
    knowing,
    ledger,
    read_rule,
    settled,
)

FORMAT = "apsl_rules part"
VERSION = 2
#: What is noted of a part whose rules are those of no rulebook that is installed.
UNCHECKED = Note(
    "the rules of this part are those of no rulebook that is installed; nobody has checked that they hold",
    "unknown rules",
    "warning",
)
_NEEDED = (adjacent, arrow, conflict, gap, settled)
_MOST_PLACES = 9


def save_part(part: Part, path: str | Path) -> None:
    """Write a part to a file, whole or not at all."""
    write_text(path, part_json(part))


def part_json(part: Part) -> str:
    """Return a part as JSON text: the same text for the same run, every time."""
    return json.dumps(part_data(part), ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def load_part(path: str | Path) -> Part:
    """Read a part that ``part.save`` wrote from the file at ``path``."""
    return part_of_data(read_document(path), str(path))


def read_document(path: str | Path, kind: str = "part file") -> Any:
    """Return the JSON document in a file."""
    try:
        text = file_text(path)
    except DocumentError as error:
        message = f"cannot read the {kind} {str(path)!r}: {error}"
        raise PartFileError(message) from error
    return _document(text, str(path), kind)


def _document(text: str, origin: str, kind: str = "part file") -> Any:
    try:
        return json_data(text)
    except DocumentError as error:
        message = f"{origin!r} is no {kind}: not valid JSON ({error})"
        raise PartFileError(message) from error


def parse_part(text: str, origin: str) -> Part:
    """Read a part from JSON text."""
    return part_of_data(_document(text, origin), origin)


def part_of_data(data: Any, origin: str) -> Part:
    """Read a part from the data of a JSON document; refuse one whose conclusions do not follow."""
    part, faults = read_part(data, origin)
    if faults:
        message = f"{origin!r} is a damaged part file: {faults[0]}"
        raise PartFileError(message)
    return part


def read_part(data: Any, origin: str) -> tuple[Part, list[str]]:
    """Read a part from the data of a JSON document, and say in a sentence each what does not follow in it."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        message = f"{origin!r} is no part file; save one with part.save() or 'apsl learn ... --out part.json'"
        raise PartFileError(message)
    if data.get("version") not in (1, VERSION):
        message = f"{origin!r} has part format version {data.get('version')!r}; this program reads versions 1 and 2"
        raise PartFileError(message)
    is_old = data["version"] == 1
    try:
        wrong = fault(data, schema("part-1" if is_old else "part"))
        if wrong is None:
            part = _read(data, None)
            return part, [] if is_old else list(wrong_conclusions(part, data["conclusions"]))
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


def _read(data: dict[str, Any], frame: Frame | None) -> Part:
    if data["version"] == 1:
        from apsl_rules.parts.version_1 import Version1  # builds on this module

        return Version1(data, frame).part()
    return Reader(data, frame).part()


@attrs.frozen(eq=False)
class Frame:
    """What the parts of one source have in common, which a file of many parts has once."""

    nodes: tuple[Node, ...]
    columns: tuple[ColumnKind, ...]
    knowledge: Knowledge
    numbers: Numbers = attrs.field(init=False)

    @numbers.default
    def _number(self) -> Numbers:
        return Numbers(self.nodes)

    @classmethod
    def of(cls, part: Part) -> Self:
        """Return what a part has in common with others of its source."""
        return cls(part.nodes, part.columns, part.knowledge)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Return a frame from plain data."""
        nodes = tuple(map(node_of, data["nodes"]))
        if len(set(nodes)) < len(nodes):
            message = "two nodes have the same label"
            raise ValueError(message)
        given = data.get("knowledge", {})
        named: dict[str, Any] = {
            key: [[_at(nodes, one) for one in entry] for entry in given.get(key, ())] for key in NAMED
        }
        assumed = [(_at(nodes, one["node"]), one["reason"]) for one in given.get("assumed", ())]
        stages = [[_at(nodes, one) for one in pair] for pair in given.get("stages", ())]
        known = Knowledge(**named, apart_within=given.get("apart_within", ()), assumed=assumed, stages=stages)
        columns = (ColumnKind(**{**one, "name": node_of(one["name"])}) for one in data.get("columns", ()))
        answers = (_answer_of(one, nodes) for one in given.get("answers", ()))
        likely = [(*(_at(nodes, end) for end in one[:2]), one[2]) for one in given.get("likely", ())]
        known = attrs.evolve(known, answers=answers, likely=likely, by=given.get("by", ""))
        return cls(nodes, tuple(columns), known)

    def as_data(self) -> dict[str, Any]:
        """Return the frame as plain data, without what it does not have."""
        data: dict[str, Any] = {"nodes": [label(node) for node in self.nodes]}
        if self.columns:
            data["columns"] = [{**attrs.asdict(one), "name": label(one.name)} for one in self.columns]
        if self.knowledge:
            named = {key: [*map(self.numbers.places, getattr(self.knowledge, key))] for key in NAMED}
            data["knowledge"] = {**named, "apart_within": list(self.knowledge.apart_within)}
        if self.knowledge.assumed:
            assumed = self.knowledge.assumed
            data["knowledge"]["assumed"] = [{"node": self.nodes.index(node), "reason": why} for node, why in assumed]
        if self.knowledge.stages:
            data["knowledge"]["stages"] = [*map(self.numbers.places, self.knowledge.stages)]
        if self.knowledge.answers or self.knowledge.likely:
            data.setdefault("knowledge", {}).update(self._said())
        return data

    def _said(self) -> dict[str, Any]:
        """Return answers and opinions as plain data."""
        known, place = self.knowledge, self.numbers.of
        answers = [
            {
                **{key: getattr(one, key) for key in ("id", "by", "date")},
                "target": None if one.target is None else place[one.target],
                "reply": [[place[node], word] for node, word in one.reply],
            }
            for one in known.answers
        ]
        return {
            "answers": answers,
            "likely": [[*self.numbers.places(one[:2]), one[2]] for one in known.likely],
            "by": known.by,
        }

    def part_data(self, part: Part) -> dict[str, Any]:
        """Return a part as plain data without what is in the frame."""
        return _own_data(part, self)

    def part_of(self, data: dict[str, Any]) -> Part:
        """Return a part from what ``part_data`` gave; the file it comes from is checked by its writer."""
        return _read(data, self)


def _answer_of(data: Mapping[str, Any], nodes: Sequence[Node]) -> Answer:
    reply = [(_at(nodes, number), word) for number, word in data["reply"]]
    target = None if data["target"] is None else _at(nodes, data["target"])
    return Answer(data["id"], reply, data["by"], data["date"], target)


def _at(nodes: Sequence[Node], number: Any) -> Node:
    if not (isinstance(number, int) and 0 <= number < len(nodes)):
        message = f"there is no node number {number}"
        raise ValueError(message)
    return nodes[number]


def part_data(part: Part) -> dict[str, Any]:
    """Return a part as plain data."""
    frame = Frame.of(part)
    return _own_data(part, frame) | frame.as_data() | {"conclusions": conclusions(part)}


def _own_data(part: Part, frame: Frame) -> dict[str, Any]:
    """Return what a part has by itself: what was asked, how it was learned, and what was found."""
    rulebook = part.ledger.rulebook
    told = zip(part.visits, part.ledger.told, strict=True)
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "package": version("apsl_rules"),
        "data": part.data,
        "target": frame.numbers.of[part.target],
        "depth": part.depth,
        "learner": part.learner,
        "oracle": part.oracle,
        "settings": dict(part.settings),
        "incomplete": part.incomplete,
        "notes": [note.to_dict() for note in part.notes],
        "counts": attrs.asdict(part.counts),
        "relations": [attrs.asdict(relation) for relation in rulebook.relations],
        "rulebook": {"name": rulebook.name, "rules": rulebook_lines(rulebook)},
        "policy": part.ledger.policy,
        "visits": [_visit_data(visit, findings, frame) for visit, findings in told],
    }
    if part.support:
        data["support"] = sorted([*sorted(frame.numbers.places(pair)), share] for pair, share in part.support.items())
    return data


def _visit_data(visit: Visit, findings: Iterable[Finding], frame: Frame) -> dict[str, Any]:
    return {
        "node": frame.numbers.of[visit.node],
        "neighbours": frame.numbers.places(visit.neighbours),
        "findings": [
            {
                "fact": frame.numbers.fact(one.fact),
                "evidence": {"kind": one.evidence.kind, **evidence_data(one.evidence, frame.numbers.of.__getitem__)},
            }
            for one in findings
        ],
    }


class Reader:
    """Turns the data of one file back into a part; ``frame`` has what it shares with other parts."""

    def __init__(self, data: dict[str, Any], frame: Frame | None = None) -> None:
        self.data = data
        self.frame = Frame.from_data(data) if frame is None else frame
        self.relations = [Relation(**one) for one in data["relations"]]
        self.by_name = check_relations(self.relations)

    def part(self) -> Part:
        """Return the part: the rules are fired again, visit by visit."""
        book, unchecked = self.start()
        visits = []
        for one in self.data["visits"]:
            begin = len(book.history)
            book = book.with_findings([self.finding(finding) for finding in one["findings"]])
            visits.append(Visit(self.node(one["node"]), self.nodes(one["neighbours"]), begin, len(book.history)))
        distances = found_distances(book, self.node(self.data["target"]), self.frame.knowledge)
        return self.with_ledger(book, tuple(visits), distances, unchecked)

    def start(self) -> tuple[Ledger, tuple[str, ...]]:
        """Return an empty ledger with the rules of the file, and a note if nobody has installed them."""
        notes: tuple[str, ...]
        lines, name = self.data["rulebook"]["rules"], self.data["rulebook"]["name"]
        rules = renamed(read_rule(line, self.by_name) for line in lines)
        known = next((book for book in known_rulebooks() if _same_rules(book.rules, rules)), None)
        relations = tuple(self.relations)
        self._refuse_unknown(rules)
        if known is not None and set(known.relations) >= set(relations):
            rulebook, notes = attrs.evolve(known, name=name), ()
        else:
            rulebook, notes = Rulebook(name, rules, relations), (UNCHECKED,)
        if self.data["policy"] not in POLICIES:
            message = f"the policy {self.data['policy']!r} is unknown; there are {', '.join(POLICIES)}"
            raise ValueError(message)
        return ledger(rulebook, self.data["policy"]), notes

    def _refuse_unknown(self, rules: Sequence[Rule]) -> None:
        """Refuse relations of which neither we nor a rule of the file knows what they mean."""
        spoken = {atom.relation for rule in rules for atom in (*rule.when, *rule.then, *rule.unless)}
        for relation in self.relations:
            if relation not in spoken.union(*(book.relations for book in known_rulebooks())):
                message = f"the relation {relation.name!r} is unknown; a newer version may read it"
                raise ValueError(message)

    def with_ledger(
        self, book: Ledger, visits: tuple[Visit, ...], distances: Mapping[Node, int], notes: tuple[str, ...] = ()
    ) -> Part:
        """Return the part of a ledger, once its pieces fit together."""
        data = self.data
        part = Part(
            target=self.node(data["target"]),
            depth=data["depth"],
            learner=data["learner"],
            oracle=data["oracle"],
            nodes=self.frame.nodes,
            visits=visits,
            distances=distances,
            counts=Counts(**data["counts"]),
            ledger=book,
            settings=data["settings"],
            incomplete=data["incomplete"],
            notes=tuple(dict.fromkeys((*map(note_of, data["notes"]), *notes))),
            support={frozenset(self.nodes((x, y))): share for x, y, share in data.get("support", ())},
            knowledge=self.frame.knowledge,
            columns=self.frame.columns,
            data=data.get("data"),
        )
        part = with_answers(part)
        for wrong in _wrong_pieces(part):
            raise ValueError(wrong)
        return part

    def node(self, number: Any) -> Node:
        """Return a node by its number."""
        return _at(self.frame.nodes, number)

    def nodes(self, numbers: Iterable[Any]) -> tuple[Node, ...]:
        """Return nodes by their numbers."""
        return tuple(map(self.node, numbers))

    def fact(self, data: list[Any]) -> Fact:
        """Return the fact that plain data stands for."""
        relation, *numbers = data
        nodes = self.nodes(numbers)
        fact = self.by_name[relation].fact(*nodes)
        if fact.nodes != nodes:
            message = f"{data} names its nodes in another order than facts do"
            raise ValueError(message)
        return fact

    def finding(self, data: dict[str, Any]) -> Finding:
        """Return the finding that plain data stands for; refuse evidence of a kind that is not known here."""
        kind = data["evidence"]["kind"]
        if kind not in KINDS:
            message = f"there is evidence of the kind {kind!r}, which this version does not know; install a newer one"
            raise ValueError(message)
        evidence: Evidence = evidence_of(data["evidence"], self.node)
        if evidence.kind != kind:
            message = f"evidence of the kind {kind!r} has what belongs to the kind {evidence.kind!r}"
            raise ValueError(message)
        return Finding(self.fact(data["fact"]), evidence)


def check_relations(relations: Sequence[Relation]) -> dict[str, Relation]:
    """Return relations by name, once none contradicts ours or reads as more than its nodes."""
    known = by_name((*relations, *RELATIONS, *PAG.relations))
    missing = {one.name for one in _NEEDED} - {one.name for one in relations}
    if missing:
        message = f"the relation {min(missing)!r} is missing"
        raise ValueError(message)
    for relation in relations:
        places = "|".join(map(str, range(min(relation.arity, _MOST_PLACES + 1))))
        is_odd = relation.arity > _MOST_PLACES or re.search(r"[{}]", re.sub(rf"\{{({places})\}}", "", relation.reads))
        if is_odd:
            message = f"the relation {relation.name!r} of {relation.arity} nodes reads as {relation.reads!r}"
            raise ValueError(message)
    return known


def _same_rules(some: Sequence[Rule], others: Sequence[Rule]) -> bool:
    return len(some) == len(others) and all(map(is_same_rule, some, others))


def known_rulebooks() -> tuple[Rulebook, ...]:
    """Return the rulebooks that are installed, without background knowledge and with it."""
    ours = (SOUND, KNOWING, POSSIBLE, PAG, knowing(PAG))
    further = [book for book in installed_rulebooks() if book not in ours]
    return (*ours, *further, *(knowing(book) for book in further if book.positive))


def _wrong_pieces(part: Part) -> Iterator[str]:
    """Describe visits and support that do not go with the findings."""
    visited = {visit.node for visit in part.visits}
    if len(visited) < len(part.visits):
        yield "a node was visited twice"
    for (node,) in (fact.nodes for fact in part.history.facts(settled)):
        if node not in visited:
            yield f"{settled.text((node,))}, but it was not visited"
    unvisited = [node for node in part.distances if part.is_inner(node) and node not in visited]
    if part.incomplete is None and unvisited:
        verb = "was" if len(unvisited) == 1 else "were"
        yield f"{listing(in_order(unvisited))} of the asked part {verb} not visited, but it is said to be complete"
    if not part.support.keys() <= part.edges or not all(0 <= share <= 1 for share in part.support.values()):
        yield "the support is not that of the edges"

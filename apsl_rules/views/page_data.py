"""All that the page of a part shows, as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from string import Formatter
from typing import Any

import attrs

from apsl_rules.answers import is_writable, spelt_label
from apsl_rules.asking import questions
from apsl_rules.evidence import Evidence, Verdict, p_text
from apsl_rules.names import Node, Pair, count_of, in_order, shown
from apsl_rules.notes import Note
from apsl_rules.parts import EdgeFigures, Part, Statement, Visit, statements_on
from apsl_rules.rules import Conflict, Drop, Entry, Fact, Finding, Firing, Proof, Reason, Relation
from apsl_rules.views.curves import Port
from apsl_rules.views.edges import Edge, Look, edges_of, positions
from apsl_rules.views.labels import texts_of, thickness, weights_of
from apsl_rules.views.layout import Box, Drawing, DrawnEdge, lay_out
from apsl_rules.views.legend import TIME_RUNS
from apsl_rules.views.svg import body_of

#: A part with more nodes than this is first shown with its near layers only: up to about this many nodes, at most
#: this many steps away. With more columns, names no longer fit into their boxes.
_AT_ONCE = 40
_STEPS_AT_ONCE = 2
#: A further drawing has at least this many times the nodes of the one before.
_GROWTH = 2.0
_ALMOST_ALL = 0.8


@attrs.frozen
class View:
    """A drawing with what it shows in words; ``outside`` says that it shows what lies beyond the asked depth."""

    words: str
    drawing: Drawing
    outside: bool = False


def views_of(part: Part, texts: Mapping[Pair, str]) -> tuple[View, ...]:
    """Return the drawings of a part, from the smallest to that of everything the run ever drew."""
    edges = edges_of(part)
    within = [edge for edge in edges if edge.within]
    views = []
    for reach in _reaches(part):
        near = tuple(node for node in part.members if part.distances[node] <= reach)
        words = f"{count_of(reach, 'step')} around the target: {count_of(len(near), 'node')}"
        views.append(View(words, lay_out(part, near, within, texts)))
    words = f"the part: {count_of(len(part.members), 'node')}"
    views.append(View(words, lay_out(part, part.members, within, texts)))
    everyone = in_order({part.target, *part.visited, *(node for edge in edges for node in edge.pair)})
    if len(within) < len(edges) or everyone != part.members:
        words = f"also what lies beyond: {count_of(len(everyone), 'node')}"
        views.append(View(words, lay_out(part, everyone, edges, texts), outside=True))
    return tuple(views)


def _reaches(part: Part) -> Iterator[int]:
    """Return how many steps the drawings of near layers show, for a large part."""
    distances = sorted(part.distances[node] for node in part.members)
    shown = 0
    if len(distances) <= _AT_ONCE:
        return
    sizes = {reach: sum(one <= reach for one in distances) for reach in sorted(set(distances)) if reach}
    near = (reach for reach, size in sizes.items() if size <= _AT_ONCE and reach <= _STEPS_AT_ONCE)
    first = max(near, default=min(sizes))
    for reach, size in sizes.items():
        if reach >= first and size >= _GROWTH * shown and size <= _ALMOST_ALL * len(distances):
            yield reach
            shown = size


#: The figures of an edge, and how the page names them.
_FIGURES = {"support": "support", "probability": "edge", "direction": "direction"}
#: The looks whose mark at the second node says the most: a tail, or the only arrowhead.
_TOLD_BY_SECOND = (Look.BACK, Look.PARTIAL_AHEAD)


#: What a page without values may say: settings and notes that speak of names and counts alone.
_SETTINGS_WITHOUT_VALUES = frozenset(
    {"learner", "hidden", "roots", "alpha", "max_conditioning", "finder", "conflicts", "fdr", "min_direction"}
    | {"certified", "missing", "groups", "environment", "weights", "sampling_weights", "max_tests", "max_seconds"}
)
_NOTES_WITHOUT_VALUES = frozenset(
    {"learner", "assumptions", "roots", "few rows", "empty", "odd arrows", "hidden cause", "against given", "knowledge"}
    | {"set aside", "constant", "duplicates", "more duplicates", "many levels", "numbers cut", "missing values"}
    | {"labels", "complete rows", "rows without a role", "untested", "more untested", "groups", "searched again"}
)
_WITHOUT_VALUES = "the levels and values of columns are left out of this page"


def page_data(part: Part, figures: EdgeFigures | None = None, *, values: bool = True) -> dict[str, Any]:
    """Return the data of the page for a part; ``figures`` are what a table says of its edges.

    Without ``values`` no level of a category and no value of a number is in it: neither charts nor how columns are
    spread, nor notes and settings that may name one.
    """
    if values:
        return _Writer(part, figures).data()
    bare = EdgeFigures(figures.labels) if figures is not None else None
    columns = tuple(attrs.evolve(one, detail="") for one in part.columns)
    notes = (*(one for one in part.notes if one.code in _NOTES_WITHOUT_VALUES), Note(_WITHOUT_VALUES))
    settings = {name: value for name, value in part.settings.items() if name in _SETTINGS_WITHOUT_VALUES}
    return _Writer(attrs.evolve(part, columns=columns, notes=notes, settings=settings), bare).data()


class _Writer:
    """Numbers nodes, edges, facts, evidence and proof steps while they are written."""

    def __init__(self, part: Part, figures: EdgeFigures | None) -> None:
        self._part = part
        self._given = figures
        self._figures = figures or EdgeFigures()
        rows = part.rows()
        self._rows = {frozenset((row["source"], row["target"])): row for row in rows}
        self._weights = weights_of(rows)
        self._texts = texts_of(self._weights, figures)
        self._views = views_of(part, self._texts)
        everything = self._views[-1].drawing
        self._boxes = everything.boxes
        self._drawn_edges = tuple(drawn.edge for drawn in everything.edges)
        self._nodes = {box.node: number for number, box in enumerate(everything.boxes)}
        self._edges = {frozenset(edge.pair): number for number, edge in enumerate(self._drawn_edges)}
        self._columns = {one.name: one for one in part.columns}
        self._labels = part.labels
        self._relations = {name: number for number, name in enumerate(part.history.relations)}
        self._facts: dict[Fact, int] = {}
        self._evidence: dict[int, int] = {}
        self._told: list[dict[str, Any]] = []
        self._steps: dict[tuple[Any, ...], int] = {}
        self._proofs: list[dict[str, Any]] = []

    def data(self) -> dict[str, Any]:
        part = self._part
        written = {
            "target": self._node(part.target),
            "depth": part.depth,
            "summary": [self._statement(one) for one in statements_on(part)],
            "with_probabilities": any(row.get("probability") is not None for row in self._rows.values()),
            "nodes": [self._member(box) for box in self._boxes],
            "edges": [self._edge(edge) for edge in self._drawn_edges],
            "views": [self._view(view) for view in self._views],
            "conflicts": [self._conflict(one) for one in part.ledger.settled.conflicts],
            "hidden": part.allows_hidden,
            "in_time": TIME_RUNS if part.earlier.keys() & set(part.members) else "",
            "positions": positions(part),
            "visits": [self._visit(visit) for visit in part.visits],
            "history": [self._entry(entry) for entry in part.history.entries],
            "run": _run(part),
            "details": _details(part),
            "notes": list(part.notes),
            "questions": _questions(part),
            "incomplete": part.incomplete,
            "with_effects": self._given is not None,
            "relations": [_pieces(relation) for relation in part.history.relations.values()],
        }
        return written | {
            "facts": [
                _fact(self._relations[relation], map(self._node, nodes)) for relation, nodes in list(self._facts)
            ],
            "evidence": self._told,
            "steps": self._proofs,
            "names": [shown(node) for node in self._nodes],
        }

    def _node(self, node: Node) -> int:
        return self._nodes.setdefault(node, len(self._nodes))

    def _fact(self, fact: Fact) -> int:
        for node in fact.nodes:
            self._node(node)
        return self._facts.setdefault(fact, len(self._facts))

    # --- the drawings ------------------------------------------------------------------------------------------------

    def _view(self, view: View) -> dict[str, Any]:
        drawing = view.drawing
        return {
            "words": view.words,
            "outside": view.outside,
            "width": _short(drawing.width),
            "height": _short(drawing.height),
            "bands": [_place(band, "left", "right") | {"title": band.title} for band in drawing.bands],
            "frames": [
                _place(frame, "left", "top", "width", "height") | {"title": frame.title} for frame in drawing.frames
            ],
            "boxes": [self._box(box) for box in drawing.boxes],
            "routes": [self._route(drawn) for drawn in drawing.edges],
        }

    def _box(self, box: Box) -> dict[str, Any]:
        label = {} if box.label == box.name else {"label": box.label}
        return {"node": self._node(box.node), **_place(box, "left", "top", "width", "height"), **label}

    def _route(self, drawn: DrawnEdge) -> dict[str, Any]:
        route = drawn.route
        label = {} if drawn.label is None else {"label": _place(drawn.label, "left", "top", "width")}
        number = self._edges[frozenset(drawn.edge.pair)]
        ends = {"start": _port(route.start), "end": _port(route.end)}
        return {"edge": number, **ends, "body": body_of(route), **label}

    # --- nodes and edges ---------------------------------------------------------------------------------------------

    def _statement(self, one: Statement) -> dict[str, Any]:
        nodes = [self._node(node) for node in one.nodes]
        end = {"end": one.end} if one.end else {}
        return {"kind": one.kind, "words": one.words, "nodes": nodes, "remarks": list(one.remarks), **end}

    def _member(self, box: Box) -> dict[str, Any]:
        found: dict[str, Any] = {"layer": box.layer, "within": box.within}
        column = self._columns.get(box.node)
        if column is not None:
            told = self._labels.get(box.node)
            detail = f"{told}; {column.detail}" if told else column.detail
            found["column"] = {"kind": column.kind, "detail": detail, "missing": column.missing}
        if box.node in self._figures.distributions:
            found["distribution"] = self._figures.distributions[box.node]
        return found

    def _edge(self, edge: Edge) -> dict[str, Any]:
        pair = frozenset(edge.pair)
        row = self._rows.get(pair, {})
        p = row.get("p")
        found = {
            "ends": [self._node(node) for node in edge.pair],
            "within": edge.within,
            "looks": [{"from": position, "look": str(look)} for position, look in edge.looks],
            "width": round(thickness(self._weights.get(pair)), 2),
            "figures": [{"name": _FIGURES[name], "value": row[name]} for name in _FIGURES if row.get(name) is not None],
        }
        further = {
            "proof": None if edge.last is Look.NONE else self._proof(self._why_edge(edge)),
            "other": self._proof(self._part.why(*edge.pair[::-1])) if edge.last is Look.TWO_HEADS else None,
            "p": None if p is None else f"{p:.3g}",
            "text": self._texts.get(pair),
            "doubtful": pair in self._part.doubtful or None,
            "effect": self._figures.effects.get(pair),
            "chart": self._chart(pair),
        }
        return found | {name: value for name, value in further.items() if value is not None}

    def _chart(self, pair: frozenset[Node]) -> dict[str, Any] | None:
        """Return what lies behind an edge, with its nodes as numbers."""
        chart = self._figures.charts.get(pair)
        return None if chart is None else chart | {"nodes": [self._node(node) for node in chart["nodes"]]}

    # --- proofs and the run ------------------------------------------------------------------------------------------

    def _why_edge(self, edge: Edge) -> Proof:
        """Return the proof of an edge; of one with marks at both ends that of the end which says the most."""
        x, y = edge.pair
        return self._part.why(y, x) if edge.last in _TOLD_BY_SECOND else self._part.why(x, y)

    def _proof(self, proof: Proof) -> int:
        """Write the steps that are not written yet, and return the number of the last one."""
        numbers: list[int] = []
        for step in proof.steps:
            premises = tuple(numbers[at] for at in step.premises)
            why = self._why(step.reason)
            key = (step.fact, *why.items(), premises)
            if key not in self._steps:
                self._steps[key] = len(self._proofs)
                self._proofs.append({"fact": self._fact(step.fact), **why, **_premises(premises)})
            numbers.append(self._steps[key])
        return numbers[-1]

    def _why(self, reason: Reason) -> dict[str, Any]:
        """Return the name of a rule, or the number of some evidence."""
        return {"rule": reason.rule} if isinstance(reason, Firing) else {"evidence": self._evidence_of(reason)}

    def _evidence_of(self, finding: Finding) -> int:
        evidence = finding.evidence
        if id(evidence) not in self._evidence:
            self._evidence[id(evidence)] = len(self._told)
            self._told.append(self._evidence_data(evidence))
        return self._evidence[id(evidence)]

    def _evidence_data(self, evidence: Evidence) -> dict[str, Any]:
        verdicts = [self._verdict(verdict) for verdict in evidence.verdicts]
        supports = {"supports": True} if evidence.kind == "score" else {}
        return {"source": evidence.source, "note": evidence.note, "verdicts": verdicts} | supports

    def _verdict(self, verdict: Verdict) -> dict[str, Any]:
        measured = verdict.statistic is not None and verdict.n is not None
        found = {
            "x": self._node(verdict.x),
            "y": self._node(verdict.y),
            "given": [self._node(node) for node in verdict.given] or None,
            "decision": verdict.decision,
            "statistic": f"{verdict.test} = {verdict.statistic:.4g}" if measured else None,
            "dof": verdict.dof,
            "p": None if verdict.p is None else p_text(verdict),
            "n": verdict.n,
        }
        return {name: value for name, value in found.items() if value is not None}

    def _conflict(self, one: Conflict) -> dict[str, Any]:
        return {
            "pair": [self._node(node) for node in one.pair],
            "edge": self._edges.get(frozenset(one.pair)),
            "text": str(one),
            "sides": [self._proof(proof) for proof in one.proofs],
        }

    def _visit(self, visit: Visit) -> dict[str, Any]:
        around = [self._node(node) for node in visit.neighbours]
        return {"node": self._node(visit.node), "neighbours": around, "begin": visit.begin, "end": visit.end}

    def _entry(self, entry: Entry) -> dict[str, Any]:
        """Write an entry as its fact with a rule or evidence, or for a dropped fact with the one that overwrote it."""
        if isinstance(entry, Drop):
            return {"fact": self._fact(entry.fact), "dropped_for": self._fact(entry.because.fact)}
        premises = entry.premises if isinstance(entry, Firing) else ()
        return {"fact": self._fact(entry.fact), **self._why(entry), **_premises(map(self._fact, premises))}


def _fact(relation: int, nodes: Iterable[int]) -> dict[str, Any]:
    return {"relation": relation, "nodes": list(nodes)}


def _premises(numbers: Iterable[int]) -> dict[str, list[int]]:
    listed = list(numbers)
    return {"premises": listed} if listed else {}


def _short(length: float) -> float:
    """Return a length with one digit after the point, and as a whole number if it is one."""
    rounded = round(length, 1)
    return int(rounded) if rounded.is_integer() else rounded


def _place(thing: object, *names: str) -> dict[str, Any]:
    return {name: _short(getattr(thing, name)) for name in names}


def _port(port: Port) -> dict[str, Any]:
    return {"x": _short(port.x), "y": _short(port.y), "out": port.out}


def _pieces(relation: Relation) -> list[str | int]:
    """Split how a relation reads into words and places of nodes.

    >>> _pieces(Relation("gap", 2, "{0} and {1} are not adjacent"))
    [0, ' and ', 1, ' are not adjacent']
    """
    pieces: list[str | int] = []
    for words, place, _, _ in Formatter().parse(relation.reads):
        pieces += [words] if words else []
        pieces += [int(place)] if place else []
    return pieces


def _run(part: Part) -> list[dict[str, str]]:
    """Return what describes the part, each with its name."""
    beyond = sum(map(len, part.outside))
    return _named(
        ("Target", shown(part.target)),
        ("Depth", part.depth),
        ("Nodes", f"{len(part.members)} in the part, {len(part.nodes):,} in all"),
        ("Arrows", len(part.arrows)),
        *([("Hidden causes", len(part.bidirected)), ("Half open", len(part.partial))] if part.allows_hidden else []),
        ("Open" if part.allows_hidden else "Lines", len(part.lines)),
        ("Conflicts", len(part.conflicts)),
        ("Beyond the depth", count_of(beyond, "edge")),
        ("Learner", part.learner),
        ("Test", part.oracle),
    )


def _details(part: Part) -> list[dict[str, str]]:
    """Return the settings of the run and its cost, each with its name."""
    counts = part.counts
    return _named(
        *((_words(name), _setting(value)) for name, value in part.settings.items() if value is not None),
        ("Visited", count_of(len(part.visits), "node")),
        ("Tests", f"{counts.asked:,} asked, {counts.distinct:,} computed"),
        ("Rounds", f"{counts.rounds:,}"),
        ("Sweeps", f"{counts.sweeps:,}"),
        ("Findings", f"{len(part.findings):,}"),
        *((f"Rule {name}", _times(times)) for name, times in part.ledger.rule_use().items() if times),
        ("Order", "depends on the order of columns" if part.ledger.order_dependent else "any order gives the same"),
    )


def _named(*lines: tuple[str, object]) -> list[dict[str, str]]:
    return [{"name": name, "value": str(value)} for name, value in lines]


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _times(number: int) -> str:
    return "fired once" if number == 1 else f"fired {number:,} times"


def _setting(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_setting(one)}" for name, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, Iterable) and not isinstance(value, str) else str(value)


def _questions(part: Part) -> list[dict[str, Any]]:
    """Return the questions to sort by clicking: those in bulk, with nodes as a knowledge file spells them."""
    if not all(map(is_writable, part.nodes)):  # no file of answers could name them
        return []
    asked = (one for one in questions(part) if one.kind != "pair")
    return [
        {
            **{name: getattr(one, name) for name in ("id", "text", "value", "choices")},
            "target": None if one.target is None else spelt_label(one.target),
            "items": [{"name": shown(node), "label": spelt_label(node)} for node in one.items],
            "guess": [[one.items.index(node), word] for node, word in one.guess.items()],
        }
        for one in asked
    ]

"""Everything that the page knows of a part, as plain data: names, facts and proofs are written once and numbered.

Texts about nodes go in as pieces, so that the page can set each name apart and never mistakes one for markup.
"""

from __future__ import annotations

from collections.abc import Iterable
from string import Formatter
from typing import Any

import attrs

from apsl_rules.evidence import Evidence, Verdict, p_text
from apsl_rules.names import Node, count_of, shown
from apsl_rules.parts import EdgeFigures, Part, Visit
from apsl_rules.report.edge_width import label_of, thickness, weights_of
from apsl_rules.report.edges import Look, positions
from apsl_rules.report.layout import Box, Drawing, DrawnEdge, drawing_of
from apsl_rules.report.paths import RADIUS, body_of, circle_of, corners_of, head_of
from apsl_rules.rules import Conflict, Drop, Entry, Fact, Finding, Firing, Proof, Reason, Relation

#: The figures of an edge, and how the page names them.
_FIGURES = {"support": "support", "probability": "edge", "direction": "direction"}


#: The looks whose mark at the second node tells the most: a tail, or the only arrowhead.
_TOLD_BY_SECOND = (Look.BACK, Look.PARTIAL_AHEAD)


def page_data(part: Part, figures: EdgeFigures | None = None) -> dict[str, Any]:
    """Return the data of the page for a part; ``figures`` are what a table says of its edges."""
    return _Writer(part, drawing_of(part), figures).data()


class _Writer:
    """Numbers nodes, facts, evidence and proof steps while they are written."""

    def __init__(self, part: Part, drawing: Drawing, figures: EdgeFigures | None) -> None:
        self._part = part
        self._given = figures
        self._figures = figures or EdgeFigures()
        self._drawing = drawing
        self._nodes = {box.node: number for number, box in enumerate(drawing.boxes)}
        self._relations = {name: number for number, name in enumerate(part.history.relations)}
        self._facts: dict[Fact, int] = {}
        self._evidence: dict[int, int] = {}
        self._told: list[dict[str, Any]] = []
        self._steps: dict[tuple[Fact, int, tuple[int, ...]], int] = {}
        self._proofs: list[list[Any]] = []
        self._edges = {frozenset(drawn.edge.pair): number for number, drawn in enumerate(drawing.edges)}
        rows = part.rows()
        self._rows = {frozenset((row["source"], row["target"])): row for row in rows}
        self._weights = weights_of(rows)

    def data(self) -> dict[str, Any]:
        part, drawing = self._part, self._drawing
        written = {
            "target": self._node(part.target),
            "depth": part.depth,
            "size": [drawing.width, drawing.height],
            "bands": [attrs.asdict(band) for band in drawing.bands],
            "boxes": [self._box(box) for box in drawing.boxes],
            "edges": [self._edge(drawn) for drawn in drawing.edges],
            "conflicts": [self._conflict(one) for one in part.all_conflicts],
            "hidden": part.allows_hidden,
            "radius": RADIUS,
            "positions": positions(part),
            "visits": [self._visit(visit) for visit in part.visits],
            "history": [self._entry(entry) for entry in part.history.entries],
            "run": _run(part),
            "notes": list(part.notes),
            "columns": _columns(part),
            "incomplete": part.incomplete,
            "with_effects": self._given is not None,
            "relations": [_pieces(relation) for relation in part.history.relations.values()],
        }
        return written | {
            "facts": [[self._relations[relation], *map(self._node, nodes)] for relation, nodes in list(self._facts)],
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

    def _box(self, box: Box) -> dict[str, Any]:
        place = {name: round(getattr(box, name), 1) for name in ("left", "top", "width", "height")}
        levels = [list(one) for one in self._figures.levels.get(box.node, ())]
        return {"label": box.label, "layer": box.layer, "within": box.within, "levels": levels, **place}

    def _edge(self, drawn: DrawnEdge) -> dict[str, Any]:
        route, pair = drawn.route, frozenset(drawn.edge.pair)
        row = self._rows.get(pair, {})
        p = row.get("p")
        weight = self._weights.get(pair)
        return {
            "ends": [drawn.first, drawn.second],
            "within": drawn.edge.within,
            "looks": [[position, str(look)] for position, look in drawn.edge.looks],
            "ports": [[round(port.x, 1), round(port.y, 1)] for port in (route.start, route.end)],
            "heads": [head_of(route.start), head_of(route.end)],
            "circles": [[round(at, 1) for at in circle_of(port)] for port in (route.start, route.end)],
            "body": body_of(route),
            "zigzag": corners_of(route.zigzag()) if drawn.edge.is_contradicted else None,
            "middle": [round(at, 1) for at in route.middle],
            "proof": None if drawn.edge.last is Look.NONE else self._proof(self._why_edge(drawn)),
            "other": self._proof(self._part.why(*drawn.edge.pair[::-1])) if drawn.edge.last is Look.TWO_HEADS else None,
            "p": None if p is None else f"{p:.3g}",
            "width": round(thickness(weight), 2),
            "weight": label_of(pair, weight, self._given),
            "effect": self._figures.effects.get(pair, []),
            "chart": self._chart(pair),
            "figures": [[_FIGURES[name], row[name]] for name in _FIGURES if row.get(name) is not None],
        }

    def _chart(self, pair: frozenset[Node]) -> dict[str, Any] | None:
        """Return what lies behind an edge, with its nodes as numbers."""
        chart = self._figures.charts.get(pair)
        return None if chart is None else chart | {"nodes": [self._node(node) for node in chart["nodes"]]}

    def _why_edge(self, drawn: DrawnEdge) -> Proof:
        """Return the proof of an edge; of one with marks at both ends that of the end which tells the most."""
        x, y = drawn.edge.pair
        return self._part.why(y, x) if drawn.edge.last in _TOLD_BY_SECOND else self._part.why(x, y)

    def _proof(self, proof: Proof) -> int:
        """Write the steps that are not written yet, and return the number of the last one."""
        numbers: list[int] = []
        for step in proof.steps:
            premises = tuple(numbers[at] for at in step.premises)
            key = (step.fact, id(step.reason), premises)
            if key not in self._steps:
                self._steps[key] = len(self._proofs)
                self._proofs.append([self._fact(step.fact), self._why(step.reason), list(premises)])
            numbers.append(self._steps[key])
        return numbers[-1]

    def _why(self, reason: Reason) -> str | int:
        """Return the name of a rule, or the number of some evidence."""
        return reason.rule if isinstance(reason, Firing) else self._evidence_of(reason)

    def _evidence_of(self, finding: Finding) -> int:
        if id(finding) not in self._evidence:
            self._evidence[id(finding)] = len(self._told)
            self._told.append(self._evidence_data(finding.evidence))
        return self._evidence[id(finding)]

    def _evidence_data(self, evidence: Evidence) -> dict[str, Any]:
        verdicts = [self._verdict(verdict) for verdict in evidence.verdicts]
        return {"source": evidence.source, "note": evidence.note, "verdicts": verdicts}

    def _verdict(self, verdict: Verdict) -> list[Any]:
        measured = verdict.statistic is not None and verdict.n is not None
        return [
            self._node(verdict.x),
            self._node(verdict.y),
            [self._node(node) for node in verdict.given],
            verdict.decision,
            f"{verdict.test} = {verdict.statistic:.4g}" if measured else None,
            verdict.dof,
            None if verdict.p is None else p_text(verdict),
            verdict.n,
        ]

    def _conflict(self, one: Conflict) -> dict[str, Any]:
        return {
            "pair": [self._node(node) for node in one.pair],
            "edge": self._edges.get(frozenset(one.pair)),
            "text": str(one),
            "sides": [self._proof(proof) for proof in one.proofs],
        }

    def _visit(self, visit: Visit) -> list[Any]:
        around = [self._node(node) for node in visit.neighbours]
        return [self._node(visit.node), around, visit.begin, visit.end]

    def _entry(self, entry: Entry) -> list[Any]:
        """Write an entry as fact, reason, premises, and for a dropped fact the one that overwrote it."""
        if isinstance(entry, Drop):
            return [self._fact(entry.fact), None, [], self._fact(entry.because.fact)]
        premises = entry.premises if isinstance(entry, Firing) else ()
        return [self._fact(entry.fact), self._why(entry), [self._fact(premise) for premise in premises]]


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


def _run(part: Part) -> list[list[str]]:
    """Return pairs of a name and a value that describe the run and its cost."""
    counts = part.counts
    beyond = sum(map(len, part.outside))
    lines: list[tuple[str, object]] = [
        ("Target", shown(part.target)),
        ("Depth", part.depth),
        ("Learner", part.learner),
        ("Oracle", part.oracle),
        *((_words(name), _setting(value)) for name, value in part.settings.items() if value is not None),
        ("Nodes", f"{len(part.members)} in the part, {len(part.nodes):,} in all"),
        ("Arrows", len(part.arrows)),
        *([("Hidden causes", len(part.bidirected)), ("Half open", len(part.partial))] if part.allows_hidden else []),
        ("Open" if part.allows_hidden else "Lines", len(part.lines)),
        ("Conflicts", len(part.conflicts)),
        ("Beyond the depth", count_of(beyond, "edge")),
        ("Visited", count_of(len(part.visits), "node")),
        ("Tests", f"{counts.asked:,} asked, {counts.distinct:,} computed"),
        ("Rounds", f"{counts.rounds:,}"),
        ("Sweeps", f"{counts.sweeps:,}"),
        ("Findings", f"{len(part.findings):,}"),
        *((f"Rule {name}", _times(times)) for name, times in part.rule_use.items() if times),
        ("Order", "depends on the order of columns" if part.order_dependent else "any order gives the same"),
    ]
    return [[name, str(value)] for name, value in lines]


def _columns(part: Part) -> list[list[Any]]:
    """Return the columns of the members of a part: name, kind, detail and missing values."""
    members = set(part.members)
    return [[shown(one.name), one.kind, one.detail, one.missing] for one in part.columns if one.name in members]


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _times(number: int) -> str:
    return "fired once" if number == 1 else f"fired {number:,} times"


def _setting(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_setting(one)}" for name, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, Iterable) and not isinstance(value, str) else str(value)

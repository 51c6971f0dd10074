"""What a drawing shows, read back from its text, and nodes with names that try to break out of it."""

from __future__ import annotations

from collections import deque
from itertools import combinations
from xml.etree import ElementTree as ET

import attrs

from apsl_rules import Dag, Part, learn
from apsl_rules.evidence.evidence import Evidence
from apsl_rules.names import Node, in_order, shown
from apsl_rules.parts.part import Visit
from apsl_rules.rules import ledger
from apsl_rules.rules.engine import MarkStore
from apsl_rules.rules.rulebooks import SOUND
from apsl_rules.rules.vocabulary import Finding, adjacent, collider
from apsl_rules.views.edges import Look, look

SVG = "{http://www.w3.org/2000/svg}"

#: Names that are markup, scripts, quotes, marks of other writing systems, too long, or no text at all.
HOSTILE: tuple[Node, ...] = (
    "<script>window.canary = 1</script>",
    "</script><script>window.canary = 2</script>",
    "<img src=x onerror='window.canary = 3'>",
    '" onmouseover="window.canary = 4" x=\'',
    "<!-- & ]]> &amp;",
    "שלום עולם",
    "🦊 fox\nnew line\u202e",
    "x" * 300,
    7,
    ("a", 1),
)


def hostile_dag() -> Dag:
    """Return a graph on the hostile names that has arrows and lines: a chain into a collider, and a tail."""
    first, second, third, fourth, fifth, *others = HOSTILE
    parents: dict[Node, list[Node]] = {first: [], second: [], third: [first, second], fourth: [third], fifth: [first]}
    return Dag(parents | {other: [before] for before, other in zip([fourth, *others], others, strict=False)})


def drawn_pairs(store: MarkStore, pairs: set[frozenset[Node]]) -> set[tuple[str, str, str]]:
    """Say in words how a state draws some pairs: arrow from, to; the other marks by name."""
    ends = (sorted(pair, key=str) for pair in pairs)
    return {read for x, y in ends if (read := reading(x, y, store)) is not None}


def reading(x: Node, y: Node, store: MarkStore) -> tuple[str, str, str] | None:
    """Say in words how a state draws a pair."""
    seen = look(store, x, y)
    if seen is Look.NONE:
        return None
    if seen is Look.BACK:
        return "arrow", shown(y), shown(x)
    return _named("arrow" if seen is Look.AHEAD else str(seen), shown(x), shown(y))


def part_reading(part: Part) -> set[tuple[str, str, str]]:
    """Say in words what the part itself has, by its own views of arrows, lines and edges."""
    arrows = {("arrow", shown(x), shown(y)) for x, y in part.arrows}
    lines = {_named("line", shown(x), shown(y)) for x, y in part.lines}
    rest = part.edges - part.lines - {frozenset(pair) for pair in part.arrows}
    return arrows | lines | {_named("conflict", shown(x), shown(y)) for x, y in rest}


def svg_reading(text: str) -> set[tuple[str, str, str]]:
    """Read the edges back from SVG text."""
    groups = [group for group in ET.fromstring(text).iter(f"{SVG}g") if "data-mark" in group.attrib]  # noqa: S314 - our own text
    return {
        _named(group.attrib["data-mark"], group.attrib["data-source"], group.attrib["data-target"]) for group in groups
    }


def _named(mark: str, x: str, y: str) -> tuple[str, str, str]:
    """Say a mark and its two ends, those of an arrow from and to, others in the order of their names."""
    return (mark, x, y) if mark == "arrow" else (mark, min(x, y), max(x, y))


def large_part(dag: Dag, target: Node) -> Part:
    """Return the part of greatest depth that visits with perfect answers would give, without asking a single test."""
    book, evidence = ledger(SOUND, "quarantine"), Evidence("told")
    visits, distances = [], {target: 0}
    ahead = deque([target])
    while ahead:
        node = ahead.popleft()
        around = in_order(dag.neighbours_of(node))
        pairs = combinations(dag.parents_of(node), 2)
        facts = [adjacent.fact(node, other) for other in around]
        facts += [collider.fact(x, node, y) for x, y in pairs if y not in dag.neighbours_of(x)]
        begin = len(book.history)
        book = book.with_findings([Finding(fact, evidence) for fact in facts])
        visits.append(Visit(node, around, begin, len(book.history)))
        for other in around:
            if other not in distances:
                distances[other] = distances[node] + 1
                ahead.append(other)
    small = learn(Dag({target: []}), target, depth="max")
    return attrs.evolve(small, nodes=dag.nodes, visits=tuple(visits), distances=distances, ledger=book)

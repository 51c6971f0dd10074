"""A part in words: a summary and a picture of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from apsl_rules.evidence import Evidence
from apsl_rules.names import Node, count_of, in_order, order_key, shown
from apsl_rules.notes import assumptions
from apsl_rules.parts.part import Part
from apsl_rules.parts.probability import PRECISE_DIRECTION
from apsl_rules.rules import End, Mark, adjacent, duplicate, gap, left_open, untested

_NAMED = 8  # so many names are spelt out


@attrs.frozen
class Statement:
    """One thing to say: its words, the nodes that they are about, and a remark on some of them.

    ``kind`` names what it is about: "cause", "effect", "hidden", "open", "conflict", "untested", "empty",
    "incomplete", "further", "set aside", "first" or "assumed".
    """

    kind: str
    words: str
    nodes: tuple[Node, ...] = ()
    remarks: tuple[str, ...] = ()

    def __str__(self) -> str:
        named = [
            shown(node) + (f" ({remark})" if remark else "")
            for node, remark in zip(self.nodes, self.remarks or [""] * len(self.nodes), strict=True)
        ]
        rest = [f"{len(named) - _NAMED:,} more"] if len(named) > _NAMED else []
        listed = ", ".join(named[:_NAMED]) + "".join(f" and {one}" for one in rest)
        return f"{self.words} {listed}".rstrip()


def summarize(part: Part) -> str:
    """Return a part as one sentence about its target.

    >>> from apsl_rules import Dag, learn
    >>> summarize(learn(Dag({"rain": [], "sprinkler": [], "wet": ["rain", "sprinkler"]}), "wet"))
    'wet: causes rain, sprinkler.'
    """
    return f"{shown(part.target)}: {'; '.join(map(str, statements_on(part)))}."


def statements_on(part: Part) -> tuple[Statement, ...]:
    """Return what there is to say of a part, the answer to the question first and what it rests on last."""
    around = [_Neighbour.of(part, row) for row in part.rows() if part.target in (row["source"], row["target"])]
    told = [
        *_on_limits(part),
        *_on_arrows(part, around, "cause"),
        *_on_arrows(part, around, "effect"),
        *_on_open_ends(part, around),
        *_on_what_is_unknown(part, is_empty=not around),
    ]
    if part.edges and part.is_from_data:
        rest = assumptions(part.allows_hidden, part.settings.get("hidden"))
        told += [*_on_names(part), Statement("assumed", f"{_world(part)} {rest}")]
    return tuple(told)


def _world(part: Part) -> str:
    """Say what is thought of hidden causes."""
    if part.allows_hidden:
        return "marks show where common causes may be hidden; they assume"
    is_possible = part.settings.get("hidden") == "possible"
    return "common causes may be missing from the table, so few arrows are drawn; assumes" if is_possible else "assumes"


def _on_names(part: Part) -> Iterator[Statement]:
    """Tell the columns of the part that come first because of their names."""
    first = tuple(node for node, _ in part.knowledge.assumed if node in part.members)
    if first:
        yield Statement("first", "by name nothing in the table causes", first)


@attrs.frozen
class _Neighbour:
    """A neighbour of the target: what its edge says, and how often such an edge is right as it is drawn.

    ``given`` says what was known beforehand: the "edge", or only its "direction", perhaps by a "name"; then the share
    is that of the edge.
    """

    node: Node
    kind: str
    share: float | None
    given: str | None = None

    @staticmethod
    def of(part: Part, row: dict[str, Any]) -> _Neighbour:
        is_source = row["source"] != part.target
        node = row["source"] if is_source else row["target"]
        mark, edge, direction = row["mark"], row["probability"], row["direction"]
        share = None if edge is None or direction is None else edge * direction
        if mark == Mark.ARROW:
            given = _what_is_given(part, row)
            return _Neighbour(node, "cause" if is_source else "effect", edge if given else share, given)
        if mark == Mark.PARTIAL:
            return _Neighbour(node, "cause or hidden" if is_source else "effect or hidden", None)
        if mark == Mark.BIDIRECTED:
            return _Neighbour(node, "hidden", None)
        if mark == Mark.CONFLICT:
            return _Neighbour(node, "conflict", None)
        suggested = "perhaps a cause" if is_source else "perhaps an effect"
        return _Neighbour(node, suggested if row["suggested"] else "open", share)


def _on_arrows(part: Part, around: Iterable[_Neighbour], kind: str) -> Iterator[Statement]:
    """Tell causes or effects: the likely ones, those whose arrow is hardly supported, and those without a figure."""
    mine = [one for one in around if one.kind == kind]
    groups = (
        ("likely", "", lambda one: one.given is None and _is_likely(one)),
        ("likely", "direction", lambda one: one.given == "direction" and _is_likely(one)),
        ("likely", "name", lambda one: one.given == "name" and _is_likely(one)),
        ("given", "", lambda one: one.given == "edge"),
        ("by its tests," if part.is_from_data else "", "", lambda one: one.given is None and one.share is None),
        ("possible", "", lambda one: one.given is None and _is_possible(one)),
        ("possible", "direction", lambda one: one.given == "direction" and not _is_likely(one)),
        ("possible", "name", lambda one: one.given == "name" and not _is_likely(one)),
    )
    for words, given, belongs in groups:
        some = sorted(filter(belongs, mine), key=lambda one: -(one.share or 0.0))
        if some:
            noun = kind if len(some) == 1 else f"{kind}s"
            further = _BY.get(given, ("", ""))[len(some) > 1]
            remarks = tuple(_and(_percent(one.share), instead_of(part, part.target, one.node)) for one in some)
            yield Statement(kind, f"{words} {noun}{further}".strip(), tuple(one.node for one in some), remarks)


#: How a direction is said to be known beforehand, of one neighbour and of several.
_BY = {"direction": (" by a given direction:", " by given directions:"), "name": (" by its name:", " by their names:")}


def _is_likely(one: _Neighbour) -> bool:
    return one.share is not None and one.share >= PRECISE_DIRECTION


def _is_possible(one: _Neighbour) -> bool:
    return one.share is not None and one.share < PRECISE_DIRECTION


def _what_is_given(part: Part, row: dict[str, Any]) -> str | None:
    """Return whether an arrow was given beforehand, or its direction alone, or assumed by a name, or neither."""
    x, y = row["source"], row["target"]
    edge = adjacent.fact(x, y)
    findings = part.why(x, y).findings
    if not any(one.evidence.is_given for one in findings):
        return None
    told = [one for one in findings if not one.evidence.is_given]
    if not told:
        return "edge"
    if not all(one.fact == edge for one in told):
        return None
    is_named = part.knowledge.is_assumed(y, x)
    return "name" if is_named else "direction"


def _on_open_ends(part: Part, around: Iterable[_Neighbour]) -> Iterator[Statement]:
    """Tell the neighbours whose edge has no proved arrow at the target."""
    listed = list(around)
    for kind, words in (
        ("cause or hidden", "causes it or shares a hidden cause with it:"),
        ("effect or hidden", "is caused by it or shares a hidden cause with it:"),
        ("hidden", "shares a hidden common cause with"),
    ):
        found = tuple(one.node for one in listed if one.kind == kind)
        if found:
            yield Statement("hidden", words, found)
    maybe = [one for one in listed if one.kind.startswith("perhaps")]
    found = tuple(one.node for one in listed if one.kind == "open")
    if found or maybe:
        ties = {one.node: instead_of(part, part.target, one.node) for one in listed}
        remarks = (*map(ties.__getitem__, found), *(_and(_suggestion(one), ties[one.node]) for one in maybe))
        words = "open whether cause, effect or hidden cause:" if part.allows_hidden else "direction open:"
        yield Statement("open", words, (*found, *(one.node for one in maybe)), remarks)
    torn = tuple(one.node for one in listed if one.kind == "conflict")
    if torn:
        yield Statement("conflict", "findings contradict each other about", torn)


def _suggestion(one: _Neighbour) -> str:
    return ", ".join(filter(None, (one.kind, _percent(one.share))))


def _and(*remarks: str) -> str:
    return ", ".join(filter(None, remarks))


def instead_of(part: Part, node: Node, neighbour: Node) -> str:
    """Say which column would serve almost as well in the place of a neighbour; nothing if there is none."""
    others = part.alternatives.get((node, neighbour), {})
    return next((f"or {shown(other)}: {nats:.1g} nats apart" for other, nats in others.items()), "")


def _percent(share: float | None) -> str:
    """Return a probability in per cent, and never quite 0 or 100.

    >>> _percent(0.874), _percent(0.999), _percent(None)
    ('87 %', '99 %', '')
    """
    return "" if share is None else f"{min(99, max(1, round(100 * share)))} %"


def _on_limits(part: Part) -> Iterator[Statement]:
    if part.incomplete is not None:
        yield Statement("incomplete", f"incomplete, {part.incomplete}")


def _on_what_is_unknown(part: Part, *, is_empty: bool) -> Iterator[Statement]:
    """Tell why nothing was found, what was not tested, and what else the part has."""
    if is_empty:
        why = next((note.fields["why"] for note in part.notes if note.code == "empty"), None)
        yield Statement("empty", "no neighbour was found" if why is None else f"no neighbour was found: {why}")
    undecided = open_at(part, part.target)
    if undecided:
        words = "left open, since each depends on it whatever is given, too weakly for an edge:"
        yield Statement("undecided", words, tuple(undecided), tuple(undecided.values()))
    unknown = untested_at(part, part.target)
    if unknown:
        verb = "column could not be tested:" if len(unknown) == 1 else "columns could not be tested:"
        yield Statement("untested", f"{len(unknown):,} {verb}", unknown)
    aside = tuple(one.name for one in part.columns if one.kind == "set aside")
    if aside:
        verb = "column was set aside:" if len(aside) == 1 else "columns were set aside:"
        yield Statement("set aside", f"{len(aside):,} {verb}", aside)
    further = sum(part.distances[node] > 1 for node in part.members)
    if further:
        verb = "is" if further == 1 else "are"
        yield Statement("further", f"{count_of(further, 'further node')} {verb} up to {_farthest(part)} steps away")


def _farthest(part: Part) -> int:
    return max(part.distances[node] for node in part.members)


def open_at(part: Part, node: Node) -> dict[Node, str]:
    """Return the nodes whose pairs with a node are left open, by name, each with the p of the best set and more."""
    findings = {one.fact: one.evidence for one in part.findings if one.fact.relation == left_open.name}
    pairs = {other: left_open.fact(node, other) for other in part.nodes if other != node}
    held = in_order(other for other, fact in pairs.items() if fact in findings and part.mark(node, other) is Mark.OPEN)
    return {other: _figures_of(findings[pairs[other]]) for other in held}


def _figures_of(evidence: Evidence) -> str:
    told = [f"p = {verdict.p:.2g}" for verdict in evidence.verdicts if verdict.p is not None]
    return _and(*told, *(part for part in evidence.note.split("; ")[1:] if part.startswith("about")))


def untested_at(part: Part, node: Node) -> tuple[Node, ...]:
    """Return the nodes that could not be tested against a node, by name; duplicate columns are told elsewhere."""
    duplicates = {one for fact in part.store.facts(duplicate) for one in fact.nodes}
    pairs = (fact.nodes for fact in part.store.facts(untested) if node in fact.nodes)
    unknown = (pair for pair in pairs if gap.fact(*pair) not in part.store and adjacent.fact(*pair) not in part.store)
    return in_order(one for pair in unknown if duplicates.isdisjoint(pair) for one in pair if one != node)


_LEGEND = "──▶ points outwards   ◀── points inwards   ─── direction open   ─x─ conflict   ↺ drawn above"
_SUGGESTED = "─?▶ ◀?─ direction open, this one suggested"
_HIDDEN = """\
──▶ is a cause of   ◀─▶ shares a hidden common cause with   o─▶ is a cause of, or shares a hidden cause with
o─o open   ─x─ conflict   ↺ drawn above"""
_LEFT = {End.ARROW: "◀", End.TAIL: "─", End.CIRCLE: "o"}
_RIGHT = {End.ARROW: "▶", End.TAIL: "─", End.CIRCLE: "o"}


def draw(part: Part) -> str:
    """Draw every edge of a part once; a node met again is marked and not followed a second time."""
    tree = _Tree(part)
    tree.branch(part.target, "")
    legend = [_LEGEND, _SUGGESTED] if part.suggested else [_HIDDEN if part.allows_hidden else _LEGEND]
    return "\n".join([shown(part.target), *tree.lines, "", *legend])


class _Tree:
    """The lines of a drawing while it grows."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._drawn: set[frozenset[Node]] = set()
        self._met: set[Node] = {part.target}
        self.lines: list[str] = []

    def _distance(self, node: Node) -> int:
        return self._part.distances[node]

    def branch(self, node: Node, margin: str) -> None:
        """Draw the edges from a node that are not drawn yet, nearest nodes first."""
        ahead = [other for other in self._part.neighbours_of(node) if frozenset((node, other)) not in self._drawn]
        ahead.sort(key=lambda other: (self._distance(other), order_key(other)))
        mine = [other for other in ahead if self._belongs(node, other)]
        self._drawn.update(frozenset((node, other)) for other in mine)
        first_met = [other not in self._met for other in mine]
        self._met.update(mine)
        for other, new in zip(mine, first_met, strict=True):
            last = other == mine[-1]
            again = "" if new else " ↺"
            tie = instead_of(self._part, node, other)
            words = f"{shown(other)} ({tie})" if tie else shown(other)
            self.lines.append(f"{margin}{'└' if last else '├'}{self._edge(node, other)} {words}{again}")
            if new:
                self.branch(other, margin + ("     " if last else "│    "))

    def _belongs(self, node: Node, other: Node) -> bool:
        """Leave an edge between two nodes of one layer to whichever is drawn first, others to the nearer node."""
        return self._distance(node) <= self._distance(other)

    def _edge(self, node: Node, other: Node) -> str:
        if self._part.mark(node, other) is Mark.CONFLICT:
            return "─x─"
        if self._part.allows_hidden:
            return f"{_LEFT[self._part.end(node, other)]}─{_RIGHT[self._part.end(other, node)]}"
        if (node, other) in self._part.suggested:
            return "─?▶"
        if (other, node) in self._part.suggested:
            return "◀?─"
        if (node, other) in self._part.arrows:
            return "──▶"
        return "◀──" if (other, node) in self._part.arrows else "───"

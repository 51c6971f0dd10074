"""What there is to say of a part: statements with the nodes that they are about, the answer first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, TypeAlias

import attrs

from apsl_rules.data import DROPPED
from apsl_rules.evidence import OPINION, SHAPES, Evidence
from apsl_rules.names import Node, count_of, in_order, order_key, shown
from apsl_rules.notes import assumptions
from apsl_rules.parts.part import Part
from apsl_rules.parts.probability import PRECISE_DIRECTION
from apsl_rules.rules import Mark, adjacent, duplicate, gap, left_open, untested

_NAMED = 8  # so many names are spelt out

#: What a direction rests on: what was given, a person's opinion, the name of a column, shapes of columns, or tests.
Basis: TypeAlias = Literal["edge", "given", "opinion", "name", "shapes", "tests"]
#: The kinds of statements that answer the question.
ANSWERING = frozenset({"cause", "effect", "hidden", "open", "conflict", "empty"})


@attrs.frozen
class Statement:
    """One thing to say: its words, the nodes that they are about, a remark on some of them, and words that end it.

    ``kind`` names what it is about: "cause", "effect", "hidden", "open", "conflict", "empty", "advice", "basis",
    "incomplete", "undecided", "untested", "set aside", "left out", "further", "first" or "assumed".
    """

    kind: str
    words: str
    nodes: tuple[Node, ...] = ()
    remarks: tuple[str, ...] = ()
    end: str = ""

    def __str__(self) -> str:
        named = [
            shown(node) + (f" ({remark})" if remark else "")
            for node, remark in zip(self.nodes, self.remarks or [""] * len(self.nodes), strict=True)
        ]
        rest = [f"{len(named) - _NAMED:,} more"] if len(named) > _NAMED else []
        listed = ", ".join(named[:_NAMED]) + "".join(f" and {one}" for one in rest)
        return f"{self.words} {listed}".rstrip() + self.end


def statements_on(part: Part) -> tuple[Statement, ...]:
    """Return what there is to say of a part: the answer, what its directions rest on, and what else there is."""
    around = [_Neighbour.of(part, row) for row in part.rows() if part.target in (row["source"], row["target"])]
    told = [
        *_on_limits(part),
        *_on_arrows(part, around, "cause"),
        *_on_arrows(part, around, "effect"),
        *_on_open_ends(part, around),
        *_on_nothing(part, is_empty=not around),
        *_on_bases(around),
        *_on_what_is_unknown(part),
    ]
    if part.edges and part.is_from_data:
        rest = assumptions(part.allows_hidden, part.settings)
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
    """A neighbour of the target: what its edge says, how often such an edge is right as it is drawn, and by what.

    Where the direction was known beforehand, the share is that of the edge.
    """

    node: Node
    kind: str
    share: float | None
    basis: Basis | None = None

    @staticmethod
    def of(part: Part, row: dict[str, Any]) -> _Neighbour:
        is_source = row["source"] != part.target
        node = row["source"] if is_source else row["target"]
        mark, edge, direction = row["mark"], row["probability"], row["direction"]
        share = None if edge is None or direction is None else edge * direction
        if mark == Mark.ARROW:
            basis = _basis_of(part, row)
            known = edge if basis in ("given", "name") else share
            return _Neighbour(node, "cause" if is_source else "effect", known, basis)
        if mark == Mark.PARTIAL:
            return _Neighbour(node, "cause or hidden" if is_source else "effect or hidden", edge)
        if mark == Mark.BIDIRECTED:
            return _Neighbour(node, "hidden", edge)
        if mark == Mark.CONFLICT:
            return _Neighbour(node, "conflict", None)
        suggested = "perhaps a cause" if is_source else "perhaps an effect"
        return _Neighbour(node, suggested, share) if row["suggested"] else _Neighbour(node, "open", edge)

    @property
    def is_likely(self) -> bool:
        return self.share is not None and self.share >= PRECISE_DIRECTION


def basis_of(part: Part, x: Node, y: Node) -> Basis:
    """Return what the direction of an arrow rests on."""
    return _basis_of(part, {"source": x, "target": y})


def _basis_of(part: Part, row: dict[str, Any]) -> Basis:
    x, y = row["source"], row["target"]
    findings = part.why(x, y).findings
    told = [one for one in findings if not one.evidence.is_given]
    if len(told) < len(findings):
        if not told:
            return "edge"
        if all(one.fact == adjacent.fact(x, y) for one in told):
            return "name" if part.knowledge.is_assumed(y, x) else "given"
    sources = {one.evidence.source for one in told}
    return "opinion" if OPINION in sources else "shapes" if SHAPES in sources else "tests"


#: How arrows at the target are told, by whether the neighbour is a cause or an effect.
_VERBS = {"cause": "caused by", "effect": "a cause of"}


def _on_arrows(part: Part, around: Iterable[_Neighbour], kind: str) -> Iterator[Statement]:
    """Tell causes or effects: the sure and the likely ones, those by tests alone, and the hardly supported ones."""
    mine = [one for one in around if one.kind == kind]
    groups: tuple[tuple[str, Callable[[_Neighbour], bool]], ...] = (
        ("", lambda one: one.basis == "edge" or (one.share is None and not part.is_from_data)),
        ("likely ", lambda one: one.basis != "edge" and one.is_likely),
        ("by tests alone ", lambda one: one.basis != "edge" and one.share is None and part.is_from_data),
        ("perhaps ", lambda one: one.basis != "edge" and one.share is not None and not one.is_likely),
    )
    for how, belongs in groups:
        some = sorted(filter(belongs, mine), key=lambda one: (-(one.share or 0.0), order_key(one.node)))
        if some:
            remarks = tuple(
                _and("given" if one.basis == "edge" else _percent(one.share), instead_of(part, part.target, one.node))
                for one in some
            )
            yield Statement(kind, how + _VERBS[kind], tuple(one.node for one in some), remarks)


#: What a direction rests on, said of one neighbour and of several.
_RESTS = {
    "name": ("its name", "their names"),
    "given": ("what was given", "what was given"),
    "opinion": ("an opinion", "opinions"),
    "shapes": ("the shapes of columns", "the shapes of columns"),
}


def _on_bases(around: Iterable[_Neighbour]) -> Iterator[Statement]:
    """Tell what the directions at the target rest on, where that is something other than tests."""
    listed = list(around)
    for basis, words in _RESTS.items():
        some = in_order(one.node for one in listed if one.basis == basis)
        if some:
            verb, noun = ("is", "direction") if len(some) == 1 else ("are", "directions")
            yield Statement("basis", f"the {noun} of", some, end=f" {verb} assumed from {words[len(some) > 1]}")


def _on_open_ends(part: Part, around: Iterable[_Neighbour]) -> Iterator[Statement]:
    """Tell the neighbours whose edge has no proved arrow at the target."""
    listed = list(around)
    for kind, words in (
        ("cause or hidden", "caused by, or sharing a hidden cause with,"),
        ("effect or hidden", "a cause of, or sharing a hidden cause with,"),
        ("hidden", "sharing a hidden cause with"),
    ):
        found = [one for one in listed if one.kind == kind]
        if found:
            remarks = tuple(_percent(one.share) for one in found)
            yield Statement("hidden", words, tuple(one.node for one in found), remarks)
    maybe = [one for one in listed if one.kind.startswith("perhaps")]
    plain = sorted(
        (one for one in listed if one.kind == "open"), key=lambda one: (-(one.share or 0.0), order_key(one.node))
    )
    if plain or maybe:
        ties = {one.node: instead_of(part, part.target, one.node) for one in listed}
        remarks = (
            *(_and(_percent(one.share), ties[one.node]) for one in plain),
            *(_and(_suggestion(one), ties[one.node]) for one in maybe),
        )
        end = ", as cause, effect or by a hidden cause" if part.allows_hidden else ", direction open"
        yield Statement("open", "linked with", tuple(one.node for one in (*plain, *maybe)), remarks, end)
    torn = tuple(one.node for one in listed if one.kind == "conflict")
    if torn:
        yield Statement("conflict", "with contradictory findings about", torn)


def _suggestion(one: _Neighbour) -> str:
    return ", ".join(filter(None, (one.kind, _percent(one.share))))


def _and(*remarks: str) -> str:
    return ", ".join(filter(None, remarks))


def instead_of(part: Part, node: Node, neighbour: Node) -> str:
    """Say which column would serve almost as well in the place of a neighbour; nothing if there is none."""
    others = part.alternatives.get((node, neighbour), {})
    return next((f"or {shown(other)}, almost as good" for other in others), "")


def _percent(share: float | None) -> str:
    """Return a probability in per cent, and never quite 0 or 100.

    >>> _percent(0.874), _percent(0.999), _percent(None)
    ('87 %', '99 %', '')
    """
    return "" if share is None else f"{min(99, max(1, round(100 * share)))} %"


def _on_limits(part: Part) -> Iterator[Statement]:
    if part.incomplete is not None:
        yield Statement("incomplete", f"incomplete: {part.incomplete}")


def _on_nothing(part: Part, *, is_empty: bool) -> Iterator[Statement]:
    """Tell why no neighbour was found, and which columns come nearest."""
    if not is_empty:
        return
    note = next((note for note in part.notes if note.code == "empty"), None)
    if note is None:
        yield Statement("empty", "no column is kept")
        return
    yield Statement("empty", f"no column is kept: {note.fields['why']}")
    nearest = note.fields.get("nearest", ())
    if nearest:
        remarks = tuple(f"p = {p:.2g}" for p in note.fields["p"])
        yield Statement("empty", "nearest:", tuple(nearest), remarks)
    if "advice" in note.fields:
        yield Statement("advice", note.fields["advice"])


def _on_what_is_unknown(part: Part) -> Iterator[Statement]:
    """Tell what was left open, what was not tested, what was set aside, and what else the part has."""
    for is_near, why in (
        (False, "each depends on it whatever is given, too weakly for an edge"),
        (True, "graphs that are nearly as good disagree"),
    ):
        undecided = open_at(part, part.target, near=is_near)
        if undecided:
            yield Statement("undecided", f"left open, since {why}:", tuple(undecided), tuple(undecided.values()))
    unknown = untested_at(part, part.target)
    if unknown:
        verb = "column could not be tested:" if len(unknown) == 1 else "columns could not be tested:"
        yield Statement("untested", f"{len(unknown):,} {verb}", unknown)
    aside = [one for one in part.columns if one.kind == "set aside"]
    for kind, words, is_asked in (("set aside", "set aside", False), ("left out", "left out as asked", True)):
        some = tuple(one.name for one in aside if (one.detail == DROPPED) is is_asked)
        if some:
            yield Statement(
                kind, f"{count_of(len(some), 'column')} {'was' if len(some) == 1 else 'were'} {words}:", some
            )
    further = sum(part.distances[node] > 1 for node in part.members)
    if further:
        verb = "is" if further == 1 else "are"
        yield Statement("further", f"{count_of(further, 'further node')} {verb} up to {_farthest(part)} steps away")


def _farthest(part: Part) -> int:
    return max(part.distances[node] for node in part.members)


def open_at(part: Part, node: Node, *, near: bool) -> dict[Node, str]:
    """Return the nodes whose pairs with a node are left open, by name, each with its figures.

    They are so since a graph ``near`` the best one answers otherwise, or since no set separates the two.
    """
    told = (one for one in part.findings if one.fact.relation == left_open.name)
    findings = {one.fact: one.evidence for one in told if (one.evidence.nats is not None) == near}
    pairs = {other: left_open.fact(node, other) for other in part.nodes if other != node}
    held = in_order(other for other, fact in pairs.items() if fact in findings and part.mark(node, other) is Mark.OPEN)
    return {other: _figures_of(findings[pairs[other]]) for other in held}


def _figures_of(evidence: Evidence) -> str:
    if evidence.nats is not None:
        return f"{evidence.nats:.2g} nats"
    told = [f"p = {verdict.p:.2g}" for verdict in evidence.verdicts if verdict.p is not None]
    return _and(*told, *(part for part in evidence.note.split("; ")[1:] if part.startswith("about")))


def untested_at(part: Part, node: Node) -> tuple[Node, ...]:
    """Return the nodes that could not be tested against a node, by name; duplicate columns are told elsewhere."""
    duplicates = {one for fact in part.store.facts(duplicate) for one in fact.nodes}
    pairs = (fact.nodes for fact in part.store.facts(untested) if node in fact.nodes)
    unknown = (pair for pair in pairs if gap.fact(*pair) not in part.store and adjacent.fact(*pair) not in part.store)
    return in_order(one for pair in unknown if duplicates.isdisjoint(pair) for one in pair if one != node)

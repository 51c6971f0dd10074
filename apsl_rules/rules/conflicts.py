"""Conflicts: what facts cannot hold together.

An edge that is a gap too, opposite arrows, a directed cycle, and an arrowhead at a cause are contradictions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, TypeAlias

import attrs

from apsl_rules.cycles import cyclic_groups, shortest_path
from apsl_rules.evidence import evidence_strength
from apsl_rules.names import Node, shown
from apsl_rules.rules.engine import Extension, MarkStore
from apsl_rules.rules.log import Numbers, Table, Told
from apsl_rules.rules.proof import Proof, proof_at
from apsl_rules.rules.vocabulary import Fact, Finding, adjacent, arrow, gap, head
from apsl_rules.showing import NotebookView

if TYPE_CHECKING:
    from apsl_rules.parts.doubt import Repair

Blocking: TypeAlias = Literal["quarantine", "given", "strongest"]
Kind: TypeAlias = Literal["opposed", "cycle", "edge", "cause", "untested"]

_KINDS: dict[Kind, str] = {
    "opposed": "findings give both directions",
    "cycle": "the arrow closes a directed cycle",
    "edge": "found adjacent and found apart",
    "cause": "one is found to be a cause of the other and to be none",
    "untested": "findings give two arrowheads, but no test shows a collider at each",
}


class Outcome(StrEnum):
    """What became of a contradiction."""

    KEPT = "kept"  #: one side holds
    DROPPED = "dropped"  #: the weakest sides do not hold, the others do
    NO_ARROW = "no arrow"  #: no side holds
    LEFT_OUT = "left out"  #: a finding was not taken up
    NO_ARROWHEAD = "no arrowhead"  #: an arrowhead that no test shows is not drawn
    STANDING = "standing"  #: all sides hold, as a published algorithm leaves them


@attrs.frozen(repr=False)
class Conflict(NotebookView):
    """A contradiction on a pair: its kind, what was done about it, and the proofs of all sides.

    Attributes
    ----------
    pair
        The two nodes.
    kind
        What contradicts what: "opposed", "cycle", "edge", "cause" or "untested".
    outcome
        What was done about it.
    proofs
        The proofs of all sides.
    kept, dropped
        The facts that it is about which hold, and those which do not; each is a step of the proofs.
    """

    pair: tuple[Node, Node]
    kind: Kind
    outcome: Outcome
    proofs: tuple[Proof, ...]
    kept: tuple[Fact, ...] = ()
    dropped: tuple[Fact, ...] = ()

    def __str__(self) -> str:
        return f"{shown(self.pair[0])} and {shown(self.pair[1])}: {self.reading}"

    def __repr__(self) -> str:
        return f"<Conflict of {self}>"

    @property
    def reading(self) -> str:
        """Return what contradicts what, and what was done about it, in words."""
        return f"{_KINDS[self.kind]}; {self.decision}"

    @property
    def decision(self) -> str:
        """Return what was done about it, in words."""
        kept, dropped = (", ".join(map(self._text, facts)) for facts in (self.kept, self.dropped))
        match self.outcome:
            case Outcome.KEPT:
                return f"kept {kept}"
            case Outcome.DROPPED:
                return f"dropped {dropped}"
            case Outcome.LEFT_OUT:
                return f"left out that {dropped}"
            case Outcome.NO_ARROWHEAD:
                other = "the one at the other end stays" if self.kept else "nor at the other end"
                return f"no arrowhead is drawn for {dropped}, {other}"
            case Outcome.NO_ARROW:
                return "no arrow is drawn"
            case Outcome.STANDING:
                return "left as it is"

    def _text(self, fact: Fact) -> str:
        """Say a fact in words, as the proofs do."""
        if self.kind == "edge" and self.outcome is Outcome.KEPT:
            return "the edge" if fact.relation == adjacent.name else "the gap"
        return next(step.text for proof in self.proofs for step in proof.steps if step.fact == fact)

    def repairs(self, findings: Iterable[Finding] = ()) -> tuple[Repair, ...]:
        """Return the least sets of findings without which the contradiction would not arise, the most doubtful first.

        The findings of its own proofs are looked at; with ``findings``, such as ``part.findings``, all other ways to
        prove its sides are too.
        """
        from apsl_rules.parts.doubt import repairs_of

        return repairs_of(self, findings)


# --- what contradicts what -------------------------------------------------------------------------------------------


def reached(start: Iterable[int], onward: Table) -> set[int]:
    """Return some nodes and all that steps lead to from them."""
    seen = set(start)
    ahead = list(seen)
    while ahead:
        fresh = [node for node in onward.get(ahead.pop(), ()) if node not in seen]
        seen.update(fresh)
        ahead += fresh
    return seen


@attrs.frozen
class Contradiction:
    """Facts of a store that cannot all hold."""

    store: MarkStore
    kind: Kind
    sides: tuple[Told, ...]

    def losers(self, policy: Blocking) -> set[Told]:
        """Return the facts to block: all marks on the contradicted pairs, those not given, or the weakest side only."""
        marks = _marks(self.sides)
        if policy == "quarantine":
            return marks
        if policy == "given":
            return self._set_aside({side for side in self.sides if self._strength(side)[1]})
        strengths = {side: self._strength(side) for side in self.sides}
        weakest = min(strengths.values())
        losers = {side for side, strength in strengths.items() if strength == weakest}
        if self.kind == "cause":  # an arrow falls with its arrowhead
            return losers | {(arrow.name, numbers[::-1]) for relation, numbers in losers if relation == head.name}
        if self.kind != "edge":
            return losers
        if len(losers) > 1:  # neither an edge nor a gap is the better told
            return marks
        return losers | marks if (adjacent.name, self.sides[0][1]) in losers else losers

    def _set_aside(self, given: Collection[Told]) -> set[Told]:
        """Return the facts to block where some sides were given: the other sides, and all marks on their pairs."""
        others = [side for side in self.sides if side not in given]
        if not given or not others:
            return _marks(self.sides)
        if self.kind == "edge":
            return {others[0]} | (_marks(others) if others[0][0] == adjacent.name else set())
        return _marks(others).difference(given)

    def _strength(self, side: Told) -> tuple[float, bool]:
        """Rank a side by its weakest finding, and what was given above all else.

        The edge that an arrow lies on is not in question between arrows, so its own finding does not count.
        """
        proof = self._proof(side)
        deciding = [one for one in proof.findings if one.fact != adjacent.fact(*proof.fact.nodes)] or proof.findings
        return min(evidence_strength(one.evidence) for one in deciding), all(one.evidence.is_given for one in deciding)

    def _proof(self, side: Told) -> Proof:
        relation, numbers = side
        return proof_at(self.store, self.store.log.held[relation][numbers])

    def _facts(self, sides: Iterable[Told]) -> tuple[Fact, ...]:
        return tuple(Fact(relation, self.store.log.names.nodes(numbers)) for relation, numbers in sides)

    def report(self, losers: Collection[Told]) -> list[Conflict]:
        """Return a conflict for each pair concerned, with the proof of each side."""
        if self.kind == "cycle":
            return [self._report_arrow(side, losers) for side in self.sides]
        kept, dropped = ([one for one in self.sides if (one in losers) is lost] for lost in (False, True))
        outcome = Outcome.KEPT if len(kept) == 1 else Outcome.NO_ARROW
        if self.kind == "cause" and kept and dropped:
            outcome = Outcome.DROPPED
        proofs = tuple(map(self._proof, self.sides))
        pairs = dict.fromkeys((min(numbers), max(numbers)) for _, numbers in self.sides)
        return [self._conflict(pair, outcome, proofs, kept, dropped) for pair in pairs]

    def _report_arrow(self, side: Told, losers: Collection[Told]) -> Conflict:
        """Report an arrow of a cycle, with the proofs of the way back."""
        _, (tail, end) = side
        back = shortest_path(end, tail, [numbers for _, numbers in self.sides])
        proofs = tuple(self._proof(one) for one in (side, *((arrow.name, step) for step in back)))
        outcome, sides = (Outcome.NO_ARROW, ((), (side,))) if side in losers else (Outcome.KEPT, ((side,), ()))
        return self._conflict((min(tail, end), max(tail, end)), outcome, proofs, *sides)

    def _conflict(
        self, pair: Numbers, outcome: Outcome, proofs: tuple[Proof, ...], kept: Iterable[Told], dropped: Iterable[Told]
    ) -> Conflict:
        x, y = self.store.log.names.nodes(pair)
        return Conflict((x, y), self.kind, outcome, proofs, self._facts(kept), self._facts(dropped))


def _marks(sides: Iterable[Told]) -> set[Told]:
    """Return all marks on the pairs of some sides."""
    pairs = [pair for _, numbers in sides for pair in (numbers, numbers[::-1])]
    return {(relation.name, pair) for relation in (arrow, head) for pair in pairs}


def torn_edges(store: MarkStore) -> list[Contradiction]:
    """Return the edges that are gaps too, by name."""
    torn = [one for one in store.rows(adjacent) if store.holds(gap.name, one)]
    return [Contradiction(store, "edge", ((adjacent.name, one), (gap.name, one))) for one in sorted(torn)]


def closed_cycles(store: MarkStore, arrows: Collection[Numbers]) -> list[Contradiction]:
    """Return the groups of arrows that form directed cycles."""
    groups = cyclic_groups(arrows)
    sides = ((tuple((arrow.name, one) for one in arrows if group.issuperset(one))) for group in groups)
    return [Contradiction(store, "cycle", one) for one in sides]


def shallowest(extension: Extension, torn: Collection[Numbers] = ()) -> list[Contradiction]:
    """Return the contradictions with the shallowest proofs, all of one depth and kind together."""
    store = extension.store
    if edges := [one for one in torn_edges(store) if one.sides[0][1] not in torn]:
        return edges
    arrows, heads = (_depths(extension, relation.name, store.rows(relation)) for relation in (arrow, head))
    find = heads_at_causes if heads else _opposed_or_cyclic
    for depth in sorted({*arrows.values(), *heads.values()}) if find(store, [*arrows], [*heads]) else ():
        if found := find(store, *([one for one, deep in marks.items() if deep <= depth] for marks in (arrows, heads))):
            return found
    return []


def _depths(extension: Extension, relation: str, rows: Iterable[Numbers]) -> dict[Numbers, int]:
    """Return the depths of facts, by name."""
    places = extension.store.log.held[relation] if rows else {}
    return {numbers: extension.depth(places[numbers]) for numbers in sorted(rows)}


def _opposed_or_cyclic(store: MarkStore, arrows: Sequence[Numbers], heads: Sequence[Numbers]) -> list[Contradiction]:
    del heads
    known = set(arrows)
    opposed = [(x, y) for x, y in arrows if x < y and (y, x) in known]
    if not opposed:
        return closed_cycles(store, arrows)
    return [Contradiction(store, "opposed", ((arrow.name, (x, y)), (arrow.name, (y, x)))) for x, y in opposed]


def heads_at_causes(store: MarkStore, arrows: Sequence[Numbers], heads: Sequence[Numbers]) -> list[Contradiction]:
    """Return the arrowheads (x, y), at x, from which arrows lead to y, each with a shortest path of such arrows."""
    onward: Table = {}
    for tail, end in arrows:
        onward.setdefault(tail, []).append(end)
    effects = {x: reached(onward[x], onward) for x in {x for x, _ in heads} & onward.keys()}
    return [
        Contradiction(
            store, "cause", ((head.name, (x, y)), *((arrow.name, step) for step in shortest_path(x, y, arrows)))
        )
        for x, y in heads
        if y in effects.get(x, ())
    ]

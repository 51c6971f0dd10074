"""What facts cannot hold together: opposite arrows, cycles, marks that exclude each other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from typing import Literal, TypeAlias

import attrs

from apsl_rules.evidence import evidence_strength
from apsl_rules.names import Node, Pair, in_order, order_key, shown
from apsl_rules.notebook_view import NotebookView
from apsl_rules.rules.engine import Extension
from apsl_rules.rules.proof import Proof, proof_of
from apsl_rules.rules.repairs import Repair, find_repairs
from apsl_rules.rules.rulebooks import KNOWING, PAG, knowing
from apsl_rules.rules.store import Journal, LookUp, MarkStore
from apsl_rules.rules.vocabulary import Fact, Finding, Nodes, adjacent, arrow, fact_key, gap, head


def _ends(arrows: Iterable[Nodes]) -> dict[Node, list[Node]]:
    onward: dict[Node, list[Node]] = {}
    for tail, end in arrows:
        onward.setdefault(tail, []).append(end)
    return onward


def cyclic_groups(arrows: Iterable[Nodes]) -> list[frozenset[Node]]:
    """Return the strongly connected groups of two or more nodes, by the name of their first node.

    >>> cyclic_groups([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]) == [frozenset("abc")]
    True
    """
    onward = _ends(arrows)
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    on_stack: set[Node] = set()
    groups: list[frozenset[Node]] = []
    for root in onward:
        work = [(root, iter(onward.get(root, ())))] if root not in index else []
        while work:
            node, ends = work[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
            for end in ends:
                if end not in index:
                    work.append((end, iter(onward.get(end, ()))))
                    break
                if end in on_stack:
                    low[node] = min(low[node], index[end])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == index[node]:
                    cut = stack.index(node)
                    group = frozenset(stack[cut:])
                    del stack[cut:]
                    on_stack -= group
                    if len(group) > 1:
                        groups.append(group)
    return sorted(groups, key=lambda group: order_key(in_order(group)[0]))


def shortest_path(start: Node, goal: Node, arrows: Iterable[Nodes]) -> tuple[tuple[Node, Node], ...]:
    """Return the arrows of a shortest directed path from start to goal, or nothing when there is none."""
    onward = _ends(sorted(arrows, key=lambda nodes: tuple(order_key(node) for node in nodes)))
    came_from: dict[Node, Node] = {}
    layer = [start]
    while layer and goal not in came_from:
        ahead = []
        for tail in layer:
            for end in onward.get(tail, ()):
                if end not in came_from and end != start:
                    came_from[end] = tail
                    ahead.append(end)
        layer = ahead
    steps: list[tuple[Node, Node]] = []
    while goal != start:
        if goal not in came_from:
            return ()
        steps.append((came_from[goal], goal))
        goal = came_from[goal]
    return tuple(reversed(steps))


class Outcome(StrEnum):
    """What became of a contradiction."""

    KEPT = "kept"  #: one side holds
    DROPPED = "dropped"  #: the weakest sides do not hold, the others do
    NO_ARROW = "no arrow"  #: no side holds
    LEFT_OUT = "left out"  #: a finding was not taken up
    NO_ARROWHEAD = "no arrowhead"  #: an arrowhead that no test shows is not drawn
    STANDING = "standing"  #: all sides hold, as a published algorithm leaves them


Kind: TypeAlias = Literal["opposed", "cycle", "edge", "cause", "untested"]

#: What says whether two nodes are adjacent.
_TORN = (adjacent.name, gap.name)

_KINDS: dict[Kind, str] = {
    "opposed": "both directions are proved",
    "cycle": "the arrow closes a directed cycle",
    "edge": "found adjacent and found apart",
    "cause": "one is proved to be a cause of the other and to be none",
    "untested": "two arrowheads are proved, but no test shows a collider at each",
}


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
        own = (finding for proof in self.proofs for finding in proof.findings)
        has_heads = any(step.fact.relation == head.name for proof in self.proofs for step in proof.steps)
        rulebook = knowing(PAG) if has_heads else KNOWING
        return find_repairs([proof.fact for proof in self.proofs], (*own, *findings), rulebook)


def is_consistent(store: MarkStore) -> bool:
    """Return whether a store holds no opposed arrows, no directed cycle and no edge that is also a gap.

    With marks at both ends, no arrowhead is at a node that arrows lead from to the other end.
    """
    if any(store.relates(gap, *fact.nodes) for fact in store.facts(adjacent)):
        return False
    arrows = [fact.nodes for fact in store.facts(arrow)]
    return not cyclic_groups(arrows) and not _heads_at_causes([fact.nodes for fact in store.facts(head)], arrows)


def tears(journal: Journal, fresh: Sequence[Fact]) -> bool:
    """Return whether new facts make what a journal holds inconsistent; without them it is consistent.

    Only nodes from which new arrows lead on, and those with new arrowheads, can have become causes that are none.
    """
    edges, gaps = journal.readings[adjacent.name], journal.readings[gap.name]
    tails: list[Node] = []
    headed: list[Node] = []
    for relation, nodes in fresh:
        if relation in _TORN and nodes in edges and nodes in gaps:
            return True
        if relation == arrow.name:
            tails.append(nodes[0])
        elif relation == head.name:
            headed.append(nodes[0])
    if not tails and not headed:
        return False
    onward, back = (journal.look_up(arrow.name, (at,)) for at in (0, 1))
    heads: LookUp = journal.look_up(head.name, (0,)) if head.name in journal.relations else {}
    for node in _reached(tails, back).union(headed):
        if (node,) in onward:
            effects = _reached([one for (one,) in onward[node,]], onward)
            if node in effects or any(other in effects for (other,) in heads.get((node,), ())):
                return True
    return False


def _reached(start: Iterable[Node], onward: LookUp) -> set[Node]:
    """Return some nodes and all that steps lead to from them."""
    seen = set(start)
    ahead = list(seen)
    while ahead:
        fresh = [node for (node,) in onward.get((ahead.pop(),), ()) if node not in seen]
        seen.update(fresh)
        ahead += fresh
    return seen


def left_standing(store: MarkStore) -> tuple[Conflict, ...]:
    """Return the directed cycles and torn edges that an order-dependent run left as they are."""
    torn = [
        Contradiction("edge", (fact, gap.fact(*fact.nodes)))
        for fact in sorted(store.facts(adjacent), key=fact_key)
        if gap.fact(*fact.nodes) in store
    ]
    arrows = sorted(store.facts(arrow), key=fact_key)
    groups = cyclic_groups([fact.nodes for fact in arrows])
    cycles = [
        Contradiction("cycle", tuple(fact for fact in arrows if group.issuperset(fact.nodes))) for group in groups
    ]
    reports = [report for one in (*torn, *cycles) for report in one.report(store, ())]
    return tuple(attrs.evolve(one, outcome=Outcome.STANDING, dropped=()) for one in reports)


def marks_on(nodes: Iterable[Node]) -> set[Fact]:
    """Return every mark that the ends of an edge can have."""
    x, y = nodes
    return {Fact(relation.name, pair) for relation in (arrow, head) for pair in ((x, y), (y, x))}


@attrs.frozen
class Contradiction:
    """Facts that cannot all hold."""

    kind: Kind
    sides: tuple[Fact, ...]

    def losers(self, store: MarkStore, policy: Literal["quarantine", "strongest"]) -> set[Fact]:
        """Return the facts to block: all marks on the contradicted pairs, or the weakest side only."""
        marks = {mark for side in self.sides for mark in marks_on(side.nodes)}
        if policy == "quarantine":
            return marks
        strengths = {side: _strength(store, side) for side in self.sides}
        weakest = min(strengths.values())
        losers = {side for side, strength in strengths.items() if strength == weakest}
        if self.kind == "cause":  # an arrow falls with its arrowhead
            return losers | {Fact(arrow.name, one.nodes[::-1]) for one in losers if one.relation == head.name}
        if self.kind != "edge":
            return losers
        if len(losers) > 1:  # neither an edge nor a gap is the better told
            return marks
        return losers | marks if adjacent.fact(*self.sides[0].nodes) in losers else losers

    def report(self, store: MarkStore, losers: Collection[Fact]) -> list[Conflict]:
        """Return a conflict for each pair concerned, with the proof of each side."""
        if self.kind == "cycle":
            return self._report_cycle(store, losers)
        kept = tuple(side for side in self.sides if side not in losers)
        dropped = tuple(side for side in self.sides if side in losers)
        outcome = Outcome.KEPT if len(kept) == 1 else Outcome.NO_ARROW
        if self.kind == "cause" and kept and dropped:
            outcome = Outcome.DROPPED
        proofs = tuple(proof_of(store, side) for side in self.sides)
        pairs = dict.fromkeys(in_order(side.nodes) for side in self.sides)
        return [Conflict((x, y), self.kind, outcome, proofs, kept, dropped) for x, y in pairs]

    def _report_cycle(self, store: MarkStore, losers: Collection[Fact]) -> list[Conflict]:
        reports = []
        for side in self.sides:
            tail, end = side.nodes
            back = [Fact(arrow.name, step) for step in shortest_path(end, tail, [one.nodes for one in self.sides])]
            proofs = tuple(proof_of(store, one) for one in (side, *back))
            is_lost = side in losers
            outcome = Outcome.NO_ARROW if is_lost else Outcome.KEPT
            kept, dropped = ((), (side,)) if is_lost else ((side,), ())
            x, y = in_order(side.nodes)
            reports.append(Conflict((x, y), "cycle", outcome, proofs, kept, dropped))
        return reports


def _strength(store: MarkStore, side: Fact) -> tuple[float, bool]:
    """Rank a side by its weakest finding, and what was given above all else.

    The edge that an arrow lies on is not in question between arrows, so its own finding does not count.
    """
    findings = proof_of(store, side).findings
    deciding = [one for one in findings if one.fact != adjacent.fact(*side.nodes)] or findings
    return min(evidence_strength(one.evidence) for one in deciding), all(one.evidence.is_given for one in deciding)


def shallowest(extension: Extension, torn: Collection[Pair] = ()) -> list[Contradiction]:
    """Return the contradictions with the shallowest proofs, all of one depth and kind together."""
    store, depths = extension.store, extension.depths()
    edges = [
        Contradiction("edge", (fact, gap.fact(*fact.nodes)))
        for fact in store.facts(adjacent)
        if gap.fact(*fact.nodes) in store and frozenset(fact.nodes) not in torn
    ]
    if edges:
        return sorted(edges, key=lambda one: fact_key(one.sides[0]))
    arrows = sorted(store.facts(arrow), key=fact_key)
    heads = sorted(store.facts(head), key=fact_key)
    if heads:
        for depth in sorted({depths.get(fact, 0) for fact in (*arrows, *heads)}):
            ends, directed = ([one.nodes for one in facts if depths.get(one, 0) <= depth] for facts in (heads, arrows))
            found = _heads_at_causes(ends, directed)
            if found:
                return [Contradiction("cause", _sides(nodes, directed)) for nodes in found]
        return []
    return _opposed_or_cyclic(store, arrows, depths)


def _opposed_or_cyclic(store: MarkStore, arrows: list[Fact], depths: dict[Fact, int]) -> list[Contradiction]:
    opposed: dict[int, list[Contradiction]] = {}
    for fact in arrows:
        against = Fact(arrow.name, fact.nodes[::-1])
        if against in store and fact_key(fact) < fact_key(against):
            depth = max(depths.get(fact, 0), depths.get(against, 0))
            opposed.setdefault(depth, []).append(Contradiction("opposed", (fact, against)))
    first = min(opposed, default=None)
    for depth in sorted({depths.get(fact, 0) for fact in arrows}):
        if first is not None and depth >= first:
            return opposed[first]
        shallow = [fact for fact in arrows if depths.get(fact, 0) <= depth]
        groups = cyclic_groups([fact.nodes for fact in shallow])
        if groups:
            return [
                Contradiction("cycle", tuple(fact for fact in shallow if group.issuperset(fact.nodes)))
                for group in groups
            ]
    return []


def _sides(nodes: Nodes, arrows: Iterable[Nodes]) -> tuple[Fact, ...]:
    """Return an arrowhead at a node, and a shortest path of arrows from it to the other end."""
    path = shortest_path(nodes[0], nodes[1], arrows)
    return (Fact(head.name, nodes), *(Fact(arrow.name, step) for step in path))


def _heads_at_causes(heads: Collection[Nodes], arrows: Iterable[Nodes]) -> list[Nodes]:
    """Return the arrowheads (x, y), at x, from which arrows lead to y."""
    if not heads:
        return []
    onward: dict[Node, list[Node]] = {}
    for tail, end in arrows:
        onward.setdefault(tail, []).append(end)
    effects: dict[Node, set[Node]] = {}
    for x, _ in heads:
        if x in onward and x not in effects:
            seen = effects[x] = set[Node]()
            ahead = [x]
            while ahead:
                fresh = [node for node in onward.get(ahead.pop(), ()) if node not in seen]
                seen.update(fresh)
                ahead += fresh
    return [nodes for nodes in heads if nodes[1] in effects.get(nodes[0], ())]

"""Answers laid over what was found: a pair that somebody speaks of is as they say, and all else stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import attrs

from apsl_rules.cycles import cyclic_groups
from apsl_rules.evidence import GIVEN, Evidence
from apsl_rules.names import Node, Pair, in_order
from apsl_rules.rules.conflicts import Conflict, Outcome
from apsl_rules.rules.engine import MarkStore
from apsl_rules.rules.log import Log, Row
from apsl_rules.rules.policies import Ledger, Settled
from apsl_rules.rules.proof import proof_of
from apsl_rules.rules.rulebooks.cpdag import BARRED
from apsl_rules.rules.rulebooks.pag import PAG
from apsl_rules.rules.vocabulary import Drop, Fact, Finding, adjacent, arrow, barred, conflict, fact_key, gap, head

Arrow: TypeAlias = tuple[Node, Node]


@attrs.frozen
class Said:
    """What people say of pairs: directions that they bar, each with who says so, and pairs that are apart.

    ``opinions`` are arrows that an opinion and the data together make likely enough to be drawn, with their evidence.
    ``undrawn`` are arrows that were found with too little evidence to be drawn: they claim nothing, so nothing that is
    said contradicts them.
    """

    barred: Mapping[Arrow, str] = attrs.field(factory=dict)
    apart: Mapping[Pair, str] = attrs.field(factory=dict)
    opinions: Mapping[Arrow, Evidence] = attrs.field(factory=dict)
    undrawn: frozenset[Arrow] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.barred or self.apart or self.opinions)


@attrs.frozen(eq=False, slots=False)
class Answered(Ledger):
    """A ledger with answers laid over it; the ledger of the run is ``base``.

    An edge of which one direction is barred points the other way. Where people bar both, no arrow is drawn and a
    conflict names them. Arrows that are drawn give way where they would close a circle with arrows that were said.
    """

    base: Ledger = attrs.field(kw_only=True)
    said: Said = attrs.field(kw_only=True)

    @classmethod
    def over(cls, base: Ledger, said: Said) -> Answered:
        """Lay what was said over a ledger."""
        return cls(base.program, base.history, base.policy, base.told, base=base, said=said)

    def __reduce__(self) -> tuple[Any, ...]:
        return Answered.over, (self.base, self.said)

    def with_findings(self, findings: Sequence[Finding]) -> Answered:
        """Return the ledger with more findings below what was said."""
        return Answered.over(self.base.with_findings(findings), self.said)

    @cached_property
    def settled(self) -> Settled:
        """Return the marks with the answers, and the contradictions but those that an answer decides."""
        found = self.base.settled
        kept = [one for one in found.conflicts if frozenset(one.pair) not in self._named]
        return Settled(self._laid(found.store), (*kept, *self._torn.values()))

    def proofs(self) -> MarkStore:
        """Return the shortest proofs, with the answers laid over them."""
        return self._laid(self.base.proofs())

    # --- what is said of the marks that were found -------------------------------------------------------------------

    def _is_edge(self, pair: Iterable[Node]) -> bool:
        return adjacent.fact(*pair) in self.base.settled.store

    @cached_property
    def _drawn(self) -> frozenset[Arrow]:
        """Return the arrows that were found with evidence enough to be drawn."""
        return self.base.settled.store.arrows - self.said.undrawn

    @cached_property
    def _both_ways(self) -> tuple[Arrow, ...]:
        """Return the edges of which both directions are barred."""
        barred_too = (one for one in self.said.barred if one[::-1] in self.said.barred and one == in_order(one))
        return tuple(one for one in barred_too if self._is_edge(one) and frozenset(one) not in self.said.apart)

    @cached_property
    def _arrows(self) -> dict[Arrow, Evidence | None]:
        """Return the arrows that are said; those of opinions have evidence, the others follow from what is barred."""
        said = self.said
        told: dict[Arrow, Evidence | None] = {
            way[::-1]: None
            for way in said.barred
            if way[::-1] not in said.barred and self._is_edge(way) and frozenset(way) not in said.apart
        }
        spoken = {frozenset(one) for one in (*said.barred, *said.apart)}
        likely = {one: why for one, why in said.opinions.items() if frozenset(one) not in spoken and self._is_edge(one)}
        return {**self._fitting(likely, told), **told}

    def _fitting(self, likely: dict[Arrow, Evidence], told: Iterable[Arrow]) -> dict[Arrow, Evidence]:
        """Leave out opinions that turn an arrow, or direct a line, so that a circle closes."""
        found, named = self._drawn, {frozenset(one) for one in (*likely, *told)}
        circles = cyclic_groups([*told, *likely, *(one for one in found if frozenset(one) not in named)])
        return {
            one: why for one, why in likely.items() if one in found or not any({*one} <= circle for circle in circles)
        }

    @cached_property
    def _apart(self) -> tuple[Pair, ...]:
        return tuple(sorted((pair for pair in self.said.apart if self._is_edge(pair)), key=in_order))

    @cached_property
    def _named(self) -> frozenset[Pair]:
        """Return the edges of which something is said."""
        return frozenset({*map(frozenset, self._arrows), *map(frozenset, self._both_ways), *self._apart})

    @cached_property
    def _circles(self) -> list[frozenset[Node]]:
        """Return the circles that arrows which were said close with those that were found."""
        return cyclic_groups([*self._arrows, *(one for one in self._drawn if frozenset(one) not in self._named)])

    def _in_circle(self, way: Arrow) -> bool:
        return any({*way} <= circle for circle in self._circles)

    @cached_property
    def _torn(self) -> dict[Arrow, Conflict]:
        """Return the contradictions of people who bar both directions of an edge, with the proof of each side."""
        found = {}
        for pair in self._both_ways:
            sides = []
            for way in (pair, pair[::-1]):
                alone = Answered.over(self.base, Said({way: self.said.barred[way]})).proofs()
                with_ends = head.name in alone.relations
                sides.append(proof_of(alone, head.fact(*way) if with_ends else arrow.fact(*way[::-1])))
            found[pair] = Conflict(pair, "opposed", Outcome.NO_ARROW, tuple(sides))
        return found

    # --- what is written behind them ---------------------------------------------------------------------------------

    def _laid(self, store: MarkStore) -> MarkStore:
        """Return a state with the answers written behind it."""
        if not self._named:
            return store
        gave_way = (frozenset(one) for one in self._drawn if self._circles and self._in_circle(one))
        ended = [fact for pair in {*self._named, *gave_way} for fact in _marks_of(store, pair)]
        ended += [fact for fact in (adjacent.fact(*pair) for pair in self._apart) if fact in store]
        drops = [Drop(fact, _LAID) for fact in sorted(ended, key=fact_key)]
        log, rows = store.continued([*drops, *self._findings()])
        for row in rows[: len(drops)]:
            log.drop(row)
        log.write([*rows[len(drops) :]])
        log.write(self._fired(log))
        return MarkStore.newest(log)

    def _findings(self) -> Iterator[Finding]:
        """Give what was said as findings, each with who said it and what the data alone say."""
        for pair in self._apart:
            yield Finding(gap.fact(*pair), self._evidence(pair, self.said.apart[pair]))
        for way, why in self._arrows.items():
            if why is None:
                yield Finding(barred.fact(*way[::-1]), self._evidence(way, self.said.barred[way[::-1]]))
            elif not self._is_circular(way):
                yield Finding(arrow.fact(*way), why)
        for both in self._both_ways:
            yield Finding(conflict.fact(*both), Evidence("conflict", note=str(self._torn[both])))

    def _fired(self, log: Log) -> Iterator[Row]:
        """Give the arrows that follow from directions that are barred."""
        with_ends = head.name in log.relations
        rule = next(one for one in PAG.further or () if one.name == "Given-head") if with_ends else BARRED
        for way, why in self._arrows.items():
            if why is None and not self._is_circular(way):
                numbers = log.names.numbers(way)
                fact = (head.name, numbers[::-1]) if with_ends else (arrow.name, numbers)
                yield (*fact, rule, numbers[::-1])

    def _is_circular(self, way: Arrow) -> bool:
        """Return whether an arrow lies on a circle of arrows that were all said: then none of these is drawn."""
        return any({*way} <= circle for circle in cyclic_groups(self._arrows)) if self._in_circle(way) else False

    def _evidence(self, pair: Iterable[Node], who: str) -> Evidence:
        return Evidence(GIVEN, note=f"{who}; the data alone: {read_pair(self.base.settled.store, pair)}")


#: Why a mark that was found is not drawn.
_LAID = Finding(Fact(conflict.name, ()), Evidence(GIVEN, note="an answer was laid over it"))


def read_pair(store: MarkStore, pair: Iterable[Node]) -> str:
    """Say in words how a state marks an edge, such as "a -> b"."""
    x, y = in_order(pair)
    for one, other in ((x, y), (y, x)):
        if store.has_arrow(one, other):
            return arrow.text((one, other))
    return adjacent.text((x, y))


def _marks_of(store: MarkStore, pair: Pair) -> list[Fact]:
    """Return the facts that mark a pair, but that of its edge."""
    x, y = in_order(pair)
    facts = [arrow.fact(x, y), arrow.fact(y, x), conflict.fact(x, y)]
    facts += [fact for fact in (barred.fact(x, y), barred.fact(y, x)) if not _is_named(store, fact)]
    if head.name in store.relations:
        facts += [head.fact(x, y), head.fact(y, x)]
    return [fact for fact in facts if fact in store]


def _is_named(store: MarkStore, fact: Fact) -> bool:
    """Return whether a finding says already who told it."""
    reason = store.reason(fact) if fact in store else None
    return isinstance(reason, Finding) and reason.evidence.note.startswith("by ")

"""The findings of CMB, as its paper describes them and as its authors programmed them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Literal, TypeAlias

from apsl_rules.evidence import Evidence, Verdict
from apsl_rules.names import Node
from apsl_rules.neighbours import BlanketFinder, Neighbours
from apsl_rules.oracles import Oracle
from apsl_rules.rules import Fact, Finding, Relation, arrow, chain, collider


class FindingList:
    """The findings of one visit; ``source`` names the oracle behind them."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._findings: dict[Fact, Finding] = {}

    @property
    def findings(self) -> list[Finding]:
        """Return the findings in order."""
        return list(self._findings.values())

    def add(
        self, relation: Relation, nodes: tuple[Node, ...], verdicts: tuple[Verdict, ...] = (), note: str = ""
    ) -> None:
        """Add a finding unless the fact is told already."""
        fact = relation.fact(*nodes)
        if fact not in self._findings:
            self._findings[fact] = Finding(fact, Evidence(self._source, verdicts, note))

    def take(self, finding: Finding) -> None:
        """Add a finding made elsewhere, unless its fact is told already."""
        self._findings.setdefault(finding.fact, finding)


class Changes:
    """Tells colliders from chains by changes of independence."""

    def __init__(
        self,
        oracle: Oracle,
        neighbours: Neighbours,
        blankets: BlanketFinder,
        *,
        first_only: bool = False,
        accept_unreliable: bool = False,
    ) -> None:
        self._oracle = oracle
        self._neighbours = neighbours
        self._blankets = blankets
        self._first_only = first_only
        self._accept = accept_unreliable

    def kind(self, x: Node, middle: Node, y: Node) -> tuple[Relation | None, tuple[Verdict, ...]]:
        """Say what the middle is between two of its neighbours; the verdict that separates them comes first.

        Without a relation it is undecided, and without verdicts nothing was found that separates the two.
        """
        apart: tuple[Verdict, ...] = ()
        for given in self._conditioning(x, middle, y):
            without, within = self._oracle.verdicts([(x, y, given), (x, y, (*given, middle))])
            if without.independent and self._dependent(within):
                return collider, (without, within)
            if within.independent and self._dependent(without):
                return chain, (within, without)
            apart = apart or tuple(verdict for verdict in (without, within) if verdict.independent)[:1]
        return None, apart

    def _dependent(self, verdict: Verdict) -> bool:
        return verdict.dependent or (self._accept and verdict.decision == "unreliable")

    def _conditioning(self, x: Node, middle: Node, y: Node) -> Iterator[tuple[Node, ...]]:
        """Return the sets to condition on, each once; blankets are found only when all before was of no use."""
        tried = set()
        for nodes in self._sources(x, y):
            given = tuple(node for node in nodes if node not in (x, middle, y))
            if frozenset(given) not in tried:
                tried.add(frozenset(given))
                yield given

    def _sources(self, x: Node, y: Node) -> Iterator[tuple[Node, ...]]:
        yield ()
        if not self._first_only:
            separation = self._neighbours.separation(x, y)
            if separation is not None and separation.given is not None:
                yield separation.given
        yield self._blankets.blanket(x).members
        if not self._first_only:
            yield self._blankets.blanket(y).members


Identity: TypeAlias = Literal["untouched", "parent", "child", "undecided", "open"]
Tested: TypeAlias = dict[tuple[Node, Node], tuple[Verdict, ...]]


class Identities:
    """The identities of the neighbours of one node."""

    def __init__(self, oracle: Oracle, blankets: BlanketFinder, node: Node, around: tuple[Node, ...]) -> None:
        self._oracle = oracle
        self._blankets = blankets
        self._node = node
        self._around = around
        self.of: dict[Node, Identity] = dict.fromkeys(around, "untouched")
        self._reasons: dict[Node, tuple[tuple[Verdict, ...], str]] = {}
        self._identify()

    def tell(self, found: FindingList) -> None:
        """Tell parents and children as arrows."""
        for other, identity in self.of.items():
            if identity in ("parent", "child"):
                tail, head = (other, self._node) if identity == "parent" else (self._node, other)
                found.add(arrow, (tail, head), *self._reasons[other])

    def _identify(self) -> None:
        chains, still_open = self._search((), {})
        for x, y in still_open:
            if "open" not in self.of.values():
                break
            members = self._blankets.blanket(x).members
            self._search(tuple(other for other in members if other not in (self._node, y)), chains)
        self._propagate(still_open)

    def _search(self, given: tuple[Node, ...], known: Tested) -> tuple[Tested, Tested]:
        """Test all pairs given one set and judge them; give those without a collider and those left open."""
        chains, still_open = dict(known), {}
        for x, y in combinations(self._around, 2):
            if x in given or y in given:
                continue
            verdicts = tuple(self._oracle.verdicts([(x, y, given), (x, y, (*given, self._node))]))
            without, within = (verdict.independent for verdict in verdicts)
            if without and not within:
                self._set(x, "parent", verdicts, "the pair becomes dependent")
                self._set(y, "parent", verdicts, "the pair becomes dependent")
            elif within and not without:
                chains[x, y] = verdicts
                self._apart(x, y, verdicts)
                self._apart(y, x, verdicts)
            else:
                still_open[x, y] = verdicts
                if self.of[x] == self.of[y] == "untouched":
                    self.of[x] = self.of[y] = "open"
        for parent in self._around:
            for (x, y), verdicts in chains.items():
                if parent in (x, y) and self.of[parent] == "parent":
                    self._set(x if parent == y else y, "child", verdicts, "partner of a parent")
        return chains, still_open

    def _apart(self, one: Node, other: Node, verdicts: tuple[Verdict, ...]) -> None:
        """Judge the other of a pair with no collider between them; a parent is downgraded unless its partner is one."""
        if self.of[one] == "parent":
            self._set(other, "child", verdicts, "partner of a parent")
        elif self.of[other] != "child":
            self.of[other] = "undecided"

    def _propagate(self, tested: Tested) -> None:
        """Take whoever is open with two parents for a third one."""
        both_ways = tested | {(y, x): verdicts for (x, y), verdicts in tested.items()}
        parents = [other for other in self._around if self.of[other] == "parent"]
        for x, y in combinations(parents, 2):
            for third in self._around:
                if (x, third) in both_ways and (y, third) in both_ways:
                    verdicts = (*both_ways[x, third], *both_ways[y, third])
                    self._set(third, "parent", verdicts, "open with two parents")

    def _set(self, node: Node, identity: Identity, verdicts: tuple[Verdict, ...], note: str) -> None:
        self.of[node] = identity
        self._reasons[node] = verdicts, note

"""The identities that the authors' own code of CMB gives to the neighbours of a node, with two of its defects.

Each pair of neighbours X, Y of T is tested given Z, and given Z and T. Independent, then dependent: both are parents.
Dependent, then independent: at most one is a parent, and if one is, the other is a child. The pairs that neither
happens to are tested again with Z the blanket of one of them. In the end, whoever was left open with two parents is
taken for a third one.

Two things make this wrong even with perfect answers. A known parent is undecided again as soon as it is met in a pair
of the second kind (the downgrade), and the last step asks nothing of the three (parent propagation). A pair whose
member is in Z is not tested, where the original tests it all the same, and an arrow that another visit found is not
erased. ``changes`` is the sound form.
"""

from __future__ import annotations

from itertools import combinations
from typing import Literal, TypeAlias

from apsl_rules.evidence import Verdict
from apsl_rules.learning.findings.finding_list import FindingList
from apsl_rules.names import Node
from apsl_rules.neighbours import BlanketFinder
from apsl_rules.oracles import Oracle
from apsl_rules.rules import arrow

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

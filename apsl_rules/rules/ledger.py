"""The ledger of a run: the findings so far and what follows from them under a conflict policy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, Literal, Self

import attrs

from apsl_rules.names import in_order
from apsl_rules.rules.conflicts import Judging, Policy, Settled, needs_settling, settle, settled_marks
from apsl_rules.rules.contradictions import Conflict, left_standing
from apsl_rules.rules.engine import Program, compile_rulebook, count_firings, extend, require_positive
from apsl_rules.rules.facts import Finding, Firing
from apsl_rules.rules.proof import proof_of, proof_of_reason, shortest_proofs
from apsl_rules.rules.rule import Rulebook
from apsl_rules.rules.sequential import Clash, overwrite
from apsl_rules.rules.store import MarkStore


@attrs.frozen(eq=False, slots=False)
class Ledger(ABC):
    """The findings of a run and what follows from them; adding more returns another ledger.

    ``history`` is the run as it went, ``settled`` what is to be believed now.
    """

    program: Program
    history: MarkStore

    #: Whether the marks depend on the order in which findings came.
    order_dependent: ClassVar[bool]

    def rule_use(self) -> dict[str, int]:
        """Return how often each rule fired in the run."""
        return count_firings(self.program.rulebook, self.history)

    @abstractmethod
    def with_findings(self, findings: Sequence[Finding]) -> tuple[Self, tuple[Firing, ...]]:
        """Return the ledger with more findings, and the firings that they set off."""

    @property
    @abstractmethod
    def settled(self) -> Settled:
        """Return the marks that hold now, and the contradictions met."""

    def marks(self) -> MarkStore:
        """Return the marks that hold now, without the contradictions, whose proofs take their time."""
        return self.settled.store

    def marks_with(self, findings: Sequence[Finding]) -> MarkStore:
        """Return the marks that would hold with more findings."""
        return self.with_findings(findings)[0].marks()

    @abstractmethod
    def proofs(self) -> MarkStore:
        """Return a store of the settled facts with the reasons that proofs are to show."""


def ledger(rulebook: Rulebook, policy: Policy) -> Ledger:
    """Open an empty ledger for a conflict policy."""
    program = compile_rulebook(rulebook)
    match policy:
        case "first" | "last":
            return _Sequential(program, program.start(), policy)
        case "quarantine" | "strongest" | "ranked":
            require_positive(rulebook)
            return _Fixpoint(program, program.start(), policy)


@attrs.frozen(eq=False, slots=False)
class _Fixpoint(Ledger):
    """Judges the whole set of findings whenever it contains contradictions."""

    policy: Judging
    told: tuple[Sequence[Finding], ...] = ()

    order_dependent = False

    @property
    def _findings(self) -> list[Finding]:
        return [one for findings in self.told for one in findings]

    def with_findings(self, findings: Sequence[Finding]) -> tuple[Self, tuple[Firing, ...]]:
        outcome = extend(self.program, self.history, findings)
        return type(self)(self.program, outcome.store, self.policy, (*self.told, findings)), outcome.firings

    @cached_property
    def settled(self) -> Settled:
        if not needs_settling(self.history, self.policy):
            return Settled(self.history, ())
        return settle(self.program.rulebook, self._findings, self.policy)

    def marks_with(self, findings: Sequence[Finding]) -> MarkStore:
        """Return the marks that would hold, without all that follows from findings which contradict each other."""
        return settled_marks(self.program.rulebook, [*self._findings, *findings], self.policy)

    def proofs(self) -> MarkStore:
        """Return proofs of least depth: the fixpoint taken once more from all findings together."""
        settled = self.settled.store
        return settled if settled is not self.history else shortest_proofs(self.program.rulebook, self._findings)


@attrs.frozen(eq=False, slots=False)
class _Sequential(Ledger):
    """Lets arrows overwrite or refuse each other as they come."""

    keep: Literal["first", "last"]
    conflicts: tuple[Conflict, ...] = ()

    order_dependent = True

    def with_findings(self, findings: Sequence[Finding]) -> tuple[Self, tuple[Firing, ...]]:
        overwritten = overwrite(self.program, self.history, findings, keep=self.keep)
        store = overwritten.store
        met = (*self.conflicts, *(_conflict(store, clash) for clash in overwritten.clashes))
        return type(self)(self.program, store, self.keep, met), overwritten.firings

    @property
    def settled(self) -> Settled:
        return Settled(self.history, (*self.conflicts, *left_standing(self.history)))

    def marks(self) -> MarkStore:
        return self.history

    def proofs(self) -> MarkStore:
        return self.history


def _conflict(store: MarkStore, clash: Clash) -> Conflict:
    kept, dropped = clash.kept.fact, clash.dropped.fact
    x, y = in_order(dropped.nodes)
    proofs = (proof_of_reason(store, clash.kept), proof_of_reason(store, clash.dropped))
    further = tuple(proof_of(store, fact) for fact in clash.path_back)
    text = store.relations[kept.relation].text(kept.nodes)
    kind: Literal["opposed", "cycle"] = "opposed" if kept.nodes == dropped.nodes[::-1] else "cycle"
    return Conflict((x, y), kind, f"kept {text}", (*proofs, *further))

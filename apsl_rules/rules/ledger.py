"""The ledger of a run: the findings so far and what follows from them under a conflict policy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal

from apsl_rules.names import in_order
from apsl_rules.rules.conflicts import Conflict, Policy, Settled, is_consistent, left_standing, settle
from apsl_rules.rules.engine import compile_rulebook, count_firings, extend, require_positive
from apsl_rules.rules.facts import Finding, Firing
from apsl_rules.rules.proof import proof_of, proof_of_reason, shortest_proofs
from apsl_rules.rules.rule import Rulebook
from apsl_rules.rules.sequential import Clash, overwrite
from apsl_rules.rules.store import MarkStore


class Ledger(ABC):
    """Takes findings as they come and fires the rules at once; gives the marks that hold when asked.

    ``history`` is the run as it went, ``settled`` what is to be believed now.
    """

    #: Whether the marks depend on the order in which findings came.
    order_dependent: bool

    def __init__(self, rulebook: Rulebook) -> None:
        self.program = compile_rulebook(rulebook)
        self.history = self.program.start()

    def rule_use(self) -> dict[str, int]:
        """Return how often each rule fired in the run."""
        return count_firings(self.program.rulebook, self.history)

    @abstractmethod
    def add(self, findings: Sequence[Finding]) -> tuple[Firing, ...]:
        """Take up findings and give the firings that they set off."""

    @abstractmethod
    def settled(self) -> Settled:
        """Return the marks that hold now, and the contradictions met."""

    def marks(self) -> MarkStore:
        """Return the marks that hold now, without the contradictions, whose proofs take their time."""
        return self.settled().store

    @abstractmethod
    def proofs(self) -> MarkStore:
        """Return a store of the settled facts with the reasons that proofs are to show."""


def ledger(rulebook: Rulebook, policy: Policy) -> Ledger:
    """Open an empty ledger for a conflict policy."""
    match policy:
        case "first" | "last":
            return _Sequential(rulebook, policy)
        case "quarantine" | "strongest":
            return _Fixpoint(rulebook, policy)


class _Fixpoint(Ledger):
    """Judges the whole set of findings whenever it contains contradictions."""

    order_dependent = False

    def __init__(self, rulebook: Rulebook, policy: Literal["quarantine", "strongest"]) -> None:
        require_positive(rulebook)
        super().__init__(rulebook)
        self._policy = policy
        self._findings: list[Finding] = []
        self._settled: Settled | None = None

    def add(self, findings: Sequence[Finding]) -> tuple[Firing, ...]:
        self._settled = None
        self._findings += findings
        outcome = extend(self.program, self.history, findings)
        self.history = outcome.store
        return outcome.firings

    def settled(self) -> Settled:
        if self._settled is None:
            consistent = is_consistent(self.history)
            self._settled = (
                Settled(self.history, ()) if consistent else settle(self.program.rulebook, self._findings, self._policy)
            )
        return self._settled

    def proofs(self) -> MarkStore:
        """Return proofs of least depth: the fixpoint taken once more from all findings together."""
        settled = self.settled().store
        if settled is not self.history:
            return settled
        return shortest_proofs(self.program.rulebook, self._findings)


class _Sequential(Ledger):
    """Lets arrows overwrite or refuse each other as they come."""

    order_dependent = True

    def __init__(self, rulebook: Rulebook, keep: Literal["first", "last"]) -> None:
        super().__init__(rulebook)
        self._keep = keep
        self._conflicts: list[Conflict] = []

    def add(self, findings: Sequence[Finding]) -> tuple[Firing, ...]:
        overwritten = overwrite(self.program, self.history, findings, keep=self._keep)
        self.history = overwritten.store
        self._conflicts += [_conflict(self.history, clash) for clash in overwritten.clashes]
        return overwritten.firings

    def settled(self) -> Settled:
        return Settled(self.history, (*self._conflicts, *left_standing(self.history)))

    def marks(self) -> MarkStore:
        return self.history

    def proofs(self) -> MarkStore:
        return self.history


def _conflict(store: MarkStore, clash: Clash) -> Conflict:
    kept, dropped = clash.kept.fact, clash.dropped.fact
    x, y = in_order(dropped.nodes)
    proofs = (proof_of_reason(store, clash.kept), proof_of_reason(store, clash.dropped))
    further = tuple(proof_of(store, fact) for fact in clash.way_back)
    text = store.relations[kept.relation].text(kept.nodes)
    kind: Literal["opposed", "cycle"] = "opposed" if kept.nodes == dropped.nodes[::-1] else "cycle"
    return Conflict((x, y), kind, f"kept {text}", (*proofs, *further))

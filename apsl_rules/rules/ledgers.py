"""The ledger of a run: its findings, and what follows from them by the rules and the conflict policy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Literal, Self, TypeAlias, cast, get_args

import attrs

from apsl_rules.errors import RuleError
from apsl_rules.rules.conflicts import tears
from apsl_rules.rules.engine import Program, compile_rulebook, count_firings, extend, require_positive
from apsl_rules.rules.log import Numbers
from apsl_rules.rules.marks import MarkStore
from apsl_rules.rules.proof import shortest_proofs
from apsl_rules.rules.settling import Judging, Settled, settle, settled_marks, untested_heads
from apsl_rules.rules.vocabulary import Finding, Rulebook

Policy: TypeAlias = Literal["quarantine", "given", "strongest", "ranked", "first", "last"]
POLICIES: tuple[Policy, ...] = get_args(Policy)


@attrs.frozen(eq=False, slots=False)
class Ledger(ABC):
    """The findings of a run and what follows from them by a ``program``; adding more returns another ledger.

    ``told`` are the findings of each addition, ``policy`` says what becomes of contradictions. ``history`` is the run
    as it went, ``settled`` what is to be believed now.
    """

    program: Program
    history: MarkStore
    policy: Policy
    told: tuple[tuple[Finding, ...], ...] = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ledger):
            return NotImplemented
        return self is other or (self.history == other.history and self.settled == other.settled)

    def __hash__(self) -> int:
        return hash((Ledger, self.history))

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a copy is made of: the findings, from which all else follows."""
        return self.start, (self.rulebook, self.policy, self.told)

    @classmethod
    def start(cls, rulebook: Rulebook, policy: Policy, told: Iterable[Sequence[Finding]] = ()) -> Self:
        """Return the ledger of findings told addition by addition."""
        program = compile_rulebook(rulebook)
        book = cls(program, program.start(), policy)
        for findings in told:
            book = book.with_findings(findings)
        return book

    @property
    def rulebook(self) -> Rulebook:
        """Return the rules."""
        return self.program.rulebook

    @property
    def order_dependent(self) -> bool:
        """Return whether the marks depend on the order in which findings came."""
        return self.policy in ("first", "last")

    @property
    def findings(self) -> list[Finding]:
        """Return all that was told, in its order."""
        return [one for findings in self.told for one in findings]

    def rule_use(self) -> dict[str, int]:
        """Return how often each rule fired in the run."""
        return count_firings(self.rulebook, self.history)

    @abstractmethod
    def with_findings(self, findings: Sequence[Finding]) -> Self:
        """Return the ledger with more findings."""

    @property
    @abstractmethod
    def settled(self) -> Settled:
        """Return the marks that hold now, and the contradictions met."""

    def marks(self) -> MarkStore:
        """Return the marks that hold now, without the contradictions, whose proofs take their time."""
        return self.settled.store

    def marks_with(self, findings: Sequence[Finding]) -> MarkStore:
        """Return the marks that would hold with more findings."""
        return self.with_findings(findings).marks()

    @abstractmethod
    def proofs(self) -> MarkStore:
        """Return a store of the settled facts with the reasons that proofs are to show."""


@attrs.frozen(eq=False, slots=False)
class Fixpoint(Ledger):
    """Judges the whole set of findings once they contradict each other; ``is_torn`` says whether they do."""

    is_torn: bool = False

    def __attrs_post_init__(self) -> None:
        require_positive(self.rulebook)

    @property
    def _judging(self) -> Judging:
        return cast("Judging", self.policy)

    def with_findings(self, findings: Sequence[Finding]) -> Self:
        """Return the ledger with more findings; only what is new is looked at for contradictions."""
        extension = extend(self.program, self.history, findings)
        log, fresh = extension.store.log, dict[str, list[Numbers]]()
        for relation, numbers, _, _ in log.rows[extension.begin :]:
            fresh.setdefault(relation, []).append(numbers)
        is_torn = self.is_torn or tears(log, fresh)
        return type(self)(self.program, extension.store, self.policy, (*self.told, tuple(findings)), is_torn)

    @cached_property
    def settled(self) -> Settled:
        """Return the marks that hold now, and the contradictions met."""
        if self.is_torn or (self.policy == "ranked" and untested_heads(self.history)):
            return settle(self.rulebook, self.findings, self._judging)
        return Settled(self.history, ())

    def marks_with(self, findings: Sequence[Finding]) -> MarkStore:
        """Return the marks that would hold, without all that follows from findings which contradict each other."""
        return settled_marks(self.rulebook, [*self.findings, *findings], self._judging)

    def proofs(self) -> MarkStore:
        """Return proofs of least depth: the fixpoint taken once more from all findings together."""
        settled = self.settled.store
        return settled if settled is not self.history else shortest_proofs(self.rulebook, self.findings)


#: The ledgers by policy; ``apsl_published`` adds those of "first" and "last".
LEDGERS: dict[Policy, type[Ledger]] = dict.fromkeys(get_args(Judging), Fixpoint)


def ledger(rulebook: Rulebook, policy: Policy, told: Iterable[Sequence[Finding]] = ()) -> Ledger:
    """Return the ledger for a conflict policy of findings told addition by addition."""
    kind = LEDGERS.get(policy)
    if kind is None:
        message = f"nobody has brought the conflict policy {policy!r}; there are {', '.join(LEDGERS)}"
        raise RuleError(message)
    return kind.start(rulebook, policy, told)

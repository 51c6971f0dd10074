"""What becomes of findings: the ledger of a run, and the policies for findings that lead to contradictions.

The policy *quarantine* blocks the marks on the contradicted pairs, those with the shallowest proofs first, and takes
the fixpoint again from all findings; *given* does so too, but what was given holds against all that was found;
*strongest* blocks the weakest side only. *ranked* takes up findings by their strength, and leaves out each that leads
to a contradiction. All depend on the set of findings alone, not on their order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import inf
from typing import Any, Literal, Self, TypeAlias, cast, get_args

import attrs

from apsl_rules.errors import RuleError
from apsl_rules.evidence import Evidence, evidence_strength
from apsl_rules.knowledge import Knowledge
from apsl_rules.names import Node, in_order
from apsl_rules.rules.conflicts import (
    Blocking,
    Conflict,
    Outcome,
    closed_cycles,
    heads_at_causes,
    reached,
    shallowest,
    torn_edges,
)
from apsl_rules.rules.engine import (
    Extension,
    Fresh,
    Mark,
    MarkStore,
    Program,
    compile_rulebook,
    count_firings,
    extend,
    extend_rows,
    require_positive,
)
from apsl_rules.rules.log import Log, Names, Numbers, Told
from apsl_rules.rules.proof import as_a_set, proof_of, shortest_proofs
from apsl_rules.rules.vocabulary import (
    Fact,
    Finding,
    Rulebook,
    adjacent,
    arrow,
    collider,
    conflict,
    fact_key,
    gap,
    head,
    left_open,
    settled,
    untested,
)

Judging: TypeAlias = Literal["quarantine", "given", "strongest", "ranked"]
Policy: TypeAlias = Literal["quarantine", "given", "strongest", "ranked", "first", "last"]
POLICIES: tuple[Policy, ...] = get_args(Policy)

_FIRST = (adjacent.name, gap.name, settled.name, untested.name, left_open.name)


@attrs.frozen
class Settled:
    """What is left when all contradictions are settled, as ``store``, and the contradictions, as ``conflicts``."""

    store: MarkStore
    conflicts: tuple[Conflict, ...]


# --- the ledger -------------------------------------------------------------------------------------------------------


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


def found_distances(book: Ledger, target: Node, knowledge: Knowledge) -> dict[Node, int]:
    """Return the distances over the edges found, except those that knowledge overruled."""
    marks = book.settled.store
    around: dict[Node, list[Node]] = {}
    for x, y in (one.fact.nodes for one in book.findings if one.fact.relation == adjacent.name):
        if knowledge.why_apart(x, y) is None or marks.mark(x, y) is not Mark.GAP:
            around.setdefault(x, []).append(y)
            around.setdefault(y, []).append(x)
    distances, layer = {target: 0}, [target]
    while layer:
        layer = list(dict.fromkeys(far for near in layer for far in around.get(near, ()) if far not in distances))
        distances.update(dict.fromkeys(layer, max(distances.values()) + 1))
    return distances


def ledger(rulebook: Rulebook, policy: Policy, told: Iterable[Sequence[Finding]] = ()) -> Ledger:
    """Return the ledger for a conflict policy of findings told addition by addition."""
    kind = LEDGERS.get(policy)
    if kind is None:
        message = f"nobody has brought the conflict policy {policy!r}; there are {', '.join(LEDGERS)}"
        raise RuleError(message)
    return kind.start(rulebook, policy, told)


# --- contradictions --------------------------------------------------------------------------------------------------


def tears(log: Log, fresh: Fresh) -> bool:
    """Return whether new facts make what a log holds inconsistent; without them it is consistent.

    Only nodes from which new arrows lead on, and those with new arrowheads, can have become causes that are none.
    """
    edges, gaps = log.held[adjacent.name], log.held[gap.name]
    if any(one in gaps for one in fresh.get(adjacent.name, ())) or any(one in edges for one in fresh.get(gap.name, ())):
        return True
    arrows, ends = fresh.get(arrow.name, ()), fresh.get(head.name, ())
    if not arrows and not ends:
        return False
    onward = log.table(arrow.name, (0,))
    if not log.held.get(head.name):
        return any(tail in reached([end], onward) for tail, end in arrows)
    heads, back = log.table(head.name, (0,)), log.table(arrow.name, (1,))
    for node in reached([tail for tail, _ in arrows], back).union(node for node, _ in ends):
        if node in onward:
            effects = reached(onward[node], onward)
            if node in effects or not effects.isdisjoint(heads.get(node, ())):
                return True
    return False


def settle(rulebook: Rulebook, findings: Sequence[Finding], policy: Judging) -> Settled:
    """Take the fixpoint of a set of findings such that no contradiction is left."""
    if policy != "ranked":
        return _block(rulebook, findings, policy)
    taken, left_out = add_by_strength(rulebook, as_a_set(findings))
    opened: list[Conflict] = []
    for store, blocked in without_untested_heads(rulebook, taken):
        opened += [_opened(store, fact, blocked) for fact in blocked]
    return Settled(store, (*left_out, *opened))


def settled_marks(rulebook: Rulebook, findings: Sequence[Finding], policy: Judging) -> MarkStore:
    """Return the marks that are left when all contradictions are settled, without a report of these."""
    program = compile_rulebook(rulebook)
    outcome = extend(program, program.start(), findings, stop=tears)
    if not outcome.stopped and not (policy == "ranked" and untested_heads(outcome.store)):
        return outcome.store
    if policy != "ranked":
        return settle(rulebook, findings, policy).store
    taken, _ = add_by_strength(rulebook, as_a_set(findings), report=False)
    *_, (store, _) = without_untested_heads(rulebook, taken)
    return store


def _block(rulebook: Rulebook, findings: Sequence[Finding], policy: Blocking) -> Settled:
    """Block contradicted marks until none is left."""
    program, findings = compile_rulebook(rulebook), as_a_set(findings)
    names = Names(node for one in findings for node in one.fact.nodes)
    blocked: set[Told] = set()
    conflicts: list[Conflict] = []
    undecided: list[Conflict] = []
    torn: set[Numbers] = set()
    while True:
        log = Log(program.relations, names)
        outcome = extend_rows(program, log, [*map(log.row, findings)], blocked)
        met = shallowest(outcome, torn)
        if not met:
            break
        for contradiction in met:
            losers = contradiction.losers(policy)
            blocked |= losers
            is_edge = contradiction.kind == "edge"
            torn.update(numbers for _, numbers in contradiction.sides if is_edge)
            reports = contradiction.report(losers)
            conflicts += reports
            undecided += [] if is_edge and losers.intersection(contradiction.sides) else reports
    marked = [
        Finding(conflict.fact(*one.pair), Evidence("conflict", note=str(one)))
        for one in undecided
        if not outcome.store.has_mark(*one.pair)
    ]
    return Settled(outcome.store.with_reasons(marked), tuple(conflicts))


def add_by_strength(
    rulebook: Rulebook, findings: Sequence[Finding], *, report: bool = True
) -> tuple[list[Finding], list[Conflict]]:
    """Return the findings that can be taken up, and if wanted a conflict with proofs for each that was left out.

    With a report batches are halved, without one they end at a finding that contradicts those before it. Neither is
    tried where all before it in its batch was taken up and the whole was not.
    """
    program = compile_rulebook(rulebook)
    taken: list[Finding] = []
    conflicts: list[Conflict] = []
    state = program.start(node for one in findings for node in one.fact.nodes)
    waiting: list[tuple[list[Finding], list[Finding] | None]] = [(sorted(findings, key=_rank), None)]
    whole: list[Finding] | None = None
    while waiting:
        batch, first = waiting.pop()
        half = len(batch) // 2
        is_wanted = report and not half
        cut = half
        if is_wanted or first is None or first is not whole:
            held = len(state)
            outcome = extend(program, state, batch, stop=tears)
            state = outcome.store
            if not outcome.stopped:
                taken += batch
                whole = batch
                continue
            if is_wanted:
                one = shallowest(outcome)[0].report(())[0]
                conflicts.append(attrs.evolve(one, outcome=Outcome.LEFT_OUT, kept=(), dropped=(batch[0].fact,)))
            elif half and not report:
                cut = _last_of_clash(outcome, batch)
            state = state.taken_back(held)
        before, rest = batch[:cut], batch[cut + 1 :]
        if half and report:
            waiting += [(batch[half:], before), (before, None)]
        elif half:
            middle = len(rest) // 2
            waiting += [(one, None) for one in (rest[middle:], rest[:middle]) if one]
            waiting += [(batch[cut : cut + 1], before), (before, None)]
    return taken, conflicts


def _last_of_clash(extension: Extension, batch: Sequence[Finding]) -> int:
    """Return the first place in a batch at which a finding contradicts those before it, as one contradiction has it."""
    store, log = extension.store, extension.store.log
    at = {log.row(one)[:2]: place for place, one in enumerate(batch)}
    arrows = store.rows(arrow)
    found = torn_edges(store) or heads_at_causes(store, arrows, store.rows(head)) or closed_cycles(store, arrows)
    return min(_last_of(log, extension.begin, at, one.sides) for one in found)


def _last_of(log: Log, begin: int, at: Mapping[Told, int], sides: Iterable[Told]) -> int:
    """Return the last place in a batch of the findings behind some facts."""
    ahead = [log.held[relation][numbers] for relation, numbers in sides]
    seen, last = set(ahead), -1
    while ahead:
        place = ahead.pop()
        if place < begin:
            continue
        relation, numbers, rule, _ = log.rows[place]
        if rule is None:
            last = max(last, at[relation, numbers])
        else:
            fresh = [one for one in log.premises(place) if one not in seen]
            seen.update(fresh)
            ahead += fresh
    return last


def _rank(finding: Finding) -> tuple[bool, bool, float, tuple[object, ...]]:
    evidence, fact = finding.evidence, finding.fact
    return not evidence.is_given, fact.relation not in _FIRST, -evidence_strength(evidence), fact_key(fact)


def untested_heads(store: MarkStore) -> list[Fact]:
    """Return the arrowheads on edges with two of them that neither a tested collider shows nor certain findings."""
    tested = {end for fact in store.facts(collider) if _is_tested(store, fact) for end in _ends(fact)}
    return [
        fact
        for fact in sorted(store.facts(head), key=fact_key)
        if store.mark(*fact.nodes) is Mark.BIDIRECTED and fact not in tested and not _is_certain(store, fact)
    ]


def _ends(fact: Fact) -> Iterator[Fact]:
    x, middle, y = fact.nodes
    return (head.fact(middle, end) for end in (x, y))


def _is_tested(store: MarkStore, fact: Fact) -> bool:
    reason = store.reason(fact)
    return isinstance(reason, Finding) and any(verdict.dependent for verdict in reason.evidence.verdicts)


def _is_certain(store: MarkStore, fact: Fact) -> bool:
    """Return whether a fact rests on certain findings alone."""
    log = store.log
    ahead = log.places_of([fact], len(store))
    seen = set(ahead)
    while ahead:
        place = ahead.pop()
        _, _, rule, evidence = log.rows[place]
        if rule is None and evidence_strength(evidence) < inf:
            return False
        fresh = [one for one in log.premises(place) if one not in seen]
        seen.update(fresh)
        ahead += fresh
    return True


def without_untested_heads(
    rulebook: Rulebook, findings: Sequence[Finding]
) -> Iterator[tuple[MarkStore, Sequence[Fact]]]:
    """Take the fixpoint without the arrowheads that would claim a hidden cause untested.

    Return each fixpoint on the way with those that it shows; the last one shows none.
    """
    program = compile_rulebook(rulebook)
    blocked: set[Fact] = set()
    while True:
        store = extend(program, program.start(), findings, blocked).store
        found = untested_heads(store)
        yield store, found
        if not found:
            return
        blocked.update(found)


def _opened(store: MarkStore, fact: Fact, found: Collection[Fact]) -> Conflict:
    x, y = fact.nodes
    pair = in_order((x, y))
    proofs = tuple(proof_of(store, head.fact(*side)) for side in (pair, pair[::-1]))
    kept = () if head.fact(y, x) in found else (head.fact(y, x),)
    return Conflict((pair[0], pair[1]), "untested", Outcome.NO_ARROWHEAD, proofs, kept, dropped=(fact,))

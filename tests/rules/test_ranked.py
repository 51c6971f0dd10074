"""Findings taken up by their strength: the same as one by one, whatever contradicts, and at what cost."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations
from math import inf
from random import Random
from typing import cast

import attrs
import pytest

from apsl_rules.errors import LimitReachedError
from apsl_rules.evidence import Evidence
from apsl_rules.memory import CURRENT
from apsl_rules.rules import PAG, Finding, adjacent, chain, collider, gap, ledger
from apsl_rules.rules.engine import compile_rulebook, extend
from apsl_rules.rules.policies import add_by_strength, tears
from apsl_rules.stopping import Stop
from support.naive import is_consistent


def contradicting(seed: int, nodes: int = 7) -> list[Finding]:
    """Draw edges and gaps, some pairs both, and for each triple a collider or a chain, with random strengths."""
    random = Random(seed)
    names = "abcdefghij"[:nodes]
    facts = []
    for x, y in combinations(names, 2):
        if random.random() < 0.5:
            facts.append(adjacent.fact(x, y))
        if random.random() < 0.55:
            facts.append(gap.fact(x, y))
    held = set(facts)
    for middle in names:
        for x, y in combinations([one for one in names if one != middle], 2):
            if adjacent.fact(x, middle) in held and adjacent.fact(middle, y) in held and gap.fact(x, y) in held:
                facts.append(random.choice((collider, chain)).fact(x, middle, y))
    return [Finding(fact, Evidence("drawn", strength=random.uniform(1, 50))) for fact in facts]


def test_the_findings_taken_up_are_those_of_one_by_one() -> None:
    """A finding is left out if what is held and it are inconsistent, the strongest first."""
    program = compile_rulebook(PAG)
    left_out = 0
    for seed in range(25):
        findings = contradicting(seed)
        taken, conflicts = add_by_strength(PAG, findings)
        held: list[Finding] = []
        first = ("adjacent", "gap")
        for one in sorted(findings, key=lambda one: (one.fact.relation not in first, -(one.evidence.strength or 0))):
            if is_consistent(extend(program, program.start(), [*held, one]).store):
                held.append(one)

        assert taken == held
        assert len(conflicts) == len(findings) - len(held)
        assert add_by_strength(PAG, findings, report=False) == (taken, [])
        left_out += len(conflicts)

    assert left_out > 100


def test_a_stopped_extension_is_the_first_inconsistent_one() -> None:
    """It stops exactly if the fixpoint is inconsistent, and its store is inconsistent already."""
    program = compile_rulebook(PAG)
    stopped = 0
    for seed in range(40):
        findings = contradicting(seed, 5)
        outcome = extend(program, program.start(), findings, stop=tears)

        assert outcome.stopped != is_consistent(extend(program, program.start(), findings).store)
        assert outcome.stopped != is_consistent(outcome.store)
        stopped += outcome.stopped

    assert stopped > 5


def test_what_is_taken_back_leaves_no_trace() -> None:
    """Extended, taken back and extended otherwise, a store is the one that was never taken back."""
    program = compile_rulebook(PAG)
    for seed in range(20):
        findings = contradicting(seed)
        half = len(findings) // 2
        begun = extend(program, program.start(), findings[:half]).store
        expected = extend(program, extend(program, program.start(), findings[:half]).store, findings[: half + 3])
        length = len(begun)
        back = extend(program, begun, findings).store.taken_back(length)

        assert back.entries == begun.entries
        assert extend(program, back, findings[: half + 3]) == expected


def test_marks_with_findings_are_those_of_the_settled_ledger() -> None:
    """The marks without a report are the same as with it."""
    for seed in range(15):
        book, findings = ledger(PAG, "ranked"), contradicting(seed)

        assert book.marks_with(findings) == book.with_findings(findings).marks()


@attrs.define
class Ending:
    """The end of a run that comes at a look at it, not at a time: ``after`` looks, or never; ``looks`` counts them."""

    after: float = inf
    looks: int = 0

    def check(self) -> None:
        """Count a look, and raise when it is the last one."""
        self.looks += 1
        if self.looks >= self.after:
            message = f"{self.looks} looks"
            raise LimitReachedError(message)

    def run(self, work: Callable[[], object]) -> int:
        """Do some work within a run that ends so; return how often it looked."""
        before = CURRENT.set(cast("Stop", self))
        try:
            work()
        finally:
            CURRENT.reset(before)
        return self.looks


def test_settling_ends_with_its_run() -> None:
    """Settling looks at the end of its run again and again, whatever the policy, and ends at each of these looks."""
    findings = [one for seed in range(2) for one in contradicting(seed, 8)]
    for policy in ("ranked", "quarantine", "strongest"):
        book = ledger(PAG, policy)
        for work in (lambda book=book: book.with_findings(findings).settled, partial(book.marks_with, findings)):
            looks = Ending().run(work)
            assert looks > 20
            for last in (1, looks // 2, looks):
                with pytest.raises(LimitReachedError, match=f"{last} looks"):
                    Ending(last).run(work)

"""Contradictions: what is blocked, what is kept, and that both sides stay on record."""

from __future__ import annotations

import pytest

from apsl_rules.rules import Mark, MarkStore, ledger
from apsl_rules.rules.policies import Settled, settle
from apsl_rules.rules.rulebooks import SOUND
from apsl_rules.rules.vocabulary import Finding
from support.graphs import arrows_of
from support.naive import is_consistent
from support.telling import fact, told

OPPOSED = "adjacent:a,b spouse:a,b,c spouse:b,a,d"
CYCLE = "adjacent:a,b adjacent:b,c adjacent:a,c arrow:a,b arrow:b,c arrow:c,a"


def quarantined(text: str) -> Settled:
    """Settle findings by quarantine."""
    return settle(SOUND, told(text), "quarantine")


def strongest(findings: list[Finding]) -> Settled:
    """Settle findings by their evidence."""
    return settle(SOUND, findings, "strongest")


def test_opposed_arrows_are_blocked_and_both_proved() -> None:
    """The pair becomes a conflict; the arrows of the two V-structures on other pairs stay."""
    settled = quarantined(OPPOSED)
    (one,) = settled.conflicts

    assert (one.pair, one.kind, one.outcome) == (("a", "b"), "opposed", "no arrow")
    assert [proof.fact for proof in one.proofs] == [fact("arrow:a,b"), fact("arrow:b,a")]
    assert [proof.depth for proof in one.proofs] == [1, 1]
    assert settled.store.mark("a", "b") is Mark.CONFLICT
    assert settled.store.arrows == arrows_of("c->b d->a")
    assert str(one) == "a and b: findings give both directions; no arrow is drawn"


def test_a_directed_cycle_is_blocked_as_a_whole() -> None:
    """Every pair of the cycle is in conflict, each with the proofs of all its arrows."""
    settled = quarantined(CYCLE)

    assert [(one.pair, one.kind) for one in settled.conflicts] == [
        (("a", "b"), "cycle"),
        (("b", "c"), "cycle"),
        (("a", "c"), "cycle"),
    ]
    assert all(len(one.proofs) == 3 for one in settled.conflicts)
    assert settled.store.arrows == frozenset()
    assert settled.store.conflicts == {frozenset("ab"), frozenset("bc"), frozenset("ac")}
    assert "closes a directed cycle" in str(settled.conflicts[0])


def test_an_edge_found_and_found_absent_is_a_conflict() -> None:
    """Both findings stay in the store, no arrow is drawn on the pair, and the rest is untouched."""
    settled = quarantined("adjacent:a,b gap:a,b spouse:a,b,c arrow:x,y")
    (one,) = settled.conflicts

    assert (one.pair, one.kind) == (("a", "b"), "edge")
    assert [proof.fact for proof in one.proofs] == [fact("adjacent:a,b"), fact("gap:a,b")]
    assert settled.store.mark("a", "b") is Mark.CONFLICT
    assert settled.store.arrows == arrows_of("c->b x->y")


def test_the_shallowest_contradiction_is_settled_first() -> None:
    """What follows only from a blocked arrow is no contradiction of its own any more."""
    spread = "adjacent:b,c chain:a,b,c spouse:c,b,x adjacent:x,b adjacent:c,b"

    settled = quarantined(f"{OPPOSED.replace('a,b,c', 'a,b,z')} {spread}")

    assert [one.pair for one in settled.conflicts] == [("a", "b")]
    assert settled.store.arrows == arrows_of("z->b d->a c->b x->b")


def test_deep_contradictions_are_met_when_the_shallow_ones_are_gone() -> None:
    """A contradiction that rests on other arrows is settled in a later round."""
    kite = "collider:p,t,r adjacent:p,t adjacent:r,t adjacent:q,t adjacent:p,q adjacent:q,r chain:p,q,r"

    settled = quarantined(f"{OPPOSED} {kite} arrow:t,q")

    assert [one.pair for one in settled.conflicts] == [("a", "b"), ("q", "t")]
    assert [proof.depth for proof in settled.conflicts[1].proofs] == [2, 0]
    assert settled.store.arrows == arrows_of("c->b d->a p->t r->t")


def test_contradictory_arrows_from_outside_are_blocked_too() -> None:
    """Two arrows told by the user against each other end in a conflict, not in an endless search."""
    settled = quarantined("arrow:a,b arrow:b,a arrow:b,c")

    assert settled.store.arrows == arrows_of("b->c")
    assert [one.pair for one in settled.conflicts] == [("a", "b")]


def test_the_side_with_the_better_evidence_stays() -> None:
    """Under ``strongest`` only the weaker arrow goes, and its proof is kept."""
    findings = told("adjacent:a,b") + told("spouse:a,b,c", p=1e-9) + told("spouse:b,a,d", p=0.009)

    settled = strongest(findings)
    (one,) = settled.conflicts

    assert settled.store.arrows == arrows_of("a->b c->b d->a")
    assert settled.store.mark("a", "b") is Mark.ARROW
    assert (one.decision, len(one.proofs)) == ("kept a -> b", 2)


def test_a_tie_blocks_both_sides() -> None:
    """Equal evidence decides nothing."""
    settled = strongest(told(OPPOSED, p=0.001))

    assert settled.store.arrows == arrows_of("c->b d->a")
    assert settled.store.conflicts == {frozenset("ab")}


def test_the_weakest_arrow_of_a_cycle_goes() -> None:
    """Under ``strongest`` a cycle is opened where its evidence is weakest."""
    findings = told("arrow:a,b arrow:b,c", p=1e-6) + told("arrow:c,a", p=0.005)

    settled = strongest(findings)

    assert settled.store.arrows == arrows_of("a->b b->c")
    assert {one.decision for one in settled.conflicts} == {"kept a -> b", "kept b -> c", "no arrow is drawn"}


def test_the_best_evidence_told_for_a_fact_counts() -> None:
    """A fact told twice is as strong as the better of its two findings, in either order."""
    findings = told("spouse:a,b,c", p=0.009) + told("spouse:a,b,c", p=1e-9) + told("spouse:b,a,d", p=0.001)

    for order in (findings, findings[::-1]):
        assert strongest(order).store.arrows == arrows_of("a->b c->b d->a")


def test_consistent_findings_are_left_alone() -> None:
    """Without contradictions the settled store is the history itself, and both policies agree."""
    run = ledger(SOUND, "quarantine")
    run = run.with_findings(told("spouse:a,b,c adjacent:b,d chain:a,b,d"))

    assert run.settled.store is run.history
    assert run.settled.conflicts == ()
    assert not run.order_dependent


@pytest.mark.parametrize(
    ("text", "expected"),
    [("arrow:a,b arrow:b,c", True), (CYCLE, False), ("arrow:a,b arrow:b,a", False), ("gap:a,b adjacent:a,b", False)],
)
def test_consistency(text: str, expected: bool) -> None:
    """Opposed arrows, cycles and torn edges are the three ways to be inconsistent."""
    assert is_consistent(MarkStore().with_reasons(told(text))) is expected


def test_judging_is_no_part_of_the_run() -> None:
    """However often contradictions are settled, the rules count only what they did while the findings came."""
    run = ledger(SOUND, "quarantine").with_findings(told(OPPOSED))
    firings = run.history.firings()
    for _ in range(3):
        assert run.settled.conflicts
        run.proofs()

    assert sum(run.rule_use().values()) == len(firings)

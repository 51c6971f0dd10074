"""Rules carried out one by one: which of two arrows stays, and what is on record about the other."""

from __future__ import annotations

import pytest

from apsl_published.plugin import PAPER
from apsl_rules.rules import ledger
from apsl_rules.rules.proof import proof_of
from apsl_rules.rules.vocabulary import Drop, Rule, Rulebook, Variable, adjacent, arrow, gap
from support.graphs import arrows_of
from support.telling import fact, told

X, Y, Z = (Variable(name) for name in "XYZ")


def test_the_last_arrow_replaces_the_one_before() -> None:
    """Under ``last`` the older arrow is dropped, for the reason that overwrote it."""
    older, newer = told("arrow:a,b arrow:b,a")

    run = ledger(PAPER, "last").with_findings([older, newer])
    (one,) = run.settled.conflicts

    assert run.history.arrows == arrows_of("b->a")
    assert (one.kept, one.dropped, len(one.proofs)) == ((newer.fact,), (older.fact,), 2)
    assert list(run.history.entries) == [older, Drop(older.fact, newer), newer]


def test_the_first_arrow_refuses_the_one_after() -> None:
    """Under ``first`` the newer arrow is not taken up, but the clash is on record."""
    older, newer = told("arrow:a,b arrow:b,a")

    run = ledger(PAPER, "first").with_findings([older, newer])
    (one,) = run.settled.conflicts

    assert run.history.arrows == arrows_of("a->b")
    assert (one.kept, one.dropped) == ((older.fact,), (newer.fact,))
    assert list(run.history.entries) == [older]


def test_the_first_arrows_refuse_to_close_a_cycle() -> None:
    """Under ``first`` an arrow that would lead back to its beginning is refused."""
    run = ledger(PAPER, "first").with_findings(told("arrow:a,b arrow:b,c arrow:c,a"))

    assert run.history.arrows == arrows_of("a->b b->c")


def test_a_refused_cycle_is_a_conflict_with_all_its_arrows() -> None:
    """The conflict of a ledger proves the refused arrow and every arrow of the way back."""
    run = ledger(PAPER, "first")
    run = run.with_findings(told("arrow:a,b arrow:b,c arrow:c,a"))
    (one,) = run.settled.conflicts

    assert (one.pair, one.kind, one.decision) == (("a", "c"), "cycle", "kept a -> b")
    assert [proof.fact for proof in one.proofs] == [fact("arrow:a,b"), fact("arrow:c,a"), fact("arrow:b,c")]


def test_marks_are_given_without_proving_contradictions() -> None:
    """A learner that looks at the marks after each visit gets the history itself, whatever contradictions it has."""
    run = ledger(PAPER, "last")
    run = run.with_findings(told("arrow:a,b arrow:b,c arrow:c,a"))

    assert run.marks() is run.history
    assert run.marks() is run.settled.store
    assert run.settled.conflicts


def test_guards_are_asked_at_the_moment_of_firing() -> None:
    """The first of two conclusions can stop the second use of the same rule."""
    rule = Rule("once", "", when=[adjacent(X, Y)], unless=[arrow(Y, X)], then=[arrow(X, Y)])

    run = ledger(Rulebook("guarded", (rule,)), "last").with_findings(told("adjacent:a,b"))

    assert run.history.arrows == arrows_of("a->b")
    assert [firing.bindings for firing in run.history.firings()] == [("a", "b")]
    assert run.settled.conflicts == ()


def test_the_first_rule_that_can_fire_fires() -> None:
    """Rules go in the order of the rulebook, and after each batch it begins again with the first."""
    first = Rule("first", "", when=[adjacent(X, Y), arrow(X, Y)], then=[gap(X, Y)])
    second = Rule("second", "", when=[adjacent(X, Y)], unless=[arrow(Y, X)], then=[arrow(X, Y)])

    run = ledger(Rulebook("ordered", (first, second)), "last").with_findings(told("adjacent:a,b adjacent:c,d"))

    assert [firing.rule for firing in run.history.firings()] == ["second", "second", "first", "first"]


def test_a_firing_needs_its_premises_still() -> None:
    """A premise that was overwritten before the rule came to fire stops it."""
    rule = Rule("mark", "", when=[arrow(X, Y)], then=[gap(X, Y)])

    run = ledger(Rulebook("marking", (rule,)), "last").with_findings(told("arrow:a,b arrow:b,a arrow:c,d"))

    assert {firing.bindings for firing in run.history.firings()} == {("b", "a"), ("c", "d")}


def test_a_rule_that_overwrites_its_own_premise_ends() -> None:
    """A binding fires once, so an arrow that turns itself round comes to rest."""
    rule = Rule("turn", "", when=[arrow(X, Y)], then=[arrow(Y, X)])

    run = ledger(Rulebook("turning", (rule,)), "last").with_findings(told("arrow:a,b"))

    assert [firing.bindings for firing in run.history.firings()] == [("a", "b"), ("b", "a")]
    assert run.history.arrows == arrows_of("a->b")
    assert len(run.settled.conflicts) == 2


@pytest.mark.parametrize(("keep", "expected"), [("first", "a->b"), ("last", "b->a")])
def test_a_ledger_goes_on_where_it_stopped(keep: str, expected: str) -> None:
    """Findings of a later visit overwrite, or yield to, those of an earlier one."""
    run = ledger(PAPER, "first" if keep == "first" else "last")
    run = run.with_findings(told("arrow:a,b"))
    run = run.with_findings(told("arrow:b,a"))

    assert run.settled.store.arrows == arrows_of(expected)
    assert run.order_dependent
    assert run.proofs() is run.history
    assert [one.decision for one in run.settled.conflicts] == [f"kept {expected.replace('->', ' -> ')}"]


def test_an_arrow_taken_up_again_has_its_newest_proof() -> None:
    """Overwritten twice, the arrow is back, and two clashes are on record."""
    run = ledger(PAPER, "last")
    for text in ("spouse:a,b,c", "arrow:b,a", "collider:a,b,d"):
        run = run.with_findings(told(text))

    assert run.history.arrows == arrows_of("a->b c->b d->b")
    assert [one.kind for one in run.settled.conflicts] == ["opposed", "opposed"]
    assert proof_of(run.history, fact("arrow:a,b")).findings == tuple(told("collider:a,b,d"))

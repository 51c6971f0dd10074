"""The rules for hidden causes: what each concludes, in any order, and how contradictions between ends are settled."""

from __future__ import annotations

from random import Random

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_rules.evidence.evidence import Evidence
from apsl_rules.rules.engine import End, Mark, MarkStore, compile_rulebook, extend
from apsl_rules.rules.policies import settle, untested_heads
from apsl_rules.rules.proof import proof_of
from apsl_rules.rules.rulebooks import PAG, knowing
from apsl_rules.rules.vocabulary import Finding
from support.naive import depths_by_iteration, is_consistent, replays
from support.telling import fact, told

EDGES = "adjacent:a,b adjacent:b,c"


def closed(text: str) -> MarkStore:
    """Return all that follows from findings."""
    program = compile_rulebook(PAG)
    return extend(program, program.start(), told(text)).store


@pytest.mark.parametrize(
    ("rule", "text", "concluded"),
    [
        ("FCI-R0", "collider:a,b,c", "head:b,a head:b,c"),
        ("FCI-R1", "head:b,a chain:a,b,c", "arrow:b,c"),
        ("FCI-R2", "adjacent:a,c arrow:a,b head:c,b", "head:c,a"),
        ("FCI-R2-after", "adjacent:a,c head:b,a arrow:b,c", "head:c,a"),
        ("FCI-R3", "adjacent:d,b head:b,a head:b,c chain:a,d,c", "head:b,d"),
        ("FCI-R8", "adjacent:a,c arrow:a,b arrow:b,c", "arrow:a,c"),
        ("FCI-R4-cause", "head:w,x arrow:w,y gap:x,y head:w,v adjacent:v,y within:x,v,y", "arrow:v,y"),
        (
            "FCI-R4-collider",
            "head:w,x arrow:w,y gap:x,y head:w,v adjacent:v,y without:x,v,y",
            "head:v,w head:v,y head:y,v",
        ),
        (
            "FCI-R4-next",
            "head:w,x arrow:w,y gap:x,y head:w,u head:u,w arrow:u,y head:u,v adjacent:v,y within:x,v,y",
            "arrow:v,y",
        ),
        ("FCI-R9", "head:c,a chain:c,a,b chain:a,b,d chain:b,d,c", "arrow:a,c"),
        ("FCI-R9", "head:c,a chain:c,a,b chain:a,b,d chain:b,d,e chain:d,e,f chain:e,f,c", "arrow:a,c"),
        (
            "FCI-R10",
            "head:c,a chain:u,a,w adjacent:a,u adjacent:a,w arrow:u,c arrow:w,c",
            "arrow:a,c",
        ),
        (
            "FCI-R10",
            "head:c,a chain:u,a,w chain:a,u,s chain:u,s,v arrow:v,c adjacent:a,w arrow:w,c",
            "arrow:a,c",
        ),
    ],
)
def test_each_rule_concludes_what_it_says(rule: str, text: str, concluded: str) -> None:
    """From its premises, and not without any one of them."""
    store = closed(text)
    wanted = [fact(word) for word in concluded.split()]
    words = text.split()

    assert all(one in store for one in wanted)
    assert any(rule == getattr(step.reason, "rule", None) for one in wanted for step in proof_of(store, one).steps)
    for word in words:
        without = closed(" ".join(one for one in words if one != word))
        assert any(one not in without for one in wanted), word


def test_marks_and_ends_of_a_hidden_cause() -> None:
    """A <-> B between two colliders, with circles at the outer ends, and a proof for each end."""
    store = closed("adjacent:c,a adjacent:a,b adjacent:b,d collider:c,a,b collider:a,b,d")

    assert store.mark("a", "b") is Mark.BIDIRECTED
    assert store.mark("c", "a") is Mark.PARTIAL
    assert (store.end("a", "c"), store.end("c", "a")) == (End.ARROW, End.CIRCLE)
    assert store.bidirected == {frozenset("ab")}
    assert store.partial == {("c", "a"), ("d", "b")}
    assert not store.arrows
    assert not store.lines
    assert str(proof_of(store, fact("head:a,b"))).splitlines() == [
        "b *-> a   [FCI-R0]",
        "  a is a collider between b and c   [test]",
    ]


def test_an_arrow_has_a_tail_and_an_arrowhead() -> None:
    """``arrow`` tells both ends."""
    store = closed(f"{EDGES} arrow:a,b")

    assert (store.end("a", "b"), store.end("b", "a")) == (End.TAIL, End.ARROW)
    assert store.mark("a", "b") is Mark.ARROW
    assert store.lines == {frozenset("bc")}


WORDS = [
    *(f"adjacent:{x},{y}" for x, y in ("ab", "bc", "cd", "ac", "bd", "ad")),
    *(f"collider:{x},{y},{z}" for x, y, z in ("abc", "bcd", "acd", "abd")),
    *(f"chain:{x},{y},{z}" for x, y, z in ("abc", "bcd", "cad", "dab", "bdc")),
    "gap:a,d",
    "gap:b,d",
    "within:a,c,d",
    "without:a,b,d",
    "within:a,b,d",
]


@settings(max_examples=60)
@given(st.lists(st.sampled_from(WORDS), unique=True, max_size=12), st.randoms(use_true_random=False))
def test_any_order_and_any_split_lead_to_the_same(words: list[str], random: Random) -> None:
    """The closure is that of plain loops over everything, every proof replays, and more findings take nothing away."""
    findings = told(" ".join(words))
    program = compile_rulebook(PAG)
    store = extend(program, program.start(), findings).store
    expected = depths_by_iteration(PAG, [one.fact for one in findings])
    shuffled = random.sample(findings, len(findings))
    cut = random.randrange(len(findings) + 1)
    first = extend(program, program.start(), shuffled[:cut]).store
    again = extend(program, first, shuffled[cut:]).store

    held = {one for relation in PAG.relations for one in store.facts(relation)}
    assert held == set(expected)
    assert held == {one for relation in PAG.relations for one in again.facts(relation)}
    assert {one for relation in PAG.relations for one in first.facts(relation)} <= held
    assert all(replays(PAG, proof_of(store, one), findings) for one in held)


TORN = "adjacent:a,b adjacent:b,c adjacent:a,d arrow:a,b collider:b,a,d"


def test_a_head_and_a_tail_at_one_end_are_a_conflict() -> None:
    """Quarantine draws no mark on the pair, and both sides are proved."""
    settled = settle(PAG, told(TORN), "quarantine")
    (one,) = settled.conflicts

    assert not is_consistent(closed(TORN))
    assert (one.pair, one.kind) == (("a", "b"), "cause")
    assert [proof.fact for proof in one.proofs] == [fact("head:a,b"), fact("arrow:a,b")]
    assert settled.store.mark("a", "b") is Mark.CONFLICT
    assert settled.store.end("a", "d") is End.ARROW
    assert str(one) == "a and b: one is found to be a cause of the other and to be none; no arrow is drawn"


@pytest.mark.parametrize(
    "text",
    [
        "adjacent:a,b adjacent:b,c adjacent:a,c arrow:a,b arrow:b,c arrow:c,a",
        "adjacent:a,b adjacent:b,c adjacent:a,c adjacent:a,d arrow:a,b arrow:b,c collider:d,a,c",
        "adjacent:a,b arrow:a,b arrow:b,a",
    ],
)
@pytest.mark.parametrize("policy", ["quarantine", "strongest", "ranked"])
def test_cycles_and_almost_directed_cycles_are_settled(text: str, policy: str) -> None:
    """Whatever the policy, what is left is consistent, and every contradiction is reported."""
    settled = settle(PAG, told(text), policy)  # type: ignore[arg-type]  # one of the three

    assert settled.conflicts
    assert is_consistent(settled.store)


def test_ranked_goes_by_strength() -> None:
    """Of two contradicting findings the stronger stays, whatever the order."""
    edges = told("adjacent:a,b adjacent:c,a adjacent:b,d")
    tail = attrs.evolve(told("chain:c,a,b")[0], evidence=Evidence("test", strength=5.0))
    head_at_a = attrs.evolve(told("head:a,c")[0], evidence=Evidence("test", strength=9.0))
    against = attrs.evolve(told("head:a,b")[0], evidence=Evidence("test", strength=2.0))
    for order in ([tail, head_at_a, against], [against, tail, head_at_a]):
        settled = settle(PAG, [*edges, *order], "ranked")

        assert settled.store.arrows == {("a", "b")}
        assert [one.decision for one in settled.conflicts] == ["left out that b *-> a"]


def test_two_heads_need_a_tested_collider_each() -> None:
    """An arrowhead that no test shows is opened where the other end has one too; certain findings need no test."""
    tested = told("collider:a,b,d", p=1e-6)
    guessed = [attrs.evolve(one, evidence=Evidence("score", strength=2.0)) for one in told("collider:c,a,b")]
    edges = told("adjacent:c,a adjacent:a,b adjacent:b,d", p=1e-6)
    settled = settle(PAG, [*edges, *tested, *guessed], "ranked")

    assert settled.store.mark("a", "b") is Mark.PARTIAL
    assert settled.store.end("b", "a") is End.ARROW
    assert [one.kind for one in settled.conflicts] == ["untested"]
    assert "no arrowhead is drawn for b *-> a, the one at the other end stays" in str(settled.conflicts[0])
    assert not untested_heads(closed("adjacent:c,a adjacent:a,b adjacent:b,d collider:c,a,b collider:a,b,d"))


def test_knowledge_brings_an_arrowhead_and_no_tail() -> None:
    """That b is no cause of a says nothing of the other end."""
    program = compile_rulebook(knowing(PAG))
    store = extend(program, program.start(), told("adjacent:a,b barred:b,a")).store

    assert store.partial == {("a", "b")}
    assert [rule.name for rule in knowing(PAG).rules][-1] == "Given-head"


def test_evidence_may_say_how_strong_it_is() -> None:
    """The strength that a source gives goes before that of its verdicts."""
    from apsl_rules.evidence import evidence_data, evidence_of, evidence_strength

    evidence = Evidence("test", strength=3.5)

    assert evidence_strength(evidence) == 3.5
    assert evidence_of(evidence_data(evidence)) == evidence
    assert Finding(fact("gap:a,b"), evidence) == Finding(fact("gap:a,b"), Evidence("test", strength=3.5))

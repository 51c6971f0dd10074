"""Proofs as text and as data, their depth and their weakest evidence."""

from __future__ import annotations

import json
from math import inf, log

import pytest

from apsl_published.plugin import PAPER
from apsl_rules import learn
from apsl_rules.evidence.evidence import (
    Decision,
    Evidence,
    Verdict,
    evidence_strength,
    evidence_text,
    p_text,
    verdict_data,
    verdict_of,
    verdict_text,
)
from apsl_rules.rules import ledger
from apsl_rules.rules.engine import compile_rulebook, extend
from apsl_rules.rules.proof import proof_of
from apsl_rules.rules.rulebooks import SOUND
from support.graphs import MICRO
from support.telling import fact, told

KITE = """\
b -> t   [Meek-R3]
  a -> t   [V-from-middle]
    t is a collider between a and c   [dsep: a ⊥ c | b; a not ⊥ c | b, t]
  c -> t   [V-from-middle]
    t is a collider between a and c   [dsep: a ⊥ c | b; a not ⊥ c | b, t]
  b -- t   [dsep: no set tried separates them; b not ⊥ t]
  a -- b   [dsep: no set tried separates them; a not ⊥ b]
  b -- c   [dsep: no set tried separates them; b not ⊥ c]
  b is no collider between a and c   [dsep: a ⊥ c | b]"""


def test_a_proof_prints_as_a_tree() -> None:
    """The arrow that the published algorithm gets wrong on N1, proved down to findings and their verdicts."""
    part = learn(MICRO["N1"], "t")

    assert str(part.why("b", "t")) == KITE
    assert str(part.why("t", "b")) == KITE


def test_a_step_that_is_used_again_is_printed_once() -> None:
    """The second time a derived fact is only named, so that long proofs stay short."""
    program = compile_rulebook(SOUND)
    findings = told("spouse:a,b,c adjacent:b,d chain:a,b,d adjacent:d,e chain:b,d,e adjacent:b,e")
    store = extend(program, program.start(), findings).store

    assert str(proof_of(store, fact("arrow:b,e"))) == (
        "b -> e   [Meek-R2]\n"
        "  b -> d   [Meek-R1]\n"
        "    a -> b   [V-from-spouse]\n"
        "      a and c share the child b   [test]\n"
        "    b -- d   [test]\n"
        "    b is no collider between a and d   [test]\n"
        "  d -> e   [Meek-R1]\n"
        "    b -> d   [shown above]\n"
        "    d -- e   [test]\n"
        "    d is no collider between b and e   [test]\n"
        "  b -- e   [test]"
    )


def test_a_proof_as_data_refers_backwards_only() -> None:
    """Steps are numbered, each uses earlier ones, and the last is what is proved."""
    proof = learn(MICRO["N1"], "t").why("b", "t")

    data = json.loads(proof.to_json())
    steps = data["steps"]

    assert data == proof.to_dict()
    assert data["proves"] == steps[-1]["text"] == "b -> t"
    assert [step["step"] for step in steps] == list(range(len(steps)))
    assert all(premise < step["step"] for step in steps for premise in step.get("premises", []))
    assert {step["rule"] for step in steps if "rule" in step} == {"V-from-middle", "Meek-R3"}
    assert {premise for step in steps for premise in step.get("premises", [])} == set(range(len(steps) - 1))
    collider = next(step for step in steps if step["relation"] == "collider")
    assert collider["nodes"] == ["a", "t", "c"]
    assert [verdict["decision"] for verdict in collider["evidence"]["verdicts"]] == ["independent", "dependent"]


def test_the_depth_is_the_longest_way_to_a_finding() -> None:
    """A finding has depth 0, a V-structure 1, and each rule on top of it one more."""
    part = learn(MICRO["N1"], "t")

    assert [part.why(x, "t").depth for x in "acb"] == [1, 1, 2]
    assert part.why("a", "b").depth == 0
    assert len(part.why("b", "t").findings) == 5


@pytest.mark.parametrize(
    ("decision", "p", "log_p", "expected"),
    [
        ("dependent", 0.001, None, -log(0.001)),
        ("dependent", 0.0, -2000.0, 2000.0),
        ("dependent", 0.0, None, inf),
        ("dependent", None, None, inf),
        ("independent", 0.75, None, log(4)),
        ("independent", 1.0, None, inf),
        ("independent", 0.0, None, 0.0),
        ("unreliable", None, None, 0.0),
    ],
)
def test_the_strength_of_a_verdict(decision: Decision, p: float | None, log_p: float | None, expected: float) -> None:
    """It is minus the log of the chance to be wrong: p where dependent, 1 - p where independent."""
    verdict = Verdict("a", "b", (), decision, "G²", 1.0, p, 1, 100, log_p)

    assert evidence_strength(Evidence("G²", (verdict,))) == pytest.approx(expected)


def test_a_proof_is_as_strong_as_its_weakest_finding() -> None:
    """One shaky verdict makes a proof shaky, however many good ones there are."""
    program = compile_rulebook(SOUND)
    findings = told("collider:a,b,c", p=1e-9) + told("adjacent:b,d", p=0.004) + told("chain:a,b,d")
    store = extend(program, program.start(), findings).store

    assert proof_of(store, fact("arrow:a,b")).weakest_evidence == pytest.approx(-log(1e-9))
    assert proof_of(store, fact("arrow:b,d")).weakest_evidence == pytest.approx(-log(0.004))
    assert proof_of(store, fact("chain:a,b,d")).weakest_evidence == inf


@pytest.mark.parametrize(
    ("p", "log_p", "expected"),
    [
        (0.0123456, None, "0.0123"),
        (1e-300, None, "1e-300"),
        (0.0, -1000 * log(10), "1e-1000"),
        (0.0, log(2.5) - 400 * log(10), "2.5e-400"),
        (0.0, log(9.9996) - 400 * log(10), "1e-399"),
        (0.0, None, "0"),
    ],
)
def test_p_is_spelt_far_below_the_smallest_float(p: float, log_p: float | None, expected: str) -> None:
    """Where p itself underflows its logarithm tells the power of ten."""
    assert p_text(Verdict("a", "b", (), "dependent", "G²", 1.0, p, 1, 100, log_p)) == expected


def test_verdicts_and_evidence_read_in_one_line() -> None:
    """Only the figures that there are get shown."""
    dependent = Verdict("a", "b", ("c", "d"), "dependent", "G²", 31.41592, 0.0000123, 4, 500)
    unreliable = Verdict("a", "b", (), "unreliable", "G²", n=12)

    assert verdict_text(dependent) == "a not ⊥ b | c, d (G² = 31.42, dof 4, p = 1.23e-05, n = 500)"
    assert verdict_text(unreliable) == "too few rows to test a against b (n = 12)"
    assert evidence_text(Evidence("user")) == "user"
    assert evidence_text(Evidence("G²", (unreliable,), "a note")) == f"G²: a note; {verdict_text(unreliable)}"


def test_a_dropped_arrow_can_still_be_proved() -> None:
    """A conflict under ``last`` shows the proof of the arrow that was overwritten."""
    run = ledger(PAPER, "last")
    run = run.with_findings(told("spouse:a,b,c"))
    run = run.with_findings(told("arrow:b,a"))
    (conflict,) = run.settled.conflicts

    assert [proof.fact for proof in conflict.proofs] == [fact("arrow:b,a"), fact("arrow:a,b")]
    assert str(conflict.proofs[1]) == "a -> b   [V-from-spouse]\n  a and c share the child b   [test]"


def test_a_verdict_names_the_rank_of_the_given_columns() -> None:
    """It stands after the degrees of freedom, and is kept in data; without given columns there is none to name."""
    verdict = Verdict("a", "b", ("c",), "dependent", "Λ", 9.0, 0.003, 1, 100, rank=3)
    assert verdict_text(verdict) == "a not ⊥ b | c (Λ = 9, dof 1, rank 3, p = 0.003, n = 100)"
    assert verdict_of(verdict_data(verdict)) == verdict
    assert "rank" not in verdict_text(Verdict("a", "b", (), "dependent", "Λ", 9.0, 0.003, 1, 100, rank=0))
    assert "rank" not in verdict_data(Verdict("a", "b", (), "dependent", "Λ"))

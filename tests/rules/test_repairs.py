"""Repairs: the least sets of findings without which a contradiction would not arise."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings

from apsl_rules.rules import KNOWING, Fact, Finding
from apsl_rules.rules.conflicts import Conflict
from apsl_rules.rules.policies import settle
from apsl_rules.rules.proof import shortest_proofs
from apsl_rules.rules.rulebooks import SOUND
from support.strategies import findings
from support.telling import fact, told

OPPOSED = "adjacent:a,b spouse:a,b,c spouse:b,a,d"


def facts(conflict: Conflict, told_too: list[Finding] | None = None) -> list[set[Fact]]:
    """Return the facts of each repair."""
    return [{one.fact for one in repair.findings} for repair in conflict.repairs(told_too or ())]


def test_either_side_can_be_doubted() -> None:
    """Two V-structures that meet on an edge: the contradiction goes with either."""
    (one,) = settle(SOUND, told(OPPOSED), "quarantine").conflicts

    assert facts(one) == [{fact("spouse:a,b,c")}, {fact("spouse:b,a,d")}]
    assert str(one.repairs()[0]).startswith("a and c share the child b   [test")


def test_another_proof_makes_a_repair_larger() -> None:
    """With a second way to prove one side, that side costs two findings, and the other still one."""
    drawn = told(f"{OPPOSED} spouse:a,b,e")
    (one,) = settle(SOUND, drawn, "quarantine").conflicts

    assert facts(one, drawn) == [{fact("spouse:b,a,d")}]


def test_every_way_is_looked_at() -> None:
    """With two proofs of both sides each repair has two findings."""
    drawn = told(f"{OPPOSED} spouse:a,b,e spouse:b,a,f")
    (one,) = settle(SOUND, drawn, "quarantine").conflicts

    assert sorted(map(len, facts(one, drawn))) == [2, 2]


@settings(max_examples=40)
@given(findings(min_size=8, max_size=18))
def test_repairs_are_least_and_remove_the_contradiction(drawn: list[Finding]) -> None:
    """Without a repair not all sides follow; without any smaller set of findings they still do."""
    for conflict in settle(SOUND, drawn, "quarantine").conflicts[:2]:
        sides = [proof.fact for proof in conflict.proofs]
        for repair in facts(conflict, drawn):
            assert not all_follow(sides, drawn, repair)
            for smaller in combinations(repair, len(repair) - 1):
                assert all_follow(sides, drawn, set(smaller))


def all_follow(sides: list[Fact], told_too: list[Finding], gone: set[Fact]) -> bool:
    """Return whether all sides follow from the findings that are left."""
    store = shortest_proofs(KNOWING, [one for one in told_too if one.fact not in gone])
    return all(side in store for side in sides)

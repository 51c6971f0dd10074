"""The fixpoint engine: rounds, blocked facts, refusals and counts."""

from __future__ import annotations

import pytest

from apsl_published.plugin import PAPER
from apsl_rules.errors import RuleError
from apsl_rules.rules.engine import compile_rulebook, count_firings, extend
from apsl_rules.rules.rulebooks import SOUND
from apsl_rules.rules.vocabulary import Fact
from support.graphs import arrows_of
from support.telling import fact, told

CHAIN = "collider:a,b,z adjacent:a,b adjacent:z,b adjacent:b,c adjacent:c,d chain:a,b,c chain:b,c,d"


def test_each_round_uses_what_was_known_before_it() -> None:
    """The V-structure comes in round 1, the next arrow in round 2, the one after it in round 3."""
    program = compile_rulebook(SOUND)

    outcome = extend(program, program.start(), told(CHAIN))

    assert outcome.rounds == (7, 9, 10, 11)
    assert outcome.depths() == {
        fact("arrow:a,b"): 1,
        fact("arrow:z,b"): 1,
        fact("arrow:b,c"): 2,
        fact("arrow:c,d"): 3,
    }
    assert [firing.rule for firing in outcome.firings] == ["V-from-middle", "V-from-middle", "Meek-R1", "Meek-R1"]
    assert outcome.store.arrows == arrows_of("a->b z->b b->c c->d")


def test_the_store_before_is_left_as_it_was() -> None:
    """An extension gives a new store; the old one still has what it had."""
    program = compile_rulebook(SOUND)
    before = extend(program, program.start(), told("collider:a,b,z")).store

    after = extend(program, before, told("adjacent:b,c chain:a,b,c")).store

    assert before.arrows == arrows_of("a->b z->b")
    assert after.arrows == arrows_of("a->b z->b b->c")


def test_an_older_store_can_be_extended_another_way() -> None:
    """Two extensions of one store know nothing of each other."""
    program = compile_rulebook(SOUND)
    base = extend(program, program.start(), told("collider:a,b,z adjacent:b,c adjacent:b,d")).store

    one = extend(program, base, told("chain:a,b,c")).store
    other = extend(program, base, told("chain:a,b,d")).store

    assert one.arrows == arrows_of("a->b z->b b->c")
    assert other.arrows == arrows_of("a->b z->b b->d")


def test_blocked_facts_are_neither_concluded_nor_told() -> None:
    """What rests on a blocked fact does not follow either."""
    program = compile_rulebook(SOUND)
    blocked = {fact("arrow:b,c"), fact("arrow:x,y")}

    outcome = extend(program, program.start(), told(f"{CHAIN} arrow:x,y arrow:y,x"), blocked=blocked)

    assert outcome.store.arrows == arrows_of("a->b z->b y->x")


def test_nothing_new_means_no_round() -> None:
    """Findings that are held already set nothing off."""
    program = compile_rulebook(SOUND)
    store = extend(program, program.start(), told(CHAIN)).store

    outcome = extend(program, store, told(CHAIN))

    assert outcome.rounds == ()
    assert outcome.firings == ()
    assert outcome.store.entries == store.entries


def test_of_several_firings_for_a_fact_one_is_chosen_by_name() -> None:
    """Two V-structures point at b; the proof of the arrow they share names the first, whatever came first."""
    program = compile_rulebook(SOUND)

    outcome = extend(program, program.start(), told("spouse:c,b,z spouse:a,b,z collider:a,b,z"))
    (chosen,) = [firing for firing in outcome.firings if firing.fact == Fact("arrow", ("z", "b"))]

    assert (chosen.rule, chosen.premises) == ("V-from-middle", (fact("collider:a,b,z"),))


def test_rules_with_guards_have_no_fixpoint() -> None:
    """The refusal names the rulebook and the policies that can run it."""
    program = compile_rulebook(PAPER)

    with pytest.raises(RuleError, match=r"rulebook 'paper' has guards and so no fixpoint .* policy 'first' or 'last'"):
        extend(program, program.start(), told(CHAIN))


def test_the_firings_of_each_rule_are_counted() -> None:
    """They add up over all extensions, and a rule that never fired is named too."""
    program = compile_rulebook(SOUND)
    store = extend(program, program.start(), told(CHAIN)).store
    store = extend(program, store, told("adjacent:d,e chain:c,d,e")).store
    firings = count_firings(SOUND, store)

    assert firings == {"V-from-spouse": 0, "V-from-middle": 2, "Meek-R1": 3, "Meek-R2": 0, "Meek-R3": 0}


def test_a_firing_names_its_bindings_and_premises() -> None:
    """The bindings follow the variables of the rule, the premises its atoms."""
    program = compile_rulebook(SOUND)

    outcome = extend(program, program.start(), told("arrow:a,b adjacent:b,c chain:a,b,c"))
    (firing,) = outcome.firings

    assert firing.bindings == ("a", "b", "c")
    assert firing.premises == (fact("arrow:a,b"), fact("adjacent:b,c"), fact("chain:a,b,c"))
    assert firing.fact == fact("arrow:b,c")

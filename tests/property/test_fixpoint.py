"""The fixpoint of positive rules: one result whatever the order, and a shortest proof for every fact."""

from __future__ import annotations

from random import Random

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules import learn
from apsl_rules.evidence.evidence import Evidence
from apsl_rules.graphs.dag import Dag
from apsl_rules.rules import ledger
from apsl_rules.rules.engine import MarkStore, compile_rulebook, extend
from apsl_rules.rules.proof import proof_of
from apsl_rules.rules.rulebooks import KNOWING, SOUND
from apsl_rules.rules.vocabulary import Fact, Finding, Firing, Rulebook
from support.naive import depths_by_iteration, replays
from support.strategies import SHAPED_FACTS, SHAPES, findings, rulebooks, sparse_dags

CROWDED = findings(min_size=8, max_size=24)


def facts_in(store: MarkStore) -> set[Fact]:
    """Return all facts that a store holds."""
    return {fact for relation in store.relations.values() for fact in store.facts(relation)}


def shuffled(found: list[Finding], random: Random) -> list[Finding]:
    """Return findings in another order."""
    return random.sample(found, len(found))


def in_batches(found: list[Finding], random: Random) -> list[list[Finding]]:
    """Cut findings into batches, some of them empty."""
    cuts = sorted(random.randint(0, len(found)) for _ in range(random.randint(0, 4)))
    return [found[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(found)], strict=True)]


def fed(rulebook: Rulebook, batches: list[list[Finding]]) -> MarkStore:
    """Feed batches to an engine, one after the other."""
    program = compile_rulebook(rulebook)
    store = program.start()
    for batch in batches:
        store = extend(program, store, batch).store
    return store


@pytest.mark.slow
@given(CROWDED, st.randoms(use_true_random=False))
def test_the_order_of_findings_and_rules_changes_nothing(found: list[Finding], random: Random) -> None:
    """Any order of findings and of rules gives the same firings in the same rounds."""
    other_rules = attrs.evolve(KNOWING, rules=tuple(random.sample(KNOWING.rules, len(KNOWING.rules))))

    expected = extend(compile_rulebook(KNOWING), MarkStore(), found)
    actual = extend(compile_rulebook(other_rules), MarkStore(), shuffled(found, random))

    assert actual.firings == expected.firings
    assert actual.rounds == expected.rounds
    assert actual.depths() == expected.depths()


@given(CROWDED, st.randoms(use_true_random=False))
def test_the_batches_in_which_findings_come_change_no_fact(found: list[Finding], random: Random) -> None:
    """Fed in any order and in any batches, the same facts are held in the end."""
    expected = fed(SOUND, [found])

    actual = fed(SOUND, in_batches(shuffled(found, random), random))

    assert facts_in(actual) == facts_in(expected)


@pytest.mark.slow
@given(findings(max_size=14), findings(max_size=4))
def test_more_findings_never_remove_an_arrow(found: list[Finding], more: list[Finding]) -> None:
    """What follows from some findings follows from them and others."""
    program = compile_rulebook(SOUND)
    before = extend(program, program.start(), found).store

    after = extend(program, before, more).store

    assert facts_in(before) <= facts_in(after)


@pytest.mark.slow
@given(CROWDED, st.randoms(use_true_random=False))
def test_every_proof_replays_down_to_findings(found: list[Finding], random: Random) -> None:
    """Each step of each proof is a finding or follows by its rule from earlier steps, and the last is the fact."""
    store = fed(KNOWING, in_batches(shuffled(found, random), random))

    for fact in facts_in(store):
        proof = proof_of(store, fact)

        assert proof.fact == fact
        assert replays(KNOWING, proof, found)


@pytest.mark.slow
@given(CROWDED)
def test_facts_and_depths_are_those_of_naive_iteration(found: list[Finding]) -> None:
    """Plain loops over all bindings reach the same facts in the same rounds."""
    expected = depths_by_iteration(KNOWING, [one.fact for one in found])

    outcome = extend(compile_rulebook(KNOWING), MarkStore(), found)

    assert {fact: proof_of(outcome.store, fact).depth for fact in facts_in(outcome.store)} == expected
    assert outcome.depths() == {fact: depth for fact, depth in expected.items() if depth}


@given(rulebooks(), st.lists(SHAPED_FACTS, max_size=8), st.lists(SHAPED_FACTS, max_size=2))
def test_any_positive_rulebook_agrees_with_naive_iteration(
    rulebook: Rulebook, facts: list[Fact], blocked: list[Fact]
) -> None:
    """Rules of any shape over relations of any shape, some facts blocked: the same facts and depths."""
    expected = depths_by_iteration(rulebook, facts, blocked=blocked)

    program = compile_rulebook(rulebook)
    told = [Finding(fact, Evidence("test")) for fact in facts]
    outcome = extend(program, program.start(), told, blocked=frozenset(blocked))

    assert set(outcome.store.relations.values()) == set(SHAPES)
    assert {fact: proof_of(outcome.store, fact).depth for fact in facts_in(outcome.store)} == expected


@pytest.mark.slow
@given(sparse_dags(min_nodes=4, max_nodes=6), st.randoms(use_true_random=False))
def test_the_proofs_of_a_run_are_as_short_as_can_be(dag: Dag, random: Random) -> None:
    """Whatever the order and the batches of a run, the proofs of its ledger have the least depth there is."""
    found = list(learn(dag, dag.nodes[0], depth="max").findings)
    expected = depths_by_iteration(SOUND, [one.fact for one in found])

    run = ledger(SOUND, "quarantine")
    for batch in in_batches(shuffled(found, random), random):
        run = run.with_findings(batch)
    proofs = run.proofs()

    assert run.settled.conflicts == ()
    assert {fact: proof_of(proofs, fact).depth for fact in facts_in(proofs)} == expected


@given(CROWDED)
def test_firings_tell_the_whole_history(found: list[Finding]) -> None:
    """The entries of a store are the findings, each fact once, and then the firings in their order."""
    outcome = extend(compile_rulebook(SOUND), MarkStore(), found)

    entries = list(outcome.store.entries)

    assert tuple(entry for entry in entries if isinstance(entry, Firing)) == outcome.firings
    assert len(entries) == len({entry.fact for entry in entries})

"""Contradictory findings: each policy leaves a consistent store, and two of them ignore the order of findings."""

from __future__ import annotations

from random import Random
from typing import Literal

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_published.plugin import PAPER
from apsl_rules.cycles import cyclic_groups, shortest_path
from apsl_rules.names import in_order
from apsl_rules.rules import ledger
from apsl_rules.rules.engine import MarkStore, compile_rulebook, extend
from apsl_rules.rules.policies import settle
from apsl_rules.rules.proof import proof_of
from apsl_rules.rules.rulebooks import KNOWING
from apsl_rules.rules.vocabulary import Fact, Finding, Reason, conflict, gap
from support.naive import is_consistent, replays
from support.strategies import findings

POLICIES: tuple[Literal["quarantine", "strongest"], ...] = ("quarantine", "strongest")
CROWDED = findings(min_size=8, max_size=26)
ORDERED: tuple[Literal["first", "last"], ...] = ("first", "last")
ARROWS = st.lists(st.permutations("abcdefg").map(lambda nodes: (nodes[0], nodes[1])), max_size=20)


def reasons_in(store: MarkStore) -> dict[Fact, Reason]:
    """Return all facts that a store holds, with their reasons."""
    facts = [fact for relation in store.relations.values() for fact in store.facts(relation)]
    return {fact: store.reason(fact) for fact in facts}


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@given(found=CROWDED, random=st.randoms(use_true_random=False))
def test_the_order_of_contradictory_findings_changes_nothing(
    policy: Literal["quarantine", "strongest"], found: list[Finding], random: Random
) -> None:
    """Any order gives the same facts for the same reasons and the same conflicts with the same proofs."""
    expected = settle(KNOWING, found, policy)

    actual = settle(KNOWING, random.sample(found, len(found)), policy)

    assert reasons_in(actual.store) == reasons_in(expected.store)
    assert actual.conflicts == expected.conflicts


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@given(found=CROWDED)
def test_what_is_settled_is_consistent(policy: Literal["quarantine", "strongest"], found: list[Finding]) -> None:
    """No pair has both arrows, no arrows form a cycle, and no pair in conflict carries an arrow."""
    settled = settle(KNOWING, found, policy)

    arrows = [tuple(nodes) for nodes in settled.store.arrows]

    assert nx.is_directed_acyclic_graph(nx.DiGraph(arrows))
    assert not any(settled.store.has_arrow(*pair) for pair in settled.store.conflicts)
    assert bool(settled.conflicts) or is_consistent(settled.store)


@pytest.mark.parametrize("policy", POLICIES)
@given(found=CROWDED)
def test_every_conflict_is_proved_and_nothing_else_is_lost(
    policy: Literal["quarantine", "strongest"], found: list[Finding]
) -> None:
    """All sides of a conflict have proofs that replay, and what is gone rests on a pair in conflict."""
    program = compile_rulebook(KNOWING)
    settled = settle(KNOWING, found, policy)
    whole = extend(program, program.start(), found).store
    lost = set(reasons_in(whole)) - set(reasons_in(settled.store))
    torn = {frozenset(one.pair) for one in settled.conflicts}

    for one in settled.conflicts:
        assert len(one.proofs) > 1
        assert all(replays(KNOWING, proof, found) for proof in one.proofs)
    for fact in lost:
        assert any(frozenset(step.fact.nodes) in torn for step in proof_of(whole, fact).steps)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=25)
@given(found=CROWDED, random=st.randoms(use_true_random=False))
def test_a_ledger_judges_the_whole_set_of_findings(
    policy: Literal["quarantine", "strongest"], found: list[Finding], random: Random
) -> None:
    """Findings added one by one, in any order and with questions in between, settle as if told together."""
    expected = settle(KNOWING, found, policy)

    run = ledger(KNOWING, policy)
    for one in random.sample(found, len(found)):
        run = run.with_findings([one])
        assert run.settled is not None
    actual = run.settled

    assert set(reasons_in(actual.store)) == set(reasons_in(expected.store))
    assert actual.conflicts == expected.conflicts


@pytest.mark.parametrize("policy", ORDERED)
@given(found=CROWDED, cut=st.integers(0, 26))
def test_overwriting_never_holds_opposed_arrows(
    policy: Literal["first", "last"], found: list[Finding], cut: int
) -> None:
    """Of two opposite arrows one stays, and the clash is on record with both proofs."""
    run = ledger(PAPER, policy)
    for batch in (found[:cut], found[cut:]):
        run = run.with_findings(batch)
    settled = run.settled

    assert run.order_dependent
    assert not any((y, x) in settled.store.arrows for x, y in settled.store.arrows)
    assert all(len(one.proofs) > 1 for one in settled.conflicts)
    if policy == "first":
        assert nx.is_directed_acyclic_graph(nx.DiGraph(list(settled.store.arrows)))


@pytest.mark.slow
@given(CROWDED)
def test_conflicts_are_marked_once_for_each_pair(found: list[Finding]) -> None:
    """A pair in conflict carries one conflict fact, and a torn edge keeps both of its findings."""
    settled = settle(KNOWING, found, "quarantine")

    pairs = [frozenset(fact.nodes) for fact in settled.store.facts(conflict)]

    assert len(pairs) == len(set(pairs))
    assert set(pairs) == {frozenset(one.pair) for one in settled.conflicts}
    assert all(gap.fact(*one.pair) in settled.store for one in settled.conflicts if one.kind == "edge")


@given(ARROWS)
def test_cyclic_groups_are_the_strongly_connected_ones(arrows: list[tuple[str, str]]) -> None:
    """The groups are those of networkx that have two nodes or more."""
    expected = {frozenset(group) for group in nx.strongly_connected_components(nx.DiGraph(arrows)) if len(group) > 1}

    groups = cyclic_groups(arrows)

    assert set(groups) == expected
    firsts = [in_order(group)[0] for group in groups]
    assert tuple(firsts) == in_order(firsts)


@given(ARROWS)
def test_a_way_is_a_shortest_path(arrows: list[tuple[str, str]]) -> None:
    """From a to g: as many arrows as the shortest path of networkx, each of them there, none where there is none."""
    graph = nx.DiGraph(arrows)
    graph.add_nodes_from("ag")

    steps = shortest_path("a", "g", arrows)

    if nx.has_path(graph, "a", "g"):
        assert len(steps) == nx.shortest_path_length(graph, "a", "g")
        assert set(steps) <= set(arrows)
        assert [step[0] for step in steps] == ["a", *(step[1] for step in steps[:-1])]
        assert steps[-1][1] == "g"
    else:
        assert steps == ()

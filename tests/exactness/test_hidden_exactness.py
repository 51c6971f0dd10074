"""With a perfect oracle and hidden causes allowed the part is the PAG on the asked region, with and without tiers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import Dag, Knowledge, learn, network
from apsl_rules.evaluation.exactness import faults_of, verify
from apsl_rules.graphs import DagWithHidden, EndMark, Mag, Pag, mag, pag
from apsl_rules.names import Depth, Node
from apsl_rules.parts.file import parse_part, part_json
from support.drawing import in_turn, some_of
from support.hidden import random_hidden_dag
from support.mag_classes import MagClasses, mag_classes

DEPTHS: tuple[Depth, ...] = (1, 2, "max")


@pytest.mark.slow
def test_all_classes_on_four_nodes_are_learned_exactly() -> None:
    """All 248 classes, every target, depths 1, 2 and "max" in turn: no difference from brute force."""
    runs = differences = 0
    for graph, truth in mag_classes(4):
        oracle = DSeparation(graph.canonical())
        for target in graph.nodes:
            for depth in in_turn(DEPTHS, runs):
                part = learn(oracle, target, depth=depth, hidden="allowed")
                differences += any(faults_of(part, truth)) or bool(part.ledger.settled.conflicts)
                runs += 1

    assert (runs, differences) == (992 * len(in_turn(DEPTHS, 0)), 0)


@pytest.mark.slow
def test_classes_on_five_nodes_are_learned_exactly() -> None:
    """Up to 2,000 of the 24,259 classes, every target, depths in turn; tools/bench/hidden_exact.py runs all of them."""
    classes = mag_classes(5)
    runs = differences = 0
    for at in Random(19).sample(range(len(classes)), some_of(2000, one_in=20)):
        graph, truth = classes[at]
        oracle = DSeparation(graph.canonical())
        for place, target in enumerate(graph.nodes):
            part = learn(oracle, target, depth=DEPTHS[(at + place) % 3], hidden="allowed")
            differences += any(faults_of(part, truth))
            runs += 1

    assert (runs, differences) == (5 * some_of(2000, one_in=20), 0)


@st.composite
def graphs(draw: st.DrawFn) -> DagWithHidden:
    """Draw a graph of 6 to 14 nodes, of which 1 to 4 are hidden."""
    hidden = draw(st.integers(1, 4))
    observed = draw(st.integers(max(2, 6 - hidden), 14 - hidden))
    random = draw(st.randoms(use_true_random=False))
    return random_hidden_dag(random, observed=observed, hidden=hidden, share=draw(st.sampled_from([0.12, 0.2, 0.3])))


@pytest.mark.slow
@settings(max_examples=some_of(120, one_in=10))
@given(graphs(), st.sampled_from(DEPTHS))
def test_random_graphs_are_learned_exactly(graph: DagWithHidden, depth: Depth) -> None:
    """Every target: no false mark anywhere, and all marks at the asked region, against the rules as published."""
    truth = pag(graph)
    oracle = DSeparation(graph)
    for target in graph.nodes:
        part = learn(oracle, target, depth=depth, hidden="allowed")

        assert not list(faults_of(part, truth))
        assert parse_part(part_json(part), "file") == part


@pytest.mark.slow
@settings(max_examples=some_of(40))
@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_of_columns_does_not_matter(graph: DagWithHidden, random: Random) -> None:
    """The same marks, proofs and visits for any order of the nodes."""
    nodes = random.sample(graph.dag.nodes, len(graph.dag.nodes))
    turned = Dag({node: graph.dag.parents_of(node)[::-1] for node in nodes}).hiding(*graph.hidden)
    target = min(map(str, graph.nodes))
    one, other = (learn(source, target, depth=2, hidden="allowed") for source in (graph, turned))

    assert one.visited == other.visited
    assert one.store == other.store
    assert one.proofs == other.proofs


def fci_ends(graph: DagWithHidden) -> dict[tuple[Node, Node], EndMark]:
    """Return the PAG that causal-learn's FCI finds with the same answers."""
    from causallearn.search.ConstraintBased.FCI import fci
    from causallearn.utils import cit
    from causallearn.utils.cit import CIT_Base

    oracle = DSeparation(graph)
    names = sorted(map(str, graph.nodes))

    class Answers(CIT_Base):  # type: ignore[misc]  # the package has no types
        method = "answers"

        def __call__(self, x: int, y: int, given: Any = None) -> float:
            others = [names[int(one)] for one in given or ()]
            return float(oracle.verdict(names[int(x)], names[int(y)], others).independent)

    rows = np.random.default_rng(0).normal(size=(10, len(names)))
    cit.register_ci_test(Answers.method, Answers)
    found, _ = fci(rows, Answers.method, 0.5, node_names=names, show_progress=False, verbose=False)
    kinds: dict[str, EndMark] = {"ARROW": "arrow", "TAIL": "tail", "CIRCLE": "circle"}
    ends: dict[tuple[Node, Node], EndMark] = {}
    for edge in found.get_graph_edges():
        x, y = edge.get_node1().get_name(), edge.get_node2().get_name()
        ends[x, y], ends[y, x] = kinds[edge.get_endpoint1().name], kinds[edge.get_endpoint2().name]
    return ends


@pytest.mark.release
@pytest.mark.slow
def test_another_package_finds_the_same_where_it_is_right() -> None:
    """causal-learn's FCI with the same answers: adjacencies agree, and its marks are ours wherever it has one."""
    random = Random(3)
    equal = 0
    for _ in range(some_of(25)):
        graph = random_hidden_dag(random, observed=7, hidden=2, share=0.22)
        theirs, truth = fci_ends(graph), pag(graph)
        for target in graph.nodes:
            part = learn(graph, target, depth="max", hidden="allowed")
            for pair in truth.region(target, "max"):
                assert theirs[pair] in (part.end(*pair), "circle")
        equal += theirs == truth.ends

    assert equal >= some_of(20)


def test_visits_are_few_in_a_large_graph() -> None:
    """Around a target of a graph of 120 nodes only a few are visited."""
    graph = random_hidden_dag(Random(8), observed=110, hidden=10, share=0.012)
    truth = pag(graph)
    parts = [learn(graph, target, hidden="allowed") for target in sorted(map(str, graph.nodes))[:12]]

    assert not [fault for part in parts for fault in faults_of(part, truth)]
    assert sum(len(part.visited) for part in parts) < 12 * 30


@pytest.mark.slow
@settings(max_examples=some_of(60))
@given(graphs(), st.randoms(use_true_random=False))
def test_other_knowledge_is_used_soundly(graph: DagWithHidden, random: Random) -> None:
    """What is true of a graph brings no false mark: no tail where there is none, no head at a cause."""
    true = mag(graph)
    pairs = sorted(true.ends, key=repr)
    barred = [pair for pair in pairs if true.end(*pair) == "arrow" and random.random() < 0.3]
    required = [pair for pair in sorted(true.arrows, key=repr) if random.random() < 0.15]
    part = learn(
        graph,
        graph.nodes[0],
        depth="max",
        hidden="allowed",
        knowledge=Knowledge(forbidden=barred, required=required),
    )

    for pair in true.region(graph.nodes[0], "max"):
        assert part.end(*pair) in (true.end(*pair), "circle")
        if pair in barred:
            assert part.end(*pair) == "arrow"
    assert not part.ledger.settled.conflicts


def test_a_forbidden_arrow_leaves_the_other_end_open() -> None:
    """That B is no cause of A puts an arrowhead at B, and no tail at A: they may share a hidden cause."""
    graph = Dag({"H": [], "A": ["H"], "B": ["H"]}).hiding("H")
    part = learn(graph, "A", hidden="allowed", knowledge=Knowledge(forbidden=[("B", "A")]))

    assert (part.end("B", "A"), part.end("A", "B")) == ("arrow", "circle")
    assert part.partial == {("A", "B")}


def test_verify_knows_hidden_nodes() -> None:
    """``verify`` compares with the PAG, also where a learner allows hidden causes and nothing is hidden."""
    found = verify(network("cancer").hiding("Smoker"))

    assert (found.learner, found.exact) == ("apsl-hidden", True)
    assert verify(network("asia"), learner="apsl-hidden", depth=2).exact
    assert not verify(network("asia").hiding("smoke"), learner="apsl", depth=1).exact


def test_a_node_in_no_tier_passes_on_what_tiers_say_of_those_around_it() -> None:
    """In a -> x -> b with b after a, b cannot be a cause of x: x would pass it on to a."""
    graph = Dag({"a": [], "x": ["a"], "b": ["x"]})
    part = learn(graph, "x", depth=2, hidden="allowed", knowledge=Knowledge(tiers=[[], ["a"], ["b"]]))

    assert part.partial == {("x", "b")}
    assert part.lines == {frozenset(("a", "x"))}
    assert "b is no cause of a   [given: b is in tier 3 and a in tier 2]" in str(part.why("b", "x"))
    assert parse_part(part_json(part), "file") == part


def test_a_node_in_no_tier_is_no_cause_of_the_first() -> None:
    """With a first, x has an arrowhead at a -> x, and x -> b follows."""
    graph = Dag({"a": [], "x": ["a"], "b": ["x"]})
    part = learn(graph, "x", depth=2, hidden="allowed", knowledge=Knowledge(tiers=[["a"]]))

    assert part.arrows == {("x", "b")}
    assert part.partial == {("a", "x")}


def test_a_forbidden_arrow_bars_ways_through_others() -> None:
    """That b is no cause of a, although they are not adjacent, puts an arrowhead at b."""
    graph = Dag({"a": [], "x": ["a"], "b": ["x"]})
    part = learn(graph, "x", depth=2, hidden="allowed", knowledge=Knowledge(forbidden=[("b", "a")]))

    assert part.partial == {("x", "b")}


def test_tiers_that_the_answers_contradict_are_a_conflict() -> None:
    """The arrows c -> x -> a are proved, and c is said to be no cause of a: both sides are told."""
    graph = Dag({"p": [], "q": [], "c": ["p", "q"], "x": ["c"], "a": ["x"]})
    part = learn(graph, "c", depth="max", hidden="allowed", knowledge=Knowledge(tiers=[["a"], ["c"]]))

    assert part.ledger.settled.conflicts
    proofs = [proof for one in part.ledger.settled.conflicts for proof in one.proofs]
    said = {finding.fact.relation for proof in proofs for finding in proof.findings}
    assert {"noncause", "collider"} <= said


def causes(graph: Mag) -> set[tuple[Node, Node]]:
    """Return every pair of nodes of which the first is a cause of the second, also through others."""
    found = set(graph.arrows)
    for middle, x, y in product(graph.nodes, repeat=3):
        if (x, middle) in found and (middle, y) in found:
            found.add((x, y))
    return found


def shared(graphs: list[Mag]) -> Pag:
    """Return the marks that graphs share."""
    first = graphs[0]
    ends = {pair: end if all(one.ends[pair] == end for one in graphs) else "circle" for pair, end in first.ends.items()}
    return Pag(first.nodes, ends)


def split(numbers: tuple[int, ...]) -> Knowledge:
    """Put nodes into tiers by their numbers; those numbered 0 are in none."""
    return Knowledge(tiers=[[node for node, one in enumerate(numbers) if one == tier] for tier in (1, 2, 3)])


def truths(
    classes: MagClasses, at: int, splits: list[tuple[int, ...]]
) -> Iterator[tuple[DSeparation, Knowledge, Pag, list[Mag]]]:
    """Give a class with tiers that some of its graphs agree with, and the marks that all those share."""
    members = [(graph, causes(graph)) for graph in classes.members(at)]
    for numbers in splits:
        if len({*numbers} - {0}) < 2:
            continue
        knowledge = split(numbers)
        fitting = [graph for graph, pairs in members if not any(knowledge.why_barred(*pair) for pair in pairs)]
        if fitting:
            yield DSeparation(fitting[0].canonical()), knowledge, shared(fitting), fitting


@pytest.mark.slow
def test_all_tiers_on_three_nodes_are_used_exactly() -> None:
    """All classes on three nodes, all tiers, with or without a node in none, targets and depths in turn."""
    classes = mag_classes(3)
    splits = list(product(range(4), repeat=3))
    depths: tuple[Depth, ...] = (1, "max")
    runs = 0
    for at in range(len(classes)):
        for oracle, knowledge, truth, _ in truths(classes, at, splits):
            part = learn(oracle, runs % 3, depth=depths[runs % 2], hidden="allowed", knowledge=knowledge)
            runs += 1

            assert not list(faults_of(part, truth))
            assert not part.ledger.settled.conflicts

    assert runs == 447


@pytest.mark.slow
def test_tiers_on_four_nodes_are_used_exactly() -> None:
    """All 248 classes on four nodes, every one with 5 of the tiers, or 25, targets and depths in turn."""
    classes, random = mag_classes(4), Random(5)
    splits = list(product(range(4), repeat=4))
    depths: tuple[Depth, ...] = (1, 2, "max")
    runs = 0
    for at in range(len(classes)):
        for oracle, knowledge, truth, _ in truths(classes, at, random.sample(splits, some_of(25))):
            part = learn(oracle, runs % 4, depth=depths[runs % 3], hidden="allowed", knowledge=knowledge)
            runs += 1

            assert not list(faults_of(part, truth))
            assert not part.ledger.settled.conflicts

    assert runs > some_of(2000)


@pytest.mark.slow
def test_tiers_on_five_nodes_are_used_exactly_when_all_is_visited() -> None:
    """Up to 600 of the classes on five nodes: all marks with depth "max", and no false one with depth 1."""
    classes, random = mag_classes(5), Random(7)
    splits = list(product(range(4), repeat=5))
    runs = 0
    for at in random.sample(range(len(classes)), some_of(600, one_in=12)):
        for oracle, knowledge, truth, fitting in truths(classes, at, random.sample(splits, 3)):
            target = runs % 5
            part = learn(oracle, target, depth="max", hidden="allowed", knowledge=knowledge)
            near = learn(oracle, target, hidden="allowed", knowledge=knowledge)
            runs += 1

            assert not list(faults_of(part, truth))
            for pair in truth.region(target, 1):
                assert near.end(*pair) == "circle" or all(near.end(*pair) == one.ends[pair] for one in fitting)

    assert runs > some_of(600, one_in=12)

"""With a perfect oracle and hidden causes allowed the part equals the PAG on the asked region, and nothing is false."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import Dag, Knowledge, learn, network
from apsl_rules.evaluation.exactness import faults_of, mag_classes, verify
from apsl_rules.graphs import DagWithHidden, EndMark, mag, pag
from apsl_rules.names import Depth, Node
from apsl_rules.parts.file import parse_part, part_json
from support.drawing import in_turn, some_of
from support.hidden import random_hidden_dag

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
                differences += any(faults_of(part, truth)) or bool(part.all_conflicts)
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
    assert not part.all_conflicts


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

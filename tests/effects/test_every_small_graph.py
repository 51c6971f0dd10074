"""The graphs on four nodes: possible effects and causes are those over the whole class, by brute force."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import Knowledge, learn
from apsl_rules.effects import causes, effect
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs import cpdag
from apsl_rules.graphs.dag import Dag
from apsl_rules.names import Node
from apsl_rules.parts import Part
from support.drawing import some_of
from support.graphs import all_dags
from support.knowing import drawn_knowledge
from support.population import PopulationMoments, ancestry, open_graphs
from support.strategies import sparse_dags

pytestmark = pytest.mark.slow


def classes() -> list[Dag]:
    """Return one graph of each of some equivalence classes on four nodes."""
    found: dict[object, Dag] = {}
    for dag in all_dags(4):
        pattern = cpdag(dag)
        found.setdefault((pattern.arrows, pattern.lines), dag)
    return Random(1).sample([*found.values()], some_of(185))


def graphs_on_four_nodes() -> list[Dag]:
    """Return some graphs on four nodes."""
    return Random(2).sample([*all_dags(4)], some_of(543, one_in=9))


def rounded(values: Iterable[float]) -> set[float]:
    """Round values so that equal ones meet."""
    return {round(value, 8) + 0.0 for value in values}


def local_parts(dag: Dag, knowledge: Knowledge | None = None) -> dict[Node, Part]:
    """Return the part of depth 1 around every node, from perfect answers."""
    oracle = DSeparation(dag)
    return {node: learn(oracle, node, knowledge=knowledge) for node in dag.nodes}


def test_possible_effects_are_those_of_the_class() -> None:
    """In all 12 ordered pairs of each class the set of values is that over all graphs of the class."""
    pairs = wrong = 0
    for number, dag in enumerate(classes()):
        moments, parts, graphs = PopulationMoments(dag, number), local_parts(dag), list(open_graphs(dag))
        for x, y in permutations(dag.nodes, 2):
            expected = rounded(moments.effect(one, x, y) for one in graphs)
            actual = rounded(effect(parts[x], x, y, data=moments).values)
            pairs, wrong = pairs + 1, wrong + (expected != actual)

    assert (pairs, wrong) == (12 * some_of(185), 0)


def test_true_knowledge_leaves_the_effects_that_brute_force_leaves() -> None:
    """Random true facts for each graph: the same values as over the graphs that they allow."""
    random = Random(18)
    pairs = wrong = narrowed = 0
    for number, dag in enumerate(graphs_on_four_nodes()):
        knowledge = drawn_knowledge(dag, random, 0.3)
        moments, parts = PopulationMoments(dag, number), local_parts(dag, knowledge)
        graphs, everyone = list(open_graphs(dag, knowledge)), list(open_graphs(dag))
        narrowed += len(graphs) < len(everyone)
        for x, y in permutations(dag.nodes, 2):
            expected = rounded(moments.effect(one, x, y) for one in graphs)
            actual = rounded(effect(parts[x], x, y, data=moments).values)
            pairs, wrong = pairs + 1, wrong + (expected != actual)

    assert (pairs, wrong) == (12 * some_of(543, one_in=9), 0)
    assert narrowed > some_of(100, one_in=9)


def test_causes_are_those_of_the_class() -> None:
    """Always, never and depends agree with brute force, without and with true knowledge."""
    random = Random(5)
    wrong: list[tuple[Dag, Node, Node]] = []
    answers = set()
    for dag in graphs_on_four_nodes():
        for knowledge in (None, drawn_knowledge(dag, random, 0.3)):
            oracle, graphs = DSeparation(dag), list(open_graphs(dag, knowledge))
            parts = local_parts(dag, knowledge)
            for x, y in permutations(dag.nodes, 2):
                answer = causes(parts[x], x, y, data=oracle).answer
                answers.add(answer)
                wrong += [] if answer == ancestry(graphs, x, y) else [(dag, x, y)]

    assert wrong == []
    assert answers == {"always", "never", "depends"}


@settings(max_examples=25)
@given(sparse_dags(min_nodes=5, max_nodes=8), st.randoms(use_true_random=False), st.sampled_from([0.0, 0.2]))
def test_causes_in_larger_graphs(dag: Dag, random: Random, share: float) -> None:
    """Up to eight nodes, with and without knowledge: the answers of brute force."""
    knowledge = drawn_knowledge(dag, random, share) if share else None
    oracle, graphs = DSeparation(dag), list(open_graphs(dag, knowledge))

    for x, y in random.sample(list(permutations(dag.nodes, 2)), 6):
        assert causes(oracle, x, y, knowledge=knowledge).answer == ancestry(graphs, x, y)


def test_optimal_sets_give_the_same_effects() -> None:
    """With the whole part the optimal set gives the values of the class, and never a wider interval."""
    wider = 0
    for number, dag in enumerate(classes()):
        moments, oracle, graphs = PopulationMoments(dag, number), DSeparation(dag), list(open_graphs(dag))
        parts = {node: learn(oracle, node, depth="max") for node in dag.nodes}
        for x, y in permutations(dag.nodes, 2):
            part = parts[x]
            best = effect(part, x, y, data=moments, adjust="optimal")
            plain = effect(part, x, y, data=moments)

            assert rounded(best.values) == rounded(moments.effect(one, x, y) for one in graphs)
            if best.bounds is not None and plain.bounds is not None:
                wide = [high - low for low, high in (best.bounds, plain.bounds)]
                wider += wide[0] > wide[1] + 1e-9

    assert wider == 0


def test_a_set_of_ones_own_is_taken_exactly_if_it_is_valid() -> None:
    """A set is accepted if and only if it gives the true effect in every graph of the class."""
    taken, wrong = {True: 0, False: 0}, 0
    for number, dag in enumerate(classes()):
        moments, oracle, graphs = PopulationMoments(dag, number), DSeparation(dag), list(open_graphs(dag))
        parts = {node: learn(oracle, node, depth="max") for node in dag.nodes}
        for x, y, z in permutations(dag.nodes, 3):
            part = parts[x]
            open_to = [one for one in graphs if one.children_of(x) and y not in one.parents_of(x)]
            is_valid = all(abs(moments.slope(x, y, [z]) - moments.effect(one, x, y)) < 1e-9 for one in open_to)
            is_taken = accepts(part, x, y, z, moments)
            taken[is_taken] += 1
            wrong += is_valid != is_taken

    assert wrong == 0
    assert min(taken.values()) > some_of(300)


def accepts(part: Part, x: Node, y: Node, z: Node, moments: PopulationMoments) -> bool:
    """Return whether an effect adjusted for one node is given."""
    try:
        effect(part, x, y, data=moments, adjust=[z])
    except InvalidArgumentError:
        return False
    return True

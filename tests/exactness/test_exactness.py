"""With a perfect oracle ``apsl`` gives exactly the asked region of the CPDAG: no arrow wrong, none missing."""

from __future__ import annotations

from itertools import product
from random import Random

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import hookimpl, learn, network
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.equivalence import cpdag
from apsl_rules.names import Depth
from apsl_rules.plugins.manager import installed
from apsl_rules.plugins.offers import RuleSpec
from apsl_rules.rules.rulebooks import KNOWING, SOUND
from apsl_rules.rules.vocabulary import Rulebook
from support.drawing import in_turn, some_of
from support.grading import contradicts, is_exact
from support.graphs import MICRO, MICRO_CPDAG, all_dags, brute_force_cpdag, random_dag
from support.strategies import dags, sparse_dags

DEPTHS: tuple[Depth, ...] = (1, 2, 3, "max")
FINDERS = ("hiton", "mmpc", "pcsimple")
SHUFFLED = st.randoms(use_true_random=False)


class ShuffledRules:
    """A plugin that offers the sound rules in another order."""

    def __init__(self, random: Random) -> None:
        self.rules = tuple(random.sample(SOUND.rules, len(SOUND.rules)))

    @hookimpl
    def apsl_rulebooks(self) -> list[Rulebook]:
        """Offer them by the name "shuffled"."""
        return [Rulebook("shuffled", self.rules)]


@pytest.mark.slow
def test_all_graphs_on_four_nodes_are_learned_exactly() -> None:
    """All 543 graphs, all targets, depths 1, 2, 3 and max in turn: no difference from the brute-force CPDAG."""
    runs = differences = 0
    for number, dag in enumerate(all_dags(4)):
        truth, oracle = brute_force_cpdag(dag), DSeparation(dag)
        for place, target in enumerate(dag.nodes):
            for depth in in_turn(DEPTHS, number + place):
                part = learn(oracle, target, depth=depth)
                differences += not is_exact(part, truth) or contradicts(part, truth)
                runs += 1

    assert (runs, differences) == (2172 * len(in_turn(DEPTHS, 0)), 0)


@pytest.mark.slow
@settings(max_examples=some_of(200))
@given(sparse_dags(min_nodes=2, max_nodes=12), st.integers(1, 4), st.sampled_from(FINDERS), SHUFFLED)
def test_random_graphs_are_learned_exactly(dag: Dag, depth: int, finder: str, random: Random) -> None:
    """Graphs up to twelve nodes, any finder: the part is exact and no arrow anywhere contradicts the CPDAG."""
    truth = cpdag(dag)

    part = learn(dag, random.choice(dag.nodes), depth=depth, finder=finder)

    assert is_exact(part, truth)
    assert not contradicts(part, truth)


@settings(max_examples=some_of(60, one_in=3))
@given(dags(min_nodes=1, max_nodes=7), st.sampled_from(DEPTHS), SHUFFLED)
def test_odd_labels_and_dense_graphs_are_learned_exactly(dag: Dag, depth: Depth, random: Random) -> None:
    """Labels of any kind and any number of edges make no difference."""
    part = learn(dag, random.choice(dag.nodes), depth=depth)

    assert is_exact(part, cpdag(dag))


@pytest.mark.slow
@settings(max_examples=some_of(60))
@given(sparse_dags(min_nodes=4, max_nodes=10), st.integers(1, 4), st.sampled_from(FINDERS), SHUFFLED)
def test_the_order_of_columns_changes_nothing(dag: Dag, depth: int, finder: str, random: Random) -> None:
    """Nodes in another order: the same visits, the same trace, the same marks everywhere, the same cost."""
    target = random.choice(dag.nodes)
    permuted = Dag({node: dag.parents_of(node) for node in random.sample(dag.nodes, len(dag.nodes))})

    expected = learn(dag, target, depth=depth, finder=finder)
    actual = learn(permuted, target, depth=depth, finder=finder)

    assert actual.visited == expected.visited
    assert actual.trace == expected.trace
    assert (actual.store.arrows, actual.store.lines) == (expected.store.arrows, expected.store.lines)
    assert actual.counts == expected.counts


@pytest.mark.slow
@settings(max_examples=some_of(60))
@given(sparse_dags(min_nodes=4, max_nodes=10), st.integers(1, 4), SHUFFLED)
def test_the_order_of_rules_changes_nothing(dag: Dag, depth: int, random: Random) -> None:
    """Rules listed in another order: the same visits, firings and marks."""
    target = random.choice(dag.nodes)
    spec = attrs.evolve(installed().learners["apsl"].spec, rules=RuleSpec("shuffled"))

    expected = learn(dag, target, depth=depth)
    actual = learn(dag, target, depth=depth, learner=spec, plugins=[ShuffledRules(random)])

    assert actual.trace == expected.trace
    assert actual.visited == expected.visited
    assert (actual.arrows, actual.lines) == (expected.arrows, expected.lines)


@given(sparse_dags(min_nodes=4, max_nodes=8), SHUFFLED)
def test_a_further_meek_rule_adds_nothing(dag: Dag, random: Random) -> None:
    """R4 is for knowledge from outside: from findings alone R1 to R3 conclude all that it could."""
    spec = attrs.evolve(installed().learners["apsl"].spec, rules=RuleSpec(KNOWING.name))

    part = learn(dag, random.choice(dag.nodes), depth="max", learner=spec)

    assert is_exact(part, cpdag(dag))


@pytest.mark.parametrize("name", MICRO)
def test_micro_networks_are_learned_exactly(name: str) -> None:
    """Every target, depth and finder on the small networks that the published algorithm fails on."""
    for target, depth, finder in product(MICRO[name].nodes, DEPTHS, FINDERS):
        assert is_exact(learn(MICRO[name], target, depth=depth, finder=finder), MICRO_CPDAG[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["alarm", "child", "insurance"])
def test_known_networks_are_learned_exactly(name: str) -> None:
    """All targets at depths 1, 2, 3 and max in turn."""
    dag = network(name).dag
    truth, oracle = cpdag(dag), DSeparation(dag)

    for place, target in enumerate(dag.nodes):
        for depth in in_turn(DEPTHS, place):
            part = learn(oracle, target, depth=depth)

            assert is_exact(part, truth)
            assert not contradicts(part, truth)


@pytest.mark.slow
@pytest.mark.parametrize("finder", FINDERS)
def test_a_hub_with_sixty_neighbours_is_learned_exactly(finder: str) -> None:
    """Thirty parents and thirty children: no finder enumerates subsets of sixty nodes."""
    causes, effects = [f"cause {n}" for n in range(30)], [f"effect {n}" for n in range(30)]
    star = Dag({"hub": causes} | {cause: [] for cause in causes} | {effect: ["hub"] for effect in effects})

    part = learn(star, "hub", depth=2, finder=finder)

    assert is_exact(part, cpdag(star))
    assert len(part.parents_of("hub")) == len(part.children_of("hub")) == 30


@pytest.mark.slow
def test_a_large_sparse_graph_is_learned_exactly() -> None:
    """Two hundred nodes, depth 3: exact, and most of the graph is never visited."""
    dag = random_dag(11, 200, 3.0)
    truth, oracle = cpdag(dag), DSeparation(dag)

    for target in dag.nodes[::50]:
        part = learn(oracle, target, depth=3)

        assert is_exact(part, truth)
        assert not contradicts(part, truth)
        assert len(part.visited) < 100


def test_threads_change_nothing() -> None:
    """With several threads the findings, the firings and the counts are the same."""
    alarm = network("alarm")

    expected = learn(alarm, "VENTLUNG", depth=2)
    actual = learn(alarm, "VENTLUNG", depth=2, threads=4)

    assert actual.findings == expected.findings
    assert actual.trace == expected.trace
    assert actual.counts == expected.counts


@pytest.mark.parametrize("finder", FINDERS)
def test_a_node_may_be_called_none(finder: str) -> None:
    """None is a label like any other."""
    dag = Dag({"a": [], "b": [], "t": ["a", "b"], None: ["t"]})

    assert is_exact(learn(dag, "t", finder=finder), cpdag(dag))

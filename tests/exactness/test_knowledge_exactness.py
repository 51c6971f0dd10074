"""With a perfect oracle and true knowledge the part is the maximally oriented graph on the asked region."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import Knowledge, learn, learn_graph
from apsl_rules.graphs.dag import Dag
from apsl_rules.names import Depth
from apsl_rules.parts.file import parse_part, part_json
from support.drawing import some_of
from support.grading import contradicts, is_exact
from support.graphs import all_dags, dag_of
from support.knowing import brute_force_known, drawn_knowledge
from support.strategies import dags, sparse_dags

DEPTHS: tuple[Depth, ...] = (1, 2, 3, "max")
SHUFFLED = st.randoms(use_true_random=False)


@pytest.mark.slow
def test_all_graphs_on_four_nodes_are_learned_exactly() -> None:
    """A third of the 543 graphs with knowledge drawn for each, all targets, depths in turn: as brute force finds."""
    random = Random(4)
    runs = differences = 0
    for dag in random.sample([*all_dags(4)], some_of(543, one_in=3)):
        knowledge = drawn_knowledge(dag, random, 0.3)
        truth, oracle = brute_force_known(dag, knowledge), DSeparation(dag)
        for place, target in enumerate(dag.nodes):
            part = learn(oracle, target, depth=DEPTHS[(place + runs // 4) % 4], knowledge=knowledge)
            differences += not is_exact(part, truth) or contradicts(part, truth) or bool(part.ledger.settled.conflicts)
            runs += 1

    assert (runs, differences) == (4 * some_of(543, one_in=3), 0)


@pytest.mark.slow
@settings(max_examples=some_of(50))
@given(sparse_dags(min_nodes=4, max_nodes=7), st.sampled_from([0.1, 0.25, 0.6]), SHUFFLED)
def test_random_graphs_are_learned_exactly(dag: Dag, share: float, random: Random) -> None:
    """Every target and depth: the part is exact, nothing beyond it is wrong, and nothing contradicts."""
    knowledge = drawn_knowledge(dag, random, share)
    truth, oracle = brute_force_known(dag, knowledge), DSeparation(dag)

    for target in dag.nodes:
        for depth in DEPTHS:
            part = learn(oracle, target, depth=depth, knowledge=knowledge)

            assert is_exact(part, truth)
            assert not contradicts(part, truth)
            assert not part.ledger.settled.conflicts


@pytest.mark.slow
@settings(max_examples=some_of(40))
@given(dags(min_nodes=3, max_nodes=6), st.sampled_from(["cmb", "pcd-by-pcd"]), SHUFFLED)
def test_other_learners_that_honour_knowledge_are_exact_too(dag: Dag, learner: str, random: Random) -> None:
    """Odd labels, dense graphs, one step of findings only: the same graph."""
    knowledge = drawn_knowledge(dag, random, 0.25)
    truth = brute_force_known(dag, knowledge)

    for depth in DEPTHS:
        part = learn(dag, random.choice(dag.nodes), depth=depth, learner=learner, knowledge=knowledge)

        assert is_exact(part, truth)
        assert not contradicts(part, truth)


@pytest.mark.slow
@settings(max_examples=some_of(40))
@given(dags(min_nodes=3, max_nodes=6), SHUFFLED)
def test_whole_graphs_and_saved_parts_keep_knowledge(dag: Dag, random: Random) -> None:
    """``learn_graph`` gives the whole maximally oriented graph, and each part comes back with what was given."""
    knowledge = drawn_knowledge(dag, random, 0.3)
    truth = brute_force_known(dag, knowledge)

    graph = learn_graph(dag, knowledge=knowledge)

    assert (graph.arrows, graph.lines) == (truth.arrows, truth.lines)
    for part in graph.parts:
        again = parse_part(part_json(part), "text")
        assert again.knowledge == knowledge
        assert again.findings == part.findings
        assert [str(again.why(*pair)) for pair in again.edges] == [str(part.why(*pair)) for pair in again.edges]


def test_the_fourth_rule_needs_an_arrow_that_touches_neither_end() -> None:
    """Meek's R4: b -> c and c -> d turn a - d, though no rule without b -> c would; a line leads to its ends."""
    kite = dag_of("a->b a->c a->d b->c c->d")
    knowledge = Knowledge(required=[("b", "c"), ("c", "d")])

    part = learn(kite, "a", knowledge=knowledge)

    assert part.arrows == {("a", "d")}
    assert "Meek-R4" in str(part.why("a", "d"))
    assert is_exact(part, brute_force_known(kite, knowledge))


@pytest.mark.parametrize("depth", [1, 2])
def test_lines_that_knowledge_turns_are_not_followed(depth: int) -> None:
    """A chain of twenty nodes is a line to its end; one required arrow at the target ends the walk beside it."""
    chain = dag_of(" ".join(f"n{at:02}->n{at + 1:02}" for at in range(20)))

    blind = learn(chain, "n00", depth=depth)
    knowing = learn(chain, "n00", depth=depth, knowledge=Knowledge(required=[("n00", "n01")]))

    assert len(blind.visited) == 21
    assert len(knowing.visited) == depth
    assert len(knowing.arrows) == depth

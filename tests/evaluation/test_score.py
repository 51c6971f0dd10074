"""Scores of parts and graphs: worked by hand, the paper's edge cases, and what a perfect learner reaches."""

from __future__ import annotations

import json
from math import sqrt
from statistics import mean
from typing import Any

import pytest

from apsl_rules import Dag, learn, learn_graph, network, score
from apsl_rules.errors import GraphError, InvalidArgumentError, UnknownNodeError
from apsl_rules.names import Node
from apsl_rules.parts.marked_graph import MarkedGraph
from apsl_rules.parts.part import Part
from support.contradictory import Contradictory
from support.graphs import MICRO, arrows_of, dag_of

#: Its CPDAG has the arrows b -> d, c -> d and d -> e, and the lines a - b and a - c.
TRUTH = dag_of("a->b a->c b->d c->d d->e", order="abcdef")


def drawn(arrows: str = "", lines: str = "") -> MarkedGraph:
    """Make a learned graph over the nodes of TRUTH from text."""
    pairs = frozenset(frozenset[Node](line.split("-")) for line in lines.split())
    return MarkedGraph(TRUTH.nodes, arrows_of(arrows), pairs)


#: Right: b -> d; reversed: d -> c; undirected: d - e; directed although open: a -> b; extra: e - f; missing: a - c.
LEARNED = drawn("b->d d->c a->b", "d-e e-f")


def test_against_the_cpdag_every_kind_of_error_is_counted_once() -> None:
    """One of five edges is right; an arrow on an open edge is an error of its own kind."""
    got = score(LEARNED, TRUTH)

    assert (got.correct, got.predicted, got.true, got.adjacent) == (1, 5, 5, 4)
    assert (got.precision, got.recall, got.f1) == pytest.approx((0.2, 0.2, 0.2))
    assert got.distance == pytest.approx(sqrt(2) * 0.8)
    assert (got.skeleton_precision, got.skeleton_recall, got.skeleton_f1) == pytest.approx((0.8, 0.8, 0.8))
    assert (got.compelled_precision, got.compelled_recall) == pytest.approx((1 / 3, 1 / 3))
    assert (got.reversed, got.missing, got.extra, got.undirected, got.falsely_directed) == (1, 1, 1, 1, 1)
    assert got.shd == 5


def test_against_the_dag_all_true_edges_have_a_direction() -> None:
    """The arrow a -> b is right now, and none is falsely directed; compelled arrows are still those of the CPDAG."""
    got = score(LEARNED, TRUTH, against="dag")

    assert (got.correct, got.predicted, got.true) == (2, 5, 5)
    assert (got.precision, got.recall) == pytest.approx((0.4, 0.4))
    assert (got.reversed, got.missing, got.extra, got.undirected, got.falsely_directed) == (1, 1, 1, 1, 0)
    assert got.shd == 4
    assert (got.compelled_precision, got.compelled_recall) == pytest.approx((1 / 3, 1 / 3))


def test_precision_is_of_the_predicted_edges() -> None:
    """With one right edge of one learned and five true, precision is 1 and recall a fifth, not the other way round."""
    got = score(drawn("b->d"), TRUTH, against="dag")

    assert (got.precision, got.recall) == pytest.approx((1.0, 0.2))
    assert got.distance == pytest.approx(0.8)
    assert got.f1 == pytest.approx(1 / 3)


def test_an_undirected_edge_is_predicted_once_and_never_right_against_the_dag() -> None:
    """A learner of lines alone has precision 0 there, but all of the skeleton."""
    got = score(drawn(lines="a-b a-c b-d c-d d-e"), TRUTH, against="dag")

    assert (got.correct, got.predicted, got.undirected, got.shd) == (0, 5, 5, 5)
    assert (got.precision, got.recall, got.f1, got.skeleton_f1) == (0.0, 0.0, 0.0, 1.0)
    assert got.distance == pytest.approx(sqrt(2))


@pytest.mark.parametrize("against", ["dag", "cpdag"])
def test_the_edge_cases_of_empty_sets(against: Any) -> None:
    """Nothing learned where nothing is: all right; only one of the two empty: all wrong."""
    neither = score(drawn("b->d"), TRUTH, target="f", depth=1, against=against)
    nothing_learned = score(drawn(), TRUTH, target="d", depth=1, against=against)
    nothing_there = score(drawn("f->a"), TRUTH, target="f", depth=1, against=against)

    assert (neither.precision, neither.recall, neither.distance, neither.f1, neither.shd) == (1.0, 1.0, 0.0, 1.0, 0)
    for one in (nothing_learned, nothing_there):
        assert (one.precision, one.recall, one.f1) == (0.0, 0.0, 0.0)
        assert one.distance == pytest.approx(sqrt(2))
    assert (nothing_learned.missing, nothing_there.extra) == (3, 1)


def test_a_region_goes_by_learned_distances_on_one_side_and_true_ones_on_the_other() -> None:
    """A false edge e - a brings true edges at a into the learned part of e at depth 2, where they are not asked for."""
    got = score(drawn("d->e", "e-a a-b"), TRUTH, target="e", depth=2)

    assert (got.predicted, got.true, got.correct) == (3, 3, 1)  # learned d->e, e-a, a-b; true d->e, b->d, c->d
    assert (got.extra, got.missing) == (2, 2)


def test_max_is_the_connected_part() -> None:
    """Edges that no path joins to the target are not in the part, but in the graph."""
    truth = dag_of("a->b c->d")

    assert score(truth, truth, target="a", depth="max").true == 1
    assert score(truth, truth).true == 2


def test_a_part_brings_target_and_depth() -> None:
    """A part learned with perfect answers is exact against the CPDAG; against the DAG its lines are not right."""
    truth = MICRO["N8"]
    part = learn(truth, "B", depth=2)

    exact = score(part, truth)
    assert (exact.f1, exact.skeleton_f1, exact.compelled_recall, exact.shd) == (1.0, 1.0, 1.0, 0)
    harsh = score(part, truth, against="dag")
    assert (harsh.true, harsh.correct, harsh.undirected) == (5, 3, 2)  # A-B and A-C are open; B->D, C->D, D->E


def test_a_learned_graph_is_scored_whole_or_in_part() -> None:
    """The graph scores like the parts cut out of it."""
    alarm = network("alarm")
    graph = learn_graph(alarm)

    assert score(graph, alarm, against="dag").undirected == 4
    assert score(graph, alarm, target="HISTORY", depth=1, against="dag") == score(
        learn(alarm, "HISTORY"), alarm, against="dag"
    )


def test_an_edge_in_conflict_has_no_direction() -> None:
    """The quarantined edge a - b counts as a learned edge without direction, in a part and in a graph."""
    truth = dag_of("d->a a->b c->b")

    for learned in (learn(Contradictory(), "a", depth="max"), learn_graph(Contradictory())):
        got = score(learned, truth, against="dag")
        assert (got.predicted, got.correct, got.undirected, got.extra) == (3, 2, 1, 0)
        guessed = score(learned, truth, against="dag", scored="extension", columns="abcd")
        assert (guessed.correct, guessed.undirected) == (3, 0)


@pytest.mark.parametrize(("name", "expected"), [("child", 0.53), ("alarm", 0.8468), ("insurance", 0.6996)])
def test_the_best_that_marks_can_reach_against_the_dag(name: str, expected: float) -> None:
    """A perfect learner of marks has these mean precisions and recalls over all targets at depth 1, and no better."""
    truth = network(name)
    got = [score(truth.cpdag, truth, against="dag", target=node, depth=1) for node in truth.dag.nodes]

    assert mean(one.precision for one in got) == pytest.approx(expected, abs=1e-4)
    assert mean(one.recall for one in got) == pytest.approx(expected, abs=1e-4)
    assert {one.f1 for one in got} != {1.0}
    assert all(score(truth.cpdag, truth, target=node, depth=3).shd == 0 for node in truth.dag.nodes)


def test_the_extension_uses_what_is_known_beyond_the_depth() -> None:
    """All lines are directed before the part is cut out: the one beyond the depth decides over the one inside."""
    truth = dag_of("a->b b->c")
    part = learn(truth, "c")
    alone = MarkedGraph(truth.nodes, part.arrows, part.lines)

    def correct(learned: Part | MarkedGraph, columns: str) -> int:
        where: dict[str, Any] = {} if isinstance(learned, Part) else {"target": "c", "depth": 1}
        return score(learned, truth, against="dag", scored="extension", columns=columns, **where).correct

    assert [sorted(map(str, line)) for line in (*part.lines, *part.outside[1])] == [["b", "c"], ["a", "b"]]
    assert (correct(part, "acb"), correct(alone, "acb")) == (1, 0)  # a -> b makes b the node with most parents
    assert (correct(part, "cba"), correct(alone, "cba")) == (0, 0)


def test_a_row_has_plain_values() -> None:
    """The row can be written as JSON and names figures and counts."""
    row = score(LEARNED, TRUTH).as_row()

    assert json.loads(json.dumps(row)) == row
    assert list(row)[:6] == ["against", "scored", "precision", "recall", "distance", "f1"]
    assert (row["shd"], row["falsely_directed"], row["compelled"]) == (5, 1, 3)


def test_a_score_prints_its_pieces() -> None:
    """The text has one line for each kind of figure."""
    assert str(score(LEARNED, TRUTH)) == (
        "against the CPDAG: 1 correct, 5 predicted, 5 true\n"
        "marks: precision 0.200, recall 0.200, F1 0.200, distance 1.131\n"
        "skeleton: precision 0.800, recall 0.800, F1 0.800\n"
        "compelled arrows: precision 0.333, recall 0.333\n"
        "wrong edges: SHD 5, 1 reversed, 1 missing, 1 extra, 1 undirected, 1 falsely directed"
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"against": "pdag"}, "against is 'pdag'; give 'dag' or 'cpdag'"),
        ({"scored": "dag"}, "scored is 'dag'; give 'marks' or 'extension'"),
        ({"scored": "extension"}, "scored='extension' depends on the order of columns; give it as columns="),
        ({"columns": "abcdef"}, "scored='marks' does not depend on their order"),
        ({"scored": "extension", "columns": "abcde"}, "the order of columns lacks 'f'"),
        ({"scored": "extension", "columns": "abcdefa"}, "the order of columns has 7 names for 6 nodes"),
        ({"target": "a"}, "target is 'a' and depth None; give both"),
        ({"depth": 2}, "target is None and depth 2; give both"),
        ({"target": "a", "depth": 0}, "depth is 0; give a whole number from 1 on"),
    ],
)
def test_mistakes_get_one_sentence(settings: dict[str, Any], said: str) -> None:
    """What cannot be meant is refused."""
    with pytest.raises(InvalidArgumentError, match=said):
        score(LEARNED, TRUTH, **settings)


def test_other_nodes_are_refused() -> None:
    """The truth must be about the same nodes, and the target one of them."""
    part = learn(TRUTH, "d")
    with pytest.raises(InvalidArgumentError, match="only what was learned has 'f'"):
        score(part, dag_of("a->b a->c b->d c->d d->e"))
    with pytest.raises(InvalidArgumentError, match="what was learned lacks 'g'"):
        score(part, Dag({**{node: [] for node in "abcdef"}, "g": []}))
    with pytest.raises(UnknownNodeError, match="unknown target 'z'"):
        score(LEARNED, TRUTH, target="z", depth=1)
    with pytest.raises(InvalidArgumentError, match="a part has its own target 'd' and depth 1"):
        score(part, TRUTH, target="a", depth=1)
    with pytest.raises(GraphError, match="a dict has no marks"):
        score({}, TRUTH)

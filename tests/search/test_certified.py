"""Exact searches certify what other searches find, or find better."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from hypothesis import given, settings

from apsl_backends.kernels.bindings import pattern_of
from apsl_backends.search.exact import certify, why_not_certified
from apsl_backends.search.rounds import CLOSED, Effort, search_rounds
from apsl_rules import Knowledge, learn, network
from apsl_rules.data import coded_table
from apsl_rules.data.tables import Table
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.stopping import no_flag
from support.joint_scores import best_parents
from support.moment_scores import draw_dag, draw_linear, gaussian_handle
from support.scoring import tables
from support.searching import handle_of


@settings(max_examples=30)
@given(tables(min_columns=2, max_columns=6, max_rows=200))
def test_the_class_certified_is_the_best_of_all(drawn: Table) -> None:
    """Its gain is that of the best graph by dynamic programming in Python, whatever class is given."""
    handle, width = handle_of(drawn, penalty=1.0, empirical_weight=0.5), len(drawn.names)
    opened = np.ones((width, width), np.uint8)
    joints = handle.joints(np.arange(width), no_flag())
    alone = sum(int(joints[1 << at] - joints[0]) for at in range(width))
    best = best_parents(joints, width, handle.penalty, 8) - alone
    found = search_rounds(handle, range(width), opened, Effort(max_parents=8))
    empty = attrs.evolve(found, dag=np.zeros_like(found.dag), marks=np.zeros_like(found.marks), gain=0)
    for given_class in (found, empty):
        certified = certify(handle, given_class, opened, 8)
        assert certified.is_best
        assert certified.gain == best
        assert np.array_equal(certified.marks, pattern_of(certified.dag))


def test_closed_pairs_and_the_limit_of_parents_hold() -> None:
    """The best graph is sought among those that the search may find."""
    dag = draw_dag(8, 4, 1)
    handle = gaussian_handle(draw_linear(dag, 500, 1), 1.0)
    opened = np.ones((8, 8), np.uint8)
    opened[0, 1] = opened[1, 0] = CLOSED
    found = search_rounds(handle, range(8), opened, Effort(max_parents=1, rounds=0))
    certified = certify(handle, found, opened, 1)
    assert certified.is_best
    assert certified.gain >= found.gain
    assert certified.dag.sum(axis=0).max() <= 1
    assert not certified.dag[0, 1]
    assert not certified.dag[1, 0]


def test_many_nodes_are_not_certified() -> None:
    """The class stays as it is, and the reason is told."""
    handle = gaussian_handle(draw_linear(draw_dag(21, 2, 1), 100, 1), 1.0)
    found = search_rounds(handle, range(21), np.ones((21, 21), np.uint8), Effort(max_parents=2, rounds=0))
    assert certify(handle, found, np.ones((21, 21), np.uint8), 2) is found
    assert why_not_certified(handle, 21) == "an exact search takes at most 20 nodes, and there are 21"


@pytest.mark.parametrize("learner", ["auto", "apsl-score"])
def test_notes_and_proofs_tell_the_certificate(learner: str) -> None:
    """A part says that no graph scores higher; its proofs say it too."""
    rows = sample(network("asia"), 2000, seed=1)
    part = learn(rows, "dysp", learner=learner, certified=True)
    assert "certified: no graph over these 7 nodes scores higher (exact search)" in part.notes
    assert "; no graph over these 7 nodes scores higher" in str(part.why("bronc", "dysp"))
    plain = learn(rows, "dysp", learner=learner)
    assert not any("certified" in note for note in plain.notes)
    assert part.arrows == plain.arrows


def test_knowledge_can_exclude_the_best_graph() -> None:
    """Then the part says so instead of claiming a certificate."""
    rows = sample(network("asia"), 2000, seed=1)
    part = learn(rows, "dysp", certified=True, knowledge=Knowledge(required=[("dysp", "bronc"), ("dysp", "either")]))
    assert "the graph is not certified as the best one: background knowledge excludes the best graph" in part.notes


def test_learners_without_scores_certify_nothing() -> None:
    """The error names those that do."""
    with pytest.raises(InvalidArgumentError, match="searches by score: apsl-mixed, apsl-score; 'apsl' does not"):
        learn(network("asia"), "dysp", certified=True)
    with pytest.raises(InvalidArgumentError, match="certified is 1; give True or False"):
        learn(network("asia"), "dysp", certified=1)  # type: ignore[arg-type]  # wrong on purpose


def test_a_limit_during_the_exact_search_loses_nothing() -> None:
    """The graph that was found before stays, and the part says that it is not certified."""
    rows = sample(network("child"), 2000, seed=1)
    part = learn(rows, "Disease", depth=2, certified=True, max_seconds=0.4)
    assert part.incomplete
    assert part.edges
    assert any("ended the exact search" in note or "certified" in note for note in part.notes)


def test_a_better_graph_of_the_exact_search_is_told() -> None:
    """Dense columns, of which the search misses the best graph: the note says by how much, and none contradicts it."""
    random = np.random.default_rng(0)
    values = [random.normal(size=800) for _ in range(14)]
    for at in range(3, 14):
        values[at] = sum(values[one] for one in random.permutation(at)[:3]) + random.normal(size=800)
    table = coded_table(np.stack([np.digitize(one, np.quantile(one, [1 / 3, 2 / 3])) for one in values], axis=1))
    notes = learn(table, "X14", depth="max", certified=True).notes
    assert any("scores higher (exact search)" in note for note in notes)
    assert not any("there may be a better graph still" in note for note in notes)

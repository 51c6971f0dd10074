"""The best graph over a few nodes: better than every other graph, and a judge of what other searches find."""

from __future__ import annotations

from itertools import combinations

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_backends.kernels.bindings.searches import NEVER, best_by_pairs, best_graph_bytes, pattern_of
from apsl_backends.scores.bde import BDeu
from apsl_backends.search.exact import certify, is_quick, optimal, why_not_certified
from apsl_backends.search.hill_climbing import climb
from apsl_backends.search.rounds import CLOSED, Effort, search_rounds
from apsl_rules import Knowledge, learn, network
from apsl_rules.data import coded_table
from apsl_rules.data.tables import Table
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.stopping import no_flag
from support.graphs import random_dag
from support.joint_scores import best_parents
from support.moment_scores import draw_dag, draw_linear, gaussian_handle
from support.scoring import coded, strong_network, tables
from support.searching import every_graph, handle_of, is_acyclic


@given(tables(min_columns=1, max_columns=5), st.sampled_from([0.0, 0.7, "kappa"]), st.data())
def test_better_than_all_others(drawn: Table, penalty: float | str, data: st.DataObject) -> None:
    """Over up to four of the columns no graph that is allowed scores better, and what it says of itself is true."""
    score = BDeu(drawn, ess=data.draw(st.sampled_from([0.5, 10.0])), penalty=penalty)
    everyone = range(len(drawn.names))
    members = sorted(data.draw(st.permutations(everyone))[: data.draw(st.integers(1, 4))])
    subsets = {node: st.sets(st.sampled_from([one for one in everyone if one != node] or [0])) for node in members}
    allowed = (
        {node: tuple(sorted(data.draw(subset))) for node, subset in subsets.items()}
        if data.draw(st.booleans())
        else None
    )
    most = data.draw(st.none() | st.integers(0, 3))
    found = optimal(score, members, allowed=allowed, max_parents=most)
    assert found.exact
    assert is_acyclic(found.parents)
    assert found.score == sum(score.local(node, before) for node, before in found.parents.items())
    graphs = [graph for graph in every_graph(members) if _fits(graph, allowed, most)]
    assert found.parents in graphs
    assert found.score == max(sum(score.local(node, before) for node, before in graph.items()) for graph in graphs)


@settings(max_examples=30)
@given(tables(min_columns=3, max_columns=4), st.integers(1, 3), st.data())
def test_the_best_graphs_with_and_without_each_edge(drawn: Table, most: int, data: st.DataObject) -> None:
    """Of each pair the best score with it and without it is that of all graphs that are allowed."""
    score, width = BDeu(drawn, ess=10.0, penalty=0.7), len(drawn.names)
    joints = score.joints(tuple(range(width)))
    allowed = np.array([data.draw(st.integers(0, (1 << width) - 1)) for _ in range(width)], np.int64)
    best = best_by_pairs(joints, allowed, most, score.penalty, no_flag())
    graphs = [
        graph
        for graph in every_graph(list(range(width)))
        if all(len(some) <= most and all(allowed[node] >> one & 1 for one in some) for node, some in graph.items())
    ]
    scores = [sum(score.local(node, some) for node, some in graph.items()) for graph in graphs]
    without_edges = sum(score.local(node, ()) for node in range(width))
    shift = sum(int(joints[1 << node] - joints[0]) for node in range(width)) - without_edges
    for x, y in combinations(range(width), 2):
        joined = [x in graph[y] or y in graph[x] for graph in graphs]
        for place, wanted in (((x, y), True), ((y, x), False)):
            of_pair = [one for one, is_joined in zip(scores, joined, strict=True) if is_joined == wanted]
            assert best[place] == (max(of_pair) + shift if of_pair else NEVER)


@pytest.mark.parametrize("penalty", [1e5, 2.0**21, 2.0**22 - 1, 1e300])
def test_no_gain_is_worth_an_extreme_penalty(penalty: float) -> None:
    """However large a penalty is, several of them together do not overflow."""
    drawn = coded(np.random.default_rng(0).integers(0, 2, (6, 100)), "abcdef")
    found = optimal(BDeu(drawn, penalty=penalty), range(6))
    assert not any(found.parents.values())


def _fits(graph: dict[int, tuple[int, ...]], allowed: dict[int, tuple[int, ...]] | None, most: int | None) -> bool:
    return all(
        (allowed is None or set(before) <= set(allowed[node])) and (most is None or len(before) <= most)
        for node, before in graph.items()
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_five_nodes(seed: int) -> None:
    """Over five nodes it is the best of all 29,281 graphs."""
    score = BDeu(sample(strong_network(random_dag(seed, 5, 2.4), seed=seed), 300, seed=seed), ess=1)
    found = optimal(score, range(5))
    totals = (sum(score.local(node, before) for node, before in graph.items()) for graph in every_graph(range(5)))
    assert found.score == max(totals)


def test_never_worse_than_a_climb() -> None:
    """Over twelve nodes it is at least as good as a hill climb, and the same whatever the order of the members."""
    score = BDeu(sample(strong_network(random_dag(3, 12, 3.0), seed=3), 400, seed=3))
    found = optimal(score, range(12))
    assert found.score >= climb(score, range(12)).score
    assert optimal(score, list(reversed(range(12)))) == found


@given(tables(min_columns=3, max_columns=5, max_rows=200), st.data())
def test_the_order_of_columns_is_of_no_account(drawn: Table, data: st.DataObject) -> None:
    """The same graph is found, arrow by arrow, however the columns come."""
    order = data.draw(st.permutations(range(len(drawn.names))))
    shuffled = coded(drawn.codes[order], [drawn.names[at] for at in order])
    assert optimal(BDeu(drawn), range(len(order))) == optimal(BDeu(shuffled), range(len(order)))


def test_fewer_parents_among_equals() -> None:
    """A parent that neither gains nor loses anything is left out."""
    score = BDeu(coded([[0, 0, 0, 0] * 5, [0, 1, 1, 0] * 5, [0, 1, 1, 0] * 5], "ABC"))
    assert optimal(score, range(3)).parents == {0: (), 1: (2,), 2: ()}


def test_beyond_the_limits() -> None:
    """Beyond what is allowed a hill climb takes over and says so, or the search is refused; both say why."""
    score = BDeu(sample(strong_network(random_dag(4, 8, 2.0), seed=4), 200, seed=4))
    climbed = optimal(score, range(8), largest=7)
    assert not climbed.exact
    assert climbed.reason == "8 nodes are more than the 7 that an exact search takes; climbed instead"
    assert climbed.score == climb(score, range(8)).score
    restricted = optimal(score, range(8), largest=7, allowed={node: (0,) if node else () for node in range(8)})
    assert all(before in {(), (0,)} for before in restricted.parents.values())
    with pytest.raises(InvalidArgumentError, match=r"8 nodes are more than the 7 .* choose fewer"):
        optimal(score, range(8), largest=7, beyond="refuse")
    with pytest.raises(InvalidArgumentError, match=r"over 8 nodes takes about \d+ MiB, more than 0"):
        optimal(score, range(8), most_bytes=1000, beyond="refuse")
    with pytest.raises(InvalidArgumentError, match="40 nodes are more than the 30"):
        optimal(score, range(40), largest=100, beyond="refuse")


def test_memory_is_known_beforehand() -> None:
    """The estimate holds the subsets and two layers, far less than all choices of all nodes."""
    assert best_graph_bytes(0) > 0
    for width in (10, 16, 20, 24):
        assert 21 << width < best_graph_bytes(width) < 12 * width << (width - 1)


@settings(max_examples=30)
@given(tables(min_columns=2, max_columns=6, max_rows=200))
def test_the_class_certified_is_the_best_of_all(drawn: Table) -> None:
    """Its gain is that of the best graph by dynamic programming in Python, whatever class is given.

    No start of a search found it where the class given is worse.
    """
    handle, width = handle_of(drawn, penalty=1.0, empirical_weight=0.5), len(drawn.names)
    opened = np.ones((width, width), np.uint8)
    joints = handle.joints(np.arange(width), no_flag())
    alone = sum(int(joints[1 << at] - joints[0]) for at in range(width))
    best = best_parents(joints, width, handle.penalty, 8) - alone
    found = search_rounds(handle, range(width), opened, Effort(max_parents=8, starts=1))
    empty = attrs.evolve(found, dag=np.zeros_like(found.dag), marks=np.zeros_like(found.marks), gain=0)
    for given_class in (found, empty):
        certified = certify(handle, given_class, opened, 8)
        assert certified.is_best
        assert certified.gain == best
        assert np.array_equal(certified.marks, pattern_of(certified.dag))
        assert certified.starts == 3
        assert bool(certified.agreeing) == (given_class.gain == best)


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


def test_the_same_tables_are_searched_exactly_wherever_they_are() -> None:
    """Databases count equal rows together; what is drawn must not depend on that."""
    codes = np.random.default_rng(0).integers(0, 2, (12, 9_000)).astype(np.uint8)
    distinct, counts = np.unique(codes, axis=1, return_counts=True)
    handles = [handle_of(coded(codes[:, :rows], "abcdefghijkl")) for rows in (9_000, 8_000)]
    assert [is_quick(one, 12) for one in handles] == [False, True]
    handles[0].set_rows(np.ascontiguousarray(distinct), counts.astype(np.int32))
    assert handles[0].rows < 8_000
    assert not is_quick(handles[0], 12)


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
    part = learn(rows, "dysp", learner=learner, certified=True, hidden="excluded")
    assert "certified: no graph over these 8 nodes scores higher (exact search)" in part.notes
    assert "; no graph over these 8 nodes scores higher" in str(part.why("bronc", "dysp"))
    plain = learn(rows, "dysp", learner=learner, hidden="excluded")
    assert not any("certified" in note for note in plain.notes)
    assert part.arrows == plain.arrows


def test_knowledge_can_exclude_the_best_graph() -> None:
    """Then the part says so instead of claiming a certificate."""
    rows = sample(network("asia"), 2000, seed=1)
    part = learn(
        rows,
        "dysp",
        certified=True,
        knowledge=Knowledge(required=[("dysp", "bronc"), ("dysp", "either")]),
        hidden="excluded",
    )
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
    part = learn(rows, "Disease", depth=2, certified=True, max_seconds=0.4, hidden="excluded")
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
    notes = learn(table, "X14", depth="max", certified=True, hidden="excluded").notes
    assert any("scores higher (exact search)" in note for note in notes)
    assert not any("there may be a better graph still" in note for note in notes)

"""The tabu hill climb: the same steps as a climb that scores everything anew, and what it must keep to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_backends.scores.bde import BDeu
from apsl_backends.search.hill_climbing import climb
from apsl_rules.data.tables import Table
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.equivalence import cpdag
from apsl_rules.graphs.networks.sampling import sample
from support.graphs import MICRO, MICRO_CPDAG
from support.scoring import coded, strong_network, tables
from support.searching import every_graph, is_acyclic, naive_climb


@given(tables(min_columns=3, max_columns=5), st.sampled_from([0.0, 1.0, "kappa"]), st.data())
def test_climbs_like_one_that_scores_everything_anew(drawn: Table, penalty: float | str, data: st.DataObject) -> None:
    """Whatever the candidates, the start and the limits, it takes the same steps to the same graph."""
    score = BDeu(drawn, ess=data.draw(st.sampled_from([0.5, 10.0])), penalty=penalty)
    everyone = range(len(drawn.names))
    members = sorted(data.draw(st.permutations(everyone))[: data.draw(st.integers(2, len(everyone)))])
    pairs = [(tail, head) for tail in members for head in members if tail != head]
    candidates = data.draw(st.sets(st.sampled_from(pairs))) if data.draw(st.booleans()) else None
    rank = {node: at for at, node in enumerate(data.draw(st.permutations(members)))}
    arrows = data.draw(st.sets(st.sampled_from([pair for pair in pairs if rank[pair[0]] < rank[pair[1]]])))
    start = {node: tuple(sorted(tail for tail, head in arrows if head == node)) for node in members}
    tabu, patience = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 8))
    most, freely = data.draw(st.integers(0, len(members))), data.draw(st.booleans())
    limits = {"tabu": tabu, "patience": patience, "max_parents": most}
    found = climb(score, members, candidates=candidates, start=start, turn_any=freely, **limits)
    open_to = pairs if candidates is None else candidates
    best, top, steps = naive_climb(score.local, members, open_to, start, turn_any=freely, **limits)
    assert (found.parents, found.score, found.steps) == (best, top, steps)


@given(tables(min_columns=2, max_columns=5, max_rows=200))
def test_no_single_move_is_better(drawn: Table) -> None:
    """The result is a graph without cycles that no single added, deleted or turned arrow improves."""
    score = BDeu(drawn)
    found = climb(score, range(len(drawn.names)))
    assert is_acyclic(found.parents)
    assert found.score == sum(score.local(node, before) for node, before in found.parents.items())
    one_step = climb(score, range(len(drawn.names)), start=found.parents, patience=1, tabu=1)
    assert one_step.score == found.score


@given(tables(min_columns=3, max_columns=5, max_rows=200), st.data())
def test_the_order_of_columns_is_of_no_account(drawn: Table, data: st.DataObject) -> None:
    """The same graph is found, arrow by arrow, however the columns come."""
    order = data.draw(st.permutations(range(len(drawn.names))))
    shuffled = coded(drawn.codes[order], [drawn.names[at] for at in order])
    one, other = (climb(BDeu(each), range(len(drawn.names))) for each in (drawn, shuffled))
    assert one == other


def test_equal_moves_go_by_name() -> None:
    """Of two directions that score the same, the arrow from the first name to the second is drawn."""
    column = [0, 1] * 20
    for names in ("AB", "BA"):
        score = BDeu(coded([column, column], names))
        assert score.dag(climb(score, range(2)).parents).edges == {("A", "B")}


def test_candidates_that_go_one_way_only() -> None:
    """Only candidates are drawn; an arrow that is none stays as it is, whether given or turned into."""
    score = BDeu(coded([[0, 1] * 20] * 2, "AB"))
    assert climb(score, range(2), candidates=[(1, 0)]).parents == {0: (1,), 1: ()}
    assert climb(score, range(2), candidates=[(1, 0)], turn_any=True).steps == 2
    assert climb(score, range(2), candidates=[(1, 0)], start={1: (0,)}).parents == {0: (), 1: (0,)}
    assert climb(score, range(2), candidates=[], start={1: (0,)}).parents == {0: (), 1: (0,)}
    assert climb(score, [1], candidates=[(0, 1)]).parents == {1: ()}


def test_bad_limits_are_refused() -> None:
    """Limits that make no sense get a sentence."""
    score = BDeu(coded([[0, 1] * 20] * 2, "AB"))
    with pytest.raises(InvalidArgumentError, match="tabu is -1; give a whole number from 0 on"):
        climb(score, range(2), tabu=-1)
    with pytest.raises(InvalidArgumentError, match="patience is 0"):
        climb(score, range(2), patience=0)


@pytest.mark.parametrize("name", ["N3", "N7", "N8"])
def test_strong_networks_are_recovered(name: str) -> None:
    """From 50,000 rows of strong tables the climb finds the class of the true graph."""
    score = BDeu(sample(strong_network(MICRO[name], seed=0), 50_000, seed=0), penalty="kappa")
    found = cpdag(score.dag(climb(score, range(len(score.nodes))).parents))
    assert (found.arrows, found.lines) == (MICRO_CPDAG[name].arrows, MICRO_CPDAG[name].lines)


def test_what_a_restricted_climb_counts() -> None:
    """Only candidates are counted, and each family once: a second climb counts nothing."""
    random = np.random.default_rng(0)
    score = BDeu(coded(random.integers(0, 2, size=(6, 100)), "abcdef"))
    asked: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = []
    fresh = score._fresh_gains  # noqa: SLF001 - what is counted is not public

    def watched(node: int, parents: tuple[int, ...], others: np.ndarray[tuple[int], np.dtype[np.int64]]) -> object:
        asked.append((node, parents, tuple(others.tolist())))
        return fresh(node, parents, others)

    score.__dict__["_fresh_gains"] = watched
    candidates = [(0, 1), (1, 0), (2, 3), (3, 2)]
    climb(score, range(6), candidates=candidates)
    assert asked
    assert all((other, node) in candidates for node, _, others in asked for other in others)
    assert len(asked) == len(set(asked))
    count = len(asked)
    climb(score, range(6), candidates=candidates)
    assert len(asked) == count


@pytest.mark.slow
def test_best_of_all_graphs_is_often_found() -> None:
    """On five columns of strong dependence the climb ends in the best of all 29,281 graphs."""
    score = BDeu(sample(strong_network(MICRO["N8"], seed=1), 5_000, seed=1))
    found = climb(score, range(5))
    assert found.score == max(
        sum(score.local(node, before) for node, before in graph.items()) for graph in every_graph(range(5))
    )

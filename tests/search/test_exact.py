"""The best graph over a few nodes: better than every other graph, and honest where it gives up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_backends.kernels.bindings import best_graph_bytes
from apsl_backends.scores.bde import BDeu
from apsl_backends.search.exact import optimal
from apsl_backends.search.hill_climbing import climb
from apsl_rules.data.tables import Table
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.networks.sampling import sample
from support.graphs import random_dag
from support.scoring import coded, strong_network, tables
from support.searching import every_graph, is_acyclic


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

"""All graphs of four nodes against all others, with perfect answers: what fails is named, and the least change is."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import pytest

from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import Dag, check
from apsl_rules.checking.changes import Reconciler
from apsl_rules.checking.claimed import ClaimedGraph
from apsl_rules.checking.claims import Rows
from apsl_rules.graphs import DagWithHidden
from apsl_rules.knowledge import NOTHING
from apsl_rules.learning import Request, open_data
from apsl_rules.plugins import installed
from support.drawing import ALL_GRAPHS
from support.graphs import all_dags

GRAPHS = list(all_dags(4))
#: The true graphs that are tried.
TRUTHS = range(0, len(GRAPHS), 1 if ALL_GRAPHS else 45)


@cache
def independences(at: int) -> frozenset[tuple[int, int, tuple[int, ...]]]:
    """Return every independence of a graph, by asking for each."""
    oracle = DSeparation(GRAPHS[at])
    found = set()
    for x, y in combinations(range(4), 2):
        others = [node for node in range(4) if node not in (x, y)]
        for size in range(3):
            for given in combinations(others, size):
                if oracle.verdict(x, y, given).independent:
                    found.add((x, y, given))
    return frozenset(found)


PLACE = {dag.edges: at for at, dag in enumerate(GRAPHS)}


@cache
def near(at: int) -> frozenset[int]:
    """Return the graphs that one edge more, one less or one turned makes of a graph."""
    edges = GRAPHS[at].edges
    pairs = [(x, y) for x in range(4) for y in range(4) if x != y]
    made = [edges - {one} for one in edges]
    made += [edges - {(x, y)} | {(y, x)} for x, y in edges]
    made += [edges | {(x, y)} for x, y in pairs if (y, x) not in edges]
    return frozenset(PLACE[one] for one in made if one in PLACE) - {at}


def least(at: int, fitting: frozenset[int]) -> int | None:
    """Return how few changes lead to a graph that implies nothing false; None if two are not enough."""
    if at in fitting:
        return 0
    if near(at) & fitting:
        return 1
    # two turns may pass through a cycle, but never in both orders
    return 2 if any(near(one) & fitting for one in near(at)) else None


def claimed(at: int) -> ClaimedGraph:
    """Return what a graph claims."""
    return ClaimedGraph.of(DagWithHidden(GRAPHS[at], ()), {})


@pytest.mark.parametrize("truth", TRUTHS)
def test_what_fails_and_the_least_change_are_those_of_trying_all(truth: int) -> None:
    """For every other graph: one true statement for each gap, false ones where it implies some, and fewest changes."""
    known = GRAPHS[truth]
    rows = Rows(open_data(known, Request.of({})), installed(), [*range(4)], 0.05, 0.01)
    reconciler = Reconciler(rows, NOTHING, 3.0)
    fitting = frozenset(at for at in range(len(GRAPHS)) if independences(at) <= independences(truth))

    for at, dag in enumerate(GRAPHS):
        graph = claimed(at)
        told = {(one.x, one.y, one.given): one.state == "fails" for one in rows.all_of(graph)}
        steps = reconciler.steps(graph)
        fewest = least(at, fitting)

        assert {frozenset(one[:2]) for one in told} == {
            frozenset(pair) for pair in combinations(range(4), 2) if pair[1] not in dag.neighbours_of(pair[0])
        }
        assert independences(at) >= told.keys()
        assert all(fails is (one not in independences(truth)) for one, fails in told.items())
        assert any(told.values()) is (fewest != 0)
        if fewest is not None:
            assert len(steps) == fewest, (dag, known)
            assert not steps or not steps[-1].left
        else:
            assert not steps or len(steps) > 2
        assert not steps or PLACE[steps[-1].after.dag.dag.edges] in fitting


def test_a_check_says_the_same_as_its_parts() -> None:
    """What is named for one pair of graphs by the public function."""
    found = check({"a": [], "b": ["a"], "c": ["a"]}, Dag({"a": [], "b": ["a"], "c": ["a", "b"]}))

    assert [one.statement for one in found.failing] == ["b ⊥ c | a"]
    assert (found.changes[0].kind, found.changes[0].gain, found.is_reconciled) == ("add", None, True)
    assert found.verdict == "contradicted"

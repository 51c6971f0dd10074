"""FCBF as a finder: the paper's filter, its known failure, and its place in the learners."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import log2

import numpy as np
import pytest

from apsl_backends.finders.fcbf import Fcbf
from apsl_backends.independence.count_tests import GSquare
from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import learn, network
from apsl_rules.data import coded_table
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.networks import joint
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.names import Node
from apsl_rules.plugins.offers import FinderSettings


def triangle() -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Return rows in exact proportion to the triangle T -> A -> B <- T on which the filter errs."""
    rows = []
    for t in (0, 1):
        for a in (0, 1):
            for b in (0, 1):
                ones = {(1, 1): 95, (1, 0): 85, (0, 1): 15, (0, 0): 5}[a, t]
                share = (90 if a == t else 10) * (ones if b else 100 - ones)
                rows += [(t, a, b)] * (share // 10)
    return np.array(rows, dtype=np.uint8)


def test_a_true_neighbour_is_dropped_on_the_triangle() -> None:
    """B is a neighbour of T, but A tells more of B than T does, so the filter drops it."""
    oracle = GSquare(coded_table(triangle(), names=["T", "A", "B"]))

    assert Fcbf(oracle, FinderSettings()).candidates("T").members == ("A",)


def test_the_threshold_cuts() -> None:
    """A threshold above every uncertainty leaves no candidates."""
    oracle = GSquare(coded_table(triangle(), names=["T", "A", "B"]))

    assert Fcbf(oracle, FinderSettings(options={"threshold": 0.9})).candidates("T").members == ()


def test_the_members_agree_with_the_printed_algorithm() -> None:
    """The filter equals Algorithm 2 with its list and its two counters, on every node of a sampled network."""
    from apsl_backends.independence.count_tests import SymmetricalUncertainty

    rows = sample(network("child"), 500, seed=9)
    measure = SymmetricalUncertainty(rows)
    finder = Fcbf(GSquare(rows), FinderSettings())
    for node in rows.names:
        left = [other for other in rows.names if other != node and measure.pair(other, node) > 0.05]
        left.sort(key=lambda other: (-measure.pair(other, node), other))
        first = 0
        while first < len(left):
            second = first + 1
            while second < len(left):
                if measure.pair(left[first], left[second]) > measure.pair(left[second], node):
                    del left[second]
                else:
                    second += 1
            first += 1
        assert finder.candidates(node).members == tuple(sorted(left, key=str))


@pytest.mark.parametrize("learner", ["apsl-fs", "apsl-fs-paper"])
def test_the_learners_over_fcbf_learn(learner: str) -> None:
    """Both learners over the filter find edges and prove their arrows."""
    rows = sample(network("child"), 2000, seed=4)
    part = learn(rows, "ChestXray", depth=2, learner=learner)

    assert part.arrows
    assert all(str(part.why(x, y)).startswith(f"{x} -> {y}") for x, y in part.arrows)
    assert "SU" in "".join(str(part.why(*pair)) for pair in part.edges)


def test_fcbf_needs_a_table_or_a_network() -> None:
    """On a graph without tables the filter cannot be used, and the message says what to use."""
    with pytest.raises(InvalidArgumentError, match="the finder 'fcbf' needs a table of discrete columns"):
        learn(network("asia").dag, "lung", learner="apsl-fs")


def by_brute_force(shares: Mapping[tuple[int, ...], float], names: Sequence[Node], node: Node) -> tuple[Node, ...]:
    """Carry out Algorithm 2 on a whole distribution, with plain sums over all states."""

    def bits(chosen: Sequence[Node]) -> float:
        found: dict[tuple[object, ...], float] = defaultdict(float)
        for state, share in shares.items():
            found[tuple(state[names.index(one)] for one in chosen)] += share
        return -sum(share * log2(share) for share in found.values() if share > 0)

    def uncertainty(x: Node, y: Node) -> float:
        one, other = bits([x]), bits([y])
        return round(max(0.0, 2 * (one + other - bits([x, y])) / (one + other)), 12)

    left = sorted((one for one in names if one != node), key=lambda one: (-uncertainty(one, node), str(one)))
    left = [one for one in left if uncertainty(one, node) > 0.05]
    first = 0
    while first < len(left):
        best = left[first]
        later = [one for one in left[first + 1 :] if uncertainty(best, one) <= uncertainty(one, node)]
        left[first + 1 :] = later
        first += 1
    return tuple(sorted(left, key=str))


@pytest.mark.parametrize("name", ["asia", "cancer"])
def test_on_a_network_the_filter_is_that_of_its_distribution(name: str) -> None:
    """The finder agrees with brute force over all states, with figures of no rows, on every node."""
    known = network(name)
    names = list(known.dag.nodes)
    whole = joint(known, names)
    shares = {state: float(whole[state]) for state in np.ndindex(whole.shape)}
    finder = Fcbf(DSeparation(known.dag, data=known), FinderSettings())
    for node in names:
        found = finder.candidates(node)
        assert found.members == by_brute_force(shares, names, node)
        assert all(verdict.test == "SU" and verdict.n is None for verdict in found.weakest.values())


@pytest.mark.parametrize("learner", ["apsl-fs", "apsl-fs-paper"])
def test_the_learners_over_fcbf_learn_from_networks(learner: str) -> None:
    """Both learners run on a known network, where tests are perfect and the filter alone errs."""
    part = learn(network("asia"), "lung", depth=2, learner=learner)

    assert ("lung", "either") in part.arrows
    assert part.edges <= {frozenset(edge) for edge in network("asia").dag.edges}

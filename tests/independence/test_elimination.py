"""HITON inside the kernel: step by step it is the published elimination."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_backends.finders.by_tests import Hiton
from apsl_backends.independence.count_tests import ChiSquare, GSquare, Reliability
from apsl_rules import network
from apsl_rules.data import Table, coded_table
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.neighbours.symmetric import Candidates
from apsl_rules.oracles.asker import Asker
from apsl_rules.oracles.protocol import Oracle
from apsl_rules.plugins.offers import FinderSettings


def both(oracle: Oracle, settings: FinderSettings, node: object) -> tuple[Candidates, Candidates]:
    """Find candidates inside the kernel and step by step."""
    inside, stepwise = Asker(oracle, origin="a test"), Asker(oracle, origin="a test")
    assert inside.eliminates
    stepwise.eliminates = False
    return Hiton(inside, settings).candidates(node), Hiton(stepwise, settings).candidates(node)


def same(inside: Candidates, outside: Candidates) -> bool:
    """Return whether two searches agree on members, weakest dependences and separators with their verdicts."""
    return (
        inside.members == outside.members
        and dict(inside.weakest) == dict(outside.weakest)
        and {one: (found.given, found.verdict) for one, found in inside.separations.items()}
        == {one: (found.given, found.verdict) for one, found in outside.separations.items()}
    )


def chained(seed: int, rows: int, columns: int) -> Table:
    """Draw columns of two to four levels that copy earlier ones with some noise; a few values are missing."""
    random = np.random.default_rng(seed)
    drawn = np.zeros((rows, columns))
    for column in range(columns):
        levels = random.integers(2, 5)
        fresh = random.integers(0, levels, rows)
        kept = random.random(rows) < random.choice([0.0, 0.4, 0.8])
        drawn[:, column] = np.where(kept & (column > 0), drawn[:, random.integers(0, max(column, 1))] % levels, fresh)
    if seed % 3 == 0:
        drawn[random.random((rows, columns)) < 0.05] = np.nan
    return coded_table(drawn, names=[f"c{column}" for column in range(columns)], missing="testwise")


@given(
    st.integers(0, 10_000),
    st.sampled_from([30, 120, 400]),
    st.integers(2, 9),
    st.sampled_from([0, 1, 2, 3, None]),
    st.sampled_from(["five-per-cell", "none"]),
    st.sampled_from([None, "dependent"]),
)
def test_the_kernel_eliminates_as_the_finder_does(
    seed: int,
    rows: int,
    columns: int,
    most: int | None,
    reliability: Reliability,
    unreliable: Literal["dependent"] | None,
) -> None:
    """On random tables, with missing values too, both ways agree in every figure."""
    oracle = GSquare(chained(seed, rows, columns), alpha=0.05, reliability=reliability)
    settings = FinderSettings(most, unreliable)

    for node in oracle.nodes:
        assert same(*both(oracle, settings, node))


@pytest.mark.parametrize("kind", [GSquare, ChiSquare])
@pytest.mark.parametrize("share", [None, 0.05])
def test_they_agree_on_a_network(kind: type[GSquare | ChiSquare], share: float | None) -> None:
    """On rows of INSURANCE, with hubs, both ways agree for every node, with and without the cut."""
    oracle = kind(sample(network("insurance"), 800, seed=3))

    for node in oracle.nodes:
        assert same(*both(oracle, FinderSettings(3, false_discoveries=share), node))

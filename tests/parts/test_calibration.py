"""What the probabilities say comes true, on a network that was not used to fit them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from apsl_rules import learn, network
from apsl_rules.graphs.networks.sampling import sample

RANGES = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.01)


def calibration_error(found: Sequence[tuple[float, bool]]) -> float:
    """Return how far probabilities are from the shares that are right, by ranges, on average over cases."""
    error = 0.0
    for low, high in pairwise(RANGES):
        inside = [one for one in found if low <= one[0] < high]
        error += abs(sum(probability - right for probability, right in inside))
    return error / len(found)


@pytest.mark.slow
def test_probabilities_come_true_on_another_network() -> None:
    """On alarm, which no curve was fitted to, both kinds are at most .10 off on average."""
    made = network("alarm")
    arrows, lines = made.cpdag.arrows, made.cpdag.lines
    edges: list[tuple[float, bool]] = []
    directions: list[tuple[float, bool]] = []
    for rows, seed in ((500, 1), (1000, 2), (5000, 3)):
        table = sample(made, rows, seed=seed)
        for target in made.dag.nodes:
            for row in learn(table, target, learner="apsl-score").rows():
                pair = (row["source"], row["target"])
                exists = frozenset(pair) in {*lines, *map(frozenset, arrows)}
                edges.append((row["probability"], exists))
                if exists and row["direction"] is not None:
                    directions.append((row["direction"], pair in arrows))
    assert len(edges) > 200
    assert len(directions) > 150
    assert calibration_error(edges) <= 0.10
    assert calibration_error(directions) <= 0.10

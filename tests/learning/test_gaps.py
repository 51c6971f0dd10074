"""Every gap that a proof explains has a test, and where test and score disagree the pair is open and says so."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from apsl_rules import learn, network
from apsl_rules.graphs.networks import sample
from apsl_rules.rules import Mark


def categories() -> tuple[Any, str]:
    """Draw categories of a network of 20 nodes."""
    return sample(network("child"), 500, seed=5), "Disease"


def numbers() -> tuple[Any, str]:
    """Draw numbers, some of which hardly depend on each other."""
    random = np.random.default_rng(4)
    a, b, c = random.normal(size=(3, 400))
    d = a + 0.8 * b + random.normal(size=400)
    e = 0.17 * a + 0.7 * c + random.normal(size=400)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": e}), "e"


def both() -> tuple[Any, str]:
    """Draw numbers and categories together."""
    frame, _ = numbers()
    return frame.assign(f=np.where(frame["d"] > 0, "high", "low"), g=np.where(frame["c"] > 0.4, "x", "y")), "d"


@pytest.mark.parametrize("hidden", ["possible", "excluded"])
@pytest.mark.parametrize("draw", [categories, numbers, both])
def test_each_gap_has_a_test_and_each_open_pair_says_that_the_score_disagrees(
    draw: Callable[[], tuple[Any, str]], hidden: Any
) -> None:
    """A gap cites a test that accepts independence; an open pair the test that came nearest, and what it lacks."""
    rows, target = draw()
    part = learn(rows, target, depth=2, hidden=hidden)
    met = set()
    for pair in combinations(part.nodes, 2):
        proof = part.why(*pair)
        verdicts = [verdict for finding in proof.findings for verdict in finding.evidence.verdicts]
        mark = part.mark(*pair)
        met.add(mark)
        if mark is Mark.GAP:
            assert any(verdict.independent for verdict in verdicts), str(proof)
        elif mark is Mark.OPEN:
            assert verdicts, str(proof)
            assert not any(verdict.independent for verdict in verdicts), str(proof)
            assert "left open: they depend on each other" in str(proof)
    assert {Mark.GAP, Mark.OPEN} <= met if draw is categories else Mark.GAP in met

"""Agreement with the tests of causal-learn and pgmpy, whose figures were taken once and are kept beside this file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apsl_backends.independence.count_tests import ChiSquare, GSquare
from apsl_rules.data import coded_table
from apsl_rules.data.tables import Table

VECTORS = json.loads((Path(__file__).parent / "peer_vectors.json").read_text("utf-8"))


def drawn(case: dict[str, Any]) -> Table:
    """Draw the table of a case again from its seed."""
    random = np.random.default_rng(case["seed"])
    rows = int(random.choice([200, 500, 1500]))
    cards = random.integers(2, 5, 2 + case["given"])
    columns = [random.integers(0, card, rows) for card in cards]
    copied = random.random(rows) < [0.0, 0.15, 0.4][case["seed"] % 3]
    columns[1] = np.where(copied, columns[0] % cards[1], columns[1])
    return coded_table(np.stack(columns, axis=1), names=[f"c{column}" for column in range(2 + case["given"])])


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: f"seed {case['seed']}")
def test_the_p_values_agree(case: dict[str, Any]) -> None:
    """G² and χ² give causal-learn's p, and G² pgmpy's statistic but for two habits of its own.

    pgmpy leaves out whole strata in which a level is missing, and corrects tables of two by two for continuity.
    """
    rows = drawn(case)
    asked = ("c0", "c1", rows.names[2:])
    adjusted = GSquare(rows, reliability="none").verdict(*asked)

    assert adjusted.p == pytest.approx(case["causal_learn_gsq"], rel=1e-6, abs=1e-300)
    assert ChiSquare(rows, reliability="none").verdict(*asked).p == pytest.approx(
        case["causal_learn_chisq"], rel=1e-6, abs=1e-300
    )
    statistic, _, dof = case["pgmpy_gsq"]
    if dof == adjusted.dof and rows.cards[:2].tolist() != [2, 2]:
        assert adjusted.statistic == pytest.approx(statistic, rel=1e-6)

"""The G² test of independence on discrete tables."""

from __future__ import annotations

from apsl_backends.counts.arrays import G_SQUARE
from apsl_backends.counts.oracle import CountOracle


class GSquare(CountOracle):
    """Test independence by the likelihood ratio G² = 2 Σ O ln(O/E)."""

    name = "gsquare"
    symbol = "G²"
    kind = G_SQUARE

"""Pearson's χ² test of independence on discrete tables."""

from __future__ import annotations

from apsl_backends.counts.arrays import CHI_SQUARE
from apsl_backends.counts.oracle import CountOracle


class ChiSquare(CountOracle):
    """Test independence by Pearson's χ² = Σ (O − E)² / E."""

    name = "chisquare"
    symbol = "χ²"
    kind = CHI_SQUARE

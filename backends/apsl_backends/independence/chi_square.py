"""Pearson's χ² test of independence on discrete tables."""

from __future__ import annotations

from apsl_backends.independence.count_tests import CountOracle
from apsl_backends.kernels.library import CHI_SQUARE


class ChiSquare(CountOracle):
    """Test independence by Pearson's χ² = Σ (O − E)² / E."""

    name = "chisquare"
    symbol = "χ²"
    kind = CHI_SQUARE

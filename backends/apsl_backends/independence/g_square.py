"""The G² test of independence on discrete tables."""

from __future__ import annotations

from apsl_backends.independence.count_tests import CountOracle
from apsl_backends.kernels.library import G_SQUARE


class GSquare(CountOracle):
    """Test independence by the likelihood ratio G² = 2 Σ O ln(O/E)."""

    name = "gsquare"
    symbol = "G²"
    kind = G_SQUARE

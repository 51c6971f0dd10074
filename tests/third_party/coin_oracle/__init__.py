"""An oracle for a small world: two coins, and a bell that both of them move.

The coins know nothing of each other until the bell is heard: every question has a known answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from apsl_rules import hookimpl
from apsl_rules.evidence.evidence import Verdict
from apsl_rules.oracles.protocol import Oracle
from apsl_rules.plugins.offers import OracleOffer, OracleSettings


class CoinsAndBell(Oracle):
    """Answers for two coins that both point at a bell: the coins meet only when the bell is known."""

    name = "coin"
    perfect = True
    nodes = ("coin 1", "coin 2", "bell")

    def verdict(self, x: Any, y: Any, given: Sequence[Any] = ()) -> Verdict:
        """Return whether two of the three are independent."""
        two_coins = "bell" not in (x, y)
        independent = two_coins and "bell" not in given
        return Verdict(x, y, tuple(given), "independent" if independent else "dependent", self.name)


def _make(_source: object, _settings: OracleSettings) -> CoinsAndBell:
    return CoinsAndBell()


@hookimpl
def apsl_oracles() -> Iterable[OracleOffer]:
    """Offer the oracle under the name "coin"."""
    return [OracleOffer("coin", "two coins and a bell", _make)]

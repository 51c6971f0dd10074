"""Changes of columns between environments as an oracle tells them, such as G² on categories."""

from __future__ import annotations

from collections.abc import Sequence

from apsl_rules.environments.change_tests import ChangeTest
from apsl_rules.names import Node
from apsl_rules.oracles import Oracle


class OracleChanges:
    """Tests whether a column is made alike in all environments by asking whether it depends on theirs."""

    def __init__(self, oracle: Oracle, environment: Node) -> None:
        self._oracle, self._environment = oracle, environment

    def test(self, column: Node, given: Sequence[Node] = ()) -> ChangeTest:
        """Return whether a column is made alike in all environments, given others."""
        (verdict,) = self._oracle.verdicts([(self._environment, column, tuple(given))])
        if verdict.statistic is None or not verdict.n:
            return ChangeTest(verdict, float("inf") if verdict.dependent else 0.0)
        nats = max(0.0, verdict.statistic - (verdict.dof or 0)) / (2 * verdict.n)
        return ChangeTest(verdict, nats, "level")

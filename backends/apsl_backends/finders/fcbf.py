"""FCBF (Yu and Liu 2004) as a finder: neighbours by pairwise uncertainty, without searching for separators.

Algorithm 2 of the paper: candidates with a symmetrical uncertainty above a threshold, strongest first; each one
removes the weaker ones that it tells more about than the target does. Fast, but no proof of anything: a true
neighbour can be removed by another one, and weak ones are never seen. On a known network the uncertainties are those
of its distribution, so that the filter, which errs even then, can be told from what few rows do to it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from apsl_backends.scores.columns import JointRows
from apsl_rules.data import counted
from apsl_rules.evidence import Verdict
from apsl_rules.graphs.networks import Network, joint
from apsl_rules.names import Node, in_order, order_key
from apsl_rules.neighbours import Candidates
from apsl_rules.oracles import Oracle
from apsl_rules.plugins import FinderSettings

THRESHOLD = 0.05
#: Uncertainties of a distribution that differ by less are equal, so that rounding decides nothing.
_PLACES = 12


class _Measured(Protocol):
    """The columns of a source, their uncertainties, and how many rows these come from."""

    @property
    def names(self) -> Sequence[Node]:
        """Return all columns."""

    @property
    def rows(self) -> int | None:
        """Return how many rows the uncertainties come from, if they come from rows."""

    def against_all(self, node: Node) -> Sequence[float]:
        """Measure a node against all, in their order."""

    def pairs(self, node: Node, others: Sequence[Node]) -> Sequence[float]:
        """Measure a node against some others."""

    def too_few_at(self, node: Node) -> Collection[Collection[Node]]:
        """Return the pairs with the node of which there are too few rows."""


class _Columns:
    """Uncertainties of the columns of a table."""

    def __init__(self, data: object) -> None:
        from apsl_backends.independence.count_tests import SymmetricalUncertainty

        table = counted(data, "the finder 'fcbf'")
        self._together, self._uncertainty = JointRows(table), SymmetricalUncertainty(table)
        self.names, self.rows = self._uncertainty.heading.names, self._uncertainty.heading.rows
        self.too_few_at = self._together.too_few_at
        self.pairs = self._uncertainty.pairs

    def against_all(self, node: Node) -> Sequence[float]:
        """Measure a node against all, in one sweep."""
        found: list[float] = self._uncertainty.against_all(node).tolist()
        return found


class PopulationUncertainty:
    """SU(x; y) = 2·I(x; y) / (H(x) + H(y)) of two nodes of a network, from its tables; each pair is worked out once."""

    rows = None

    def __init__(self, network: Network, oracle: Oracle) -> None:
        self.names = network.dag.nodes
        self._network, self._oracle = network, oracle
        self._known: dict[frozenset[Node], float] = {}

    def against_all(self, node: Node) -> Sequence[float]:
        """Measure a node against all; its own entry is 0."""
        return [0.0 if other == node else self.pair(node, other) for other in self.names]

    def pairs(self, node: Node, others: Sequence[Node]) -> Sequence[float]:
        """Measure a node against some others."""
        return [self.pair(node, other) for other in others]

    def pair(self, x: Node, y: Node) -> float:
        """Measure one pair; nodes that the graph separates share nothing."""
        pair = frozenset((x, y))
        if pair not in self._known:
            apart = self._oracle.verdict(x, y).independent
            self._known[pair] = 0.0 if apart else uncertainty_of(joint(self._network, in_order(pair)))
        return self._known[pair]

    def too_few_at(self, node: Node) -> Collection[Collection[Node]]:  # noqa: ARG002 - no rows are needed
        """Return none: a distribution has no rows."""
        return ()


def uncertainty_of(shares: npt.NDArray[np.float64]) -> float:
    """Return the uncertainty of a table of probabilities with two axes."""

    def bits(part: npt.NDArray[Any]) -> float:
        there = part[part > 0]
        return float(-(there * np.log2(there)).sum())

    one, other, both = bits(shares.sum(axis=1)), bits(shares.sum(axis=0)), bits(shares)
    return round(max(0.0, 2 * (one + other - both) / (one + other)), _PLACES) if one + other > 0 else 0.0


class Fcbf:
    """The filter on the table or the network behind an oracle; ``threshold`` is the paper's δ."""

    def __init__(self, oracle: Oracle, settings: FinderSettings) -> None:
        data = oracle.data
        self._oracle = oracle
        self._measured: _Measured = PopulationUncertainty(data, oracle) if isinstance(data, Network) else _Columns(data)
        self._hidden = settings.hidden
        self._threshold = float(settings.options.get("threshold", THRESHOLD))

    def candidates(self, node: Node) -> Candidates:
        """Find the candidates of one node; its uncertainties against all columns are measured in one sweep.

        Where rows are too few, those of the tests say which pairs nothing is known of.
        """
        lacking = {other for pair in self._measured.too_few_at(node) for other in pair}
        hidden = self._hidden | lacking
        sweep = self._oracle.associations(node) if lacking else None
        swept = zip(self._measured.names, self._measured.against_all(node), strict=True)
        measured = {
            other: share for other, share in swept if share > self._threshold and other != node and other not in hidden
        }
        left = sorted(measured, key=lambda other: (-measured[other], order_key(other)))
        members: list[Node] = []
        while left:
            best, *rest = left
            members.append(best)
            uncertainties = self._measured.pairs(best, rest)
            left = [other for other, more in zip(rest, uncertainties, strict=True) if more <= measured[other]]
        verdicts = {
            other: Verdict(node, other, (), "dependent", "SU", measured[other], n=self._measured.rows)
            for other in members
        }
        claim = "kept by the filter, no set tried"
        return Candidates(node, in_order(members), sweep, weakest=verdicts, claim=claim)

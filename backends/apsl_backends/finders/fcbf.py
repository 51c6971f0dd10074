"""FCBF (Yu and Liu 2004) as a finder: neighbours by pairwise uncertainty, without searching for separators.

Algorithm 2 of the paper: candidates with a symmetrical uncertainty above a threshold, strongest first; each one
removes the weaker ones that it tells more about than the target does. Fast, but no proof of anything: a true
neighbour can be removed by another one, and weak ones are never seen.
"""

from __future__ import annotations

from apsl_backends.scores.missing_values import JointRows
from apsl_rules.data import counted
from apsl_rules.evidence import Verdict
from apsl_rules.names import Node, in_order, order_key
from apsl_rules.neighbours import Candidates
from apsl_rules.oracles import Oracle
from apsl_rules.plugins import FinderSettings

THRESHOLD = 0.05


class Fcbf:
    """The filter on the table behind an oracle; ``threshold`` is the paper's δ."""

    def __init__(self, oracle: Oracle, settings: FinderSettings) -> None:
        from apsl_backends.independence.count_tests import SymmetricalUncertainty

        table = counted(oracle.data, "the finder 'fcbf'")
        self._oracle = oracle
        self._together = JointRows(table)
        self._uncertainty = SymmetricalUncertainty(table)
        self._table = self._uncertainty.heading
        self._hidden = settings.hidden
        self._threshold = float(settings.options.get("threshold", THRESHOLD))

    def candidates(self, node: Node) -> Candidates:
        """Find the candidates of one node; its uncertainties against all columns are measured in one sweep.

        Where rows are too few, those of the tests say which pairs nothing is known of.
        """
        lacking = {other for pair in self._together.too_few_at(node) for other in pair}
        hidden = self._hidden | lacking
        sweep = self._oracle.associations(node) if lacking else None
        swept = self._uncertainty.against_all(node)
        place = self._table.place[node]
        strong = [at for at in (swept > self._threshold).nonzero()[0].tolist() if at != place]
        measured = {self._table.names[at]: float(swept[at]) for at in strong if self._table.names[at] not in hidden}
        left = sorted(measured, key=lambda other: (-measured[other], order_key(other)))
        members: list[Node] = []
        while left:
            best, *rest = left
            members.append(best)
            uncertainties = self._uncertainty.pairs(best, rest)
            left = [other for other, more in zip(rest, uncertainties, strict=True) if more <= measured[other]]
        verdicts = {
            other: Verdict(node, other, (), "dependent", "SU", measured[other], n=self._table.rows) for other in members
        }
        claim = "kept by the filter, no set tried"
        return Candidates(node, in_order(members), sweep, weakest=verdicts, claim=claim)

"""What one visit finds, in the order of finding and each fact once."""

from __future__ import annotations

from apsl_rules.evidence import Evidence, Verdict
from apsl_rules.names import Node
from apsl_rules.rules import Fact, Finding, Relation


class FindingList:
    """The findings of one visit; ``source`` names the oracle behind them."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._findings: dict[Fact, Finding] = {}

    @property
    def findings(self) -> list[Finding]:
        """Return the findings in order."""
        return list(self._findings.values())

    def add(
        self, relation: Relation, nodes: tuple[Node, ...], verdicts: tuple[Verdict, ...] = (), note: str = ""
    ) -> None:
        """Add a finding unless the fact is told already."""
        fact = relation.fact(*nodes)
        if fact not in self._findings:
            self._findings[fact] = Finding(fact, Evidence(self._source, verdicts, note))

    def take(self, finding: Finding) -> None:
        """Add a finding made elsewhere, unless its fact is told already."""
        self._findings.setdefault(finding.fact, finding)

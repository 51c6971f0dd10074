"""How learners find things out: from tests, visit by visit, and the variants of CMB."""

from __future__ import annotations

from apsl_rules.learning.findings.finding_list import FindingList
from apsl_rules.learning.findings.from_tests import FindingsFromTests

__all__ = [
    "FindingList",
    "FindingsFromTests",
]

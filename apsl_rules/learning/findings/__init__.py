"""How learners find things out from tests, visit by visit."""

from __future__ import annotations

from apsl_rules.learning.findings.copies import Copies
from apsl_rules.learning.findings.visit import FindingList, FindingsFromTests, Visitor

__all__ = [
    "Copies",
    "FindingList",
    "FindingsFromTests",
    "Visitor",
]

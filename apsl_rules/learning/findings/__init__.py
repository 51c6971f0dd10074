"""How learners find things out from tests, visit by visit."""

from __future__ import annotations

from apsl_rules.learning.findings.visit import FindingList, FindingsFromTests, Visitor

__all__ = [
    "FindingList",
    "FindingsFromTests",
    "Visitor",
]

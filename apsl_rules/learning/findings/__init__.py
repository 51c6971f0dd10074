"""How learners find things out: from tests, visit by visit, and the variants of CMB."""

from __future__ import annotations

from apsl_rules.learning.findings.cmb import FindingList
from apsl_rules.learning.findings.visit import FindingsFromTests

__all__ = [
    "FindingList",
    "FindingsFromTests",
]

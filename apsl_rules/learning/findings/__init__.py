"""What a learner finds at a node: from tests, and the variants of CMB."""

from __future__ import annotations

from apsl_rules.learning.findings.finding_list import Found

__all__ = [
    "Found",
]

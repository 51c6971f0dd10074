"""How right a result is: scores against a known graph, and whether a learner is exact."""

from __future__ import annotations

from apsl_rules.evaluation.exactness import verify
from apsl_rules.evaluation.scoring import score

__all__ = [
    "score",
    "verify",
]

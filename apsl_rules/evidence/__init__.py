"""Answered questions: verdicts of tests, leads of scores, and how strong each is."""

from __future__ import annotations

from apsl_rules.evidence.evidence import (
    EITHER,
    GIVEN,
    KINDS,
    OPINION,
    ROWS,
    SAME,
    SHAPES,
    Decision,
    Evidence,
    Verdict,
    evidence_data,
    evidence_of,
    evidence_strength,
    evidence_text,
    log_p_of,
    p_text,
    verdict_data,
    verdict_of,
    verdict_text,
    weaker,
)

__all__ = [
    "EITHER",
    "GIVEN",
    "KINDS",
    "OPINION",
    "ROWS",
    "SAME",
    "SHAPES",
    "Decision",
    "Evidence",
    "Verdict",
    "evidence_data",
    "evidence_of",
    "evidence_strength",
    "evidence_text",
    "log_p_of",
    "p_text",
    "verdict_data",
    "verdict_of",
    "verdict_text",
    "weaker",
]

"""Answered questions: verdicts of tests, leads of scores, and how strong each is."""

from __future__ import annotations

from apsl_rules.evidence.as_data import evidence_data, evidence_of, verdict_data, verdict_of
from apsl_rules.evidence.evidence import GIVEN, ROWS, Evidence, evidence_strength
from apsl_rules.evidence.verdicts import Decision, Verdict, log_p_of, weaker
from apsl_rules.evidence.wording import evidence_text, p_text

__all__ = [
    "GIVEN",
    "ROWS",
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
    "weaker",
]

"""The page one works on: a local server, what a person says on it, and what they take away."""

from __future__ import annotations

from apsl_rules.app.study import History, Study, changed
from apsl_rules.app.takeaway import read_study, script_text, study_text

__all__ = ["History", "Study", "changed", "read_study", "script_text", "study_text"]

"""Questions to the people who know the columns: few, in bulk, best first; and what becomes of their answers."""

from __future__ import annotations

from apsl_rules.asking.answering import Changed, Difference, Replies, answer, difference, read_replies, relearn
from apsl_rules.asking.what_to_ask import Question, questions

__all__ = [
    "Changed",
    "Difference",
    "Question",
    "Replies",
    "answer",
    "difference",
    "questions",
    "read_replies",
    "relearn",
]

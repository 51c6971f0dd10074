"""The algorithms as published, as a plugin: their learners, rulebooks and conflict policies."""

from __future__ import annotations

from apsl_published.sequential import Sequential
from apsl_rules.rules import LEDGERS

LEDGERS["first"] = LEDGERS["last"] = Sequential

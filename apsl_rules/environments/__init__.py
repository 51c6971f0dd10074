"""Environments: which columns are made differently where rows come from, and what explains away the others."""

from __future__ import annotations

from apsl_rules.environments.change_tests import LEAST, ChangeTest, OracleChanges, RowChanges
from apsl_rules.environments.columns import (
    EnvironmentColumns,
    Environments,
    Interventions,
    environment_columns,
    targets_of,
)
from apsl_rules.environments.explanations import Changes, Explanation, State, explain, with_cancelled

__all__ = [
    "LEAST",
    "ChangeTest",
    "Changes",
    "EnvironmentColumns",
    "Environments",
    "Explanation",
    "Interventions",
    "OracleChanges",
    "RowChanges",
    "State",
    "environment_columns",
    "explain",
    "targets_of",
    "with_cancelled",
]

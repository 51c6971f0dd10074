"""Independence questions: the protocol of an oracle, and the asker that stands before every one."""

from __future__ import annotations

from apsl_rules.oracles.asker import Counts, RememberingOracle
from apsl_rules.oracles.protocol import (
    BaseOracle,
    BatchedOracle,
    Eliminating,
    Elimination,
    Oracle,
    Query,
    Search,
    Separation,
    Sweep,
    foresee,
)
from apsl_rules.oracles.shared import SharedOracle, shared

__all__ = [
    "BaseOracle",
    "BatchedOracle",
    "Counts",
    "Eliminating",
    "Elimination",
    "Oracle",
    "Query",
    "RememberingOracle",
    "Search",
    "Separation",
    "SharedOracle",
    "Sweep",
    "foresee",
    "shared",
]

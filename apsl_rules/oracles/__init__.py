"""Independence questions: the protocol of an oracle, and the asker that stands before every one."""

from __future__ import annotations

from apsl_rules.oracles.asker import Asker, Counts, complete_oracle
from apsl_rules.oracles.protocol import (
    BaseOracle,
    BatchedOracle,
    Cut,
    Eliminating,
    Elimination,
    Oracle,
    Query,
    RankedNodes,
    Search,
    Separation,
    Sweep,
    foresee,
)
from apsl_rules.oracles.shared import SharedOracle, share_memory

__all__ = [
    "Asker",
    "BaseOracle",
    "BatchedOracle",
    "Counts",
    "Cut",
    "Eliminating",
    "Elimination",
    "Oracle",
    "Query",
    "RankedNodes",
    "Search",
    "Separation",
    "SharedOracle",
    "Sweep",
    "complete_oracle",
    "foresee",
    "share_memory",
]

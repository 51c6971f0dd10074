"""Independence questions: what an oracle is, the asker of a run, and the memory that several runs share."""

from __future__ import annotations

from typing import Any
from warnings import warn

from apsl_rules.oracles.asker import WATCHING, Asker, Counts, complete_oracle, counted, is_oracle
from apsl_rules.oracles.memory import SharedOracle
from apsl_rules.oracles.protocol import (
    Cut,
    Elimination,
    FrontOracle,
    Oracle,
    Query,
    RankedNodes,
    Search,
    Separation,
    Sweep,
)

__all__ = [
    "WATCHING",
    "Asker",
    "Counts",
    "Cut",
    "Elimination",
    "FrontOracle",
    "Oracle",
    "Query",
    "RankedNodes",
    "Search",
    "Separation",
    "SharedOracle",
    "Sweep",
    "complete_oracle",
    "counted",
    "is_oracle",
]


def __getattr__(name: str) -> Any:
    """Return an oracle's class by its old name, with a warning."""
    if name == "BaseOracle":
        warn("apsl_rules.oracles.BaseOracle is now apsl_rules.oracles.Oracle", DeprecationWarning, stacklevel=2)
        return Oracle
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)

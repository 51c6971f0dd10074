"""How many of the drawn graphs a test tries: one in five, or all of them where ``APSL_ALL_GRAPHS=1``."""

from __future__ import annotations

import os

#: Whether every drawn graph is tried, as ``make release`` does.
ALL_GRAPHS = os.environ.get("APSL_ALL_GRAPHS") == "1"


def some_of(count: int) -> int:
    """Return how many to try of a number of graphs that are drawn with a fixed seed."""
    return count if ALL_GRAPHS else -(-count // 5)

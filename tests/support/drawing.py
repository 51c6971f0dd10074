"""How many of the graphs a test tries: some of them, or all where ``APSL_ALL_GRAPHS=1``, as ``make release`` does."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

One = TypeVar("One")

#: Whether every drawn graph is tried, as ``make release`` does.
ALL_GRAPHS = os.environ.get("APSL_ALL_GRAPHS") == "1"


def some_of(count: int, one_in: int = 5) -> int:
    """Return how many to try of a number of graphs that are drawn with a fixed seed."""
    return count if ALL_GRAPHS else -(-count // one_in)


def in_turn(choices: Sequence[One], number: int) -> Sequence[One]:
    """Return the choice whose turn it is, or all of them."""
    return choices if ALL_GRAPHS else [choices[number % len(choices)]]

"""Verdicts: answered independence questions, with the figures behind the answers."""

from __future__ import annotations

from math import inf, isnan, log, nan
from typing import Literal, TypeAlias

import attrs

from apsl_rules.names import Node

Decision: TypeAlias = Literal["independent", "dependent", "unreliable"]


@attrs.frozen
class Verdict:
    """One answered independence question, with the figures behind the answer where there are any.

    ``rank`` is that of the given columns, for a test that takes columns which depend on others once.

    Attributes
    ----------
    x, y, given
        The question: are x and y independent given the others?
    decision
        "independent", "dependent", or "unreliable" where there are too few rows.
    test
        The name of the test.
    statistic, p, dof, n
        The statistic, its p-value, its degrees of freedom and the number of rows, where there are any.
    log_p
        ln p, where p itself is too small to be written.
    """

    x: Node
    y: Node
    given: tuple[Node, ...]
    decision: Decision
    test: str
    statistic: float | None = None
    p: float | None = None
    dof: int | None = None
    n: int | None = None
    log_p: float | None = None
    rank: int | None = None

    @property
    def independent(self) -> bool:
        """Return whether the answer is a reliable "independent"."""
        return self.decision == "independent"

    @property
    def dependent(self) -> bool:
        """Return whether the answer is a reliable "dependent"."""
        return self.decision == "dependent"

    @property
    def association(self) -> float:
        """Return the association used for ranking: the statistic, 0 where independent, above all where unmeasured."""
        if self.decision == "independent":
            return 0.0
        return self.statistic if self.statistic is not None else float("inf")


def log_p_of(verdict: Verdict) -> float:
    """Return ln p of a verdict, NaN when it has no p."""
    if verdict.log_p is not None:
        return verdict.log_p
    if verdict.p is None:
        return nan
    return log(verdict.p) if verdict.p > 0 else -inf


def weaker(one: Verdict, other: Verdict) -> bool:
    """Return whether one dependence is nearer to independence than another: larger p, or a smaller statistic."""
    mine, its = log_p_of(one), log_p_of(other)
    if mine != its and not isnan(mine) and not isnan(its):
        return mine > its
    return one.association < other.association

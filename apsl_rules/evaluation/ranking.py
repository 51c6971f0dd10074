"""Rank methods over many tasks: mean ranks, the Friedman test and the Nemenyi test.

Each task ranks the methods; ties share the mean of their places. The Friedman test asks whether the mean ranks could
be those of equal methods; if not, the Nemenyi test says which pairs differ: those whose mean ranks are at least the
critical difference apart. See Demšar (2006), "Statistical comparisons of classifiers over multiple data sets".

The ranks of the paper's Table III, where the highest rank is best:

>>> from apsl_rules.evaluation.published import table3_columns
>>> ranking = rank(table3_columns("ar_distance"), better="lower")
>>> {name: round(mean, 3) for name, mean in ranking.ranks.items()}
{'PCD-by-PCD': 1.542, 'CMB': 2.167, 'APSL': 3.042, 'APSL-FS': 3.25}
>>> round(ranking.critical_difference(), 3)
1.354
>>> ranking.groups()
(('APSL-FS', 'APSL', 'CMB'), ('CMB', 'PCD-by-PCD'))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import inf, isfinite, sqrt
from typing import Literal, NoReturn

import attrs

from apsl_rules._arguments import chosen, is_number, listed, mapping, spelt
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import require_known

_EXACT = 1e-12


@attrs.frozen
class Friedman:
    """The Friedman test: χ² with its p, and the sharper F of Iman and Davenport with its own."""

    chi2: float
    dof: int
    p: float
    f: float
    f_dofs: tuple[int, int]
    f_p: float


@lru_cache
def _quantile(alpha: float, methods: int) -> float:
    """Return q of the Nemenyi test: the studentized range over infinitely many observations, over √2."""
    from scipy.stats import studentized_range

    return float(studentized_range.isf(alpha, methods, inf)) / sqrt(2)


@attrs.frozen
class Ranking:
    """The mean rank of each method over a number of tasks.

    ``best`` says which end of the ranks is the better one; ``ties`` sums t³ - t over all groups of t tied methods.
    """

    ranks: Mapping[str, float]
    tasks: int = attrs.field(kw_only=True)
    best: Literal["high", "low"] = attrs.field(default="high", kw_only=True)
    ties: float = attrs.field(default=0.0, kw_only=True)

    def __attrs_post_init__(self) -> None:
        chosen("best", self.best, ("high", "low"))
        _check_size(len(self.ranks), self.tasks)

    @property
    def order(self) -> tuple[str, ...]:
        """Return the methods, best first; equal ones by name."""
        sign = -1 if self.best == "high" else 1
        return tuple(sorted(self.ranks, key=lambda name: (sign * self.ranks[name], name)))

    def friedman(self, *, ties: Literal["corrected", "ignored"] = "corrected") -> Friedman:
        """Ask whether all methods could be equal; the textbook's χ² ignores ties, which makes it a little smaller."""
        from scipy.stats import chi2, f

        chosen("ties", ties, ("corrected", "ignored"))
        if self.tasks == 1:
            _refuse("the Friedman test needs at least 2 tasks; one alone says nothing of how ranks vary")
        count, tasks = len(self.ranks), self.tasks
        spread = sum((mean - (count + 1) / 2) ** 2 for mean in self.ranks.values())
        statistic = 12 * tasks / (count * (count + 1)) * spread
        if ties == "corrected":
            untied = 1 - self.ties / (tasks * count * (count**2 - 1))
            statistic = statistic / untied if untied > _EXACT else 0.0
        left = tasks * (count - 1) - statistic
        sharper = (tasks - 1) * statistic / left if left > _EXACT else inf
        dofs = (count - 1, (count - 1) * (tasks - 1))
        p = float(chi2.sf(statistic, count - 1))
        return Friedman(statistic, count - 1, p, sharper, dofs, float(f.sf(sharper, *dofs)))

    def critical_difference(self, *, alpha: float = 0.05) -> float:
        """Return how far apart two mean ranks must be to differ at a significance level, by the Nemenyi test."""
        if not 0 < alpha < 1:
            _refuse(f"alpha is {alpha!r}; give a number between 0 and 1")
        return _quantile(alpha, len(self.ranks)) * self._error

    def p_value(self, one: str, other: str) -> float:
        """Return the p of the Nemenyi test for two methods."""
        from scipy.stats import studentized_range

        for name in (one, other):
            require_known(name, self.ranks, "method")
        apart = abs(self.ranks[one] - self.ranks[other]) / self._error
        return float(studentized_range.sf(apart * sqrt(2), len(self.ranks), inf))

    def differ(self, one: str, other: str, *, alpha: float = 0.05) -> bool:
        """Return whether two methods differ significantly."""
        for name in (one, other):
            require_known(name, self.ranks, "method")
        return abs(self.ranks[one] - self.ranks[other]) >= self.critical_difference(alpha=alpha) - _EXACT

    def groups(self, *, alpha: float = 0.05) -> tuple[tuple[str, ...], ...]:
        """Return the largest groups of methods none of which differ significantly, best first; no group of one."""
        least = self.critical_difference(alpha=alpha) - _EXACT
        order, found = self.order, []
        end = 0
        for begin, name in enumerate(order):
            reach = max(at for at, other in enumerate(order) if abs(self.ranks[name] - self.ranks[other]) < least)
            if reach > max(begin, end):
                found.append(order[begin : reach + 1])
                end = reach
        return tuple(found)

    @property
    def _error(self) -> float:
        count = len(self.ranks)
        return sqrt(count * (count + 1) / (6 * self.tasks))


def rank(
    figures: Mapping[str, Sequence[float]],
    *,
    better: Literal["lower", "higher"],
    best: Literal["high", "low"] = "high",
    decimals: int | None = None,
) -> Ranking:
    """Rank several methods by their figures on the same tasks.

    Parameters
    ----------
    figures
        For each method its figures, one for each task, the tasks in one order. ``frame.to_dict("list")`` gives it.
    better
        Whether lower or higher figures are better.
    best
        Whether the best method of a task gets the highest rank, as in the paper, or the lowest.
    decimals
        Round the figures first, so that what a table prints alike is tied; without it they are taken as they are.
    """
    import numpy as np
    from scipy.stats import rankdata

    chosen("better", better, ("lower", "higher"))
    chosen("best", best, ("high", "low"))
    given = mapping("figures", figures, "{'method': [0.5, 0.7]}")
    columns = {name: listed(f"the entry of {spelt(name)} in figures", one, "numbers") for name, one in given.items()}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        lengths_text = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        _refuse(f"the methods have figures for different numbers of tasks: {lengths_text}; give each the same tasks")
    for name, column in columns.items():
        if not all(is_number(one) and isfinite(one) for one in column):
            _refuse(f"a figure of {name!r} is missing or infinite; leave out tasks that not all methods have done")
    _check_size(len(columns), max(lengths.values(), default=0))
    table = np.array(list(columns.values()), dtype=float).T
    if decimals is not None:
        table = table.round(decimals)
    ranks = rankdata(table if (better == "higher") == (best == "high") else -table, axis=1)
    ties = sum(int(count) ** 3 - int(count) for row in ranks for count in np.unique(row, return_counts=True)[1])
    means = dict(zip(columns, map(float, ranks.mean(axis=0)), strict=True))
    return Ranking(means, tasks=len(table), best=best, ties=ties)


def _check_size(methods: int, tasks: int) -> None:
    if methods <= 1 or tasks < 1:
        _refuse(f"there are {methods} methods on {tasks} tasks to compare; give at least 2 methods and 1 task")


def _refuse(message: str) -> NoReturn:
    raise InvalidArgumentError(message)

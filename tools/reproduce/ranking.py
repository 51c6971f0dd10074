"""Rank algorithms over many sets, with critical differences, beside published figures."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from math import inf, isfinite, sqrt
from pathlib import Path
from typing import Literal, NoReturn, TypeAlias, get_args
from xml.sax.saxutils import escape

import attrs

from apsl_rules._files import write_text
from apsl_rules.errors import InvalidArgumentError, UnknownNameError
from apsl_rules.names import Depth, chosen, is_number, listed, listing, mapping, nearest, require_known, shown, spelt

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


_SCALE = 400.0  # least width of the scale
_TICK = 26.0  # least distance of two ticks
_EDGE = 16.0
_ROW = 24.0
_BAR = 10.0
_LETTER = 8.2  # space for one letter of a name
_FIGURE = 60.0  # space for the rank beside it

_STYLE = """
.apsl-difference { color: #1f2328; font: 14px system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { .apsl-difference { color: #e6edf3; } }
.apsl-difference text { fill: currentColor; }
.apsl-difference path { stroke: currentColor; fill: none; stroke-width: 1.2; }
.apsl-difference .bar { stroke: #d1495b; stroke-width: 5; stroke-linecap: round; }
.apsl-difference .small { font-size: 12px; }
.apsl-difference .title { font-weight: 600; }
"""


@attrs.frozen
class DifferenceDiagram:
    """A ranking as a diagram of critical differences at a significance level, as SVG and as text."""

    ranking: Ranking
    title: str = attrs.field(default="", kw_only=True)
    alpha: float = attrs.field(default=0.05, kw_only=True)

    def __str__(self) -> str:
        ranking, groups = self.ranking, self.ranking.groups(alpha=self.alpha)
        names = {name: shown(name) for name in ranking.order}
        width = max(map(len, names.values()))
        lines = [self._head()]
        for name, words in names.items():
            bars = " ".join("│" if name in group else " " for group in groups)
            lines.append(f"{words:<{width}}  {ranking.ranks[name]:.3f}  {bars}".rstrip())
        return "\n".join(lines)

    def _head(self) -> str:
        difference = self.ranking.critical_difference(alpha=self.alpha)
        what = f"{shown(self.title)}: mean ranks" if self.title else "Mean ranks"
        best = "highest" if self.ranking.best == "high" else "lowest"
        tasks = f"{self.ranking.tasks} task{'s' if self.ranking.tasks > 1 else ''}"
        return f"{what} over {tasks}, {best} best; critical difference {difference:.3f} at alpha {self.alpha:g}"

    def save(self, path: str | Path) -> None:
        """Write the picture to an SVG file, whole or not at all."""
        write_text(path, self.svg())

    def svg(self) -> str:
        """Return the picture as SVG text: the same text for the same ranking."""
        return _Drawing(self).text()


class _Drawing:
    """The places of all that is drawn, from top to bottom: title, ruler, scale, bars, names."""

    def __init__(self, diagram: DifferenceDiagram) -> None:
        self._diagram = diagram
        self._ranks = diagram.ranking.ranks
        ascending = sorted(self._ranks, key=lambda name: (self._ranks[name], name))
        half = (len(ascending) + 1) // 2
        self._sides = (ascending[:half], ascending[half:][::-1])
        widths = [max((len(shown(name)) for name in side), default=0) * _LETTER + _FIGURE for side in self._sides]
        self._begin = _EDGE + widths[0]
        self._scale = max(_SCALE, _TICK * (len(ascending) - 1))
        self._difference = diagram.ranking.critical_difference(alpha=diagram.alpha)
        ends = (
            self._scale + widths[1],
            self._place(1 + self._difference) - self._begin,
            len(shown(diagram.title)) * _LETTER,
        )
        self._width = self._begin + max(ends) + _EDGE
        self._shapes: list[str] = []

    def text(self) -> str:
        """Draw everything and give the file."""
        top = _EDGE
        if self._diagram.title:
            self._write(self._begin, top + 12, shown(self._diagram.title), "start", "title")
            top += 30
        axis = self._ruler(top)
        self._axis(axis)
        bottom = self._names(axis, self._bars(axis + 14))
        width, height = round(self._width), round(bottom)
        shapes = "\n".join(self._shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="apsl-difference" role="img" width="{width}" '
            f'height="{height}" viewBox="0 0 {width} {height}">\n<title>{escape(str(self._diagram))}</title>\n'
            f"<style>{_STYLE}</style>\n{shapes}\n</svg>\n"
        )

    def _place(self, rank: float) -> float:
        return self._begin + self._scale * (rank - 1) / (len(self._ranks) - 1)

    def _ruler(self, top: float) -> float:
        """Draw the critical difference to scale, and give the height of the scale."""
        begin, end = self._begin, self._place(1 + self._difference)
        self._line(f"M{begin:.1f} {top + 20} v10 m0 -5 H{end:.1f} m0 -5 v10")
        text = f"critical difference {self._difference:.2f} (alpha {self._diagram.alpha:g})"
        self._write(begin, top + 12, text, "start", "small")
        return top + 66

    def _axis(self, top: float) -> None:
        """Draw the scale of ranks, and say which end is better."""
        self._line(f"M{self._begin:.1f} {top} h{self._scale:.1f}")
        for rank in range(1, len(self._ranks) + 1):
            self._line(f"M{self._place(rank):.1f} {top} v-7")
            self._write(self._place(rank), top - 12, str(rank), "middle", "small")
        if self._diagram.ranking.best == "high":
            self._write(self._begin + self._scale + 8, top + 4, "better →", "start", "small")
        else:
            self._write(self._begin - 8, top + 4, "← better", "end", "small")

    def _bars(self, top: float) -> float:
        """Draw a bar over each group of methods that do not differ; bars that would overlap go below each other."""
        ends: list[float] = []  # where the last bar of each level ends
        for group in self._diagram.ranking.groups(alpha=self._diagram.alpha):
            low, high = sorted(self._ranks[name] for name in (group[0], group[-1]))
            begin, end = self._place(low) - 4, self._place(high) + 4
            level = 0
            while level < len(ends) and ends[level] >= begin - 6:
                level += 1
            ends[level : level + 1] = [end]
            self._line(f"M{begin:.1f} {top + level * _BAR} H{end:.1f}", "bar")
        return top + len(ends) * _BAR

    def _names(self, axis: float, top: float) -> float:
        """Write the methods beside the scale, the outermost highest, each joined to its rank; return the bottom."""
        for side, anchor in zip(self._sides, ("end", "start"), strict=True):
            outward = -1 if anchor == "end" else 1
            edge = self._begin - 8 if anchor == "end" else self._begin + self._scale + 8
            for row, name in enumerate(side):
                height = top + 12 + row * _ROW
                self._line(f"M{self._place(self._ranks[name]):.1f} {axis} V{height} H{edge:.1f}")
                figure = f"{self._ranks[name]:.2f}"
                text = f"{shown(name)} {figure}" if anchor == "end" else f"{figure} {shown(name)}"
                self._write(edge + outward * 5, height + 5, text, anchor)
        return top + 12 + (len(self._sides[0]) - 1) * _ROW + 12 + _EDGE / 2

    def _line(self, path: str, kind: str = "") -> None:
        named = f' class="{kind}"' if kind else ""
        self._shapes.append(f'<path{named} d="{path}"/>')

    def _write(self, x: float, y: float, text: str, anchor: str, kind: str = "") -> None:
        named = f' class="{kind}"' if kind else ""
        self._shapes.append(f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>')


Measure: TypeAlias = Literal["ar_distance", "ar_precision", "ar_recall", "runtime_s"]


@attrs.frozen
class Published:
    """A row of Table III: mean and standard deviation of each measure for one network, size and algorithm."""

    network: str
    size: int = attrs.field(converter=int)
    algorithm: str
    ar_distance: float = attrs.field(converter=float)
    ar_distance_sd: float = attrs.field(converter=float)
    ar_precision: float = attrs.field(converter=float)
    ar_precision_sd: float = attrs.field(converter=float)
    ar_recall: float = attrs.field(converter=float)
    ar_recall_sd: float = attrs.field(converter=float)
    runtime_s: float = attrs.field(converter=float)
    runtime_s_sd: float = attrs.field(converter=float)


def table3() -> tuple[Published, ...]:
    """Return the rows of Table III: depth 1, six networks, two sizes, four algorithms."""
    return tuple(Published(**row) for row in _rows("table3.csv"))


def table3_columns(measure: Measure) -> dict[str, list[float]]:
    """Return one measure of Table III for each algorithm, its twelve rows in one order, ready to be ranked."""
    if measure not in get_args(Measure):
        message = (
            f"Table III has no {measure!r}{nearest(measure, get_args(Measure))}; it has {listing(get_args(Measure))}"
        )
        raise UnknownNameError(message)
    columns: dict[str, list[float]] = {}
    for row in table3():
        columns.setdefault(row.algorithm, []).append(getattr(row, measure))
    return columns


def table4() -> dict[str, tuple[int, ...]]:
    """Return the five nodes of each network that the deeper parts are learned around, counted from 1 in file order."""
    nodes: dict[str, tuple[int, ...]] = {}
    for row in _rows("table4.csv"):
        nodes[row["network"]] = (*nodes.get(row["network"], ()), int(row["node"]))
    return nodes


def published_columns(network: str) -> tuple[str, ...]:
    """Return the nodes of a network in the order of the published data files, or none where that is not known."""
    return tuple(row["node"] for row in _rows("columns.csv") if row["network"].casefold() == network.casefold())


def published_ranks(measure: Literal["ar_distance", "runtime_s"], depth: Depth) -> dict[str, float]:
    """Return the mean ranks of depth 1 (Figure 8), 3, 5 or "max" (Figures 12 to 14); the highest is best."""
    found = {
        row["algorithm"]: float(row["mean_rank"])
        for row in _rows("ranks.csv")
        if (row["measure"], row["depth"]) == (measure, str(depth))
    }
    if not found:
        message = (
            f"the paper has no ranks of {measure!r} at depth {depth!r}; "
            "there are 'ar_distance' and 'runtime_s' at the depths 1, 3, 5 and 'max'"
        )
        raise UnknownNameError(message)
    return found


def _rows(name: str) -> list[dict[str, str]]:
    text = (files("apsl_specs") / "paper" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))

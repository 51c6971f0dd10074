"""Plain sums and differences of two columns among very many, found by projections.

Where one column is the sum or difference of two others but for a constant, so is its projection on any direction of
centred rows. Few pairs agree with a column in several projections, and only these are compared row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.names import Node

Floats = npt.NDArray[np.float64]

MOST_SUMMED = 1_000
"""So many columns at most are tried as parts of a sum."""

MOST_WHOLES = 60
"""For so many columns at most sums are looked for."""

_ROWS = 1_000
_FEWEST_ROWS = 20
_PROJECTIONS = 4
#: How far a sum may be off, in standard deviations of the column; figures in tables are rounded.
_OFF = 1e-2
#: No projection of something as small as that is larger, but for one in very many.
_FAR = 6.0
_MOST_COMPARED = 200
_SIGNS = ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))


def plain_sums(columns: Mapping[Node, Floats], near: Sequence[Node]) -> Iterator[tuple[Node, Node, Node]]:
    """Yield the first (column, part, part) for each column of interest that is the plain sum or difference of two.

    Columns with missing values where the column of interest has none are left out.
    """
    names = list(dict.fromkeys([*near, *columns]))[:MOST_SUMMED]
    rows = np.zeros(0, np.intp)
    projected: _Projected | None = None
    for whole in near[:MOST_WHOLES]:
        there = np.flatnonzero(~np.isnan(columns[whole]))[:_ROWS]
        if len(there) < _FEWEST_ROWS:
            continue
        if projected is None or not np.array_equal(rows, there):
            rows, projected = there, _Projected.of({name: columns[name][there] for name in names})
        found = projected.parts(whole)
        if found is not None:
            yield whole, *found


@attrs.frozen(eq=False)
class _Projected:
    """Some complete rows of centred columns that vary, and their projections on a few directions."""

    names: tuple[Node, ...]
    values: Floats
    sums: Floats

    @classmethod
    def of(cls, columns: Mapping[Node, Floats]) -> _Projected:
        """Centre and project columns; those with missing or endless values are left out."""
        with np.errstate(invalid="ignore", over="ignore"):
            values = np.stack([*columns.values()])
            values -= values.mean(axis=1, keepdims=True)
            squares = (values**2).sum(axis=1)
        used = np.flatnonzero(np.isfinite(squares) & (squares > 0))
        draws = np.random.default_rng(0).normal(size=(values.shape[1], _PROJECTIONS)) / np.sqrt(values.shape[1])
        names = [*columns]
        return cls(tuple(names[at] for at in used.tolist()), values[used], values[used] @ draws)

    def parts(self, whole: Node) -> tuple[Node, Node] | None:
        """Return the first two columns with which a column is a plain sum or difference."""
        if whole not in self.names:
            return None
        at = self.names.index(whole)
        scale = float(np.sqrt((self.values[at] ** 2).mean()))
        # A column that hardly varies in units of the whole is no part of it.
        is_part = np.sqrt((self.values**2).mean(axis=1)) > _FAR * _OFF * scale
        is_part[at] = False
        others = np.flatnonzero(is_part)
        sums, aim = self.sums[others] / scale, self.sums[at] / scale
        found: list[tuple[int, int]] = []
        for one, other in _SIGNS:
            pairs = _near(one * sums, other * sums, aim)
            found += [tuple(sorted(pair)) for pair in pairs[:_MOST_COMPARED].tolist()]
        for first, second in sorted(set(found)):
            x, y = others[first], others[second]
            if any(self._is_sum(at, one * self.values[x] + other * self.values[y], scale) for one, other in _SIGNS):
                return self.names[x], self.names[y]
        return None

    def _is_sum(self, at: int, total: Floats, scale: float) -> bool:
        off = (total - self.values[at]) / scale
        return float(off @ off) <= _OFF**2 * len(off)


def _near(one: Floats, other: Floats, aim: Floats) -> npt.NDArray[np.intp]:
    """Return the pairs of different rows of two arrays whose sums are near an aim in every column."""
    most = _FAR * _OFF
    order = np.argsort(other[:, 0], kind="stable")
    sorted_first = other[order, 0]
    low = np.searchsorted(sorted_first, aim[0] - one[:, 0] - most)
    high = np.searchsorted(sorted_first, aim[0] - one[:, 0] + most)
    counts = high - low
    left = np.repeat(np.arange(len(one)), counts)
    right = order[np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts - low, counts)]
    close = (np.abs(one[left] + other[right] - aim) < most).all(axis=1) & (left != right)
    return np.stack([left[close], right[close]], axis=1)

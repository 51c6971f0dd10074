"""What estimates are worked out from: rows of some columns, or their covariance where the rows stay elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.moments import ColumnUnit
from apsl_rules.names import Node

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

#: What to do with strata in which a level of the cause does not occur, and which errors of least squares to state.
Empty: TypeAlias = Literal["borrow", "refuse", "leave-out"]
Variance: TypeAlias = Literal["robust", "equal"]


@attrs.frozen
class How:
    """How effects are estimated: the level of intervals, what to do with empty strata, and which errors are stated."""

    confidence: float = 0.95
    empty: Empty = "borrow"
    variance: Variance = "robust"

    @property
    def normal(self) -> float:
        """Return the quantile of the normal distribution at the level."""
        from scipy.special import ndtri

        return float(ndtri((1 + self.confidence) / 2))

    def quantile(self, freedom: float) -> float:
        """Return the quantile of the t distribution at the level."""
        from scipy.special import stdtrit

        return float(stdtrit(freedom, (1 + self.confidence) / 2))


#: How effects are estimated where nothing else is asked for.
DEFAULT = How()


@attrs.frozen(eq=False)
class Covariance:
    """The covariance of embedded columns, block after block: the cause, the target, what is adjusted for.

    Attributes
    ----------
    matrix
        The covariance.
    rows
        How many rows it rests on.
    columns, widths, units
        The columns, how many embedded columns each has, and what these are in terms of the table.
    """

    matrix: Floats
    rows: int
    columns: tuple[Node, ...]
    widths: tuple[int, ...]
    units: tuple[ColumnUnit, ...]

    def places(self, number: int) -> list[int]:
        """Return where the embedded columns of a column are."""
        start = sum(self.widths[:number])
        return list(range(start, start + self.widths[number]))


@attrs.frozen(eq=False, slots=False)
class Sample:
    """Complete rows of some columns: the cause, the target, what is adjusted for.

    A category has codes and ``levels``, a number values. ``times`` says how many rows of the table a line stands for,
    ``weights`` how many of the population, and ``groups`` which rows belong together. ``lost`` has the rows that lack a
    value of each column, and ``total`` all rows.
    """

    columns: tuple[Node, ...]
    values: tuple[npt.NDArray[Any], ...]
    levels: tuple[tuple[Any, ...], ...]
    times: Floats
    total: int
    lost: Mapping[Node, int]
    weights: Floats | None = None
    groups: Integers | None = None

    @property
    def rows(self) -> int:
        """Return the number of rows of the table."""
        return round(float(self.times.sum()))

    @property
    def mass(self) -> Floats:
        """Return how much each line counts."""
        return self.times if self.weights is None else self.times * self.weights

    @property
    def is_counted(self) -> bool:
        """Return whether all columns are categories."""
        return all(self.levels)

    def among(self, kept: Flags) -> Sample:
        """Return some of the lines."""
        return attrs.evolve(
            self,
            values=tuple(one[kept] for one in self.values),
            times=self.times[kept],
            weights=None if self.weights is None else self.weights[kept],
            groups=None if self.groups is None else self.groups[kept],
        )

    @cached_property
    def blocks(self) -> tuple[Floats, ...]:
        """Return the columns embedded around their means: a number in standard deviations, a level as an indicator."""
        mass = self.mass
        found = []
        for values, unit in zip(self.values, self.units, strict=True):
            if unit.levels:
                block = (values[:, None] == self._occurring(values)[None, 1:]).astype(np.float64)
            else:
                block = values[:, None] / (unit.scale or 1.0)
            found.append(block - np.average(block, axis=0, weights=mass) if len(block) else block)
        return tuple(found)

    @cached_property
    def units(self) -> tuple[ColumnUnit, ...]:
        """Return what the embedded columns are in terms of the table."""
        mass, found = self.mass, []
        for values, levels in zip(self.values, self.levels, strict=True):
            if levels:
                occurring = self._occurring(values).tolist()
                found.append(
                    ColumnUnit(None, tuple(levels[one] for one in occurring), tuple(range(-1, len(occurring) - 1)))
                )
            else:
                centre = np.average(values, weights=mass) if len(values) else 0.0
                spread = float(np.sqrt(np.average((values - centre) ** 2, weights=mass))) if len(values) else 0.0
                found.append(ColumnUnit(spread if spread > 1e-12 * abs(centre) else 0.0))
        return tuple(found)

    @staticmethod
    def _occurring(values: npt.NDArray[Any]) -> Integers:
        return np.unique(values).astype(np.int64)

    @cached_property
    def covariance(self) -> Covariance:
        """Return the covariance of the embedded columns; a number that does not vary has none."""
        kept = [block[:, :0] if unit.scale == 0 else block for block, unit in zip(self.blocks, self.units, strict=True)]
        whole, mass = np.hstack(kept), self.mass
        matrix = (whole.T * mass) @ whole / max(float(mass.sum()), np.finfo(np.float64).tiny)
        return Covariance(matrix, self.rows, self.columns, tuple(one.shape[1] for one in kept), self.units)


def sample_of(
    columns: tuple[Node, ...],
    values: Sequence[npt.NDArray[Any]],
    levels: Sequence[tuple[Any, ...]],
    times: npt.NDArray[Any],
    *,
    weights: Floats | None = None,
    groups: Integers | None = None,
) -> Sample:
    """Return the complete rows of some columns; a missing number is NaN, a missing level has a code beyond the last."""
    there = [
        (one >= 0) & (one < len(names)) if names else np.isfinite(one)
        for one, names in zip(values, levels, strict=True)
    ]
    counts = times.astype(np.float64)
    lost = {node: round(float(counts[~one].sum())) for node, one in zip(columns, there, strict=True) if not one.all()}
    whole = np.logical_and.reduce(there)
    if weights is not None:
        whole &= weights > 0
    if groups is not None:
        whole &= groups >= 0
    found = Sample(columns, tuple(values), tuple(levels), counts, round(float(counts.sum())), lost, weights, groups)
    return found if whole.all() else found.among(whole)

"""Log-determinant tests and searches by other routes than the kernels', in plain numpy and scipy."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from scipy.stats import chi2

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

KINDS = ("number", "curve", "category", "all levels", "copy", "sum", "constant", "twice")
_NOISE = 1e-9


class Blocks(NamedTuple):
    """A table of numbers whose columns form blocks."""

    columns: Floats
    starts: Integers

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.columns)

    @property
    def number(self) -> int:
        """The number of blocks."""
        return len(self.starts) - 1

    @property
    def matrix(self) -> Floats:
        """The covariance matrix."""
        centred = self.columns - self.columns.mean(axis=0)
        product = centred.T @ centred / len(centred)
        clean = np.where(np.abs(centred).max(axis=0) < _NOISE, 0.0, 1.0)
        return np.ascontiguousarray((product + product.T) / 2 * np.outer(clean, clean))

    def of(self, blocks: Sequence[int]) -> Floats:
        """Return the columns of blocks."""
        places = [place for block in blocks for place in range(self.starts[block], self.starts[block + 1])]
        return self.columns[:, places]


def draw_blocks(kinds: Sequence[str], rows: int, seed: int) -> Blocks:
    """Draw a table with blocks of these kinds, each depending somewhat on those before it."""
    rng = np.random.default_rng(seed)
    made: list[Floats] = []
    for kind in kinds:
        before = np.hstack([np.zeros((rows, 1)), *made])
        pull = (before / np.maximum(before.std(axis=0), _NOISE)) @ rng.normal(size=before.shape[1])
        number = (pull * rng.choice([0.0, 0.3, 1.0]) + rng.normal(size=rows)) * 10.0 ** rng.integers(-3, 4)
        levels = np.digitize(number, np.quantile(number, [0.3, 0.6]))
        made.append(
            {
                "number": number[:, None],
                "curve": np.column_stack([number, number**2 / np.abs(number).max()]),
                "category": np.eye(3)[levels][:, 1:],
                "all levels": np.eye(3)[levels],
                "copy": before[:, -1:] * 2.0 if made else number[:, None],
                "sum": before @ np.ones((before.shape[1], 1)) if made else number[:, None],
                "constant": np.full((rows, 1), 3.0),
                "twice": np.column_stack([number, -number]),
            }[kind]
        )
    starts = np.cumsum([0, *(block.shape[1] for block in made)])
    return Blocks(np.hstack(made), starts.astype(np.int64))


def tables_of_blocks(kinds: Sequence[str] = KINDS, most: int = 6) -> st.SearchStrategy[Blocks]:
    """Draw tables with blocks."""
    return st.builds(
        draw_blocks,
        st.lists(st.sampled_from(kinds), min_size=3, max_size=most),
        st.integers(40, 90),
        st.integers(0, 2**32 - 1),
    )


def orthonormal(columns: Floats, given: Floats) -> Floats:
    """Return a basis of what the given columns leave of some columns, by singular values."""
    scaled = [block - block.mean(axis=0) for block in (columns, given)]
    scaled = [block / np.where((norm := np.linalg.norm(block, axis=0)) > _NOISE, norm, np.inf) for block in scaled]
    rest, basis = scaled
    if basis.shape[1]:
        left, sizes, _ = np.linalg.svd(basis, full_matrices=False)
        left = left[:, sizes > _NOISE]
        rest = rest - left @ (left.T @ rest)
    left, sizes, _ = np.linalg.svd(rest, full_matrices=False)
    return np.asarray(left[:, sizes > 1e-5], np.float64)


def by_canonical_correlations(table: Blocks, x: int, y: int, given: Sequence[int]) -> tuple[Floats, int, int, int]:
    """Return the canonical correlations of x and y given blocks, and the ranks of x, y and the given blocks."""
    base = table.of(given)
    of_x, of_y = orthonormal(table.of([x]), base), orthonormal(table.of([y]), base)
    rank = orthonormal(base, base[:, :0]).shape[1]
    correlations = np.linalg.svd(of_x.T @ of_y, compute_uv=False) if of_x.size and of_y.size else ()
    return np.asarray(correlations, np.float64), of_x.shape[1], of_y.shape[1], rank


def log_pseudo_determinant(matrix: Floats) -> float:
    """Return the sum of the logarithms of the eigenvalues that are not 0."""
    values = np.linalg.eigvalsh(matrix)
    return float(np.log(values[values > _NOISE * values.max(initial=0.0)]).sum())


def exact_pivot(matrix: Floats, places: Sequence[int]) -> Fraction:
    """Return the variance of the last of some columns given the others, in rational numbers."""
    left = [[Fraction(float(matrix[i, j])) for j in places] for i in places]
    for step, row in enumerate(left[:-1]):
        for other in left[step + 1 :]:
            share = other[step] / row[step]
            other[:] = [mine - share * its for mine, its in zip(other, row, strict=True)]
    return left[-1][-1]


def places_of(table: Blocks, blocks: Sequence[int]) -> list[int]:
    """Return the places of the columns of blocks."""
    return [place for block in blocks for place in range(table.starts[block], table.starts[block + 1])]


class Plain(NamedTuple):
    """The outcome of one test."""

    decision: int
    statistic: float
    dof: int
    rank: int


def search_plainly(
    outcomes: dict[tuple[int, ...], Plain], fixed: Sequence[int], pool: Sequence[int], most: int
) -> tuple[Plain, int, tuple[int, ...]]:
    """Return the outcome, the number of tests and the chosen places of a search, given the outcome for each set."""
    found, tests = Plain(2, 0.0, 0, 0), 0
    chosen: tuple[int, ...] = ()
    for size in range(most + 1):
        for places in combinations(range(len(pool)), size):
            tests += 1
            one = outcomes[*sorted((*fixed, *(pool[place] for place in places)))]
            if one.decision == 0:
                return one, tests, places
            if one.decision == 1 and (found.decision == 2 or _key(one) > _key(found)):
                found, chosen = one, places
    return found, tests, chosen


def _key(outcome: Plain) -> tuple[float, float]:
    return float(chi2.logsf(outcome.statistic, outcome.dof)), -outcome.statistic

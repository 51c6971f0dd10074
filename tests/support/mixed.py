"""Tables with numbers for tests, and plain ways to the figures that the kernels compute."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from apsl_backends.engines.moments import MemoryMoments
from apsl_backends.kernels.bindings.embedded import CategoryColumn
from apsl_rules.data import MixedTable, Table
from apsl_rules.data.moments import MomentSource

Floats = npt.NDArray[np.float64]


def draw_mixed(numbers: int, categories: int, rows: int, seed: int = 1, missing: float = 0.0) -> MixedTable:
    """Draw a table whose numbers depend on each other, and whose categories depend on numbers; names alternate."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(numbers, rows)).cumsum(axis=0)
    values[::2] = np.exp(values[::2] / 2)
    base = values if numbers else rng.normal(size=(1, rows))
    codes = np.array([rng.integers(0, 3, rows) + (base[k % len(base)] > 0.5) for k in range(categories)], np.uint8)
    codes = codes.reshape(categories, rows)
    values[rng.random(values.shape) < missing] = np.nan
    codes[rng.random(codes.shape) < missing] = 4
    cards = np.full(categories, 4, np.int64)
    labels = tuple(("a", "b", "c", "d") for _ in range(categories))
    of_categories = tuple(f"c{number}" for number in range(categories))
    of_numbers = tuple(f"x{number}" for number in range(numbers))
    table = Table(of_categories, codes, cards, labels, (codes == 4).any(axis=1))
    names = tuple(sorted((*of_categories, *of_numbers), key=lambda name: (name[1:], name)))
    return MixedTable(names, table, values, of_numbers)


def arrow_of(drawn: MixedTable) -> pa.Table:
    """Return a drawn table as Arrow has it, its categories as words."""
    columns: dict[str, pa.Array] = {}
    for name in map(str, drawn.names):
        if name in drawn.number_names:
            values = drawn.numbers[drawn.number_names.index(name)]
            columns[name] = pa.array(values, mask=np.isnan(values))
        else:
            place = drawn.categories.place[name]
            columns[name] = pa.array([("u", "v", "w", "x", None)[code] for code in drawn.categories.codes[place]])
    return pa.table(columns)


def write_mixed(path: Path, drawn: MixedTable, groups: int = 3) -> str:
    """Write a drawn table to a Parquet file of several row groups; return its path."""
    pq.write_table(arrow_of(drawn), path, row_group_size=drawn.rows // groups)
    return str(path)


def embedded(source: MemoryMoments) -> Floats:
    """Return the embedded columns of a source as rows of an array, NaN where a value is missing."""
    made: list[Floats] = []
    for column in source.rows.handle.columns:
        if isinstance(column, CategoryColumn):
            chosen = np.append(column.indicators, -2)[column.codes]
            made += [np.where(chosen == -2, np.nan, (chosen == one) * 1.0) for one in range(column.width)]
        else:
            z = column.values
            made += [z, z**2 - 1, z**3 - 3 * z][: column.degree]
    return np.array(made)


def places_of(source: MomentSource, place: int, *, tested: bool = False) -> list[int]:
    """Return the embedded columns of a column, or those that stand for it where it is tested."""
    heading = source.heading
    starts = np.concatenate([[0], np.cumsum(heading.widths)])
    columns = list(range(starts[place], starts[place + 1]))
    return columns[:1] if tested and heading.is_number[place] else columns


def ratio_of_determinants(source: MemoryMoments, query: Sequence[int]) -> tuple[float, int]:
    """Return the log ratio of a test on complete rows by numpy's determinants, and the rows."""
    columns = embedded(source)
    x, y = (places_of(source, place, tested=True) for place in query[:2])
    z = [column for place in query[2:] for column in places_of(source, place)]
    kept = ~np.isnan(columns[x + y + z]).any(axis=0)
    matrix = np.cov(columns[:, kept], bias=True)

    def part(chosen: list[int]) -> float:
        return float(np.linalg.slogdet(matrix[np.ix_(chosen, chosen)])[1]) if chosen else 0.0

    return part(x + z) + part(y + z) - part(z) - part(x + y + z), int(kept.sum())


def ratio_of_wilks(source: MemoryMoments, query: Sequence[int]) -> float:
    """Return -ln of Wilks' Λ of the regression of x on y beyond the given columns, by least squares."""
    columns = embedded(source)
    x, y = (places_of(source, place, tested=True) for place in query[:2])
    z = [column for place in query[2:] for column in places_of(source, place)]
    kept = ~np.isnan(columns[x + y + z]).any(axis=0)
    ones = np.ones((1, int(kept.sum())))

    def left(explaining: list[int]) -> float:
        design = np.concatenate([ones, columns[explaining][:, kept]]).T
        target = columns[x][:, kept].T
        residual = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
        return float(np.linalg.slogdet(residual.T @ residual)[1])

    return left(z) - left(z + y)


def plain_estimate(columns: Floats, iterations: int, ridge: float) -> tuple[Floats, list[float]]:
    """Return the covariance by a plain expectation and maximisation, and the log-likelihood before each iteration."""
    gone = np.isnan(columns)
    width, rows = columns.shape
    mean = np.nanmean(columns, axis=1)
    matrix = np.cov(np.where(gone, mean[:, None], columns), bias=True)
    matrix = (matrix + np.diag(np.diag(matrix))) / 2
    likelihoods = []
    for _ in range(iterations):
        used = matrix + ridge * np.diag(np.diag(matrix))
        filled, spread, likelihood = np.where(gone, 0.0, columns - mean[:, None]), np.zeros((width, width)), 0.0
        for row in range(rows):
            miss, seen = np.flatnonzero(gone[:, row]), np.flatnonzero(~gone[:, row])
            inside, across = used[np.ix_(seen, seen)], used[np.ix_(miss, seen)]
            solved = np.linalg.solve(inside, filled[seen, row])
            likelihood -= (np.linalg.slogdet(inside)[1] + filled[seen, row] @ solved) / 2
            filled[miss, row] = across @ solved
            spread[np.ix_(miss, miss)] += used[np.ix_(miss, miss)] - across @ np.linalg.solve(inside, across.T)
        likelihoods.append(float(likelihood))
        shift = filled.mean(axis=1)
        matrix = (filled @ filled.T + spread) / rows - np.outer(shift, shift)
        mean = mean + shift
    return matrix, likelihoods

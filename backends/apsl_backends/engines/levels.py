"""Covariances inside groups and between them from rows of which some values are missing.

Each value is taken about the mean of its group over the rows that have it. What is missing of the differences, and of
the means where a group has no value at all, is estimated by expectation and maximisation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from apsl_backends.engines.sums import estimate_covariance, is_missing, patterns_of, rows_of
from apsl_backends.kernels.bindings.embedded import CategoryColumn, NumberColumn, ProductSums
from apsl_backends.kernels.library import Floats, Integers
from apsl_rules.data import Level, Levels, MixedTable, combined, role_names
from apsl_rules.data.moments import ColumnUnit

#: What is left of the squares of a column that is constant in groups, as a share: nothing but rounding.
_CONSTANT, _TINY = 1e-8, 1e-300


def levels_of_rows(rows: Sequence[Floats], groups: Integers, weights: Floats | None, *, has_groups: bool) -> Levels:
    """Return the levels of columns, each an array with NaN for missing values; ``groups`` has the group of each row."""
    kept = groups >= 0 if weights is None else (groups >= 0) & (weights > 0)
    blocks = [one[kept] for one in rows]
    number = np.unique(groups[kept], return_inverse=True)[1]
    counts = np.ones(len(number)) if weights is None else weights[kept]
    counts = counts * (counts.sum() / (counts**2).sum())  # sums to the effective number of rows
    count = int(number.max(initial=-1)) + 1
    widths = np.array([one.shape[1] for one in blocks], np.int64)
    there = np.array([~np.isnan(one[:, 0]) if one.shape[1] else np.ones(len(one), np.bool_) for one in blocks])
    together = _together(there, counts)
    if not has_groups:
        level = Level(_covariance(blocks, counts), widths, max(together, 1.0))
        nothing = (False,) * len(blocks)
        return Levels(level, None, 0, together, nothing, (0.0,) * len(blocks), 1.0)
    inside, means, constant, correlations, spread = [], [], [], [], list[Floats]()
    sizes = np.bincount(number, counts, count)
    for block, seen in zip(blocks, there, strict=True):
        mass = np.bincount(number[seen], counts[seen], count)
        sums = np.array([np.bincount(number[seen], counts[seen] * one[seen], count) for one in block.T])
        sums = sums.reshape(block.shape[1], count)
        mean = np.divide(sums, mass, out=np.full(sums.shape, np.nan), where=mass > 0)
        about = block - mean.T[number]
        known, weight = block[seen], counts[seen, None]
        squares = (weight * (known - (weight * known).sum(axis=0) / max(weight.sum(), _TINY)) ** 2).sum(axis=0)
        spread.append(squares / max(weight.sum(), _TINY))
        total = float(squares.sum())
        within = float((counts[seen, None] * about[seen] ** 2).sum())
        is_constant = bool(block.shape[1]) and within <= _CONSTANT * max(total, _TINY)
        inside.append(np.where(np.isnan(block), np.nan, 0.0) if is_constant else about)
        means.append(np.ascontiguousarray(mean.T))
        constant.append(is_constant)
        correlations.append(_correlation(total, within, mass.astype(np.float64), block.shape[1]))
    rows_inside = max(together - count + 1, 1.0)
    worth = sizes / (1 + np.maximum(sizes - 1, 0) * float(np.mean(correlations)))
    matrix = _covariance(means, worth / worth.mean())
    is_rounding = np.diag(matrix) <= _CONSTANT * np.concatenate(spread)  # means that are all the same
    matrix[is_rounding, :] = matrix[:, is_rounding] = 0.0
    between = Level(matrix, widths, float(count))
    level = Level(_covariance(inside, counts), widths, rows_inside)
    size = float((sizes**2).sum() / sizes.sum())
    return Levels(level, between, count, together, tuple(constant), tuple(correlations), size)


def _together(there: np.ndarray, counts: Floats) -> float:
    """Return the mean number of rows in which two columns are there."""
    both = (there * counts) @ there.T.astype(np.float64)
    apart = ~np.eye(len(both), dtype=np.bool_)
    return float(both[apart].mean()) if len(both) > 1 else float(both.mean())


def _correlation(total: float, within: float, mass: Floats, width: int) -> float:
    """Return the intraclass correlation of the columns of a block together."""
    rows, groups = float(mass.sum()), int(np.count_nonzero(mass))
    if groups < 2 or rows <= groups or not width or total <= 0:  # noqa: PLR2004 - means that can differ
        return 0.0
    size = (rows - float((mass**2).sum()) / rows) / (groups - 1)
    of_means, of_rows = (total - within) / (groups - 1), within / (rows - groups)
    return float(np.clip((of_means - of_rows) / max(of_means + (size - 1) * of_rows, _TINY), 0.0, 1.0))


def _covariance(blocks: Sequence[Floats], counts: Floats) -> Floats:
    """Return the covariance of maximum likelihood of blocks of columns, whose rows count so much each."""
    gone = [np.isnan(one[:, 0]) if one.shape[1] else None for one in blocks]
    patterns = patterns_of([*gone, np.zeros(len(counts), np.bool_)])
    found = {}
    for number, missing in enumerate(patterns.missing):
        rows = patterns.rows[patterns.starts[number] : patterns.starts[number + 1]]
        seen = [one[rows] for one, is_gone in zip(blocks, missing[:-1].tolist(), strict=True) if not is_gone]
        whole = np.concatenate([np.ones((len(rows), 1)), *seen], axis=1)
        sums = ProductSums(whole.shape[1] - 1)
        sums.sums += (whole * counts[rows, None]).T @ whole
        found[missing[:-1].tobytes()] = sums
    widths = np.array([one.shape[1] for one in blocks], np.int64)
    matrix = estimate_covariance(widths, found)
    return np.ascontiguousarray((matrix + matrix.T) / 2)


def estimated_levels(
    columns: Mapping[int, NumberColumn | CategoryColumn] | Sequence[NumberColumn | CategoryColumn],
    places: Sequence[int],
    by: Sequence[int],
    weight: int | None,
) -> Levels:
    """Return the levels of some columns; groups are the combinations of others, and one may have weights."""
    rows = [rows_of(columns[place])[0] for place in places]
    codes = [np.where(is_missing(columns[place]), -1, columns[place][0]).astype(np.int64) for place in by]
    groups = combined(codes) if codes else np.zeros(len(rows[0]), np.int64)
    weights = None if weight is None else np.asarray(columns[weight][0], np.float64)
    return levels_of_rows(rows, groups, weights, has_groups=bool(by))


def role_columns(table: MixedTable) -> list[NumberColumn | CategoryColumn]:
    """Return the columns of a table with a role, which are not embedded."""
    beside, made = table.beside, list[NumberColumn | CategoryColumn]()
    for name in role_names(table.roles):
        assert beside is not None  # noqa: S101 - where columns have roles, their values are there
        if beside.is_category(name):
            place = beside.categories.place[name]
            nothing = np.full(int(beside.categories.cards[place]), -1)
            made.append(CategoryColumn(beside.categories.codes[place], nothing, 0))
        else:
            made.append(NumberColumn(beside.values(name), 0))
    return made


def role_units(table: MixedTable) -> tuple[ColumnUnit, ...]:
    """Return what the values of the columns with a role are in terms of the table."""
    beside = table.beside
    if beside is None:
        return ()
    levels = [beside.categories.levels_of(name) if beside.is_category(name) else () for name in role_names(table.roles)]
    return tuple(
        ColumnUnit(levels=known, codes=tuple(range(len(known)))) if known else ColumnUnit(1.0) for known in levels
    )

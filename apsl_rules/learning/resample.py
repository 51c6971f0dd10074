"""Tables drawn from a table: bootstrap rows or subsamples, the same rows for the same seed."""

from __future__ import annotations

from typing import Any, overload

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data import MixedTable, Table

Rows = npt.NDArray[np.int64]


@overload
def resample_table(table: Table, rows: Rows, *, declared: bool) -> Table: ...
@overload
def resample_table(table: MixedTable, rows: Rows, *, declared: bool) -> MixedTable: ...
def resample_table(table: Table | MixedTable, rows: Rows, *, declared: bool) -> Table | MixedTable:
    """Return a table of some rows. Levels that they do not show are none of its levels, unless all are declared."""
    if isinstance(table, MixedTable):
        categories = resample_table(table.categories, rows, declared=declared)
        return attrs.evolve(table, categories=categories, numbers=np.ascontiguousarray(table.numbers[:, rows]))
    codes: Any = table.codes.take(rows, axis=1)  # in C order, as the kernels want it
    cards, incomplete = table.cards.copy(), table.incomplete.copy()
    levels = list(table.levels)
    for place, (column, card) in enumerate(zip(codes, table.cards.tolist(), strict=True)):
        seen = np.bincount(column, minlength=card + 1) > 0
        incomplete[place] = seen[card]
        kept = seen[:card]
        if declared:
            kept[: np.flatnonzero(kept)[-1:].sum() + 1] = True
        if not kept.any():
            kept[0] = True  # nothing but missing values: a column that never varies
        if kept.all():
            continue
        cards[place] = kept.sum()
        levels[place] = tuple(level for level, keep in zip(table.levels[place], kept.tolist(), strict=False) if keep)
        column[:] = np.append(np.cumsum(kept) - 1, kept.sum()).astype(codes.dtype)[column]
    return Table(table.names, codes, cards, tuple(levels), incomplete)


def draw_rows(rows: int, seeds: np.random.SeedSequence, size: int | None) -> Rows:
    """Draw the rows of one resample, sorted: as many as there are with repetition, or so many without."""
    random = np.random.default_rng(seeds)
    drawn = random.integers(0, rows, rows) if size is None else random.choice(rows, size, replace=False, shuffle=False)
    return np.sort(drawn)

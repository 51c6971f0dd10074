"""Tables drawn from a table: bootstrap rows or subsamples, the same rows for the same seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data import Table
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs import Dag
from apsl_rules.graphs.networks import Network

Rows = npt.NDArray[np.int64]

#: Options that say how a table is encoded; a resample is drawn from what they led to.
_ENCODING = ("names", "missing", "discretize", "levels")


class Drawable(Protocol):
    """A table that rows can be drawn from."""

    @property
    def rows(self) -> int:
        """Return the number of rows."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Return the oracle's options that are still to be given with a table drawn from this one."""

    def drawn(self, rows: Rows | None) -> Any:
        """Return a table of some rows, in any order and as often as they are named; None gives it as it is."""


def drawable(source: Any, oracle: str | None, options: Mapping[str, Any]) -> Drawable:
    """Encode a source once, so that drawing from it costs little; what has no rows is refused."""
    if isinstance(source, Dag | Network) or callable(getattr(source, "verdict", None)) or hasattr(source, "pred"):
        kind = type(source).__name__
        message = f"stability draws rows from a table, but a {kind} has none; give the data, or sample some from it"
        raise InvalidArgumentError(message)
    encoding = {name: options[name] for name in _ENCODING if name in options}
    rest = {name: value for name, value in options.items() if name not in _ENCODING}
    if oracle == "fisherz":
        from apsl_rules.data import numeric_matrix

        matrix, names = numeric_matrix(source, **encoding)
        return DrawableNumbers(matrix, {**rest, "names": names})
    from apsl_rules.data import table

    return DrawableCodes(table(source, **encoding), rest, declared=encoding.get("levels") == "declared")


@attrs.frozen(eq=False)
class DrawableNumbers:
    """Columns of numbers; ``options`` carries their names."""

    matrix: npt.NDArray[np.float64]
    options: Mapping[str, Any]

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return len(self.matrix)

    def drawn(self, rows: Rows | None) -> npt.NDArray[np.float64]:
        """Return a matrix of some rows."""
        return self.matrix if rows is None else self.matrix[rows]


@attrs.frozen(eq=False)
class DrawableCodes:
    """Columns of codes. Levels that a resample does not show are none of its levels, unless all are ``declared``."""

    table: Table
    options: Mapping[str, Any]
    declared: bool = False

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return self.table.rows

    def drawn(self, rows: Rows | None) -> Table:
        """Return a table of some rows."""
        if rows is None:
            return self.table
        table = self.table
        codes: Any = table.codes.take(rows, axis=1)  # in C order, as the kernels want it
        cards, incomplete = table.cards.copy(), table.incomplete.copy()
        levels = list(table.levels)
        for place, (column, card) in enumerate(zip(codes, table.cards.tolist(), strict=True)):
            seen = np.bincount(column, minlength=card + 1) > 0
            incomplete[place] = seen[card]
            kept = seen[:card]
            if self.declared:
                kept[: np.flatnonzero(kept)[-1:].sum() + 1] = True
            if not kept.any():
                kept[0] = True  # nothing but missing values: a column that never varies
            if kept.all():
                continue
            cards[place] = kept.sum()
            levels[place] = tuple(
                level for level, keep in zip(table.levels[place], kept.tolist(), strict=False) if keep
            )
            column[:] = np.append(np.cumsum(kept) - 1, kept.sum()).astype(codes.dtype)[column]
        return Table(table.names, codes, cards, tuple(levels), incomplete)


def row_numbers(rows: int, seeds: np.random.SeedSequence, size: int | None) -> Rows:
    """Draw the rows of one resample, sorted: as many as there are with repetition, or so many without."""
    random = np.random.default_rng(seeds)
    drawn = random.integers(0, rows, rows) if size is None else random.choice(rows, size, replace=False, shuffle=False)
    return np.sort(drawn)

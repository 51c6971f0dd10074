"""How numbers stand in scores: as they are or by their normal scores, and which of them with their squares.

Each column decides by its own rows and by its relations with single other columns, so that no column matters to a
decision that it has no part in. All of it follows from sums.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from apsl_backends.kernels.library import Floats, Integers

#: A relation is curved if squares explain so many nats more than ln n, and so much for each row. Both were chosen on
#: simulated families.
_CURVED_NATS, _CURVED_PER_ROW = 6.0, 0.005
#: Fewer rows tell nothing of a curve.
_FEWEST_ROWS = 30
#: So many columns are searched all at once.
MOST_AT_ONCE = 60
#: The share of a variance below which it counts as rounding.
_ROUNDING = 1e-9


class Blocks:
    """Covariances of the scored columns of some columns, each a block of them.

    ``has_square`` says of which numbers there are two, the second one the squares of their normal scores.
    """

    def __init__(self, matrix: Floats, widths: Integers, is_number: npt.NDArray[np.bool_]) -> None:
        self.matrix = matrix
        self.widths = widths
        self.starts: Integers = np.concatenate([np.zeros(1, np.int64), np.cumsum(widths)])
        self.is_number = is_number
        self.has_square = is_number & (widths > 1)

    def __len__(self) -> int:
        return len(self.widths)

    def select(self, places: Sequence[int]) -> Blocks:
        """Return the blocks at some places, in that order."""
        columns = [column for place in places for column in range(self.starts[place], self.starts[place + 1])]
        matrix = np.ascontiguousarray(self.matrix[np.ix_(columns, columns)])
        return Blocks(matrix, self.widths[list(places)], self.is_number[list(places)])

    def leading(self, place: int) -> slice:
        """Return the columns that stand for a column without squares."""
        start = int(self.starts[place])
        return slice(
            start, start + (min(1, int(self.widths[place])) if self.is_number[place] else int(self.widths[place]))
        )

    def columns(self, bent: npt.NDArray[np.bool_]) -> list[int]:
        """Return the columns that are scored, with squares of the bent numbers."""
        kept: list[int] = []
        for place in range(len(self)):
            lead = self.leading(place)
            start = int(self.starts[place])
            kept += range(start, int(self.starts[place + 1]) if bent[place] else lead.stop)
        return kept

    def used(self, bent: npt.NDArray[np.bool_]) -> Integers:
        """Return how many columns of each block are scored."""
        leading = np.where(self.is_number, np.minimum(self.widths, 1), self.widths)
        return np.where(bent, self.widths, leading)


def explained(blocks: Blocks, place: int) -> tuple[Floats, Floats]:
    """Return for every number what it explains of a column, in nats for each half of the rows: by a line, by a curve.

    The second is what its squares explain besides; 0 for columns without squares, and for the column itself.
    """
    matrix, own = blocks.matrix, blocks.leading(place)
    line, curve = np.zeros(len(blocks)), np.zeros(len(blocks))
    others = np.flatnonzero(blocks.is_number & (blocks.widths > 0))
    others = others[others != place]
    if own.start == own.stop or not len(others):
        return line, curve
    z = blocks.starts[others]
    variance = matrix[own, own]
    variance = variance + _ROUNDING * np.diag(np.diag(variance))
    across, alone = matrix[z, own], matrix[z, z]
    line[others] = _nats(across, np.broadcast_to(variance, (len(z), *variance.shape)), alone)
    squared = blocks.has_square[others]
    others, z, across, alone = others[squared], z[squared], across[squared], alone[squared]
    if not len(others):
        return line, curve
    h = z + 1
    slope = matrix[z, h] / alone
    bend = matrix[h, h] - slope * matrix[z, h]
    left = variance - across[:, :, None] * across[:, None, :] / alone[:, None, None]
    left += _ROUNDING * np.eye(left.shape[1]) * np.diag(variance)
    curve[others] = _nats(matrix[h, own] - slope[:, None] * across, left, bend)
    return line, curve


def _nats(across: Floats, variance: Floats, alone: Floats) -> Floats:
    """Return -ln of what is left of a block, given one column each, as a share of its determinant."""
    is_there = alone > _ROUNDING
    share = np.einsum("ui,uij,uj->u", across, np.linalg.inv(variance), across)
    share = np.divide(share, alone, out=np.zeros_like(share), where=is_there)
    found: Floats = -np.log1p(-np.clip(share, 0.0, 1.0 - _ROUNDING))
    return found


def curved_pairs(blocks: Blocks, rows: npt.NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the pairs (u, v) of which the squares of u say clearly more of v than u itself does.

    ``rows`` are those in which two columns are both there. A category counts only if the squares explain more of it
    than the number itself.
    """
    found: list[tuple[int, int]] = []
    for place in range(len(blocks)):
        own = blocks.leading(place)
        line, curve = explained(blocks, place)
        both, width = rows[place], own.stop - own.start
        is_curved = (both * curve > (np.log(np.maximum(both, 1)) + _CURVED_NATS) * width) & (
            curve > _CURVED_PER_ROW * width
        )
        is_curved &= both >= _FEWEST_ROWS
        if not blocks.is_number[place]:
            is_curved &= curve > line
        found += [(other, place) for other in np.flatnonzero(is_curved).tolist()]
    return found


def bent_columns(blocks: Blocks, pairs: Sequence[tuple[int, int]]) -> npt.NDArray[np.bool_]:
    """Return the numbers that are scored with their squares: both ends of each curved pair."""
    bent = np.zeros(len(blocks), np.bool_)
    for pair in pairs:
        bent[list(pair)] = True
    return bent & blocks.has_square


def associations(blocks: Blocks) -> Floats:
    """Return what each pair of columns tells of each other by straight lines, in nats for each half of the rows."""
    size = len(blocks)
    found = np.zeros((size, size))
    slices = [blocks.leading(place) for place in range(size)]
    alone = [_log_det(blocks.matrix[one, one]) for one in slices]
    for one in range(size):
        for other in range(one):
            places = [*range(slices[one].start, slices[one].stop), *range(slices[other].start, slices[other].stop)]
            both = _log_det(blocks.matrix[np.ix_(places, places)])
            found[one, other] = found[other, one] = max(alone[one] + alone[other] - both, 0.0)
    return found


def _log_det(matrix: Floats) -> float:
    if not len(matrix):
        return 0.0
    return float(np.linalg.slogdet(matrix + _ROUNDING * np.diag(np.diag(matrix)))[1])


def content_order(blocks: Blocks) -> list[int]:
    """Return the columns in an order that depends on their contents alone, as far as figures tell them apart.

    Columns are compared by what they have in common with others, strongest first, to seven digits.
    """
    digits = 7
    strength = np.round(-np.sort(-associations(blocks), axis=1), digits) + 0.0
    keys = [tuple((-row).tolist()) for row in strength]
    return sorted(range(len(blocks)), key=lambda place: keys[place])

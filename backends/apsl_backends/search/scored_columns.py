"""Read the columns of a table as scores take them: numbers as they are or by ranks, and with squares or without."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import log

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.kernels.bindings.scores import ScoreHandle
from apsl_backends.kernels.library import Floats
from apsl_backends.scores.columns import JointRows
from apsl_backends.scores.representation import Blocks, bent_columns, content_order, curved_pairs
from apsl_backends.search.rounds import OPEN, Effort, search_rounds
from apsl_backends.search.straight_groups import Columns, Graph, still_curved, straight_columns
from apsl_rules.data import Level, Levels
from apsl_rules.data.moments import MOST_ROWS_SEEN, SCORED_OF_NUMBER, KeptMoments, is_nearly_normal
from apsl_rules.names import Node, in_order, listing

#: A number with fewer values is not taken as it is because of a group.
_FEWEST_ROWS = 30
#: The columns from which a parent is chosen are at least so many.
FEWEST_CHOICES = 20
_QUICK = Effort(max_parents=24, rounds=1, starts=1, kicks=3)
_UNITS = 2.0**20
_UNSEEN = (
    "the rows are too many, or stay elsewhere, so all skewed numbers were taken by their ranks; where rows can be "
    "seen, those with linear relations and skewed noise are taken as they are"
)


@attrs.frozen(eq=False)
class ScoredColumns:
    """The scored columns of some nodes, and which of these are scored with squares.

    Of rows in groups the blocks are those inside the groups, which are worth so many ``rows``, and the means are scored
    ``between`` them.
    """

    nodes: tuple[Node, ...]
    blocks: Blocks
    bent: npt.NDArray[np.bool_]
    notes: tuple[str, ...] = ()
    between: Level | None = None
    rows: float | None = None

    def select(self, nodes: Sequence[Node]) -> ScoredColumns:
        """Return the columns of some of the nodes, in their order."""
        place = {node: at for at, node in enumerate(self.nodes)}
        places = [place[node] for node in nodes]
        between = None if self.between is None else self.between.select(places)
        blocks, bent = self.blocks.select(places), self.bent[places]
        return attrs.evolve(self, nodes=tuple(nodes), blocks=blocks, bent=bent, between=between)


def read_columns(
    source: KeptMoments, nodes: Sequence[Node], together: JointRows, *, squares: bool, whole: bool
) -> ScoredColumns:
    """Return the scored columns of some nodes; ``squares`` says whether numbers may be scored with their squares.

    The columns of a ``whole`` table come in an order by content, and groups of them may be taken as they are.
    """
    if source.has_levels:
        return _read_levels(source, nodes, together, squares=squares, whole=whole)
    heading = source.heading
    places = [heading.place[node] for node in nodes]
    near = is_nearly_normal(source.likeness(places), heading.rows - heading.missing[places])
    blocks = _blocks(source, places, near)
    if not whole:
        pairs = curved_pairs(blocks, _rows_of_pairs(nodes, together)) if squares else []
        return ScoredColumns(tuple(nodes), blocks, bent_columns(blocks, pairs))
    order = content_order(blocks)
    nodes, places, near, blocks = (
        [nodes[at] for at in order],
        [places[at] for at in order],
        near[order],
        blocks.select(order),
    )
    rows = _rows_of_pairs(nodes, together)
    groups = _Groups.of(source, places, near)
    straight, notes = groups.straight(blocks, rows)
    if straight.any():
        blocks = _blocks(source, places, near | straight)
        names = listing(in_order(nodes[at] for at in np.flatnonzero(straight).tolist()))
        notes = (f"{names}: taken as they are, since their relations are straight then, with skewed noise",)
    pairs = curved_pairs(blocks, rows) if squares else []
    if straight.any() and groups.columns is not None:
        pairs = still_curved(pairs, groups.columns, straight, _quick_graph(blocks, rows))
    return ScoredColumns(tuple(nodes), blocks, bent_columns(blocks, pairs), notes)


def _read_levels(
    source: KeptMoments, nodes: Sequence[Node], together: JointRows, *, squares: bool, whole: bool
) -> ScoredColumns:
    """Return the scored columns of some nodes inside groups, and their means between them; numbers by their ranks.

    Where values are missing, each is taken about the mean of its group over the rows that have it, and what is missing
    of that is estimated by expectation and maximisation; squares are left out then.
    """
    heading = source.heading
    places = [heading.place[node] for node in nodes]
    is_number = heading.is_number[places]
    is_complete = together.is_complete(nodes)
    levels = source.levels_for_scores(places)
    blocks = Blocks(levels.inside.matrix, levels.inside.widths, is_number)
    order = content_order(_at_both_levels(blocks, levels)) if whole else list(range(len(nodes)))
    levels, blocks = levels.select(order), blocks.select(order)
    bent = np.zeros(len(nodes), np.bool_)
    if squares and is_complete:
        varying = [place for place in range(len(blocks)) if np.diag(blocks.matrix)[blocks.leading(place)].any()]
        some = blocks.select(varying)
        rows = np.full((len(some), len(some)), levels.inside.rows)
        bent[varying] = bent_columns(some, curved_pairs(some, rows))
    nodes = tuple(nodes[at] for at in order)
    return ScoredColumns(nodes, blocks, bent, (), levels.between, levels.inside.rows)


def _at_both_levels(blocks: Blocks, levels: Levels) -> Blocks:
    """Return the sum of the covariances inside groups and between them, without squares, to order columns by."""
    nothing = np.zeros(len(blocks), np.bool_)
    kept, widths = blocks.columns(nothing), blocks.used(nothing)
    matrix = blocks.matrix[np.ix_(kept, kept)]
    if levels.between is not None:
        matrix = matrix + levels.between.matrix
    return Blocks(np.ascontiguousarray(matrix), widths, blocks.is_number)


@attrs.frozen(eq=False)
class _Groups:
    """Columns of a source of which some may be taken as they are; there are none without rows."""

    source: KeptMoments
    places: Sequence[int]
    near: npt.NDArray[np.bool_]
    free: npt.NDArray[np.bool_]
    columns: Columns | None

    @classmethod
    def of(cls, source: KeptMoments, places: Sequence[int], near: npt.NDArray[np.bool_]) -> _Groups:
        """Read the rows if any number may be taken as it is that is not anyway."""
        heading = source.heading
        many = heading.rows - heading.missing[list(places)] >= _FEWEST_ROWS
        free = ~near & many & (heading.widths[list(places)] > 0) & ~np.isnan(source.likeness(places))
        seen = source.rows_for_scores(places) if free.any() and heading.rows <= MOST_ROWS_SEEN else None
        columns = None
        if seen is not None:
            is_number = heading.is_number[list(places)]
            columns = Columns([one for one, _ in seen], [one for _, one in seen], is_number, near, free)
        return cls(source, places, near, free, columns)

    def straight(self, blocks: Blocks, rows: Floats) -> tuple[npt.NDArray[np.bool_], tuple[str, ...]]:
        """Return which columns are taken as they are besides the nearly normal ones, and notes."""
        if self.columns is None:
            return np.zeros_like(self.free), (_UNSEEN,) if self.free.any() else ()
        ways = {False: blocks, True: _blocks(self.source, self.places, self.near | self.free)}
        graphs = {way: _quick_graph(one, rows) for way, one in ways.items()}
        return straight_columns(self.columns, graphs, ways, rows), ()


def _blocks(source: KeptMoments, places: Sequence[int], plain: npt.NDArray[np.bool_]) -> Blocks:
    heading = source.heading
    is_number, widths = heading.is_number[list(places)], heading.widths[list(places)]
    widths = np.where(is_number, np.minimum(widths, SCORED_OF_NUMBER), widths)
    chosen = frozenset(place for place, is_plain in zip(places, plain.tolist(), strict=True) if is_plain)
    return Blocks(source.covariance_for_scores(places, chosen), widths, is_number)


def _rows_of_pairs(nodes: Sequence[Node], together: JointRows) -> Floats:
    """Return the rows in which each two columns are both there."""
    rows = np.full((len(nodes), len(nodes)), float(together.rows))
    if together.is_complete(nodes):
        return rows
    places = list(combinations(range(len(nodes)), 2))
    counted = together.of([(nodes[x], nodes[y]) for x, y in places])
    for (one, other), both in zip(places, counted, strict=True):
        rows[one, other] = rows[other, one] = both
    return rows


def _quick_graph(blocks: Blocks, rows: Floats) -> Graph:
    """Return a graph that a quick search finds without squares."""
    size = len(blocks)
    straight = np.zeros(size, np.bool_)
    kept, used = blocks.columns(straight), blocks.used(straight)
    off = rows[~np.eye(size, dtype=bool)]
    count = max(float(off.mean()) if len(off) else 2.0, 2.0)
    handle = ScoreHandle(size, scale=_UNITS, penalty=round(log(max(size, FEWEST_CHOICES)) * _UNITS))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(used)])
    handle.set_moments(np.ascontiguousarray(blocks.matrix[np.ix_(kept, kept)]), starts, count)
    found = search_rounds(handle, range(size), np.full((size, size), OPEN, np.uint8), _QUICK)
    return found.dag > 0

"""Read the columns of a table as scores take them: numbers as they are or by ranks, and with squares or without."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from math import log

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.kernels.bindings.scores import ScoreHandle
from apsl_backends.kernels.bindings.searches import pattern_of
from apsl_backends.kernels.library import Floats
from apsl_backends.scores.columns import JointRows
from apsl_backends.scores.representation import Blocks, bent_columns, content_order, curved_pairs
from apsl_backends.search.rounds import OPEN, Effort, search_rounds
from apsl_rules.data import Level, Levels
from apsl_rules.data.moments import MOST_ROWS_SEEN, SCORED_OF_NUMBER, KeptMoments, is_nearly_normal
from apsl_rules.memory import check
from apsl_rules.names import Node, in_order, listing

Graph = npt.NDArray[np.bool_]
Pair = tuple[int, int]

#: Dependence left, in nats for each half of the rows: how much less values must leave than scores, how much of it they
#: may leave as a share, and how much for each pair.
_MARGIN, _SHARE, _CLEAN = 10.0, 0.9, 6.0
#: A curved pair at such a group counts if so much dependence is left besides ln n, and so much for each row.
_STILL_CURVED, _STILL_CURVED_PER_ROW = 26.0, 0.02
#: Residuals are cut at so many standard deviations; less dependence than this is none; fewer rows tell nothing.
_CUT, _NONE, _LEAST_ROWS = 3.0, 4.0, 30
#: The most regressors for each row.
_REGRESSORS_PER_ROW = 0.2
_NORMAL_QUARTILES = 1.349


@attrs.frozen(eq=False)
class Columns:
    """The rows of columns: without squares, by scores and, of numbers, as they are; missing values are NaN.

    ``is_plain`` says which numbers are taken as they are anyway, and ``free`` which may be.
    """

    scores: Sequence[Floats]
    plain: Sequence[Floats | None]
    is_number: npt.NDArray[np.bool_]
    is_plain: npt.NDArray[np.bool_]
    free: npt.NDArray[np.bool_]

    def chosen(self, place: int, plain: npt.NDArray[np.bool_]) -> Floats:
        """Return the rows of a column, as it is if it is among the plain ones; the mean where it is missing."""
        values = self.plain[place] if plain[place] else None
        rows = self.scores[place] if values is None else values
        found: Floats = np.nan_to_num(rows - np.nanmean(rows, axis=0))
        return found

    def both(self, x: int, y: int) -> npt.NDArray[np.intp]:
        """Return the rows in which two columns are both there."""
        return np.flatnonzero(~np.isnan(self.scores[x][:, 0]) & ~np.isnan(self.scores[y][:, 0]))


@attrs.define(eq=False)
class Residuals:
    """The dependence left between two numbers once each is regressed on the other and on parents of both."""

    columns: Columns
    plain: npt.NDArray[np.bool_]
    readings: tuple[Graph, ...]
    _known: dict[Pair, float] = attrs.field(factory=dict, init=False)

    def left(self, pair: Pair) -> float:
        """Return the least over both directions and over the readings of who the parents are, n times that of a row."""
        if pair not in self._known:
            self._known[pair] = min(self._found(*pair), default=0.0)
        return self._known[pair]

    def _found(self, x: int, y: int) -> Iterator[float]:
        check()
        rows = self.columns.both(x, y)
        if len(rows) < _LEAST_ROWS:
            return
        features = {one: _features(self.columns.scores[one][rows, 0]) for one in (x, y)}
        tried: set[tuple[int, ...]] = set()
        for parents in self.readings:
            given = tuple(one for one in np.flatnonzero(parents[:, x] | parents[:, y]).tolist() if one not in (x, y))
            if given in tried or len(given) > _REGRESSORS_PER_ROW * len(rows):
                continue
            tried.add(given)
            others = [self.columns.chosen(one, self.plain)[rows] for one in given]
            for cause, effect in ((x, y), (y, x)):
                regressors = np.column_stack(
                    [np.ones(len(rows)), *others, self.columns.chosen(cause, self.plain)[rows]]
                )
                outcome = self.columns.chosen(effect, self.plain)[rows, 0]
                products = regressors.T @ regressors
                sizes = np.diag(products)  # 0 of a column that is the same in these rows
                products += np.diag(np.where(sizes > 0, 1e-10 * sizes, 1.0))
                residual = outcome - regressors @ np.linalg.solve(products, regressors.T @ outcome)
                found = len(rows) * _dependence(residual, features[cause])
                yield found
                if found < _NONE:
                    return


def _features(scores: Floats) -> Floats:
    return np.column_stack([_scaled(scores), _scaled(scores**2)])


def _scaled(values: Floats) -> Floats:
    found: Floats = (values - values.mean()) / max(float(values.std()), 1e-12)
    return found


def _dependence(residual: Floats, features: Floats) -> float:
    """Return what a residual and its square share with two features, as a ratio of determinants for each row."""
    low, middle, high = np.quantile(residual, [0.25, 0.5, 0.75])
    spread = (high - low) / _NORMAL_QUARTILES
    spread = spread if spread > 0 else max(float(residual.std()), 1e-12)
    cut = _scaled(np.clip((residual - middle) / spread, -_CUT, _CUT))
    square, rows = _scaled(cut**2), len(residual)
    pair = np.column_stack([cut, square])
    own = float((cut * square).mean())
    across = pair.T @ features / rows
    shared = across @ np.linalg.solve(features.T @ features / rows + 1e-9 * np.eye(2), across.T)
    within = (1 - shared[0, 0]) * (1 - shared[1, 1]) - (own - shared[0, 1]) ** 2
    return float(np.log(max(1 - own * own, 1e-9)) - np.log(max(within, 1e-9)))


def readings_of(dag: Graph) -> tuple[Graph, ...]:
    """Return three readings of who the parents are: in the graph, by compelled arrows, and by these and lines."""
    marks = pattern_of(np.ascontiguousarray(dag.astype(np.uint8))) > 0
    compelled = marks & ~marks.T
    return dag, compelled, marks


def straight_columns(
    columns: Columns,
    graphs: Mapping[bool, Graph],
    blocks: Mapping[bool, Blocks],
    rows: Floats,
    *,
    in_groups: bool = False,
) -> npt.NDArray[np.bool_]:
    """Return which of the free numbers are taken as they are.

    ``graphs`` and ``blocks`` are those with the free numbers by their scores (False), and as they are (True). ``rows``
    are those in which two columns are both there. Ranks over all rows bend what is straight ``in_groups``, so there
    numbers are taken as they are unless this leaves clearly more dependence.
    """
    free = columns.free
    margin = -_MARGIN if in_groups else _MARGIN
    plain = {False: columns.is_plain, True: columns.is_plain | free}
    joined = np.logical_or.reduce([one | one.T for one in graphs.values()])
    left = {way: Residuals(columns, plain[way], readings_of(graph)) for way, graph in graphs.items()}
    numbers = np.flatnonzero(columns.is_number).tolist()
    pairs = list(combinations(numbers, 2))
    edges = [pair for pair in pairs if joined[pair] and free[list(pair)].any()]
    chosen = np.zeros(len(free), np.bool_)
    curved: set[Pair] | None = None
    for group in _groups(free, joined):
        touching = [pair for pair in edges if not group.isdisjoint(pair)]
        by_values, by_scores = (sum(map(left[way].left, touching)) for way in (True, False))
        if by_values + margin >= _SHARE * by_scores:
            continue
        if curved is None:
            curved = {
                (min(pair), max(pair))
                for one in blocks.values()
                for pair in curved_pairs(one, rows)
                if columns.is_number[list(pair)].all()
            }
        wider = group | {one for one in np.flatnonzero(columns.is_plain).tolist() if joined[one, sorted(group)].any()}
        near = [pair for pair in pairs if not wider.isdisjoint(pair) and (joined[pair] or pair in curved)]
        if near and np.mean([left[True].left(pair) for pair in near]) <= _CLEAN:
            chosen[sorted(group)] = True
    return chosen


def _groups(free: npt.NDArray[np.bool_], joined: Graph) -> Iterator[set[int]]:
    """Yield the free columns that edges join, group by group."""
    waiting = set(np.flatnonzero(free).tolist())
    while waiting:
        group = {min(waiting)}
        ahead = list(group)
        waiting -= group
        while ahead:
            further = {one for one in np.flatnonzero(joined[ahead.pop()]).tolist() if one in waiting}
            waiting -= further
            group |= further
            ahead += sorted(further)
        yield group


def still_curved(
    pairs: Collection[Pair], columns: Columns, straight: npt.NDArray[np.bool_], graph: Graph
) -> list[Pair]:
    """Return the curved pairs that count, some numbers being taken as they are as part of a straight group.

    At such a group, a pair counts only if dependence is left in the residuals.
    """
    joined = graph | graph.T
    plain = columns.is_plain | straight
    near = straight | (columns.is_plain & joined[straight].any(axis=0))
    residuals = Residuals(columns, plain, readings_of(graph))

    def counts(pair: Pair) -> bool:
        if not columns.is_number[list(pair)].all() or not near[list(pair)].any():
            return True
        rows = len(columns.both(*pair))
        least = max(np.log(rows) + _STILL_CURVED, _STILL_CURVED_PER_ROW * rows)
        return bool(residuals.left((min(pair), max(pair))) > least)

    return [pair for pair in pairs if counts(pair)]


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
        notes = _notes_of_straight(nodes, straight, "then, with skewed noise")
    pairs = curved_pairs(blocks, rows) if squares else []
    if straight.any() and groups.columns is not None:
        pairs = still_curved(pairs, groups.columns, straight, _quick_graph(blocks, rows))
    return ScoredColumns(tuple(nodes), blocks, bent_columns(blocks, pairs), notes)


def _read_levels(
    source: KeptMoments, nodes: Sequence[Node], together: JointRows, *, squares: bool, whole: bool
) -> ScoredColumns:
    """Return the scored columns of some nodes inside groups, and their means between them.

    Where values are missing, each is taken about the mean of its group over the rows that have it, and what is missing
    of that is estimated by expectation and maximisation; squares are left out then.
    """
    heading = source.heading
    places = [heading.place[node] for node in nodes]
    is_number = heading.is_number[places]
    near = is_nearly_normal(source.likeness(places), heading.rows - heading.missing[places])
    levels = _levels(source, places, near)
    notes: tuple[str, ...] = ()
    if whole:
        order = content_order(_at_both_levels(Blocks(levels.inside.matrix, levels.inside.widths, is_number), levels))
        nodes, places = [nodes[at] for at in order], [places[at] for at in order]
        near, is_number, levels = near[order], is_number[order], levels.select(order)
    blocks = Blocks(levels.inside.matrix, levels.inside.widths, is_number)
    varying = [place for place in range(len(blocks)) if np.diag(blocks.matrix)[blocks.leading(place)].any()]
    some, rows = blocks.select(varying), np.full((len(varying), len(varying)), levels.inside.rows)
    straight = np.zeros(len(nodes), np.bool_)
    groups = _Groups.of(source, [places[at] for at in varying], near[varying]) if whole else None
    if groups is not None:
        straight[varying], notes = groups.straight(some, rows)
        if straight.any():
            levels = _levels(source, places, near | straight)
            notes = _notes_of_straight(nodes, straight, "inside groups")
            blocks = Blocks(levels.inside.matrix, levels.inside.widths, is_number)
            some = blocks.select(varying)
    bent = np.zeros(len(nodes), np.bool_)
    if squares and together.is_complete(nodes):
        pairs = curved_pairs(some, rows)
        if groups is not None and groups.columns is not None and straight.any():
            pairs = still_curved(pairs, groups.columns, straight[varying], _quick_graph(some, rows))
        bent[varying] = bent_columns(some, pairs)
    return ScoredColumns(tuple(nodes), blocks, bent, notes, levels.between, levels.inside.rows)


def _levels(source: KeptMoments, places: Sequence[int], plain: npt.NDArray[np.bool_]) -> Levels:
    return source.levels_for_scores(places, _chosen(places, plain))


def _chosen(places: Sequence[int], plain: npt.NDArray[np.bool_]) -> frozenset[int]:
    return frozenset(place for place, is_plain in zip(places, plain.tolist(), strict=True) if is_plain)


def _notes_of_straight(nodes: Sequence[Node], straight: npt.NDArray[np.bool_], where: str) -> tuple[str, ...]:
    names = listing(in_order(nodes[at] for at in np.flatnonzero(straight).tolist()))
    return (f"{names}: taken as they are, since their relations are straight {where}",)


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
        in_groups = bool(self.source.roles.get("groups"))
        return straight_columns(self.columns, graphs, ways, rows, in_groups=in_groups), ()


def _blocks(source: KeptMoments, places: Sequence[int], plain: npt.NDArray[np.bool_]) -> Blocks:
    """Return the columns that are scored, inside groups where rows are in groups."""
    heading = source.heading
    is_number, widths = heading.is_number[list(places)], heading.widths[list(places)]
    if source.has_levels:
        inside = _levels(source, places, plain).inside
        return Blocks(inside.matrix, inside.widths, is_number)
    widths = np.where(is_number, np.minimum(widths, SCORED_OF_NUMBER), widths)
    return Blocks(source.covariance_for_scores(places, _chosen(places, plain)), widths, is_number)


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

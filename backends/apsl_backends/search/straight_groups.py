"""Groups of numbers whose relations become straight, and whose noise becomes even, if they are taken as they are.

Normal scores bend linear relations with skewed or heavy-tailed noise. A group of columns goes back to its values if
these leave clearly less dependence between the residuals of its edges than the scores do, and hardly any. That needs
the rows. All constants were chosen on simulated linear and curved families.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations

import attrs
import numpy as np
import numpy.typing as npt

from apsl_backends.kernels.bindings.searches import pattern_of
from apsl_backends.kernels.library import Floats
from apsl_backends.scores.representation import Blocks, curved_pairs
from apsl_rules.deadline import check

Graph = npt.NDArray[np.bool_]
Pair = tuple[int, int]

#: Dependence left, in nats for each half of the rows: how much less values must leave than scores, how much of it they
#: may leave as a share, and how much for each pair.
_MARGIN, _SHARE, _CLEAN = 10.0, 0.9, 6.0
#: A curved pair at such a group counts if so much dependence is left besides ln n, and so much for each row.
_STILL_CURVED, _STILL_CURVED_PER_ROW = 26.0, 0.02
#: Residuals are cut at so many standard deviations; less dependence than this is none; fewer rows tell nothing.
_CUT, _NONE, _FEWEST_ROWS = 3.0, 4.0, 30
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
        if len(rows) < _FEWEST_ROWS:
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
    columns: Columns, graphs: Mapping[bool, Graph], blocks: Mapping[bool, Blocks], rows: Floats
) -> npt.NDArray[np.bool_]:
    """Return which of the free numbers are taken as they are.

    ``graphs`` and ``blocks`` are those with the free numbers by their scores (False), and as they are (True). ``rows``
    are those in which two columns are both there.
    """
    free = columns.free
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
        if by_values + _MARGIN >= _SHARE * by_scores:
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
        if np.mean([left[True].left(pair) for pair in near]) <= _CLEAN:
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

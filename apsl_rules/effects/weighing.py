"""Which parents the cause may have, and how probable each set is: the graph's uncertainty in an effect.

The effect depends on a graph only through the parents P of the cause: it is 0 if the target is one of them, and else
what holding P leaves. So all graphs on the cause, the target and the columns nearest to them are summed up, with the
score that learners use: BIC on moments, BDeu on counts, and a price for each parent, which is one of many columns.
Background knowledge excludes families.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate

import attrs
import numpy as np
import numpy.typing as npt
from scipy import special

from apsl_rules.effects.figures import CountedColumns, Figures
from apsl_rules.graphs import members_of, parent_probabilities, sizes
from apsl_rules.knowledge import Knowledge
from apsl_rules.names import Node, in_order
from apsl_rules.oracles import Oracle

Floats = npt.NDArray[np.float64]

#: The most columns over whose graphs is summed, and the most parents of one.
MOST_NEAR, MOST_PARENTS = 10, 5
#: Sets of parents that are less probable are left out.
LEAST_WEIGHT = 1e-3
#: The rows that the prior of BDeu counts as, and the fewest columns that a parent is chosen from, as for learners.
PRIOR_ROWS, FEWEST_CHOICES = 1.0, 20
#: Of wider tables only so many columns on either side are looked at, those that depend most on the cause or the target.
_MOST_COLUMNS, _EACH_SIDE = 30, 12
#: A column with a larger share of missing values is not held, since too few rows would be left.
_MOST_MISSING = 0.2
#: A V-structure is good if its ends pass for independent at this level, and depend this much more given its middle.
_INDEPENDENT, _LEAST_STRENGTH, _TIMES = 0.05, 0.1, 2.0
#: Where less is left for sets without the target, they are weighed among themselves, not to divide rounding errors.
_ROUNDING = 1e-6
#: What is added to the diagonal of a correlation matrix, so that copies of a column do no harm.
_RIDGE = 1e-9


@attrs.frozen
class ParentSet:
    """A set of parents of the cause without the target, and its probability among such sets."""

    parents: tuple[Node, ...]
    probability: float


@attrs.frozen
class Weighing:
    """The parents that the cause may have: the sets without the target, and the probability that it is one of them.

    ``ahead`` and ``behind`` say whether a good V-structure has the cause before the target, or the target before the
    cause. ``near`` are the columns over whose graphs was summed, ``left_out`` those that lack too many values, and
    ``copies`` those that say by definition what the cause or the target says.
    """

    sets: tuple[ParentSet, ...]
    reverse: float
    near: tuple[Node, ...]
    ahead: bool = False
    behind: bool = False
    left_out: tuple[Node, ...] = ()
    copies: tuple[Node, ...] = ()


@attrs.frozen(eq=False, slots=False)
class _Columns:
    """The correlation of embedded columns, block after block, and the rows that it rests on."""

    nodes: tuple[Node, ...]
    matrix: Floats
    widths: tuple[int, ...]
    rows: float
    _known: dict[frozenset[int], float] = attrs.field(factory=dict, init=False)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(self.widths)]

    def places(self, *numbers: int) -> list[int]:
        """Return where the embedded columns of some columns are."""
        starts = self._starts
        return [place for number in numbers for place in range(starts[number], starts[number + 1])]

    def dependence(self, x: int, y: int, given: Sequence[int] = ()) -> tuple[float, int]:
        """Return twice the gain in ln likelihood from a dependence of two columns given others, and its freedom."""
        both = [self._log_det(*given, x, y), self._log_det(*given)]
        each = [self._log_det(*given, x), self._log_det(*given, y)]
        return self.rows * max(0.0, sum(each) - sum(both)), self.widths[x] * self.widths[y]

    def strength(self, x: int, y: int, given: Sequence[int] = ()) -> float:
        """Return the correlation of two normal columns that depend as much, less what chance gives."""
        gain, freedom = self.dependence(x, y, given)
        return float(np.sqrt(1 - np.exp(-max(0.0, gain - freedom) / self.rows)))

    def _log_det(self, *numbers: int) -> float:
        key = frozenset(numbers)
        if key not in self._known:
            places = self.places(*sorted(key))
            block = self.matrix[np.ix_(places, places)] + _RIDGE * np.eye(len(places))
            self._known[key] = float(np.linalg.slogdet(block)[1])
        return self._known[key]


def weigh(figures: Figures, cause: Node, target: Node, known: Knowledge) -> Weighing:
    """Weigh the parent sets of a cause by the sum over all graphs near it and the target."""
    data = figures.data
    alike = {node for group in data.duplicates() for node in group} - {cause, target}
    gone = {node: data.missing[place] / max(1, data.rows) for node, place in data.place.items()}
    copies = in_order(figures.copies_of(cause, target))
    free = [node for node in data.names if node not in {cause, target, *copies} | alike]
    left_out = tuple(node for node in free if gone[node] > _MOST_MISSING)
    others = in_order(node for node in free if gone[node] <= _MOST_MISSING)
    if len(others) + 2 > _MOST_COLUMNS:
        others = _associated(figures.opened.oracle(0.01), cause, target, others)
    nodes = (cause, target, *others)
    if len(nodes) > MOST_NEAR:
        nodes = _nearest(_columns(figures, nodes))
    counted = figures.joints([nodes])[0] if figures.are_counted(nodes) else None
    found = _of_counts(counted) if counted is not None else _columns(figures, nodes)
    found = attrs.evolve(found, nodes=nodes)
    joints = _moment_joints(found) if counted is None else _count_joints(counted)
    weights = _families(found, joints, None if counted is None else 0.0)
    weights -= np.log(max(len(data.names), FEWEST_CHOICES)) * sizes(len(nodes))
    _exclude(weights, nodes, known)
    everyone = parent_probabilities(weights, 0)
    has_target = (np.arange(len(everyone)) & 2).astype(bool)
    reverse = float(everyone[has_target].sum())
    without = np.where(has_target, 0.0, everyone)
    if 1 - reverse < _ROUNDING and np.isfinite(weights[0, ~has_target]).any():
        weights[0, has_target] = -np.inf
        without = parent_probabilities(weights, 0)
    order = np.argsort(-without, kind="stable")
    kept = [int(place) for place in order if without[place] >= LEAST_WEIGHT * without.sum() and not has_target[place]]
    total = sum(float(without[place]) for place in kept)
    sets = tuple(
        ParentSet(in_order(nodes[one] for one in members_of(place)), float(without[place]) / total) for place in kept
    )
    ahead, behind = _is_good_collider(found, 1, 0), _is_good_collider(found, 0, 1)
    return Weighing(sets, reverse, nodes, ahead, behind, left_out, copies)


def _associated(oracle: Oracle, cause: Node, target: Node, others: Sequence[Node]) -> tuple[Node, ...]:
    """Return the columns that depend most on the cause or the target, each by itself."""
    kept: set[Node] = set()
    for end in (cause, target):
        sweep = oracle.associations(end)
        strength = dict(zip((verdict.y for verdict in sweep), sweep.log_p().tolist(), strict=True))
        known = [node for node in others if strength.get(node, np.nan) <= 0]
        kept.update(sorted(known, key=lambda node: strength[node])[:_EACH_SIDE])
    return in_order(kept)


def _nearest(columns: _Columns) -> tuple[Node, ...]:
    """Return the cause, the target and the columns nearest to them, by a forward selection for each of the two."""
    rank: dict[int, int] = {}
    for end in (0, 1):
        chosen: list[int] = []
        while len(chosen) < MOST_NEAR - 2:
            gains = {}
            for one in range(len(columns.nodes)):
                if one != end and one not in chosen and columns.widths[one]:
                    gain, freedom = columns.dependence(one, end, chosen)
                    gains[one] = gain - freedom * np.log(columns.rows)
            best = max(gains, key=lambda one: gains[one], default=-1)
            if best < 0 or gains[best] <= 0:
                break
            chosen.append(best)
        for place, one in enumerate(chosen):
            rank[one] = max(rank.get(one, 0), MOST_NEAR - place)
    near = sorted((one for one in rank if one > 1), key=lambda one: (-rank[one], one))[: MOST_NEAR - 2]
    return (*columns.nodes[:2], *in_order(columns.nodes[one] for one in near))


def _columns(figures: Figures, nodes: tuple[Node, ...]) -> _Columns:
    """Return the correlation of some columns: from moments, or of categories from the counts of all pairs."""
    if not figures.are_counted(nodes):
        (found,) = figures.covariances([nodes])
        return _standardised(nodes, found.matrix, found.widths, found.rows)
    pairs = [(x, y) for at, x in enumerate(nodes) for y in nodes[at + 1 :]]
    tables = dict(zip(pairs, figures.counts(pairs), strict=True))
    widths = tuple(len(figures.levels(node)) - 1 for node in nodes)
    starts = np.cumsum([0, *widths])
    matrix = np.eye(int(starts[-1]))
    rows = min(float(one.sum()) for one in tables.values())
    for (x, y), counts in tables.items():
        a, b = nodes.index(x), nodes.index(y)
        shares = counts / max(1.0, counts.sum())
        across = shares - np.outer(shares.sum(axis=1), shares.sum(axis=0))
        at = slice(starts[a], starts[a + 1]), slice(starts[b], starts[b + 1])
        matrix[at], matrix[at[1], at[0]] = across[1:, 1:], across[1:, 1:].T
        for one, rates in ((a, shares.sum(axis=1)[1:]), (b, shares.sum(axis=0)[1:])):
            block = slice(starts[one], starts[one + 1])
            matrix[block, block] = np.diag(rates) - np.outer(rates, rates)
    return _standardised(nodes, matrix, widths, rows)


def _of_counts(counted: CountedColumns) -> _Columns:
    """Return the correlation of the indicators of categories that were counted together."""
    codes, weights = counted.known()
    indicators = [row[:, None] == np.arange(1, len(names)) for row, names in zip(codes, counted.levels, strict=True)]
    matrix = np.atleast_2d(np.cov(np.hstack(indicators).T.astype(np.float64), fweights=weights, ddof=0))
    return _standardised(counted.columns, matrix, [one.shape[1] for one in indicators], float(weights.sum()))


def _standardised(nodes: tuple[Node, ...], matrix: Floats, widths: Iterable[int], rows: float) -> _Columns:
    scale = np.sqrt(np.maximum(np.diag(matrix), np.finfo(np.float64).tiny))
    return _Columns(nodes, matrix / np.outer(scale, scale), tuple(widths), float(rows))


def _is_good_collider(columns: _Columns, middle: int, end: int) -> bool:
    """Return whether a column is independent of one end, and clearly depends on it given the middle."""
    for other in range(2, len(columns.nodes)):
        gain, freedom = columns.dependence(other, end)
        joins, its = columns.dependence(other, middle)
        if special.chdtrc(freedom, gain) > _INDEPENDENT and special.chdtrc(its, joins) < _INDEPENDENT:
            alone, given = columns.strength(other, end), columns.strength(other, end, [middle])
            if given >= max(_LEAST_STRENGTH, _TIMES * alone):
                return True
    return False


def _moment_joints(columns: _Columns) -> Floats:
    """Return the log-likelihood of each set of columns as jointly normal; sets are bits."""
    count = len(columns.nodes)
    found = np.full(1 << count, -np.inf)
    found[0] = 0.0
    whole = columns.matrix + _RIDGE * np.eye(len(columns.matrix))
    by_width: dict[int, list[tuple[int, list[int]]]] = {}
    for mask in np.flatnonzero(sizes(count) <= MOST_PARENTS + 1)[1:].tolist():
        places = columns.places(*members_of(mask))
        by_width.setdefault(len(places), []).append((mask, places))
    for listed in by_width.values():
        chosen = np.array([places for _, places in listed], np.int64)
        blocks = whole[chosen[:, :, None], chosen[:, None, :]]
        found[[mask for mask, _ in listed]] = -columns.rows / 2 * np.linalg.slogdet(blocks)[1]
    return found


def _count_joints(counted: CountedColumns) -> Floats:
    """Return the BDeu figure of each set of categories; sets are bits."""
    codes, weights = counted.known()
    cards = [len(names) for names in counted.levels]
    count = len(cards)
    found = np.full(1 << count, -np.inf)
    found[0] = 0.0
    keys: dict[int, npt.NDArray[np.int64]] = {0: np.zeros(codes.shape[1], np.int64)}
    cells = {0: 1}
    for mask in np.flatnonzero(sizes(count) <= MOST_PARENTS + 1)[1:].tolist():
        last = members_of(mask)[-1]
        rest = mask ^ (1 << last)
        key, cells[mask] = keys[rest] * cards[last] + codes[last], cells[rest] * cards[last]
        if cells[mask] > 4 * codes.shape[1]:
            _, key = np.unique(key, return_inverse=True)
            counts = np.bincount(key, weights)
            cells[mask] = len(counts)
        else:
            counts = np.bincount(key, weights, cells[mask])
        keys[mask] = key
        prior = PRIOR_ROWS / float(np.prod([cards[one] for one in members_of(mask)], dtype=np.float64))
        counts = counts[counts > 0]
        found[mask] = float(np.sum(special.gammaln(prior + counts) - special.gammaln(prior)))
    return found + np.where(np.arange(len(found)) > 0, -_spread(float(weights.sum())), 0.0)


def _spread(rows: float) -> float:
    """Return what every joint figure of BDeu is less, whatever its columns."""
    return float(special.gammaln(PRIOR_ROWS + rows) - special.gammaln(PRIOR_ROWS))


def _families(columns: _Columns, joints: Floats, price: float | None) -> Floats:
    """Return the logarithm of the weight of each node with each set of parents; BIC has a ``price`` by itself."""
    count = len(columns.nodes)
    size, every = sizes(count), np.arange(1 << count)
    widths = np.zeros(1 << count)
    for node, width in enumerate(columns.widths):
        widths[(every >> node & 1).astype(bool)] += width
    each = np.log(columns.rows) / 2 if price is None else price
    found = np.full((count, 1 << count), -np.inf)
    for node in range(count):
        masks = np.flatnonzero(((every >> node & 1) == 0) & (size <= MOST_PARENTS))
        gain = joints[masks | (1 << node)] - joints[masks] - joints[1 << node]
        found[node, masks] = gain - each * columns.widths[node] * widths[masks]
    return found


def _exclude(weights: Floats, nodes: Sequence[Node], known: Knowledge) -> None:
    """Exclude the families that background knowledge does."""
    every = np.arange(weights.shape[1])
    for at, head in enumerate(nodes):
        barred = needed = 0
        for bit, tail in enumerate(nodes):
            if tail == head:
                continue
            if (tail, head) in known.required:
                needed |= 1 << bit
            elif known.why_barred(tail, head) is not None or known.why_apart(tail, head) is not None:
                barred |= 1 << bit
        weights[at, ((every & barred) != 0) | ((every & needed) != needed)] = -np.inf

"""Columns that follow from other columns: near-copies, cuts of a number, sums and differences of numbers.

Such columns hide each other: what one of them says, the others say too. They are named, never merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.exact_sums import plain_sums
from apsl_rules.data.roles import earlier
from apsl_rules.names import Node, in_order, listing
from apsl_rules.notes import Note, argument

if TYPE_CHECKING:
    from apsl_rules.data.dataset import Dataset, Floats
    from apsl_rules.data.tables import LocalTable

MOST_COLUMNS = 60
"""So many columns at most are compared with each other."""

_FEWEST_ROWS = 20
_MOST_CELLS = 10_000
_RANKS_ALIKE = 0.999
_NEARLY = 0.99
_MOST_APART = 0.005
_MOST_APART_AMONG_RARE = 0.1
_FEWEST_PER_LEVEL = 3
_MOST_CUT_LEVELS = 20
#: A sum leaves at most this share of the variance unexplained; figures in tables are rounded.
_UNEXPLAINED = 1e-4
_MOST_SUMMANDS = 3
_MOST_TRIED = 12
_UNIT = 1e-2
#: Where no value is extreme, a rule leaves at most this share unexplained, and more than that without one of its parts.
_ENTERS, _TIMES_MORE = 1e-3, 10.0
_USUAL = (0.01, 0.99)
#: Spreads that are further apart than by so many powers of two differ by no plain sum.
_MOST_BITS = 500

Codes = npt.NDArray[np.int64]
#: Some columns, and a sentence that says how they follow from each other.
Told: TypeAlias = tuple[frozenset[Node], str]


@attrs.frozen(eq=False)
class _Columns:
    """Some rows of some columns: values of numbers, NaN where missing, and codes of categories, -1 where missing."""

    numbers: dict[Node, Floats]
    categories: dict[Node, Codes]
    levels: dict[Node, tuple[object, ...]]


def find_derived(table: LocalTable, names: Iterable[Node], touching: Iterable[Node] | None = None) -> tuple[str, ...]:
    """Return a sentence for each near-copy, cut and sum among some columns; of very many only the first by name.

    With ``touching`` only those that involve one of these columns are told, and these come first. Of very many columns
    some that are a plain sum or difference of two others with a column of interest are looked at too. About 10,000 of
    the rows are compared.
    """
    table = table.thinned()
    ordered = in_order(names)
    near = in_order(touching) if touching is not None else ordered
    first = list(dict.fromkeys([*near, *ordered]))
    parts = _parts_beyond(table, first, near)
    some = _columns(table, in_order(list(dict.fromkeys([*near[:MOST_COLUMNS], *parts, *first]))[:MOST_COLUMNS]))
    of_interest = frozenset(near)
    numbers, same = _number_copies(some, of_interest)
    copies = [*numbers, *_category_copies(some, of_interest)]
    found = [*copies, *_cuts(some, of_interest), *_sums(some, same, [*near, *parts])]
    past = {} if table.in_time is None else earlier(table.names, table.in_time.fields["lags"])
    told = [(columns, sentence) for columns, sentence in found if not columns.isdisjoint(of_interest)]
    told = [one for one in told if len({past.get(node, (node,))[0] for node in one[0]}) > 1]  # not one column in time
    return tuple(Note(sentence, "derived", columns=[*in_order(columns)]) for columns, sentence in told)


def notes_on_derived(data: Dataset, members: Sequence[Node]) -> tuple[str, ...]:
    """Return what follows from other columns near some; of each group of duplicates one is looked at."""
    table = data.thinned()
    if table is None:
        return ()
    near = frozenset(members)
    firsts = (sorted(group, key=lambda node: node not in near) for group in data.duplicates())
    others = {node for first in firsts for node in first[1:]}
    of_all, of_members = ([name for name in names if name not in others] for names in (data.names, members))
    return find_derived(table, of_all, of_members)


def _parts_beyond(table: LocalTable, names: Sequence[Node], near: Sequence[Node]) -> list[Node]:
    """Return the parts of plain sums with columns of interest, where these are too many to compare all with all."""
    known = set(table.number_names)
    numbers = {name: table.values(name) for name in names if name in known}
    if len(numbers) <= _compared(table.rows):
        return []
    found = plain_sums(numbers, [name for name in near if name in numbers])
    return list(dict.fromkeys(part for _, *parts in found for part in parts))


def _compared(rows: int) -> int:
    """Return how many numbers are compared all with all."""
    return min(_MOST_TRIED, rows // 2)


def _columns(table: LocalTable, names: Sequence[Node]) -> _Columns:
    known, coded = set(table.number_names), table.categories
    numbers = {name: table.values(name) for name in names if name in known}
    categories = {name: coded.codes_of(name) for name in names if name in coded.place}
    return _Columns(numbers, categories, {name: coded.levels[coded.place[name]] for name in categories})


def _pairs(names: Iterable[Node], near: frozenset[Node]) -> Iterator[tuple[Node, Node]]:
    return ((one, other) for one, other in combinations(names, 2) if one in near or other in near)


def _number_copies(some: _Columns, near: frozenset[Node]) -> tuple[list[Told], set[frozenset[Node]]]:
    """Return a sentence for each group of numbers that nearly copy each other, and the pairs that hardly differ."""
    found: dict[frozenset[Node], float] = {}
    ranked = {name: _ranks(values) for name, values in some.numbers.items()}
    for one, other in _pairs(ranked, near):
        x, y = ranked[one], ranked[other]
        there = ~(np.isnan(x) | np.isnan(y))
        alike = _correlation(x[there], y[there]) if there.sum() >= _FEWEST_ROWS else 0.0
        if abs(alike) > _NEARLY and not there.all():
            alike = _correlation(_ranks(x[there]), _ranks(y[there]))
        if abs(alike) > _NEARLY:
            found[frozenset((one, other))] = alike
    told = []
    for group in _joined(found):
        within = {pair: alike for pair, alike in found.items() if pair <= group}
        least = min(map(abs, within.values()))
        listed = in_order(group)
        if len(listed) == 2:  # noqa: PLR2004 - a pair
            sign = "" if next(iter(within.values())) > 0 else ", in reverse"
            words = f"columns {listed[0]!r} and {listed[1]!r} are nearly copies of each other{sign}"
            told.append((group, f"{words}: their ranks correlate by {least:.4f}"))
        else:
            words = f"columns {listing(listed)} are nearly copies of each other: their ranks correlate by {least:.4f}"
            told.append((group, f"{words} or more; an edge at one of these may stand for one at any"))
    return told, {pair for pair, alike in found.items() if abs(alike) > _RANKS_ALIKE}


def _joined(pairs: Iterable[frozenset[Node]]) -> list[frozenset[Node]]:
    """Return the groups that pairs with a column in common make."""
    groups: list[frozenset[Node]] = []
    for pair in pairs:
        meeting = [group for group in groups if not group.isdisjoint(pair)]
        groups = [group for group in groups if group.isdisjoint(pair)]
        groups.append(pair.union(*meeting))
    return groups


def _ranks(values: Floats) -> Floats:
    """Return the average ranks of values, NaN where one is missing."""
    there = ~np.isnan(values)
    _, places, counts = np.unique(values[there], return_inverse=True, return_counts=True)
    ranks = np.full(len(values), np.nan)
    ranks[there] = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return ranks


def _correlation(x: Floats, y: Floats) -> float:
    x, y = x - x.mean(), y - y.mean()
    scale = np.sqrt((x @ x) * (y @ y))
    return float(x @ y / scale) if scale > 0 else 0.0


def _category_copies(some: _Columns, near: frozenset[Node]) -> list[Told]:
    found = []
    for one, other in _pairs(some.categories, near):
        x, y = some.categories[one], some.categories[other]
        there = (x >= 0) & (y >= 0)
        rows = int(there.sum())
        spans = len(some.levels[one]), len(some.levels[other])
        if rows < _FEWEST_ROWS or spans[0] * spans[1] > _MOST_CELLS or min(spans) < 2:  # noqa: PLR2004 - it varies
            continue
        joint = np.bincount(x[there] * spans[1] + y[there], minlength=spans[0] * spans[1]).reshape(spans)
        # A level and its partner must choose each other, so that two levels never share a partner.
        best, back = joint.argmax(axis=1), joint.argmax(axis=0)
        agreeing = sum(int(joint[level, best[level]]) for level in range(spans[0]) if back[best[level]] == level)
        rare = rows - int(max(joint.sum(axis=1).max(), joint.sum(axis=0).max()))
        apart = rows - agreeing
        if 0 < apart <= min(_MOST_APART * rows, _MOST_APART_AMONG_RARE * rare):
            told = f"columns {one!r} and {other!r} are nearly copies of each other: they agree in {agreeing / rows:.2%}"
            found.append((frozenset((one, other)), f"{told} of the rows"))
    return found


def _cuts(some: _Columns, near: frozenset[Node]) -> list[Told]:
    found = []
    for name, codes in some.categories.items():
        if not 1 < len(some.levels[name]) <= _MOST_CUT_LEVELS:
            continue
        for number, values in some.numbers.items():
            if name not in near and number not in near:
                continue
            limits = _limits(codes, values, len(some.levels[name]))
            if limits is not None:
                order, edges = limits
                levels = ", ".join(repr(some.levels[name][level]) for level in order)
                at = ", ".join(f"{edge:.6g}" for edge in edges)
                where = f"with limit{'s' * (len(edges) > 1)} near {at}"
                advice = f"leave one of them out with {argument('drop', [name])} or {argument('drop', [number])}"
                told = f"column {name!r} follows from {number!r}: {levels} are intervals of it {where}; {advice}"
                found.append((frozenset((name, number)), told))
    return found


def _limits(codes: Codes, values: Floats, span: int) -> tuple[list[int], list[float]] | None:
    """Return the levels in the order of their intervals and the limits between these, or None if they overlap."""
    there = (codes >= 0) & ~np.isnan(values)
    codes, values = codes[there], values[there]
    counts = np.bincount(codes, minlength=span)
    seen = np.flatnonzero(counts)
    if len(values) < _FEWEST_ROWS or len(seen) < 2 or counts[seen].min() < _FEWEST_PER_LEVEL:  # noqa: PLR2004 - varies
        return None
    low, high = np.full(span, np.inf), np.full(span, -np.inf)
    np.minimum.at(low, codes, values)
    np.maximum.at(high, codes, values)
    order = seen[np.argsort(low[seen], kind="stable")]
    if (high[order[:-1]] >= low[order[1:]]).any():
        return None
    return order.tolist(), (high[order[:-1]] / 2 + low[order[1:]] / 2).tolist()


@attrs.frozen(eq=False)
class _Correlated:
    """Numbers that the others explain, with their correlations and the binary logarithms of their spreads."""

    names: tuple[Node, ...]
    alike: Floats
    spread: Floats
    usual: Floats

    def sums(self, copies: set[frozenset[Node]]) -> list[Told]:
        """Return a sentence for each sum, plain ones first; none that follows from those before."""
        left, told = list(range(len(self.names))), list[Told]()
        for plain in (True, False):
            for size in range(2, _MOST_SUMMANDS + 1):
                for whole in sorted(left, key=lambda one: -self.spread[one]):
                    others = [one for one in left if one != whole]
                    found = self._sum(whole, others, size, copies, plain=plain)
                    if found is not None:
                        told.append(found)
                        left.remove(whole)
        return told

    def _sum(
        self, whole: int, others: Sequence[int], size: int, copies: set[frozenset[Node]], *, plain: bool
    ) -> Told | None:
        for parts in combinations(others, size):
            members = [self.names[one] for one in (whole, *parts)]
            if any(frozenset(pair) in copies for pair in combinations(members, 2)):
                continue
            slopes = self._slopes(whole, list(parts))
            if (
                slopes is None
                or not self._holds(whole, list(parts))
                or plain != (np.abs(np.abs(slopes) - 1).max() < _UNIT)
            ):
                continue
            if not plain:
                listed = ", ".join(map(repr, members))
                return frozenset(members), f"columns {listed} follow from each other: a linear rule connects them"
            terms = sorted(zip(slopes < 0, members[1:], strict=True), key=lambda term: bool(term[0]))
            spelt = "".join(f" {'-' if minus else '+'} {name!r}" for minus, name in terms)
            told = f"column {members[0]!r} follows from others: it is{spelt.removeprefix(' +')}, but for a constant"
            return frozenset(members), told
        return None

    def _slopes(self, whole: int, parts: list[int]) -> Floats | None:
        """Return the slopes of a column on others that leave nothing of it unexplained, or None."""
        inner, outer = self.alike[np.ix_(parts, parts)], self.alike[parts, whole]
        slopes = np.linalg.lstsq(inner, outer, rcond=1e-9)[0].astype(np.float64)
        left = 1 - 2 * slopes @ outer + slopes @ inner @ slopes
        ratio = np.exp2(np.clip(self.spread[whole] - self.spread[parts], -_MOST_BITS, _MOST_BITS))
        return slopes * ratio if left < _UNEXPLAINED else None

    def _holds(self, whole: int, parts: list[int]) -> bool:
        """Return whether a rule holds where no value is extreme, and whether each part enters it there."""
        members = self.usual[[whole, *parts]]
        low, high = np.quantile(members, _USUAL, axis=1, keepdims=True)
        kept = members[:, ((members >= low) & (members <= high)).all(axis=0)]
        if kept.shape[1] < _FEWEST_ROWS:
            return False
        value, *others = kept - kept.mean(axis=1, keepdims=True)
        left = _unexplained(value, np.array(others))
        without = [_unexplained(value, np.array([*others[:at], *others[at + 1 :]])) for at in range(len(others))]
        return left < _ENTERS and min(without) > max(_ENTERS, _TIMES_MORE * left)


def _unexplained(value: Floats, others: Floats) -> float:
    """Return the share of the variance of a centred column that others leave, 1 if it has none."""
    total = float(value @ value)
    if not total > 0:
        return 1.0
    rest = value - np.linalg.lstsq(others.T, value, rcond=1e-9)[0] @ others
    return float(rest @ rest) / total


def _sums(some: _Columns, copies: set[frozenset[Node]], first: Sequence[Node]) -> list[Told]:
    """Return the sums; with few rows only the first of the columns, of which most follow from nothing, are compared."""
    varying = [name for name, values in some.numbers.items() if np.nanmax(values) > np.nanmin(values)]
    fewest = min((int((~np.isnan(some.numbers[name])).sum()) for name in varying), default=0)
    chosen_first = [name for name in dict.fromkeys(first) if name in varying]
    names = sorted(list(dict.fromkeys([*chosen_first, *varying]))[: max(3, fewest // 2)], key=varying.index)
    if len(names) < 3:  # noqa: PLR2004 - a sum and two parts
        return []
    values = np.stack([some.numbers[name] for name in names])
    values = values[:, ~np.isnan(values).any(axis=0)]
    if values.shape[1] < max(_FEWEST_ROWS, 2 * len(names)):
        return []
    # In units of its own power of two, so that no square of a column is too large or too small for a float.
    powers = np.frexp(np.abs(values).max(axis=1))[1]
    values = np.ldexp(values, -powers[:, None])
    deviation = values.std(axis=1)
    varies = np.flatnonzero(deviation > 0)
    names, values, deviation = [names[one] for one in varies.tolist()], values[varies], deviation[varies]
    scaled = (values - values.mean(axis=1, keepdims=True)) / deviation[:, None]
    spread = np.log2(deviation) + powers[varies]
    alike = scaled @ scaled.T / values.shape[1]
    # The diagonal of the inverse is one over the share that all other columns leave unexplained.
    left = 1 / np.diag(np.linalg.inv(alike + 1e-9 * np.eye(len(alike))))
    group = np.flatnonzero(left < _UNEXPLAINED)
    is_first = np.array([name in chosen_first for name in names], np.bool_)
    group = np.sort(group[np.lexsort((left[group], ~is_first[group]))][:_MOST_TRIED])
    chosen = tuple(names[one] for one in group.tolist())
    return _Correlated(chosen, alike[np.ix_(group, group)], spread[group], scaled[group]).sums(copies)

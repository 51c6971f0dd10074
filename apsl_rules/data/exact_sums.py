"""Sums, means, differences, products and ratios of columns, as exactly as the digits of the table tell.

Among very many columns plain sums and differences of two are found by projections. Where one column is the sum or
difference of two others but for a constant, so is its projection on any direction of centred rows. Few pairs agree
with a column in several projections, and only these are compared row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.formulas import PRECISION, Floats, line
from apsl_rules.names import Node

MOST_SUMMED = 1_000
"""So many columns at most are tried as parts of a sum."""

MOST_WHOLES = 60
"""For so many columns at most sums are looked for."""

_ROWS = 1_000
_LEAST_ROWS = 20
_PROJECTIONS = 4
#: How far a sum may be off, in standard deviations of the column; figures in tables are rounded.
_OFF = 1e-2
#: No projection of something as small as that is larger, but for one in very many.
_FAR = 6.0
_MOST_COMPARED = 200
_SIGNS = ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))


def plain_sums(columns: Mapping[Node, Floats], near: Sequence[Node]) -> Iterator[tuple[Node, Node, Node]]:
    """Yield the first (column, part, part) for each column of interest that is the plain sum or difference of two.

    Columns with missing values where the column of interest has none are left out.
    """
    names = list(dict.fromkeys([*near, *columns]))[:MOST_SUMMED]
    rows = np.zeros(0, np.intp)
    projected: _Projected | None = None
    for whole in near[:MOST_WHOLES]:
        there = np.flatnonzero(~np.isnan(columns[whole]))[:_ROWS]
        if len(there) < _LEAST_ROWS:
            continue
        if projected is None or not np.array_equal(rows, there):
            rows, projected = there, _Projected.of({name: columns[name][there] for name in names})
        found = projected.parts(whole)
        if found is not None:
            yield whole, *found


@attrs.frozen(eq=False)
class _Projected:
    """Some complete rows of centred columns that vary, and their projections on a few directions."""

    names: tuple[Node, ...]
    values: Floats
    sums: Floats

    @classmethod
    def of(cls, columns: Mapping[Node, Floats]) -> _Projected:
        """Centre and project columns; those with missing or endless values are left out."""
        with np.errstate(invalid="ignore", over="ignore"):
            values = np.stack([*columns.values()])
            values -= values.mean(axis=1, keepdims=True)
            squares = (values**2).sum(axis=1)
        used = np.flatnonzero(np.isfinite(squares) & (squares > 0))
        draws = np.random.default_rng(0).normal(size=(values.shape[1], _PROJECTIONS)) / np.sqrt(values.shape[1])
        names = [*columns]
        return cls(tuple(names[at] for at in used.tolist()), values[used], values[used] @ draws)

    def parts(self, whole: Node) -> tuple[Node, Node] | None:
        """Return the first two columns with which a column is a plain sum or difference."""
        if whole not in self.names:
            return None
        at = self.names.index(whole)
        scale = float(np.sqrt((self.values[at] ** 2).mean()))
        # A column that hardly varies in units of the whole is no part of it.
        is_part = np.sqrt((self.values**2).mean(axis=1)) > _FAR * _OFF * scale
        is_part[at] = False
        others = np.flatnonzero(is_part)
        sums, aim = self.sums[others] / scale, self.sums[at] / scale
        found: list[tuple[int, int]] = []
        for one, other in _SIGNS:
            pairs = _near(one * sums, other * sums, aim)
            found += [tuple(sorted(pair)) for pair in pairs[:_MOST_COMPARED].tolist()]
        for first, second in sorted(set(found)):
            x, y = others[first], others[second]
            if any(self._is_sum(at, one * self.values[x] + other * self.values[y], scale) for one, other in _SIGNS):
                return self.names[x], self.names[y]
        return None

    def _is_sum(self, at: int, total: Floats, scale: float) -> bool:
        off = (total - self.values[at]) / scale
        return float(off @ off) <= _OFF**2 * len(off)


def _near(one: Floats, other: Floats, aim: Floats) -> npt.NDArray[np.intp]:
    """Return the pairs of different rows of two arrays whose sums are near an aim in every column."""
    most = _FAR * _OFF
    order = np.argsort(other[:, 0], kind="stable")
    sorted_first = other[order, 0]
    low = np.searchsorted(sorted_first, aim[0] - one[:, 0] - most)
    high = np.searchsorted(sorted_first, aim[0] - one[:, 0] + most)
    counts = high - low
    left = np.repeat(np.arange(len(one)), counts)
    right = order[np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts - low, counts)]
    close = (np.abs(one[left] + other[right] - aim) < most).all(axis=1) & (left != right)
    return np.stack([left[close], right[close]], axis=1)


_FEWEST_ROWS = 20
_FEWEST_VALUES = 5
#: A term of a sum moves it by at least so many times the error of rounding.
_ENTERS = 6.0
#: A column that was computed and rounded is off by about as much as its last decimal tells.
_ROUNDED = 0.2
_EXPONENTS = (1, 2)


def exact_sums(
    numbers: Mapping[Node, Floats], errors: Mapping[Node, Floats], target: Node
) -> Iterator[tuple[Node, str]]:
    """Tell the columns that make a sum, a mean, a difference, a product or a ratio with a target.

    ``errors`` say by how much values may be off as they are written.
    """
    for is_product in (False, True):
        linear = _Linear.of(numbers, errors, target, is_product=is_product)
        if linear is not None:
            yield from linear.told()


@attrs.frozen(eq=False)
class _Linear:
    """Numbers as the terms of sums, or their logarithms as the factors of products, with their errors."""

    target: int
    names: tuple[Node, ...]
    values: Floats
    errors: Floats
    is_product: bool

    @classmethod
    def of(
        cls, numbers: Mapping[Node, Floats], errors_of: Mapping[Node, Floats], target: Node, *, is_product: bool
    ) -> _Linear | None:
        """Take the numbers that vary, in the rows in which the target is there; for products positive ones alone."""
        aim = numbers[target]
        rows = ~np.isnan(aim)
        names, values, errors = [], [], []
        for name, given in numbers.items():
            own, error = given[rows], errors_of[name][rows]
            if (~np.isnan(own)).sum() < max(_FEWEST_ROWS, rows.sum() / 2):
                continue
            with np.errstate(all="ignore"):
                if is_product:
                    if not np.nanmin(own, initial=np.inf) > 0:
                        continue
                    own, error = np.log(own), error / own
                spread = np.nanstd(own)
            if np.isfinite(spread) and spread > 0 and len(np.unique(own)) >= _FEWEST_VALUES:
                names.append(name)
                values.append(own)
                errors.append(error)
        if target not in names or len(names) < 3:  # noqa: PLR2004 - a sum and two terms
            return None
        return cls(names.index(target), tuple(names), np.stack(values), np.stack(errors), is_product)

    def told(self) -> Iterator[tuple[Node, str]]:
        """Tell the columns to set aside for each relation of three columns, or of many with equal weights."""
        taken: set[int] = set()
        for whole, terms in (*self._pairs(), *self._totals()):
            if taken & {whole, *(place for place, _ in terms)}:
                continue
            aside = self._aside(whole, terms)
            if not aside:
                continue
            taken |= aside
            for place in sorted(aside):
                yield self.names[place], self._sentence(place, whole, terms, is_alone=len(aside) == 1)

    def _aside(self, whole: int, terms: Sequence[tuple[int, float]]) -> set[int]:
        """Return what contains the target: the whole, or all terms of its own sum, or what it is taken from."""
        if whole != self.target:
            (sign,) = {np.sign(weight) for place, weight in terms if place == self.target}
            if sign > 0:
                return {whole}
            return {place for place, weight in terms if weight > 0}  # whole + target = others
        return {place for place, weight in terms if weight > 0}

    def _pairs(self) -> Iterator[tuple[int, list[tuple[int, float]]]]:
        """Give each column that is a multiple of the sum or difference of two others, one of all three the target.

        The column that was computed comes before those that are so because of it.
        """
        tried = list(self._candidates())
        exact = [(whole, terms, self._exact(whole, terms, is_computed=True)) for whole, terms in tried]
        yield from ((whole, found[0]) for whole, _, found in exact if found is not None and found[1] > _ROUNDED)
        yield from ((whole, found[0]) for whole, _, found in exact if found is not None and found[1] <= _ROUNDED)
        for whole, terms, found in exact:
            if found is None and (loose := self._exact(whole, terms)) is not None:
                yield whole, loose[0]

    def _candidates(self) -> Iterator[tuple[int, list[tuple[int, float]]]]:
        """Give the columns that nearly are such multiples."""
        spread = np.nanstd(self.values, axis=1)
        scaled = (self.values - np.nanmean(self.values, axis=1, keepdims=True)) / spread[:, None]
        there = ~np.isnan(scaled)
        filled = np.where(there, scaled, 0)
        alike = filled @ filled.T / np.maximum(there.astype(np.float64) @ there.T, 1)
        exponents = _EXPONENTS if self.is_product else (1,)
        t, places = self.target, range(len(self.names))
        tried = [(t, one, other) for one, other in combinations([place for place in places if place != t], 2)]
        tried += [
            (whole, t, other) for whole in places for other in places if t not in (whole, other) and whole != other
        ]
        powers = [(first, second) for first in exponents for second in exponents if 1 in (first, second)]
        ways = [(first, sign * second) for first, second in powers for sign in (1, -1)]
        for whole, one, other in tried:
            for first, second in ways:
                weights = first * spread[one], second * spread[other]
                joint = weights[0] * alike[whole, one] + weights[1] * alike[whole, other]
                size = weights[0] ** 2 + weights[1] ** 2 + 2 * weights[0] * weights[1] * alike[one, other]
                if size > 0 and abs(joint) >= 0.9 * np.sqrt(size):
                    yield whole, [(one, float(first)), (other, float(second))]

    def _totals(self) -> Iterator[tuple[int, list[tuple[int, float]]]]:
        """Give each column that is the sum or mean of more than two others, the target among these."""
        rows = ~np.isnan(self.values).any(axis=0)
        if self.is_product or rows.sum() < 2 * len(self.names) + _FEWEST_ROWS or len(self.names) < 4:  # noqa: PLR2004
            return
        values = self.values[:, rows]
        spread = values.std(axis=1)
        if (spread == 0).any():
            return
        scaled = (values - values.mean(axis=1, keepdims=True)) / spread[:, None]
        inverse = np.linalg.inv(scaled @ scaled.T / values.shape[1] + 1e-9 * np.eye(len(scaled)))
        explained = np.flatnonzero(1 / np.diag(inverse) < 1e-4).tolist()  # noqa: PLR2004 - others leave nothing
        for whole in sorted(explained, key=lambda place: place != self.target):
            slopes = -inverse[whole] / inverse[whole, whole] * spread[whole] / spread
            slopes[whole] = 0
            largest = np.abs(slopes).max()
            terms = [(place, slopes[place]) for place in np.flatnonzero(np.abs(slopes) > 0.3 * largest).tolist()]
            if len(terms) > 2 and self.target in (whole, *(place for place, _ in terms)):  # noqa: PLR2004
                signs = [(place, float(np.sign(slope))) for place, slope in terms]
                exact = self._exact(whole, signs, is_computed=True) or self._exact(whole, signs)
                if exact is not None:
                    yield whole, exact[0]

    def _exact(
        self, whole: int, terms: Sequence[tuple[int, float]], *, is_computed: bool = False
    ) -> tuple[list[tuple[int, float]], float] | None:
        """Return the terms with their weights if these give the column as exactly as digits tell, or None.

        With ``is_computed`` the column itself was computed from the others as they are written. The figure is the most
        by which it is off, in errors of its own.
        """
        used = ~np.isnan(self.values[[whole, *(place for place, _ in terms)]]).any(axis=0)
        if used.sum() < max(_FEWEST_ROWS, used.size / 2):
            return None
        parts = np.stack([weight * self.values[place][used] for place, weight in terms])
        errors = np.stack([abs(weight) * self.errors[place][used] for place, weight in terms])
        y, error = self.values[whole][used], self.errors[whole][used]
        total, exact = parts.sum(axis=0), PRECISION * np.abs(parts).sum(axis=0)
        off, own = (exact, error) if is_computed else (errors.sum(axis=0), error)
        if (found := line(total, y, off, own)) is None:
            return None
        slope = found[0]
        if self.is_product and abs(abs(slope) - 1) > 1e-2:  # noqa: PLR2004 - a power
            return None
        if (abs(slope) * parts.std(axis=1) < _ENTERS * np.median(own + abs(slope) * off)).any():
            return None
        apart = np.abs(slope * total + found[1] - y)  # values without an error fit or they do not
        most = float(np.max(np.divide(apart, own, out=np.where(apart > 0, np.inf, 0.0), where=own > 0)))
        return [(place, weight * slope) for place, weight in terms], most

    def _sentence(self, place: int, whole: int, terms: Sequence[tuple[int, float]], *, is_alone: bool) -> str:
        """Return what a column is, solved for it where it alone contains the target."""
        own = next((weight for one, weight in terms if one == place), None)
        if own is None:
            return f"is {self._spelt(terms)}"
        if is_alone and not (self.is_product and abs(own) > 1.5):  # noqa: PLR2004 - a square
            others = [(one, -weight / own) for one, weight in terms if one != place]
            return f"is {self._spelt([(whole, 1 / own), *others])}"
        return f"is in {self.names[whole]!r} = {self._spelt(terms)}"

    def _spelt(self, terms: Sequence[tuple[int, float]]) -> str:
        """Return a sum or a product as it is written."""
        ordered = sorted(terms, key=lambda term: term[1] < 0)
        if self.is_product:
            over = [self._factor(place, -weight) for place, weight in ordered if weight < 0]
            top = [self._factor(place, weight) for place, weight in ordered if weight > 0]
            return " / ".join([" · ".join(top) or "1", *over])
        sizes = {f"{abs(weight):.3g}" for _, weight in terms}
        joined = sizes.pop() if len(sizes) == 1 else ""
        told = ""
        for place, weight in ordered:
            sign = "-" if weight < 0 else "+"
            size = "" if joined or f"{abs(weight):.3g}" == "1" else f"{abs(weight):.3g} · "
            told += f" {sign} {size}{self.names[place]!r}" if told else f"{sign.strip('+')}{size}{self.names[place]!r}"
        return told if joined in ("", "1") else f"{joined} · ({told})"

    def _factor(self, place: int, power: float) -> str:
        return f"{self.names[place]!r}{'²' if power > 1.5 else ''}"  # noqa: PLR2004 - a square

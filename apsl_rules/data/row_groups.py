"""Rows that belong together: notice which column says so, and say what the rows are worth.

Only counts and sums are looked at. One rule acts by itself: two columns form a key, so that no two rows agree in both
although by chance many would. The weaker rules, columns that are constant in groups and means of groups that differ
under the name of an identifier, only give a note. All limits were chosen on one half of 371 published tables that were
labelled by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Column, Source
from apsl_rules.data.kinds import group_columns, is_auto, is_id_name
from apsl_rules.data.reading import Reading
from apsl_rules.data.roles import combined
from apsl_rules.data.times import notice_series
from apsl_rules.errors import DataError
from apsl_rules.names import Node, count_of, listing, require_known
from apsl_rules.notes import Note, argument, named

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
#: The rule by which groups were noticed.
Rule: TypeAlias = Literal["key", "constants", "means"]

#: Names of what has several rows.
_OWNER = re.compile(
    r"(?:^|[_. ])(?:id|nr|subject|subj|patient|person|firm|company|country|state|county|city|schools?|schid|schoolid|"
    r"child|childid|pig|rat|herd|class|classroom|district|distid|fcode|code|village|household|hh|idcode|individual|"
    r"player|station|clinic|hospital|store|shop|site|team|farm|litter|family|user|customer)(?:[_. ]|$)|id$",
    re.IGNORECASE,
)
#: Names of parts of a date, two of which always tell rows apart.
_TIME = re.compile(
    r"^(?:day_of_\w+|wday|weekday|year|yr|date|time|month|quarter|qtr|week|day|t|wave|period|round|visit|age|days?|"
    r"hours?)$",
    re.IGNORECASE,
)
#: So many rows, the first ones, are looked at, so that groups stay together; and so few tell nothing.
NOTICED_ROWS, _FEWEST_ROWS = 20_000, 15
#: The fewest groups, those for a rule to act or to note, and rows for each.
_FEWEST_GROUPS, _ENOUGH_GROUPS, _ROWS_EACH, _SEVERAL = 5, 10, 1.8, 0.5
#: A key: pairs of rows that chance would have alike, and the share of them that may be.
_BY_CHANCE, _ALIKE = 10.0, 0.005
#: The share of values that must be there, and the share of rows that distinct values of the other column may be.
_THERE, _DISTINCT = 0.9, 0.6
#: Rows that are looked at before all are, to see that two columns form no key.
_QUICK = 2000
#: Columns beyond this are too many to compare each with each; then only those of an owner's name or of text are.
_WIDE = 150
#: What makes means of groups differ: the intraclass correlation, how sure it is, and the share of columns with both.
_CORRELATED, _SURE, _SHARE = 0.1, 5.0, 0.3
#: Means of neighbouring numbers that differ as much as any two: a number then names a group and is no quantity.
_ROUGH = 0.5
#: The most levels of a category whose rows of the commonest level are compared.
_LEVELS = 30
_LEAST = 1e-9


@attrs.frozen
class NoticedGroups:
    """The columns by which rows are learned in groups, and what is to be said of it."""

    acting: tuple[Node, ...] = ()
    notes: tuple[Note, ...] = ()


def notice_groups(source: Source, reading: Reading) -> NoticedGroups:
    """Notice groups among the rows of a source, or look at those that the caller named."""
    rows = np.arange(min(source.rows, NOTICED_ROWS))
    is_all = source.rows <= NOTICED_ROWS

    def column(place: int) -> Column:
        whole = source.column(place)
        return whole if is_all else whole.take(rows)

    table = ColumnsInOrder(source.names, [column(place) for place in range(len(source.names))], source.rows)
    asked = group_columns(reading.groups)
    if not is_auto(reading.groups):
        return table.as_told(asked)
    spoken = {*(reading.kinds or {}), *(reading.discretize if isinstance(reading.discretize, dict) else ())}
    found = table.noticed(spoken)
    if found.notes or reading.time is not None:
        return found
    series = notice_series(table.names, table.columns, table.scores, source.rows)
    return NoticedGroups(notes=() if series is None else (series,))


@attrs.frozen
class Candidate:
    """A column that may say which rows belong together, the rule that says so, and how much speaks for it."""

    place: int
    rule: Rule
    groups: int
    apart: Node | None
    score: float


@attrs.frozen(eq=False, slots=False)
class ColumnsInOrder:
    """The first rows of the columns of a table, in their order; the table has so many ``rows`` in all."""

    names: Sequence[Node]
    columns: Sequence[Column]
    rows: int

    @cached_property
    def _codes(self) -> list[Integers]:
        """Return each column as the numbers of its values, -1 where it has none."""
        return [_codes_of(one) for one in self.columns]

    @cached_property
    def _levels(self) -> list[int]:
        return [int(codes.max(initial=-1)) + 1 for codes in self._codes]

    @cached_property
    def scores(self) -> list[Floats | None]:
        """Return normal scores of numbers and of the commonest level of categories; None for what has neither."""
        return [
            _scores_of(one, codes, levels)
            for one, codes, levels in zip(self.columns, self._codes, self._levels, strict=True)
        ]

    @cached_property
    def _seen(self) -> int:
        return len(self._codes[0]) if self._codes else 0

    def as_told(self, names: tuple[Node, ...]) -> NoticedGroups:
        """Look at the groups that a caller named."""
        if not names:
            return NoticedGroups()
        for name in names:
            require_known(name, self.names, f"column in {named('groups')}")
        places = [list(self.names).index(name) for name in names]
        number = combined([self._codes[place] for place in places])
        groups = int(number.max(initial=-1)) + 1
        if groups < 2:  # noqa: PLR2004 - one group is a table of independent rows
            none = argument("groups", "none", python="groups=None")
            message = (
                f"the rows have {count_of(groups, 'group')} by {listing(names)}, and at least 2 are needed; give "
                f"{none}, which treats rows as independent"
            )
            raise DataError(message)
        return NoticedGroups(names, (self._note(names, number, None, acts=True, is_told=True),))

    def noticed(self, spoken: set[Node]) -> NoticedGroups:
        """Notice groups; a column of which the caller said what it is only gets a note."""
        if self._seen < _FEWEST_ROWS or len(self.names) < 2:  # noqa: PLR2004 - groups, and what is in them
            return NoticedGroups()
        best = max(self._candidates(), key=lambda one: (one.score, -one.place), default=None)
        if best is None:
            return NoticedGroups()
        name = self.names[best.place]
        acts = best.rule == "key" and best.groups >= _ENOUGH_GROUPS and name not in spoken and "*" not in spoken
        note = self._note((name,), self._codes[best.place], best.apart, acts=acts, is_told=False)
        return NoticedGroups((name,) if acts else (), (note,))

    def _candidates(self) -> Iterator[Candidate]:
        is_wide = len(self.names) > _WIDE
        for place, (codes, groups) in enumerate(zip(self._codes, self._levels, strict=True)):
            is_label, is_owner = self.columns[place].is_label, self._is_owner(place)
            if groups < _FEWEST_GROUPS or self._seen / groups < _ROWS_EACH or not self._is_there(place):
                continue
            if not (is_label or self._is_whole(place)) or (is_wide and not (is_label or is_owner)):
                continue
            sizes = np.bincount(codes[codes >= 0], minlength=groups).astype(np.float64)
            if np.mean(sizes > 1) < _SEVERAL:
                continue
            yield from self._judged(place, codes, sizes, is_label=is_label)

    def _judged(self, place: int, codes: Integers, sizes: Floats, *, is_label: bool) -> Iterator[Candidate]:
        """Yield a column as a candidate if a rule speaks for it; labels are no quantities."""
        groups = len(sizes)
        apart = self._apart(place, codes, sizes)
        is_time, is_owner = self._is_time(place), self._is_owner(place)
        if apart is not None and is_time and self._is_time(apart) and not is_owner:
            return  # parts of one date
        is_packed = 1 + np.count_nonzero(np.diff(codes)) <= 1.05 * groups + 1
        if apart is None and (is_time or groups < _ENOUGH_GROUPS or not (is_owner or is_packed)):
            return
        within = [self._inside(other, codes, sizes) for other in range(len(self.names)) if other != place]
        varying = [one for one in within if one is not None and not one.is_constant]
        if not varying:
            return
        is_no_quantity = is_label or (is_owner and apart is not None) or self._is_rough(place, codes, sizes)
        if not is_no_quantity:
            return
        constant = sum(one is not None and one.is_constant for one in within)
        differ = sum(one.correlation > _CORRELATED and one.sure > _SURE for one in varying)
        some = any(one.correlation > 0.03 and one.sure > _SURE for one in varying)  # noqa: PLR2004 - a weak but sure one
        rule: Rule | None = None
        if apart is not None:
            rule = "key"
        elif constant and some:
            rule = "constants"
        elif is_owner and differ >= max(1, _SHARE * len(varying)):
            rule = "means"
        if rule is None:
            return
        strength = float(np.mean([np.clip(one.correlation, 0, 1) for one in varying]))
        score = strength + 0.3 * is_owner + 0.2 * is_packed + 0.1 * constant - 0.5 * is_time
        yield Candidate(
            place, rule, groups, None if apart is None else self.names[apart], (1 + (rule == "key")) * score
        )

    # --- the rules ---------------------------------------------------------------------------------------------------

    def _apart(self, place: int, codes: Integers, sizes: Floats) -> int | None:
        """Return the column that tells the rows of each group apart, against chance; the clearest one."""
        pairs = float((sizes * (sizes - 1) / 2).sum())
        best, most = None, 0.0
        for other, number in enumerate(self._codes):
            levels = self._levels[other]
            if other == place or not 1 < levels <= max(_DISTINCT * self._seen, 2) or not self._is_there(other):
                continue
            shares = np.bincount(number[number >= 0], minlength=levels) / np.count_nonzero(number >= 0)
            expected = pairs * float((shares**2).sum())
            if expected < max(_BY_CHANCE, most):
                continue
            both = (codes >= 0) & (number >= 0)
            keys = (codes * (levels + 1) + number)[both]
            limit = _ALIKE * expected
            if _collisions(keys[:_QUICK]) <= limit and _collisions(keys) <= limit and self._varies(number, codes):
                best, most = other, expected
        return best

    def _varies(self, number: Integers, codes: Integers) -> bool:
        """Return whether a column varies inside groups."""
        there = (number >= 0) & (codes >= 0)
        return len(np.unique(codes[there] * (number.max() + 1) + number[there])) > len(np.unique(codes[there]))

    def _inside(self, place: int, codes: Integers, sizes: Floats) -> Inside | None:
        scores = self.scores[place]
        return None if scores is None else Inside.of(scores, codes, len(sizes))

    def _is_rough(self, place: int, codes: Integers, sizes: Floats) -> bool:
        """Return whether means of groups with neighbouring numbers differ as much as any: no quantity does so."""
        found = []
        for other, scores in enumerate(self.scores):
            if other == place or scores is None:
                continue
            there = ~np.isnan(scores) & (codes >= 0)
            counts = np.bincount(codes[there], minlength=len(sizes))
            means = np.bincount(codes[there], scores[there], len(sizes))[counts > 0] / counts[counts > 0]
            if len(means) > 4 and means.var() > _LEAST:  # noqa: PLR2004 - fewer say nothing
                found.append(float(np.mean(np.diff(means) ** 2) / (2 * means.var())))
        return bool(np.median(found) > _ROUGH) if found else True

    def _is_owner(self, place: int) -> bool:
        name = self.names[place]
        return bool(_OWNER.search(str(name))) or is_id_name(name)

    def _is_time(self, place: int) -> bool:
        return bool(_TIME.match(str(self.names[place])))

    def _is_there(self, place: int) -> bool:
        return bool(np.count_nonzero(self._codes[place] >= 0) >= _THERE * self._seen)

    def _is_whole(self, place: int) -> bool:
        column = self.columns[place]
        return not column.is_label and column.values.dtype.kind in "iu"

    # --- what is said of it ------------------------------------------------------------------------------------------

    def _note(
        self, names: tuple[Node, ...], number: Integers, apart: Node | None, *, acts: bool, is_told: bool
    ) -> Note:
        groups = int(number.max(initial=-1)) + 1
        sizes = np.bincount(number[number >= 0], minlength=groups).astype(np.float64)
        inside = [
            one
            for place, name in enumerate(self.names)
            if name not in names and name != apart and (one := self._inside(place, number, sizes)) is not None
        ]
        worth = _worth(inside, sizes, self.rows)
        by = listing(names)
        told_apart = "" if apart is None else f" ({apart!r} tells them apart)"
        more = "" if self._seen == self.rows else f"in the first {self._seen:,}, "
        said = f"rows come in {more}{groups:,} groups by {by}{told_apart}: worth about {worth:,} independent rows"
        none = argument("groups", "none", python="groups=None")
        given = argument("groups", names[0] if len(names) == 1 else [*names])
        if acts:
            said = f"{said}; learned inside the groups and between them" + (
                "" if is_told else f", and {none} treats rows as independent"
            )
        else:
            said = f"{said}; {given} learns inside the groups and between them"
        return Note(said, "groups", columns=[*names], groups=groups, rows=self.rows, worth=worth, acts=acts)


@attrs.frozen
class Inside:
    """What of a column varies inside groups: its intraclass correlation, how sure that is, and whether nothing does."""

    correlation: float
    sure: float
    is_constant: bool

    @classmethod
    def of(cls, scores: Floats, codes: Integers, groups: int) -> Inside | None:
        """Compare the spread of means of groups with the spread inside; None where there is too little."""
        there = ~np.isnan(scores) & (codes >= 0)
        values, number = scores[there], codes[there]
        sizes = np.bincount(number, minlength=groups).astype(np.float64)
        rows, filled = len(values), int(np.count_nonzero(sizes))
        if filled < 3 or rows - filled < 5:  # noqa: PLR2004 - degrees of freedom
            return None
        sums = np.bincount(number, values, groups)
        total = float(((values - values.mean()) ** 2).sum())
        if total <= _LEAST:
            return None
        between = float((sums[sizes > 0] ** 2 / sizes[sizes > 0]).sum() - rows * values.mean() ** 2)
        within = max(total - between, 0.0)
        if within < _LEAST * total:
            return cls(1.0, np.inf, is_constant=True)
        size = (rows - float((sizes**2).sum()) / rows) / (filled - 1)
        of_means, of_rows = between / (filled - 1), within / (rows - filled)
        correlation = (of_means - of_rows) / (of_means + (size - 1) * of_rows)
        sure = float(np.log(max(of_means / of_rows, _LEAST)) / np.sqrt(2 / (filled - 1) + 2 / (rows - filled)))
        return cls(float(correlation), sure, is_constant=False)


def _worth(inside: Sequence[Inside], sizes: Floats, rows: int) -> int:
    """Return how many independent rows would tell as much of two columns, on average over the pairs."""
    kept = [float(np.clip(one.correlation, 0, 1)) for one in inside]
    products = [one * other for one, other in combinations(kept, 2)] or [one * one for one in kept] or [0.0]
    size = float((sizes**2).sum() / max(sizes.sum(), 1))
    return round(rows / (1 + max(size - 1, 0) * float(np.mean(products))))


def _codes_of(column: Column) -> Integers:
    """Return the numbers of the values of a column in their order, -1 where there is none."""
    if column.is_label:
        codes, gone = column.codes.astype(np.int64), column.codes < 0
    else:
        codes, gone = np.zeros(len(column.values), np.int64), column.missing
        codes[~gone] = np.unique(column.values[~gone], return_inverse=True)[1]
    if column.is_label:
        seen = np.unique(codes[~gone])
        codes = np.searchsorted(seen, codes)
    codes[gone] = -1
    return codes


def _scores_of(column: Column, codes: Integers, levels: int) -> Floats | None:
    there = codes >= 0
    count = int(np.count_nonzero(there))
    if levels < 2 or not count:  # noqa: PLR2004 - it never varies
        return None
    found: Floats = np.full(len(codes), np.nan)
    rows = np.bincount(codes[there], minlength=levels)
    if column.is_label:
        if levels > _LEVELS:
            return None
        found[there] = codes[there] == int(rows.argmax())
        return found
    found[there] = _quantiles(rows.tobytes())[codes[there]]
    return found


@lru_cache(maxsize=4)
def _quantiles(rows: bytes) -> Floats:
    """Return the normal scores of values that stand in so many rows; numbers without ties have the same ones."""
    from statistics import NormalDist

    counts = np.frombuffer(rows, np.int64)
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    quantile = NormalDist().inv_cdf
    return np.array([quantile(share) if 0.0 < share < 1.0 else np.nan for share in middle.tolist()])


def _collisions(keys: Integers) -> float:
    """Return how many pairs of rows have the same key."""
    if not len(keys):
        return 0.0
    _, counts = np.unique(keys, return_counts=True)
    found = counts.astype(np.float64)
    return float((found * (found - 1) / 2).sum())

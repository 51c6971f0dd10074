"""Counts of columns from anywhere: the protocol, the counts that are kept, and rows collapsed to distinct ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import log, prod
from threading import RLock
from typing import Protocol, TypeVar, runtime_checkable

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.dataset import (
    NO_TRAFFIC,
    Codes,
    CountedDataset,
    Heading,
    Joint,
    Traffic,
    Weights,
    codes_joined,
)
from apsl_rules.data.duplicates import Pairs, compare, content_fingerprint, same_totals
from apsl_rules.data.one_hot import OneHot, Place, arranged
from apsl_rules.errors import TooManyCombinationsError
from apsl_rules.names import Node, listing
from apsl_rules.notes import Note, argument

__all__ = [
    "MOST",
    "CachedCounts",
    "CountSource",
    "Heading",
    "Joint",
    "Weights",
    "collapse",
    "pack_codes",
    "unpack_codes",
]


@runtime_checkable
class CountSource(Protocol):
    """An engine that counts the rows of a table of categories where they are."""

    @property
    def kind(self) -> str:
        """Return the name of the counting method, such as "duckdb"."""

    @property
    def heading(self) -> Heading:
        """Return the columns, their levels and the number of rows."""

    @property
    def cheap(self) -> int:
        """Return how many combinations a set of columns may have for it to be counted as quickly as any part of it."""

    def joints(self, sets: Sequence[tuple[int, ...]], most: int) -> Sequence[Joint | None]:
        """Count sets of columns in one round; None for a set with more than ``most`` combinations."""

    def complete(self, sets: Sequence[tuple[int, ...]]) -> Sequence[int]:
        """Count, for each set of columns, the rows in which none of them is missing."""

    def sample(self) -> Codes:
        """Return the codes of some of the rows, columns by rows, from which the size of answers is guessed."""


_FEW = 1024
_HALF = 2


class Sizing:
    """Guesses from a sample how many combinations occur in all rows.

    Combinations grow with the rows like a power of their number; the power is read off the sample and its first half.
    The guess only decides what is asked together, never what comes out.
    """

    def __init__(self, heading: Heading, sample: Codes) -> None:
        self._spans = heading.spans.tolist()
        self._rows = heading.rows
        self._sample = sample
        self._known: dict[frozenset[int], float] = {}

    def guess(self, places: Collection[int]) -> float:
        """Guess the number of combinations in some columns."""
        key = frozenset(places)
        if key not in self._known:
            self._known[key] = self._guess(sorted(key))
        return self._known[key]

    def _guess(self, places: list[int]) -> float:
        spans = [self._spans[place] for place in places]
        possible = float(prod(spans))
        lines = self._sample.shape[1]
        if possible <= _FEW or lines < _HALF:
            return min(possible, float(self._rows))
        keys, _ = pack_codes(self._sample[places], spans)
        seen, seen_early = len(np.unique(keys)), len(np.unique(keys[: lines // _HALF]))
        power = log(seen / seen_early) / log(_HALF) if seen_early else 1.0
        grown = float(seen * max(self._rows / lines, 1.0) ** power)
        return min(possible, float(self._rows), grown)


Value = TypeVar("Value")

MOST = 1 << 20
"""The most combinations that are asked for beyond what a single test needs."""

_MOST_OF_ONE = 1 << 25
_BYTES_KEPT = 1 << 28
_SMALL = 1 << 12
_WIDEST = 24


class Covers(dict[frozenset[int], Value]):
    """Values by sets of columns, found again by any set that one of them contains."""

    def __init__(self) -> None:
        super().__init__()
        self._holding: dict[int, dict[frozenset[int], None]] = {}

    def __setitem__(self, columns: frozenset[int], value: Value) -> None:
        super().__setitem__(columns, value)
        for column in columns:
            self._holding.setdefault(column, {})[columns] = None

    def __delitem__(self, columns: frozenset[int]) -> None:
        super().__delitem__(columns)
        for column in columns:
            del self._holding[column][columns]

    def covering(self, columns: frozenset[int]) -> list[Value]:
        """Return the values of all sets that contain some columns."""
        if columns in self:
            return [self[columns]]
        fewest = min((self._holding.get(column, {}) for column in columns), key=len)
        return [self[one] for one in fewest if columns <= one]


class CachedCounts(CountedDataset):
    """Categories whose rows are elsewhere: an engine counts many sets of columns in one round, and counts are kept.

    ``rounds`` counts the rounds, ``tables`` the sets of columns that were counted in them, and ``moved`` the bytes
    that came back; ``note`` says why the source was chosen, where the user did not choose it.
    """

    def __init__(self, source: CountSource, note: str | None = None) -> None:
        self.source = source
        self.note = note
        self.heading: Heading = source.heading
        self.kind = source.kind
        self.names, self.columns, self.notes = self.heading.names, self.heading.columns, self.heading.notes
        self._hash: Callable[[int], bytes] | None = getattr(source, "fingerprint", None)
        self.can = frozenset({"counts", "fingerprint"} if self._hash is not None else {"counts"})
        self.rounds = self.tables = self.moved = 0
        self._sizing: Sizing | None = None
        self._kept: Covers[Joint] = Covers()
        self._large: set[frozenset[int]] = set()
        self._complete: dict[tuple[int, ...], int] = {}
        self._lock = RLock()

    # --- rounds ------------------------------------------------------------------------------------------------------

    def fetch(self, sets: Iterable[Collection[int]], *, needed: bool = False) -> None:
        """Count sets of columns in one round, except those that follow from counts in the cache.

        What is ``needed`` is counted however large it is; other sets may turn out to be too large.
        """
        with self._lock:
            self._make_room()
            wanted = list(dict.fromkeys(map(frozenset, sets)))
            self._count(self._join_sets([one for one in wanted if self.fits(one)]), MOST)
            left = [one for one in wanted if self._cover(one) is None]  # what was joined to too much, or is large
            if not needed:
                self._count([one for one in left if self.fits(one)], MOST)
                return
            self._count(left, _MOST_OF_ONE)
            for one in left:
                self._require(one)

    def has(self, places: Collection[int]) -> bool:
        """Return whether some columns need no round."""
        with self._lock:
            return self._cover(frozenset(places)) is not None

    def fits(self, places: Collection[int], most: float | None = None) -> bool:
        """Return whether some columns are cached, or can be counted together without too many combinations."""
        columns = frozenset(places)
        with self._lock:
            if self._cover(columns) is not None:
                return True
            largest = MOST if most is None else most
            return not any(large <= columns for large in self._large) and self.guess(columns) <= largest

    def guess(self, places: Collection[int]) -> float:
        """Guess how many combinations some columns have."""
        with self._lock:
            if self._sizing is None:
                self._sizing = Sizing(self.heading, self.source.sample())
            return self._sizing.guess(places)

    def joint(self, places: Sequence[int]) -> Joint:
        """Return the combinations of some columns, in their order, and count them if they are not cached."""
        with self._lock:
            kept = self._cover(frozenset(places))
            if kept is None:
                self.fetch([places], needed=True)
                kept = self._kept[frozenset(places)]
            lines = [kept.places.index(place) for place in places]
            if len(lines) == len(kept.places):
                return Joint(tuple(places), kept.codes[lines], kept.weights)
            codes, weights = collapse(kept.codes[lines], self.heading.spans[list(places)].tolist(), kept.weights)
            joint = Joint(tuple(places), codes, weights)
            if 2 * len(weights) < len(kept.weights):
                self._kept[frozenset(places)] = joint
            return joint

    def near(self, places: Collection[int]) -> Joint:
        """Return combinations of some columns, and of others too where that is cached and small."""
        with self._lock:
            kept = self._cover(frozenset(places))
            if kept is not None and (len(kept.weights) <= _SMALL or len(kept.places) == len(set(places))):
                return kept
            return self.joint(sorted(set(places)))

    def rows_used(self, places: Sequence[int]) -> int:
        """Count the rows in which none of some columns is missing."""
        gaps = self._gaps(places)
        if not gaps:
            return self.heading.rows
        self.fetch_complete([places])
        return self._complete[gaps]

    def fetch_complete(self, sets: Iterable[Sequence[int]]) -> None:
        """Count the complete rows of sets of columns in one round."""
        with self._lock:
            new = sorted({gaps for places in sets if (gaps := self._gaps(places)) and gaps not in self._complete})
            if new:
                self._complete.update(zip(new, self.source.complete(new), strict=True))
                self.rounds += 1

    def complete(self, sets: Sequence[tuple[int, ...]]) -> list[int]:
        """Count, for each set of columns by place, the rows in which none of them is missing, in one round."""
        self.fetch_complete(sets)
        return super().complete(sets)

    # --- as a dataset ------------------------------------------------------------------------------------------------

    def set_aside(self, reasons: Mapping[Node, str], notes: Sequence[str]) -> CachedCounts:
        """Return the counts of the columns but for some, each set aside for a reason."""
        places = tuple(place for place, name in enumerate(self.names) if name not in reasons)
        heading = self.heading.select(places, self._columns_without(reasons), (*self.notes, *notes))
        return CachedCounts(ChosenCounts(self.source, tuple(((place,), None) for place in places), heading), self.note)

    def is_one_hot(self, members: Sequence[Node]) -> bool:
        """Return whether each row has a single one in some columns of ones and zeros."""
        places = tuple(self.place[name] for name in members)
        (found,) = self.source.joints([places], len(members))
        return found is not None and bool((np.count_nonzero(found.codes == 1, axis=0) == 1).all())

    def joined(self, sets: Sequence[OneHot]) -> CachedCounts:
        """Return the counts with one-hot columns joined into categories."""
        if not sets:
            return self
        parts = tuple(arranged(self.names, sets))
        made = CachedCounts(ChosenCounts(self.source, parts, self.heading.joined(sets)), self.note)
        made.before = self
        return made

    @property
    def traffic(self) -> Traffic:
        """Return what came back so far."""
        return Traffic(self.rounds, self.moved)

    def notes_on(self, members: Sequence[Node], before: Traffic = NO_TRAFFIC, unused: Sequence[str] = ()) -> list[str]:
        """Return what stands out, and where the counts came from."""
        chosen = [] if self.note is None else [self.note]
        came = Note(f"counts came from {self.kind} {self.traffic.since(before)}", "counts elsewhere", kind=self.kind)
        return [*super().notes_on(members, before, unused), *chosen, came]

    @property
    def content(self) -> str:
        """Return a hash of files that stay where they are; a database tells how often each value of a column occurs."""
        return content_fingerprint((self.heading, b"" if self._hash is None else self._hash(0)))

    def fingerprint_of(self, node: Node) -> bytes:
        """Return a hash of the contents of a column, where the engine can tell."""
        return super().fingerprint_of(node) if self._hash is None else bytes(self._hash(self.place[node]))

    def _alike(self) -> list[list[int]]:
        return compare(same_totals(self.heading, range(len(self.names))), self._are_alike)

    def _are_alike(self, pairs: Pairs) -> list[bool]:
        """Return whether each level of a column meets one level of another, and missing values meet each other."""
        self.fetch(pairs)
        found = []
        for one, other in pairs:
            joint, cards = self.joint((one, other)), self.heading.cards
            gone = [joint.codes[at] == cards[place] for at, place in enumerate((one, other))]
            levels = np.count_nonzero(self.heading.totals[one])
            found.append(len(joint.weights) == levels and bool((gone[0] == gone[1]).all()))
        return found

    # --- what is asked -----------------------------------------------------------------------------------------------

    def _gaps(self, places: Sequence[int]) -> tuple[int, ...]:
        return tuple(sorted({place for place in places if self.heading.incomplete[place]}))

    def _count(self, sets: Sequence[frozenset[int]], most: int) -> None:
        """Count sets in one round, and cache those with at most so many combinations."""
        asked = [tuple(sorted(one)) for one in sets]
        if not asked:
            return
        for places, joint in zip(asked, self.source.joints(asked, most), strict=True):
            if joint is None:
                self._large.add(frozenset(places))
            else:
                self._kept[frozenset(places)] = joint
                self.moved += joint.nbytes
        self.rounds += 1
        self.tables += len(asked)

    def _require(self, columns: frozenset[int]) -> None:
        """Refuse a set that could not be counted."""
        if self._cover(columns) is None:
            names = listing([self.heading.names[place] for place in sorted(columns)])
            message = (
                f"the table of {names} has more combinations than can be held (at most {_MOST_OF_ONE:,}, or what the "
                f"memory allows); join levels, or allow fewer columns to be given ({argument('max_conditioning')})"
            )
            raise TooManyCombinationsError(message)

    def _join_sets(self, sets: Iterable[frozenset[int]]) -> list[frozenset[int]]:
        """Return the sets to ask for: none that follows from another, small ones joined where that costs nothing."""
        new = [one for one in sets if self._cover(one) is None]
        joined: Covers[None] = Covers()
        last: frozenset[int] = frozenset()
        for one in sorted(new, key=lambda one: (-len(one), sorted(one))):
            if joined.covering(one):
                continue
            if last and self._go_together(last, one):
                del joined[last]
                last |= one
            else:
                last = one
            joined[last] = None
        return list(joined)

    def _go_together(self, one: frozenset[int], other: frozenset[int]) -> bool:
        """Return whether two sets are cheaper counted as one."""
        both = one | other
        return len(both) <= _WIDEST and self.source.cheap > 0 and self.guess(both) <= self.source.cheap

    # --- what is kept ------------------------------------------------------------------------------------------------

    def _cover(self, columns: frozenset[int]) -> Joint | None:
        """Return the smallest of what is kept that has all of some columns."""
        return min(self._kept.covering(columns), key=lambda joint: len(joint.weights), default=None)

    def _make_room(self) -> None:
        """Remove the oldest counts until half of the cache is free, if it is full."""
        held = sum(joint.nbytes for joint in self._kept.values())
        if held <= _BYTES_KEPT:
            return
        for columns in list(self._kept):
            if held <= _BYTES_KEPT // 2:
                return
            held -= self._kept[columns].nbytes
            del self._kept[columns]


# --- some columns ---------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class ChosenCounts:
    """Columns of a source of counts, of which some may be joined.

    Attributes
    ----------
    source, parts
        The source, and which of its columns make each of these.
    heading
        The heading of these columns.
    """

    source: CountSource
    parts: tuple[Place, ...]
    heading: Heading

    @property
    def kind(self) -> str:
        """Return the name of the counting method."""
        return self.source.kind

    @property
    def cheap(self) -> int:
        """Return how many combinations are counted as quickly as fewer."""
        return self.source.cheap

    def joints(self, sets: Sequence[tuple[int, ...]], most: int) -> list[Joint | None]:
        """Count sets of columns in one round: joined ones have as many combinations as the columns that make them."""
        found = self.source.joints([self._within(one) for one in sets], most)
        return [None if one is None else self._joined(one, places) for places, one in zip(sets, found, strict=True)]

    def complete(self, sets: Sequence[tuple[int, ...]]) -> Sequence[int]:
        """Count, for each set of columns, the rows in which none of them is missing."""
        return self.source.complete([self._within(one) for one in sets])

    def sample(self) -> Codes:
        """Return the codes of some rows."""
        return codes_joined(self.source.sample()[list(self._within(range(len(self.parts))))], self.parts)

    @property
    def fingerprint(self) -> Callable[[int], bytes] | None:
        """Return what names the contents of a column, where the source can tell."""
        of_column: Callable[[int], bytes] | None = getattr(self.source, "fingerprint", None)
        return None if of_column is None else lambda place: b"".join(map(of_column, self.parts[place][0]))

    def _joined(self, found: Joint, places: tuple[int, ...]) -> Joint:
        parts = [self.parts[place] for place in places]
        if not any(one for _, one in parts):
            return attrs.evolve(found, places=places)
        codes = codes_joined(found.codes, parts)
        return Joint(places, *collapse(codes, self.heading.spans[list(places)].tolist(), found.weights))

    def _within(self, places: Iterable[int]) -> tuple[int, ...]:
        return tuple(at for place in places for at in self.parts[place][0])


# --- distinct rows ------------------------------------------------------------------------------------------------

_LARGEST_KEY = 1 << 62
_DENSE = 1 << 22
_DENSE_PER_LINE = 4


def collapse(codes: Codes, spans: Sequence[int], weights: Weights | None = None) -> tuple[Codes, Weights]:
    """Return each combination of codes once, in the order of the codes, with the sum of its weights.

    The codes are columns by rows, and those of column i lie below ``spans[i]``; without weights each row counts 1.

    >>> collapse(np.array([[1, 0, 1], [0, 2, 0]], np.uint8), [2, 3])
    (array([[0, 1],
           [2, 0]], dtype=uint8), array([1, 2]))
    """
    lines = codes.shape[1]
    keys, span = pack_codes(codes, spans)
    if span <= min(_DENSE, max(_DENSE_PER_LINE * lines, 1024)) and _is_plain(spans):
        counts = _sum_by_key(keys, weights, span)
        seen = np.flatnonzero(counts)
        return unpack_codes(seen, spans, codes.dtype), counts[seen]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return codes[:, first], _sum_by_key(inverse, weights, len(first))


def pack_codes(codes: Codes, spans: Sequence[int]) -> tuple[npt.NDArray[np.int64], int]:
    """Return the number of each row's combination, in the order of the codes, and a bound for the numbers.

    Where a number would not fit, the combinations of the columns so far are numbered as they occur.
    """
    keys, bound = np.zeros(codes.shape[1], np.int64), 1
    for column, span in zip(codes, spans, strict=True):
        if bound * span > _LARGEST_KEY:
            seen, keys = np.unique(keys, return_inverse=True)
            bound = len(seen)
        keys = keys * span + column
        bound *= span
    return keys, bound


def _is_plain(spans: Sequence[int]) -> bool:
    """Return whether keys of so many combinations are never numbered anew."""
    bound = 1
    for span in spans:
        bound *= span
    return bound <= _LARGEST_KEY


def _sum_by_key(keys: npt.NDArray[np.int64], weights: Weights | None, span: int) -> Weights:
    """Sum weights by key; floats are exact here, since no table has 2**53 rows."""
    return np.bincount(keys, weights, span).astype(np.int64)


def unpack_codes(keys: npt.NDArray[np.int64], spans: Sequence[int], kind: np.dtype[np.unsignedinteger]) -> Codes:
    """Return the codes behind keys."""
    codes: Codes = np.empty((len(spans), len(keys)), kind)
    for place in reversed(range(len(spans))):
        keys, codes[place] = np.divmod(keys, spans[place])
    return codes

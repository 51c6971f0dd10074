"""Counts of columns that lie elsewhere: added up over the parts of the rows, or by a statement for each set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from apsl_backends.engines.engine import Engine, Part, Rows
from apsl_backends.kernels.bindings.embedded import CategoryColumn
from apsl_rules.data import Codes
from apsl_rules.data.counts import Heading, Joint, Weights, collapse

#: The rows from which the size of answers is guessed.
SAMPLED = 1 << 15

Sets: TypeAlias = Sequence[tuple[int, ...]]
Counted: TypeAlias = tuple[Codes, Weights] | None


class Counts:
    """Columns of an engine that are counted."""

    def __init__(self, engine: Engine, columns: Sequence[int], heading: Heading) -> None:
        self.engine = engine
        self.kind = engine.kind
        self.heading = heading
        self._columns = tuple(columns)

    @property
    def fingerprint(self) -> Callable[[int], bytes] | None:
        """Return what names the contents of a column: all that is in the rows, and how it is coded.

        It is None where the engine cannot tell what is in its rows.
        """
        return self._fingerprint if self.engine.is_identified else None

    def _fingerprint(self, place: int) -> bytes:
        coded = self.heading.coding(place) + b"%d" % self._columns[place]
        return blake2b(self._identity + b"\0" + coded, digest_size=16).digest()

    @cached_property
    def _identity(self) -> bytes:
        """Return what is in the rows, which is looked at only if answers are to be kept."""
        return self.engine.identity()


class FoldedCounts(Counts):
    """A source of counts that adds up the parts of the rows."""

    cheap = 0

    def __init__(self, engine: Engine, columns: Sequence[int], heading: Heading, rows: Rows) -> None:
        super().__init__(engine, columns, heading)
        self._rows = rows

    def joints(self, sets: Sets, most: int) -> list[Joint | None]:
        """Count sets of columns; None for a set with more than so many combinations."""
        used, asked = _numbered(sets)
        spans = self.heading.spans[used].tolist()
        work = partial(count_part, spans=spans, sets=asked, most=most)
        found = self._rows.reduce(used, work, partial(add_up, spans=spans, sets=asked, most=most))
        return [None if one is None else Joint(places, *one) for places, one in zip(sets, found, strict=True)]

    def complete(self, sets: Sets) -> list[int]:
        """Count, for each set of columns, the rows in which none of them is missing."""
        used, asked = _numbered(sets)
        counted = self._rows.fold(used, partial(complete_rows, cards=self.heading.cards[used].tolist(), sets=asked))
        return [int(count) for count in np.sum(list(counted), axis=0)]

    def sample(self) -> Codes:
        """Return the codes of the first rows."""
        return self._rows.first(range(len(self.heading.names)), first_rows)


def _numbered(sets: Sets) -> tuple[list[int], list[tuple[int, ...]]]:
    """Return the places that some sets have, and the sets by the numbers of these."""
    used = sorted({place for places in sets for place in places})
    number = {place: at for at, place in enumerate(used)}
    return used, [tuple(number[place] for place in places) for places in sets]


def codes_of(part: Part, places: Sequence[int]) -> Any:
    """Return the codes of some columns of a part, columns by rows."""
    columns = [column.codes for column in (part[place] for place in places) if isinstance(column, CategoryColumn)]
    return np.stack(columns)


def count_part(part: Part, spans: Sequence[int], sets: Sets, most: int) -> list[Counted]:
    """Count sets of columns in a part of the rows."""
    counted = [collapse(codes_of(part, places), [spans[place] for place in places]) for places in sets]
    return [one if len(one[1]) <= most else None for one in counted]


def add_up(answers: Sequence[list[Counted]], spans: Sequence[int], sets: Sets, most: int) -> list[Counted]:
    """Add up the counts of several parts."""
    summed: list[Counted] = []
    for number, places in enumerate(sets):
        parts = [answer[number] for answer in answers]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            summed.append(None)
            continue
        codes: Codes = np.concatenate([part[0] for part in known], axis=1)
        weights = np.concatenate([part[1] for part in known])
        one = collapse(codes, [spans[place] for place in places], weights)
        summed.append(one if len(one[1]) <= most else None)
    return summed


def complete_rows(part: Part, cards: Sequence[int], sets: Sets) -> npt.NDArray[np.int64]:
    """Count for each set of columns the rows in which none of them is missing."""
    present = [codes_of(part, [place])[0] < card for place, card in enumerate(cards)]
    return np.array([np.logical_and.reduce([present[one] for one in places]).sum() for places in sets], np.int64)


def first_rows(part: Part) -> Codes:
    """Return the codes of the first rows of a part."""
    codes: Codes = codes_of(part, range(len(part)))[:, :SAMPLED].copy()
    return codes

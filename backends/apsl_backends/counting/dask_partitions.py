"""What a worker of a cluster does: keep some rows as codes, count sets of columns in them, and add up such counts.

Workers know nothing of tests; they are sent sets of columns and send back the combinations that occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from apsl_backends.counting.table_counts import SAMPLED
from apsl_backends.kernels.border import count_table
from apsl_rules.data import Codes
from apsl_rules.data.counts import Weights, collapse, unpack_codes

Places: TypeAlias = tuple[int, ...]
Counted: TypeAlias = tuple[Codes, Weights] | None

_MOST_DENSE = 1 << 20


class Answer(NamedTuple):
    """The counts of sets of columns, None for a set of too many combinations, and the bytes that were sent for them."""

    counted: list[Counted]
    sent: int


def count_set(codes: Codes, places: Places, spans: Sequence[int]) -> tuple[Codes, Weights]:
    """Count the combinations of some columns, by the kernel where a plain table of them is small."""
    if prod(spans) > min(_MOST_DENSE, max(4 * codes.shape[1], 1024)):
        return collapse(codes[list(places)], spans)
    counts = count_table(codes, places, spans)
    seen = np.flatnonzero(counts)
    return unpack_codes(seen, spans, codes.dtype), counts[seen]


def count_partition(codes: Codes, spans: Sequence[int], sets: Sequence[Places], most: int) -> Answer:
    """Count sets of columns in the rows of a partition."""
    counted = [count_set(codes, places, [spans[place] for place in places]) for places in sets]
    return _answer([one if len(one[1]) <= most else None for one in counted], 0)


def add_up(answers: Sequence[Answer], spans: Sequence[int], sets: Sequence[Places], most: int) -> Answer:
    """Add up the counts of several partitions."""
    summed: list[Counted] = []
    for number, places in enumerate(sets):
        parts = [answer.counted[number] for answer in answers]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            summed.append(None)
            continue
        codes: Codes = np.concatenate([part[0] for part in known], axis=1)
        weights = np.concatenate([part[1] for part in known])
        one = collapse(codes, [spans[place] for place in places], weights)
        summed.append(one if len(one[1]) <= most else None)
    return _answer(summed, sum(answer.sent for answer in answers))


def complete_rows(codes: Codes, cards: Sequence[int], sets: Sequence[Places]) -> npt.NDArray[np.int64]:
    """Count for each set of columns the rows in which none of them is missing."""
    present = {place: codes[place] < cards[place] for place in sorted({place for places in sets for place in places})}
    return np.array([np.logical_and.reduce([present[one] for one in places]).sum() for places in sets], np.int64)


def first_rows(codes: Codes) -> Codes:
    """Return the codes of the first rows of a partition."""
    return codes[:, :SAMPLED].copy()


def _answer(counted: list[Counted], sent_before: int) -> Answer:
    sent = sum(one[0].nbytes + one[1].nbytes for one in counted if one is not None)
    return Answer(counted, sent_before + sent)

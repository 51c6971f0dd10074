"""x against all other columns with nothing given."""

from __future__ import annotations

from typing import Any

import numpy as np

from apsl_backends.counts.arrays import INDEPENDENT, UNRELIABLE, VARIED, Measure, Store
from apsl_backends.counts.compiled import entry
from apsl_backends.counts.judging import judge
from apsl_backends.counts.ways import measure_spans, sums_of

SUM_FIELDS = 6


@entry
def sweep_sums(store: Store, measure: Measure, x: int, low: int, high: int, sums: Any) -> None:
    """Sum the table of x and each column between two places, as ``one_stratum`` sums one."""
    places, spans, cards = np.empty(2, np.int64), np.empty(2, np.int64), np.empty(2, np.int64)
    places[0] = x
    for y in range(low, high):
        places[1] = y
        cells, _, bits = measure_spans(store, places, 2, spans, cards)
        part = sums_of(store, measure, places, 2, spans, cards, cells, bits)
        for field in range(SUM_FIELDS):
            sums[y, field] = part[field]


@entry
def sweep(
    store: Store, measure: Measure, x: int, low: int, high: int, statistic: Any, dof: Any, rows: Any, decision: Any
) -> None:
    """Test x against each column between two places; rows that were not counted are given as -1."""
    places, spans, cards = np.empty(2, np.int64), np.empty(2, np.int64), np.empty(2, np.int64)
    places[0] = x
    for y in range(low, high):
        places[1] = y
        cells, levels, bits = measure_spans(store, places, 2, spans, cards)
        statistic[y], dof[y], rows[y] = 0.0, 0, -1
        if store.columns[x, VARIED] == 0 or store.columns[y, VARIED] == 0:
            decision[y] = INDEPENDENT
        elif store.codes.shape[1] < measure.rows_per_cell * levels:
            decision[y] = UNRELIABLE
        else:
            sums = sums_of(store, measure, places, 2, spans, cards, cells, bits)
            decision[y], statistic[y], dof[y] = judge(sums, cards, 2, levels, measure)
            rows[y] = sums[5]

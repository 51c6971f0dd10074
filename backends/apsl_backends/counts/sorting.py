"""Counting by sorting the rows, for tables of far more cells than rows: only cells that occur cost anything."""

from __future__ import annotations

from typing import Any

import numpy as np

from apsl_backends.counts.arrays import CARD, G_SQUARE, SPAN, Measure, Store
from apsl_backends.counts.compiled import kernel
from apsl_backends.counts.strata import pearson, term


@kernel
def sort_rows(store: Store, places: Any, dims: int) -> Any:
    """Order the complete rows by the given columns z, then x, then y (``places`` is x, y, z…)."""
    rows = store.codes.shape[1]
    order = np.empty(rows, np.int64)
    kept = 0
    for r in range(rows):
        complete = True
        for d in range(dims):
            complete &= store.codes[places[d], r] < store.columns[places[d], CARD]
        if complete:
            order[kept] = r
            kept += 1
    other = np.empty(rows, np.int64)
    for step in range(dims):
        place = places[1 - step] if step < 2 else places[step]
        starts = np.zeros(store.columns[place, SPAN] + 1, np.int64)
        for k in range(kept):
            starts[store.codes[place, order[k]] + 1] += 1
        for code in range(len(starts) - 1):
            starts[code + 1] += starts[code]
        for k in range(kept):
            code = store.codes[place, order[k]]
            other[starts[code]] = order[k]
            starts[code] += 1
        order, other = other, order
    return order[:kept]


@kernel
def sums_by_sorting(store: Store, places: Any, dims: int, measure: Measure) -> Any:
    """Sum all strata of the table of x, y and the given columns, in no more memory than the rows take."""
    order = sort_rows(store, places, dims)
    x, y = places[0], places[1]
    margin_x = np.zeros(store.columns[x, CARD], np.int64)
    margin_y = np.zeros(store.columns[y, CARD], np.int64)
    joint, of_x, of_y, of_all, dof = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    low = 0
    while low < len(order):
        high = low
        levels_x, levels_y = np.int64(0), np.int64(0)
        while high < len(order) and _same(store, places, 2, dims, order[low], order[high]):
            i, j = store.codes[x, order[high]], store.codes[y, order[high]]
            levels_x += margin_x[i] == 0
            levels_y += margin_y[j] == 0
            margin_x[i] += 1
            margin_y[j] += 1
            high += 1
        dof += (levels_x - 1) * (levels_y - 1)
        run = low
        while run < high:
            end = run
            while end < high and _same(store, places, 0, 2, order[run], order[end]):
                end += 1
            if measure.kind == G_SQUARE:
                joint += term(end - run, measure)
            else:
                i, j = store.codes[x, order[run]], store.codes[y, order[run]]
                joint += pearson(end - run, margin_x[i], margin_y[j], high - low, measure)
            run = end
        if measure.kind == G_SQUARE:
            of_all += term(high - low, measure)
        else:
            joint -= np.int64((high - low) * measure.scale)
        for k in range(low, high):  # clears the margins; the term of 0 is 0, so each level enters once
            i, j = store.codes[x, order[k]], store.codes[y, order[k]]
            if measure.kind == G_SQUARE:
                of_x += term(margin_x[i], measure)
                of_y += term(margin_y[j], measure)
            margin_x[i] = 0
            margin_y[j] = 0
        low = high
    return joint, of_x, of_y, of_all, dof, np.int64(len(order))


@kernel
def _same(store: Store, places: Any, first: int, end: int, one: int, other: int) -> bool:
    for d in range(first, end):
        if store.codes[places[d], one] != store.codes[places[d], other]:
            return False
    return True

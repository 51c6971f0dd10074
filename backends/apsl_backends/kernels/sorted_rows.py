"""Counting by sorting the rows, for tables with far more cells than rows: only occupied cells cost time."""

# ruff: noqa: PLR0917, SIM110 - kernels take their arguments by position and have no generators

from __future__ import annotations

from typing import Any

from apsl_backends.kernels.arrays import G_SQUARE, PAIR, Long, Store, TestSpace, long
from apsl_backends.kernels.compiled import inlined, keep_apart, kernel
from apsl_backends.kernels.strata import pearson, term
from apsl_backends.kernels.workspace import measure_in, store_in, test_space_in


@kernel
def sum_by_sorting(codes: Any, workspace: Any, dims: Long) -> Any:
    """Sum all strata of the test's table, as ``sum_strata`` does, in memory proportional to the rows."""
    keep_apart()
    space, measure, store = test_space_in(workspace), measure_in(workspace), store_in(workspace)
    kept = _sort_rows(codes, space, dims)
    x, y, order, margins = space.test[0], space.test[1], space.order, space.margins
    of_level_y = space.cards[0]
    for level in range(space.cards[0] + space.cards[1]):
        margins[level] = 0
    joint, of_x, of_y, of_all, dof = long(0), long(0), long(0), long(0), long(0)
    low, rows = long(0), long(0)
    while low < kept:
        high, here = low, long(0)
        levels_x, levels_y = long(0), long(0)
        while high < kept and _same(codes, space, long(2), dims, order[low], order[high]):
            i, j = codes[x, order[high]], of_level_y + codes[y, order[high]]
            levels_x += margins[i] == 0
            levels_y += margins[j] == 0
            weight = _weight(store, order[high])
            margins[i] += weight
            margins[j] += weight
            here += weight
            high += 1
        rows += here
        dof += (levels_x - 1) * (levels_y - 1)
        run = low
        while run < high:
            end, count = run, long(0)
            while end < high and _same(codes, space, long(0), long(2), order[run], order[end]):
                count += _weight(store, order[end])
                end += 1
            if measure.kind == G_SQUARE:
                joint += term(count, measure)
            else:
                i, j = codes[x, order[run]], of_level_y + codes[y, order[run]]
                joint += pearson(count, margins[i], margins[j], here, measure)
            run = end
        if measure.kind == G_SQUARE:
            of_all += term(here, measure)
        else:
            joint -= long(here * measure.scale)
        for k in range(low, high):  # clears the margins; the term of 0 is 0, so each level counts once
            i, j = codes[x, order[k]], of_level_y + codes[y, order[k]]
            if measure.kind == G_SQUARE:
                of_x += term(margins[i], measure)
                of_y += term(margins[j], measure)
            margins[i] = 0
            margins[j] = 0
        low = high
    return joint, of_x, of_y, of_all, dof, rows


@inlined
def _weight(store: Store, line: Long) -> Long:
    return store.weights[line] if len(store.weights) > 0 else long(1)


@inlined
def _sort_rows(codes: Any, space: TestSpace, dims: Long) -> Long:
    """Sort the complete rows by z, then x, then y; return how many there are."""
    rows = codes.shape[1]
    kept = long(0)
    for r in range(rows):
        complete = True
        for d in range(dims):
            complete &= codes[space.test[d], r] < space.cards[d]
        if complete:
            space.order[kept] = r
            kept += 1
    source, target = long(0), long(rows)
    for turn in range(dims):
        d = 1 - turn if turn < PAIR else turn
        _sort_by(codes, space, d, source, target, kept)
        source, target = target, source
    if source > 0:
        for k in range(kept):
            space.order[k] = space.order[source + k]
    return kept


@inlined
def _sort_by(codes: Any, space: TestSpace, d: Long, source: Long, target: Long, kept: Long) -> None:
    column, starts = space.test[d], space.margins
    for code in range(space.cards[d] + 1):
        starts[code] = 0
    for k in range(kept):
        starts[codes[column, space.order[source + k]] + 1] += 1
    for code in range(space.cards[d]):
        starts[code + 1] += starts[code]
    for k in range(kept):
        code = codes[column, space.order[source + k]]
        space.order[target + starts[code]] = space.order[source + k]
        starts[code] += 1


@inlined
def _same(codes: Any, space: TestSpace, first: Long, end: Long, one: Long, other: Long) -> Any:
    for d in range(first, end):
        if codes[space.test[d], one] != codes[space.test[d], other]:
            return False
    return True

"""The sums behind a statistic and its degrees of freedom, from the counts of x and y in each stratum."""

# ruff: noqa: PLR0917, PLR2004 - kernels take their arguments by position, and one is written out for 2, 3 and 4 levels

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from apsl_backends.kernels.arrays import CHI_SQUARE, G_SQUARE, Long, Measure, TestSpace, long
from apsl_backends.kernels.compiled import inlined, keep_apart, kernel
from apsl_backends.kernels.words import STEP
from apsl_backends.kernels.workspace import measure_in, test_space_in

_NARROW = 4


@inlined
def block_of(span_x: Long, span_y: Long) -> Long:
    """Return the number of cells of the table of x and y in one stratum, padding included."""
    return -(-span_x * span_y // STEP) * STEP


@inlined
def term(count: Long, measure: Measure) -> Long:
    """Return n·ln(n) in units of the measure's scale."""
    if count < len(measure.terms):
        return measure.terms[np.uint64(count)]
    return long(round(count * log(count) * measure.scale))


@inlined
def pearson(count: Long, of_x: Long, of_y: Long, rows: Long, measure: Measure) -> Long:
    """Return a cell's share O²/E of χ²; χ² of a stratum is the sum of its shares minus its rows."""
    share = np.float64(count) * np.float64(count) / (np.float64(of_x) * np.float64(of_y))
    return long(round(share * rows * measure.scale))


@kernel
def sum_strata(workspace: Any, dims: Long, at: Long) -> Any:
    """Sum the test's table: return its joint, x, y and stratum terms, degrees of freedom and rows.

    Codes beyond ``cards`` are missing values, and their cells are left out. For χ² the joint sum is the statistic and
    the other terms are 0.
    """
    keep_apart()
    space, measure = test_space_in(workspace), measure_in(workspace)
    spans, cards = space.spans, space.cards
    strata = 1
    complete = True
    for d in range(2, dims):
        strata *= spans[d]
        complete &= spans[d] == cards[d]
    if complete and cards[0] <= _NARROW and measure.kind == G_SQUARE and measure.all_terms:
        # the same code three times, because a constant number of levels makes it much faster
        if cards[0] == 2:
            return _sum_narrow(space, at, strata, long(2), measure.terms)
        if cards[0] == 3:
            return _sum_narrow(space, at, strata, long(3), measure.terms)
        return _sum_narrow(space, at, strata, cards[0], measure.terms)
    block = block_of(spans[0], spans[1])
    joint, of_x, of_y, of_all = long(0), long(0), long(0), long(0)
    dof, rows = long(0), long(0)
    for stratum in range(strata):
        if complete or not _is_missing(stratum, spans, cards, dims):
            part = _sum_wide(space.cells, at + stratum * block, spans[0], cards[0], cards[1], space.margins, measure)
            joint += part[0]
            of_x += part[1]
            of_y += part[2]
            of_all += part[3]
            dof += part[4]
            rows += part[5]
    return joint, of_x, of_y, of_all, dof, rows


@inlined
def _is_missing(stratum: Long, spans: Any, cards: Any, dims: Long) -> Any:
    rest = stratum
    for d in range(2, dims):
        if rest % spans[d] >= cards[d]:
            return True
        rest //= spans[d]
    return False


@inlined
def _sum_narrow(space: TestSpace, at: Long, strata: Long, card_x: Long, terms: Any) -> Any:
    """Sum strata with at most four levels of x, whose margins fit into registers."""
    cells, span_x, card_y = space.cells, np.uint64(space.spans[0]), space.cards[1]
    gap = np.uint64(block_of(space.spans[0], space.spans[1])) - span_x * np.uint64(card_y)
    joint, of_x, of_y, of_all = long(0), long(0), long(0), long(0)
    dof, rows = long(0), long(0)
    spot = np.uint64(at)
    for _ in range(strata):
        a, b, c, d, levels_y = long(0), long(0), long(0), long(0), long(0)
        for _ in range(card_y):
            first = cells[spot]
            down = first
            a += first
            joint += terms[np.uint64(first)]
            if card_x > 1:
                second = cells[spot + np.uint64(1)]
                down += second
                b += second
                joint += terms[np.uint64(second)]
            if card_x > 2:
                third = cells[spot + np.uint64(2)]
                down += third
                c += third
                joint += terms[np.uint64(third)]
            if card_x > 3:
                fourth = cells[spot + np.uint64(3)]
                down += fourth
                d += fourth
                joint += terms[np.uint64(fourth)]
            of_y += terms[np.uint64(down)]
            levels_y += down > 0
            spot += span_x
        spot += gap
        here = a + b + c + d
        of_x += terms[np.uint64(a)] + terms[np.uint64(b)] + terms[np.uint64(c)] + terms[np.uint64(d)]
        of_all += terms[np.uint64(here)]
        rows += here
        levels_x = long(a > 0) + long(b > 0) + long(c > 0) + long(d > 0)
        dof += max(levels_x - 1, 0) * max(levels_y - 1, 0)
    return joint, of_x, of_y, of_all, dof, rows


@inlined
def _sum_wide(  # noqa: C901 - the two statistics share the margins
    cells: Any, at: Long, span_x: Long, card_x: Long, card_y: Long, margins: Any, measure: Measure
) -> Any:
    joint, of_x, of_y, rows = long(0), long(0), long(0), long(0)
    levels_x, levels_y = long(0), long(0)
    for i in range(card_x):
        margins[i] = 0
    for j in range(card_y):
        down = long(0)
        for i in range(card_x):
            count = cells[at + i + span_x * j]
            down += count
            margins[i] += count
        margins[card_x + j] = down
        levels_y += down > 0
        rows += down
    for i in range(card_x):
        levels_x += margins[i] > 0
    if rows == 0:
        return joint, of_x, of_y, rows, rows, rows
    dof = (levels_x - 1) * (levels_y - 1)
    if measure.kind == CHI_SQUARE:
        for j in range(card_y):
            for i in range(card_x):
                count = cells[at + i + span_x * j]
                if count > 0:
                    joint += pearson(count, margins[i], margins[card_x + j], rows, measure)
        return joint - long(rows * measure.scale), of_x, of_y, long(0), dof, rows
    for i in range(card_x):
        of_x += term(margins[i], measure)
    for j in range(card_y):
        of_y += term(margins[card_x + j], measure)
        for i in range(card_x):
            joint += term(cells[at + i + span_x * j], measure)
    return joint, of_x, of_y, term(rows, measure), dof, rows

"""From the counts of x and y in each stratum to the sums behind a statistic and its degrees of freedom."""

# ruff: noqa: PLR0917, PLR2004 - kernels take their arguments by position, and one is written out for 2, 3 and 4 levels

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from apsl_backends.kernels.arrays import CHI_SQUARE, G_SQUARE, Desk, Long, Measure, long
from apsl_backends.kernels.compiled import inlined, keep_apart, kernel
from apsl_backends.kernels.words import STEP
from apsl_backends.kernels.workspace import desk_in, measure_in

_NARROW = 4


@inlined
def block_of(span_x: Long, span_y: Long) -> Long:
    """Return the cells that the table of x and y takes in one stratum, padding included."""
    return -(-span_x * span_y // STEP) * STEP


@inlined
def term(count: Long, measure: Measure) -> Long:
    """Return n·ln(n) in units of the measure's scale."""
    if count < len(measure.terms):
        return measure.terms[np.uint64(count)]
    return long(round(count * log(count) * measure.scale))


@inlined
def pearson(count: Long, of_x: Long, of_y: Long, rows: Long, measure: Measure) -> Long:
    """Return a cell's share O²/E of χ²; what the shares of a stratum exceed its rows by is χ²."""
    share = np.float64(count) * np.float64(count) / (np.float64(of_x) * np.float64(of_y))
    return long(round(share * rows * measure.scale))


@kernel
def sum_strata(room: Any, dims: Long, at: Long) -> Any:
    """Sum the test's table: its joint, x, y and stratum terms, degrees of freedom and rows.

    Codes beyond ``cards`` stand for missing values and their cells are left out. For χ² the joint sum is the
    statistic and the other terms are 0.
    """
    keep_apart()
    desk, measure = desk_in(room), measure_in(room)
    spans, cards = desk.spans, desk.cards
    strata = 1
    complete = True
    for d in range(2, dims):
        strata *= spans[d]
        complete &= spans[d] == cards[d]
    if complete and cards[0] <= _NARROW and measure.kind == G_SQUARE and measure.all_terms:
        # the same code three times, because with a number known beforehand it becomes much faster
        if cards[0] == 2:
            return _sum_narrow(desk, at, strata, long(2), measure.terms)
        if cards[0] == 3:
            return _sum_narrow(desk, at, strata, long(3), measure.terms)
        return _sum_narrow(desk, at, strata, cards[0], measure.terms)
    block = block_of(spans[0], spans[1])
    joint, of_x, of_y, of_all = long(0), long(0), long(0), long(0)
    dof, rows = long(0), long(0)
    for stratum in range(strata):
        if complete or not _is_missing(stratum, spans, cards, dims):
            part = _sum_wide(desk.cells, at + stratum * block, spans[0], cards[0], cards[1], desk.margins, measure)
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
def _sum_narrow(desk: Desk, at: Long, strata: Long, card_x: Long, terms: Any) -> Any:
    """Sum strata of at most four levels of x, whose margins fit the machine's registers."""
    cells, span_x, card_y = desk.cells, np.uint64(desk.spans[0]), desk.cards[1]
    gap = np.uint64(block_of(desk.spans[0], desk.spans[1])) - span_x * np.uint64(card_y)
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

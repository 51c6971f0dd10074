"""From the counts of x and y in each stratum to the sums behind a statistic and its degrees of freedom."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from apsl_backends.counts.arrays import CHI_SQUARE, Measure
from apsl_backends.counts.compiled import kernel

_NARROW = 4


@kernel
def term(count: int, measure: Measure) -> int:
    """Give n·ln(n) in units of the measure's scale."""
    if count < len(measure.terms):
        return measure.terms[np.uint64(count)]
    return np.int64(round(count * log(count) * measure.scale))


@kernel
def pearson(count: int, of_x: int, of_y: int, rows: int, measure: Measure) -> int:
    """Give a cell's share O²/E of χ²; what exceeds the stratum's rows, summed over its cells, is χ²."""
    share = np.float64(count) * np.float64(count) / (np.float64(of_x) * np.float64(of_y))
    return np.int64(round(share * rows * measure.scale))


@kernel
def sum_strata(cells: Any, at: int, spans: Any, cards: Any, dims: int, margins: Any, measure: Measure) -> Any:
    """Sum the table of x, y and the given columns: joint, x, y and stratum terms, degrees of freedom, rows.

    The table has one axis for each of ``spans[:dims]``, the first (x) running fastest; codes beyond
    ``cards`` stand for missing values and their cells are left out. For χ² the joint sum is the statistic
    and the other terms are 0. ``margins`` is working space.
    """
    strata = 1
    complete = True
    for d in range(2, dims):
        strata *= spans[d]
        complete &= spans[d] == cards[d]
    block = spans[0] * spans[1]
    narrow = cards[0] <= _NARROW and measure.kind != CHI_SQUARE and len(measure.terms) < 1000000
    joint, of_x, of_y, of_all = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    dof, rows = np.int64(0), np.int64(0)
    for stratum in range(strata):
        if complete or not _is_missing(stratum, spans, cards, dims):
            here = at + stratum * block
            if narrow:
                part = _sum_narrow(cells, here, spans[0], cards[0], cards[1], measure.terms)
            else:
                part = _sum_wide(cells, here, spans[0], cards[0], cards[1], margins, measure)
            joint += part[0]
            of_x += part[1]
            of_y += part[2]
            of_all += part[3]
            dof += part[4]
            rows += part[5]
    return joint, of_x, of_y, of_all, dof, rows


@kernel
def _is_missing(stratum: int, spans: Any, cards: Any, dims: int) -> bool:
    rest = stratum
    for d in range(2, dims):
        if rest % spans[d] >= cards[d]:
            return True
        rest //= spans[d]
    return False


@kernel
def _sum_narrow(cells: Any, at: int, span_x: int, card_x: int, card_y: int, terms: Any) -> Any:
    """Sum one stratum of at most four levels of x, whose margins fit the machine's registers."""
    joint, of_y, levels_y = np.int64(0), np.int64(0), np.int64(0)
    a, b, c, d = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    spot = np.uint64(at)
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
        spot += np.uint64(span_x)
    levels_x = np.int64(a > 0) + np.int64(b > 0) + np.int64(c > 0) + np.int64(d > 0)
    of_x = terms[np.uint64(a)] + terms[np.uint64(b)] + terms[np.uint64(c)] + terms[np.uint64(d)]
    rows = a + b + c + d
    dof = (levels_x - 1) * (levels_y - 1) if rows > 0 else np.int64(0)
    return joint, of_x, of_y, terms[np.uint64(rows)], dof, rows


@kernel
def _sum_wide(cells: Any, at: int, span_x: int, card_x: int, card_y: int, margins: Any, measure: Measure) -> Any:
    joint, of_x, of_y, rows = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    levels_x, levels_y = np.int64(0), np.int64(0)
    for i in range(card_x):
        margins[i] = 0
    for j in range(card_y):
        down = np.int64(0)
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
        return joint - np.int64(rows * measure.scale), of_x, of_y, np.int64(0), dof, rows
    for i in range(card_x):
        of_x += term(margins[i], measure)
    for j in range(card_y):
        of_y += term(margins[card_x + j], measure)
        for i in range(card_x):
            joint += term(cells[at + i + span_x * j], measure)
    return joint, of_x, of_y, term(rows, measure), dof, rows

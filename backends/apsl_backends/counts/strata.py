"""From the counts of x and y in each stratum to a statistic and its degrees of freedom."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from apsl_backends.counts.arrays import CHI_SQUARE, Measure
from apsl_backends.counts.compiled import kernel


@kernel
def term(count: int, measure: Measure) -> int:
    """Give n·ln(n) in units of the measure's scale."""
    if count < len(measure.terms):
        return measure.terms[np.uint64(count)]
    return np.int64(round(count * log(count) * measure.scale))


@kernel
def one_stratum(cells: Any, at: int, span_x: int, card_x: int, card_y: int, margins: Any, measure: Measure) -> Any:
    """Sum one x-by-y table: its joint, x, y and total terms, degrees of freedom and rows.

    For χ² the joint sum is the statistic and the other terms are 0. ``margins`` is working space.
    """
    joint, of_x, of_y, rows = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for i in range(card_x):
        margins[i] = 0
    for j in range(card_y):
        down = np.int64(0)
        for i in range(card_x):
            count = cells[np.uint64(at + i + span_x * j)]
            down += count
            margins[i] += count
        margins[card_x + j] = down
        rows += down
    if rows == 0:
        return joint, of_x, of_y, joint, np.int64(0), rows
    levels_x, levels_y = np.int64(0), np.int64(0)
    for i in range(card_x):
        levels_x += margins[i] > 0
    for j in range(card_y):
        levels_y += margins[card_x + j] > 0
    dof = (levels_x - 1) * (levels_y - 1)
    if measure.kind == CHI_SQUARE:
        for j in range(card_y):
            for i in range(card_x):
                count = cells[np.uint64(at + i + span_x * j)]
                if count > 0:
                    joint += pearson(count, margins[i], margins[card_x + j], rows, measure.scale)
        return joint - np.int64(rows * measure.scale), of_x, of_y, np.int64(0), dof, rows
    for i in range(card_x):
        of_x += term(margins[i], measure)
    for j in range(card_y):
        of_y += term(margins[card_x + j], measure)
        for i in range(card_x):
            joint += term(cells[np.uint64(at + i + span_x * j)], measure)
    return joint, of_x, of_y, term(rows, measure), dof, rows


@kernel
def pearson(count: int, of_x: int, of_y: int, rows: int, scale: float) -> int:
    """Give a cell's share O²/E of χ², to which the stratum's rows are added with a minus sign."""
    observed = np.float64(count)
    share = observed * observed / (np.float64(of_x) * np.float64(of_y))
    return np.int64(round(share * rows * scale))


@kernel
def all_strata(cells: Any, at: int, spans: Any, cards: Any, dims: int, margins: Any, measure: Measure) -> Any:
    """Sum all strata of the table of x, y and the given columns, as ``one_stratum`` sums one.

    The table has one axis for each of ``spans[:dims]``, the first (x) running fastest; codes beyond
    ``cards`` stand for missing values and their cells are left out.
    """
    block = spans[0] * spans[1]
    strata = 1
    complete = True
    for d in range(2, dims):
        strata *= spans[d]
        complete &= spans[d] == cards[d]
    joint, of_x, of_y, of_all = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    dof, rows = np.int64(0), np.int64(0)
    for stratum in range(strata):
        if complete or not _is_missing(stratum, spans, cards, dims):
            part = one_stratum(cells, at + stratum * block, spans[0], cards[0], cards[1], margins, measure)
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

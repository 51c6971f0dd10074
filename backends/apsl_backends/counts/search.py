"""The search for a separator: all subsets of a pool, small ones first, until x and y are independent.

The tables of one search share their work: the tables of one size are kept on a shelf for those of the next, the
bit rows of x, y and the fixed columns are made once, and those of a subset's first columns stay while only its
last column changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from apsl_backends.counts.arrays import (
    BY_BITS,
    DEPENDENT,
    INDEPENDENT,
    SPARSELY,
    UNRELIABLE,
    VARIED,
    Measure,
    Store,
)
from apsl_backends.counts.bitmaps import count_by_bits, make_masks
from apsl_backends.counts.compiled import entry, kernel
from apsl_backends.counts.judging import is_weaker, judge
from apsl_backends.counts.rows import count_by_rows
from apsl_backends.counts.sharing import count_inner, extend_prefix, fill_outer
from apsl_backends.counts.sorting import sums_by_sorting
from apsl_backends.counts.strata import sum_strata
from apsl_backends.counts.subsets import binomials, least_products, number_without, step, sums_of_products
from apsl_backends.counts.ways import choose_way, measure_spans

STATE, DOF, ROWS, TESTS, SIZE = range(5)
ANSWER_FIELDS = 5
START, FIXED, FREE, MOST = range(4)
QUESTION_FIELDS = 4

_MOST_SHELVED = 1 << 22
_MOST_WORDS = 1 << 22


@entry
def search_all(
    store: Store, measure: Measure, questions: Any, places: Any, answers: Any, chosen: Any, statistics: Any
) -> None:
    """Carry out searches; a question says where its places start, and how many are fixed, free and at most chosen.

    From its start on, ``places`` holds x, y, the fixed columns and the pool. An answer is a state, degrees of
    freedom and rows of the verdict, the number of tests, and the size of the subset, which is put into ``chosen``.
    """
    for s in range(len(questions)):
        _search(store, measure, questions, places, answers, chosen, statistics, s)


@kernel
def _search(
    store: Store, measure: Measure, questions: Any, places: Any, answers: Any, chosen: Any, statistics: Any, s: int
) -> None:
    start, free, most = questions[s, START], questions[s, FREE], questions[s, MOST]
    base = 2 + questions[s, FIXED]
    state, tests = UNRELIABLE, np.int64(0)
    best, best_dof = 0.0, np.int64(0)
    rows_of_table = store.codes.shape[1]
    if store.columns[places[start], VARIED] == 0 or store.columns[places[start + 1], VARIED] == 0:
        answers[s, STATE], answers[s, DOF], answers[s, ROWS] = INDEPENDENT, 0, -1
        answers[s, TESTS], answers[s, SIZE] = 1, 0
        return
    test = np.empty(base + most, np.int64)
    spans = np.empty(base + most, np.int64)
    cards = np.empty(base + most, np.int64)
    test[:base] = places[start : start + base]
    pool = places[start + base : start + base + free]
    base_cells, base_levels, base_bits = measure_spans(store, test, base, spans, cards)
    margins = np.empty(cards[0] + cards[1], np.int64)
    words = store.bits.shape[1]
    pool_spans = np.empty(free, np.float64)
    pool_cards = np.empty(free, np.float64)
    widest = 1
    for i in range(free):
        _, pool_cards[i], has_bits = measure_spans(store, pool[i : i + 1], 1, spans[base:], cards[base:])
        pool_spans[i] = spans[base]
        if has_bits:
            widest = max(widest, spans[base] - 1)
    least = least_products(pool_cards)
    shelved = sums_of_products(pool_spans, most)
    ways = binomials(free, most)
    pick = np.empty(most + 1, np.int64)
    lower = np.empty(most + 1, np.int64)
    starts = np.zeros(most + 1, np.int64)
    scratch = np.empty(0, np.int64)
    masks = np.empty((0, 0), np.uint64)
    shelf, shelf_places = scratch, lower[:0]
    new_shelf, new_places = scratch, lower[:0]
    for size in range(most + 1):
        if rows_of_table < measure.rows_per_cell * base_levels * least[size]:
            tests += ways[free, size]
            continue
        shelf, shelf_places = new_shelf, new_places
        keeps = size < most and base_cells * shelved[size] <= _MOST_SHELVED
        new_shelf = np.empty(np.int64(base_cells * shelved[size]) if keeps else 0, np.int64)
        new_places = np.full(ways[free, size] if keeps else 0, -1, np.int64)
        prefix = np.empty((0, 0), np.uint64)
        spots = np.empty(0, np.int64)
        prefix_rows = 0.0
        for d in range(size - 1):
            prefix_rows += np.float64(widest) ** (d + 1)
        sharing = base_bits and (base_cells + prefix_rows) * words <= _MOST_WORDS and len(shelf_places) > 0
        filled = np.int64(0)
        made = 0
        for i in range(size):
            pick[i] = i
        for number in range(ways[free, size]):
            if number > 0:
                made = min(made, step(pick, size, free))
            tests += 1
            for i in range(size):
                test[base + i] = pool[pick[i]]
            cells, levels, bits = measure_spans(store, test, base + size, spans, cards)
            if rows_of_table < measure.rows_per_cell * levels:
                continue
            shared = sharing and bits
            counted = cells
            if shared:
                counted = base_cells
                for i in range(size):
                    lower[i] = shelf_places[number_without(pick, size, i, free, ways)]
                    shared &= lower[i] >= 0
                    counted *= spans[base + i] - 1
            way = choose_way(store, measure, cells, bits, counted if shared else cells)
            if way == SPARSELY:
                sums = sums_by_sorting(store, test, base + size, measure)
            else:
                if keeps:
                    counts, at = new_shelf, filled
                    new_places[number] = at
                    filled += np.int64(cells)
                else:
                    if len(scratch) < cells:
                        scratch = np.empty(np.int64(cells), np.int64)
                    counts, at = scratch, np.int64(0)
                if way == BY_BITS and shared:
                    if len(masks) == 0:
                        masks = np.empty((np.int64(base_cells), words), np.uint64)
                        make_masks(store, test, 0, base, 0, words, masks)
                    if size > 1 and len(spots) == 0:
                        prefix = np.empty((np.int64(prefix_rows), words), np.uint64)
                        spots = np.empty(len(prefix), np.int64)
                    while made < size - 1:
                        extend_prefix(store, test, base, spans, made, prefix, starts, spots)
                        made += 1
                    count_inner(store, test, base, size, spans, masks, prefix, starts, spots, counts, at)
                    fill_outer(spans, base, size, len(masks), counts, at, shelf, lower)
                elif way == BY_BITS:
                    count_by_bits(store, test, base + size, counts, at)
                else:
                    count_by_rows(store, test, base + size, counts, at, np.int64(cells))
                sums = sum_strata(counts, at, spans, cards, base + size, margins, measure)
            decision, value, dof = judge(sums, cards, base + size, levels, measure)
            if decision == INDEPENDENT or (
                decision == DEPENDENT and (state == UNRELIABLE or is_weaker(value, dof, best, best_dof))
            ):
                state, best, best_dof = decision, value, dof
                answers[s, DOF], answers[s, ROWS], answers[s, SIZE] = dof, sums[5], size
                statistics[s] = value
                chosen[s, :size] = pick[:size]
                if decision == INDEPENDENT:
                    break
        if state == INDEPENDENT:
            break
    answers[s, STATE], answers[s, TESTS] = state, tests


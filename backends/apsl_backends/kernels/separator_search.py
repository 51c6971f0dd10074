"""The search for a separator: all subsets of a pool, small ones first, until x and y are independent.

The tables of one search share their work: the tables of one size are kept for those of the next, the bit rows of
x, y and the fixed columns are made once, and those of a subset's first columns stay while only its last changes.
"""

from __future__ import annotations

from typing import Any

from apsl_backends.kernels.arrays import (
    BY_BITS,
    BY_SORTING,
    DEPENDENT,
    INDEPENDENT,
    NO_ROOM,
    ROWS,
    STOPPED,
    UNRELIABLE,
    VARIED,
    Long,
    long,
)
from apsl_backends.kernels.bitmaps import count_by_bits, make_masks
from apsl_backends.kernels.chi_square_tail import log_tail
from apsl_backends.kernels.compiled import entry, keep_apart
from apsl_backends.kernels.counting_method import choose_way, measure_test
from apsl_backends.kernels.decision import is_weaker, judge
from apsl_backends.kernels.row_scan import count_by_rows
from apsl_backends.kernels.search_plan import plan_search
from apsl_backends.kernels.shared_tables import count_inner, extend_prefix, fill_outer
from apsl_backends.kernels.sorted_rows import sum_by_sorting
from apsl_backends.kernels.stopped import is_stopped
from apsl_backends.kernels.strata import block_of, sum_strata
from apsl_backends.kernels.subsets import number_without, step
from apsl_backends.kernels.workspace import desk_in, measure_in, shelf_in, store_in


@entry
def run_search(  # noqa: C901, PLR0912, PLR0915, PLR0917 - one function, so that what it calls is compiled once
    codes: Any, room: Any, places: Any, fixed: Long, most: Long, stop: Any
) -> Any:
    """Search for a separator; ``places`` are x, y, the fixed columns and the pool.

    Return the decision (unreliable if nothing could be tested), statistic, degrees of freedom and rows of the test
    it rests on, the number of tests, and the size of the subset, whose places in the pool are the room's ``chosen``.
    Nothing is done when the room is too small. The search ends with no outcome once ``stop`` is set.
    """
    keep_apart()
    base = 2 + fixed
    free = len(places) - base
    store, measure, desk, shelf = store_in(room), measure_in(room), desk_in(room), shelf_in(room)
    state, best, best_dof, used, tests, best_size = UNRELIABLE, 0.0, long(0), long(-1), long(0), 0
    if store.columns[places[0], VARIED] == 0 or store.columns[places[1], VARIED] == 0:
        return INDEPENDENT, best, best_dof, used, long(1), best_size
    for d in range(base):
        desk.test[d] = places[d]
    plan = plan_search(room, base, places[base:], most)
    if not plan.has_room:
        return NO_ROOM, best, best_dof, used, tests, best_size
    base_cells = long(plan.cells)
    block = block_of(desk.spans[0], desk.spans[1])
    filled, subsets, masked, best_log = long(0), long(0), False, 0.0
    for size in range(most + 1):
        count = shelf.ways[free, size]
        if store.rows < measure.rows_per_cell * plan.levels * shelf.least[size]:
            tests += count
            continue
        shelf.first[size] = subsets
        if size < plan.kept:
            for number in range(subsets, subsets + count):
                shelf.tables[number] = -1
            subsets += count
        dims, made = base + size, 0
        for i in range(size):
            shelf.pick[i] = i
        for number in range(count):
            if number > 0:
                made = min(made, step(shelf.pick, size, free))
            tests += 1
            if is_stopped(stop, tests):
                return STOPPED, best, best_dof, used, tests, best_size
            for i in range(size):
                desk.test[base + i] = places[base + shelf.pick[i]]
            cells, levels, bits = measure_test(store, desk, base, dims)
            cells *= plan.cells
            levels *= plan.levels
            if store.rows < measure.rows_per_cell * levels:
                continue
            shared = bits and plan.bits and size <= plan.shared
            counted = plan.cells
            for i in range(size if shared else 0):
                without = number_without(shelf.pick, size, i, free, shelf.ways)
                shelf.lower[i] = shelf.tables[shelf.first[size - 1] + without]
                shared &= shelf.lower[i] >= 0
                counted *= desk.spans[base + i] - 1
            way = choose_way(store, measure, cells, counted, shared)
            if way == BY_SORTING:
                sums = sum_by_sorting(codes, room, dims)
            else:
                at = plan.scratch
                if size < plan.kept:
                    at = filled
                    filled += long(cells)
                    shelf.tables[shelf.first[size] + number] = at
                if way != BY_BITS:
                    count_by_rows(codes, room, dims, at, long(cells), block)
                elif size == 0:
                    count_by_bits(room, base, at)
                else:
                    if not masked:
                        make_masks(room, long(0), base, long(0), store.bits.shape[1])
                        shelf.starts[0] = base_cells
                        masked = True
                    while made < size - 1:
                        extend_prefix(room, base, made)
                        made += 1
                    count_inner(room, base, size, base_cells, at)
                    fill_outer(room, base, size, base_cells, at)
                sums = sum_strata(room, dims, at)
            decision, value, dof = judge(sums, desk.cards, dims, levels, measure)
            if decision == INDEPENDENT or (
                decision == DEPENDENT and (state == UNRELIABLE or is_weaker(value, dof, best, best_dof, best_log))
            ):
                state, best, best_dof, used, best_size = decision, value, dof, sums[ROWS], size
                for i in range(size):
                    shelf.chosen[i] = shelf.pick[i]
                if decision == INDEPENDENT:
                    return state, best, best_dof, used, tests, best_size
                best_log = log_tail(best, best_dof)
    return state, best, best_dof, used, tests, best_size

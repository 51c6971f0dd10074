"""The search for a separator: all subsets of a pool, small ones first, until x and y are independent.

The tables of one search share work: the tables of one size are kept for the next size, the bit rows of x, y and the
fixed columns are made once, and the bit rows of a subset's first columns are kept while only its last column changes.
"""

from __future__ import annotations

from typing import Any

from apsl_backends.kernels.arrays import (
    BY_BITS,
    BY_SORTING,
    DEPENDENT,
    INDEPENDENT,
    NO_SPACE,
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
from apsl_backends.kernels.counting_method import choose_method, measure_test
from apsl_backends.kernels.decision import is_weaker, judge
from apsl_backends.kernels.row_scan import count_by_rows
from apsl_backends.kernels.search_plan import plan_search
from apsl_backends.kernels.shared_tables import count_inner, extend_prefix, fill_outer
from apsl_backends.kernels.sorted_rows import sum_by_sorting
from apsl_backends.kernels.stopped import is_stopped
from apsl_backends.kernels.strata import block_of, sum_strata
from apsl_backends.kernels.subsets import number_without, step
from apsl_backends.kernels.workspace import measure_in, search_state_in, store_in, test_space_in


@entry
def run_search(  # noqa: C901, PLR0912, PLR0915, PLR0917 - one function, so that its callees are compiled once
    codes: Any, workspace: Any, places: Any, fixed: Long, most: Long, stop: Any
) -> Any:
    """Search for a separator; ``places`` are x, y, the fixed columns and the pool.

    Return the decision (unreliable if nothing could be tested); the statistic, degrees of freedom and rows of the test
    behind it; the number of tests; and the size of the subset, whose places in the pool are in ``chosen`` of the search
    state. If the workspace is too small, nothing is done. Once ``stop`` is set, the search ends without an outcome.
    """
    keep_apart()
    base = 2 + fixed
    free = len(places) - base
    store, measure = store_in(workspace), measure_in(workspace)
    space, search = test_space_in(workspace), search_state_in(workspace)
    state, best, best_dof, used, tests, best_size = UNRELIABLE, 0.0, long(0), long(-1), long(0), 0
    if store.columns[places[0], VARIED] == 0 or store.columns[places[1], VARIED] == 0:
        return INDEPENDENT, best, best_dof, used, long(1), best_size
    for d in range(base):
        space.test[d] = places[d]
    plan = plan_search(workspace, base, places[base:], most)
    if not plan.has_space:
        return NO_SPACE, best, best_dof, used, tests, best_size
    base_cells = long(plan.cells)
    block = block_of(space.spans[0], space.spans[1])
    filled, subsets, masked, best_log = long(0), long(0), False, 0.0
    for size in range(most + 1):
        count = search.binomials[free, size]
        if store.rows < measure.rows_per_cell * plan.levels * search.least[size]:
            tests += count
            continue
        search.first[size] = subsets
        if size < plan.kept:
            for number in range(subsets, subsets + count):
                search.tables[number] = -1
            subsets += count
        dims, made = base + size, 0
        for i in range(size):
            search.pick[i] = i
        for number in range(count):
            if number > 0:
                made = min(made, step(search.pick, size, free))
            tests += 1
            if is_stopped(stop, tests):
                return STOPPED, best, best_dof, used, tests, best_size
            for i in range(size):
                space.test[base + i] = places[base + search.pick[i]]
            cells, levels, bits = measure_test(store, space, base, dims)
            cells *= plan.cells
            levels *= plan.levels
            if store.rows < measure.rows_per_cell * levels:
                continue
            shared = bits and plan.bits and size <= plan.shared
            counted = plan.cells
            for i in range(size if shared else 0):
                without = number_without(search.pick, size, i, free, search.binomials)
                search.lower[i] = search.tables[search.first[size - 1] + without]
                shared &= search.lower[i] >= 0
                counted *= space.spans[base + i] - 1
            method = choose_method(store, measure, cells, counted, shared)
            if method == BY_SORTING:
                sums = sum_by_sorting(codes, workspace, dims)
            else:
                at = plan.scratch
                if size < plan.kept:
                    at = filled
                    filled += long(cells)
                    search.tables[search.first[size] + number] = at
                if method != BY_BITS:
                    count_by_rows(codes, workspace, dims, at, long(cells), block)
                elif size == 0:
                    count_by_bits(workspace, base, at)
                else:
                    if not masked:
                        make_masks(workspace, long(0), base, long(0), store.bits.shape[1])
                        search.starts[0] = base_cells
                        masked = True
                    while made < size - 1:
                        extend_prefix(workspace, base, made)
                        made += 1
                    count_inner(workspace, base, size, base_cells, at)
                    fill_outer(workspace, base, size, base_cells, at)
                sums = sum_strata(workspace, dims, at)
            decision, value, dof = judge(sums, space.cards, dims, levels, measure)
            if decision == INDEPENDENT or (
                decision == DEPENDENT and (state == UNRELIABLE or is_weaker(value, dof, best, best_dof, best_log))
            ):
                state, best, best_dof, used, best_size = decision, value, dof, sums[ROWS], size
                for i in range(size):
                    search.chosen[i] = search.pick[i]
                if decision == INDEPENDENT:
                    return state, best, best_dof, used, tests, best_size
                best_log = log_tail(best, best_dof)
    return state, best, best_dof, used, tests, best_size

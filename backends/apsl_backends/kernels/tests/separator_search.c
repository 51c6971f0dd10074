/* Try all subsets of a pool, small ones first, until one separates x and y.
 *
 * Subsets of one size are numbered in lexicographic order; the table of each that is kept has its place in the cells.
 * The result is the separator, or the weakest dependence. The flag is read between tests; an early end leaves no
 * outcome. */
#include "tests/separator_search.h"

#include <string.h>

#include "counts/bitmaps.h"
#include "counts/counting_method.h"
#include "counts/row_scan.h"
#include "tests/search_plan.h"
#include "counts/shared_tables.h"
#include "tests/sorted_rows.h"
#include "base/subsets.h"

/* A search under way. */
typedef struct {
    tester_t *tester;
    const i64 *pool;
    i64 base; /* x, y and the fixed columns */
    i64 free; /* columns in the pool */
    plan_t plan;
    i64 base_cells, block;
    i64 filled;     /* the cells of the tables that are kept so far */
    i64 made;       /* the chosen columns whose bit rows are there */
    bool is_masked; /* whether the bit rows of the base are there */
    double best_log;
    found_t *found;
} run_t;

/* Look up the tables that lack one of the chosen columns; return whether all are there. */
static bool find_lower(const run_t *run, i64 size)
{
    search_t *search = &run->tester->search;
    if (size > 0 && search->first[size - 1] < 0)
        return false;
    for (i64 i = 0; i < size; i++) {
        i64 without = base_number_without(search->pick, size, i, run->free, search->binomials.data, search->sizes);
        search->lower[i] = search->tables.data[search->first[size - 1] + without];
        if (search->lower[i] < 0)
            return false;
    }
    return true;
}

/* Count the table of the current subset by bitmaps, from the tables of smaller ones; false without memory. */
static bool count_shared(run_t *run, i64 size, i64 at)
{
    tester_t *tester = run->tester;
    if (size == 0)
        return counts_count_by_bits(tester, run->base, at);
    if (!run->is_masked) {
        counts_make_masks(tester, 0, run->base, 0, tester->table->words);
        tester->search.starts[0] = run->base_cells;
        run->is_masked = true;
    }
    for (; run->made < size - 1; run->made++)
        counts_extend_prefix(tester, run->base, run->made);
    counts_count_inner(tester, run->base, size, run->base_cells, at);
    counts_fill_outer(tester, run->base, size, run->base_cells, at);
    return true;
}

/* Count and sum the table of the current subset, one of `cells` cells; false without memory. */
static bool sum_subset(run_t *run, i64 size, i64 number, double cells, bool bits, sums_t *sums)
{
    tester_t *tester = run->tester;
    const i64 dims = run->base + size;
    bool shared = bits && run->plan.bits && size <= run->plan.shared && find_lower(run, size);
    double counted = run->plan.counted;
    for (i64 d = run->base; d < dims; d++)
        counted *= (double)(tester->spans[d] - 1);
    method_t method = counts_choose_method(tester, cells, counted, shared);
    if (method == BY_SORTING) {
        *sums = tests_sum_by_sorting(tester, dims);
        return true;
    }
    i64 at = run->plan.scratch;
    if (size < run->plan.kept) {
        at = run->filled;
        run->filled += (i64)cells;
        tester->search.tables.data[tester->search.first[size] + number] = at;
    }
    if (method != BY_BITS)
        counts_count_by_rows(tester, dims, at, (i64)cells, run->block);
    else if (!count_shared(run, size, at))
        return false;
    *sums = tests_sum_strata(tester, dims, at);
    return true;
}

/* Record a test if it separates or is the weakest dependence so far. */
static void note_test(run_t *run, const judged_t *judged, i64 rows, i64 size)
{
    found_t *found = run->found;
    search_t *search = &run->tester->search;
    if (judged->decision == UNRELIABLE)
        return;
    if (judged->decision == DEPENDENT && found->decision != UNRELIABLE &&
        !tests_is_weaker(judged->statistic, judged->dof, found->statistic, found->dof, run->best_log))
        return;
    *found = (found_t){judged->decision, judged->statistic, judged->dof, rows, found->tests, size};
    memcpy(search->chosen, search->pick, (size_t)size * sizeof *search->pick);
    if (judged->decision == DEPENDENT)
        run->best_log = base_log_tail(judged->statistic, judged->dof);
}

/* Test all subsets of one size until one separates. */
static status_t try_size(run_t *run, i64 size, flag_t *stop)
{
    tester_t *tester = run->tester;
    const measure_t *measure = tester->measure;
    i64 *pick = tester->search.pick;
    const i64 count = tester->search.binomials.data[run->free * tester->search.sizes + size];
    const double rows = (double)tester->table->rows;
    for (i64 i = 0; i < size; i++)
        pick[i] = i;
    run->made = 0;
    for (i64 number = 0; number < count; number++) {
        if (number > 0)
            run->made = smaller(run->made, base_step_subset(pick, size, run->free));
        run->found->tests = base_add_tests(run->found->tests, 1);
        if (is_stopped(stop, run->found->tests))
            return STOPPED;
        for (i64 i = 0; i < size; i++)
            tester->test[run->base + i] = run->pool[pick[i]];
        size_of_test_t of_subset = counts_measure_test(tester, run->base, run->base + size);
        double levels = of_subset.levels * run->plan.levels;
        if (rows < measure->rows_per_cell * levels)
            continue;
        sums_t sums;
        if (!sum_subset(run, size, number, of_subset.cells * run->plan.cells, of_subset.bits, &sums))
            return NO_MEMORY;
        judged_t judged = tests_judge(tester, &sums, run->base + size, levels);
        note_test(run, &judged, sums.rows, size);
        if (judged.decision == INDEPENDENT)
            return DONE;
    }
    return DONE;
}

status_t tests_search_separator(tester_t *tester, const i64 *places, i64 count, i64 fixed, i64 most, flag_t *stop,
                          found_t *found)
{
    const table_t *table = tester->table;
    search_t *search = &tester->search;
    run_t run = {.tester = tester, .base = PAIR + fixed, .pool = places + PAIR + fixed, .free = count - PAIR - fixed,
                 .found = found};
    *found = (found_t){.decision = UNRELIABLE, .rows = -1};
    if (!table->columns[places[0]].is_varied || !table->columns[places[1]].is_varied) {
        found->decision = INDEPENDENT;
        found->tests = 1;
        return DONE;
    }
    if (!counts_reserve_test(tester, run.base + most) || !counts_reserve_search(search, most, run.free))
        return NO_MEMORY;
    memcpy(tester->test, places, (size_t)run.base * sizeof *places);
    if (!tests_plan_search(tester, run.base, run.pool, run.free, most, &run.plan))
        return NO_MEMORY;
    run.base_cells = run.plan.bits ? (i64)run.plan.cells : 0;
    run.block = block_of(tester);
    i64 subsets = 0;
    for (i64 size = 0; size <= most; size++) {
        i64 number = search->binomials.data[run.free * search->sizes + size];
        search->first[size] = -1;
        if ((double)table->rows < tester->measure->rows_per_cell * run.plan.levels * search->least[size]) {
            found->tests = base_add_tests(found->tests, number);
            continue;
        }
        if (size < run.plan.kept) {
            search->first[size] = subsets;
            for (i64 n = subsets; n < subsets + number; n++)
                search->tables.data[n] = -1;
            subsets += number;
        }
        status_t status = try_size(&run, size, stop);
        if (status != DONE || found->decision == INDEPENDENT)
            return status;
    }
    return DONE;
}

int32_t apsl_search(tester_t *tester, const i64 *places, i64 count, i64 fixed, i64 most, flag_t *stop, found_t *found,
                    i64 *chosen)
{
    status_t status = tests_search_separator(tester, places, count, fixed, most, stop, found);
    if (status == DONE)
        for (i64 i = 0; i < found->size; i++)
            chosen[i] = tester->search.chosen[i];
    return (int32_t)status;
}

/* Tests that share no work: a list of them, or one column against all others.
 *
 * Places are checked here, since a wrong one would be followed. A test of a constant column or one that cannot be
 * reliable is not counted, and has -1 rows. */
#include "tests/single_tests.h"

#include <string.h>

#include "counts/bitmaps.h"
#include "counts/counting_method.h"
#include "counts/row_scan.h"
#include "tests/sorted_rows.h"

/* Count the test's table and sum it. */
static bool sum_test(tester_t *tester, i64 dims, const size_of_test_t *size, sums_t *sums)
{
    i64 block = block_of(tester);
    double cells = size->cells / (double)(tester->spans[0] * tester->spans[1]) * (double)block;
    method_t method = counts_choose_method(tester, cells, size->cells, size->bits);
    if (method == BY_SORTING) {
        if (!base_reserve_longs(&tester->order, 2 * lines_of(tester->table)))
            return false;
        *sums = tests_sum_by_sorting(tester, dims);
        return true;
    }
    if (!base_reserve_longs(&tester->cells, (i64)cells))
        return false;
    if (method != BY_BITS)
        counts_count_by_rows(tester, dims, 0, (i64)cells, block);
    else if (!counts_count_by_bits(tester, dims, 0))
        return false;
    *sums = tests_sum_strata(tester, dims, 0);
    return true;
}

/* Return whether the tests from low to high have two or more places each, and all of them are columns. */
static bool are_tests(const tester_t *tester, const i64 *starts, const i64 *places, i64 count, i64 low, i64 high)
{
    if (starts[low] < 0 || starts[high] > count)
        return false;
    for (i64 t = low; t < high; t++)
        if (starts[t] > count - PAIR || starts[t + 1] < starts[t] + PAIR)
            return false;
    for (i64 k = starts[low]; k < starts[high]; k++)
        if (places[k] < 0 || places[k] >= tester->table->count)
            return false;
    return true;
}

/* Carry out the test whose columns are set; its rows are -1 if nothing was counted. */
static bool run_test(tester_t *tester, i64 dims, sums_t *sums, judged_t *judged)
{
    size_of_test_t size = counts_measure_test(tester, 0, dims);
    *judged = (judged_t){UNRELIABLE, 0.0, 0};
    *sums = (sums_t){.rows = -1};
    if (!column_in(tester, 0)->is_varied || !column_in(tester, 1)->is_varied) {
        judged->decision = INDEPENDENT;
        return true;
    }
    if ((double)tester->table->rows < tester->measure->rows_per_cell * size.levels)
        return true;
    if (!sum_test(tester, dims, &size, sums))
        return false;
    *judged = tests_judge(tester, sums, dims, size.levels);
    sums->dof = judged->dof;
    return true;
}

int32_t apsl_run_tests(tester_t *tester, const i64 *starts, const i64 *places, i64 count, i64 low, i64 high,
                       sums_t *sums, double *statistics, int8_t *decisions)
{
    if (!are_tests(tester, starts, places, count, low, high))
        return NO_TEST;
    for (i64 t = low; t < high; t++) {
        i64 dims = starts[t + 1] - starts[t];
        judged_t judged;
        if (!counts_reserve_test(tester, dims))
            return NO_MEMORY;
        memcpy(tester->test, places + starts[t], (size_t)dims * sizeof *places);
        if (!run_test(tester, dims, sums + t, &judged))
            return NO_MEMORY;
        decisions[t] = (int8_t)judged.decision;
        statistics[t] = judged.statistic;
    }
    return DONE;
}

int32_t apsl_sweep(tester_t *tester, i64 x, i64 low, i64 high, double *statistics, i64 *dofs, i64 *rows,
                   int8_t *decisions)
{
    if (!counts_reserve_test(tester, PAIR))
        return NO_MEMORY;
    for (i64 t = low; t < high; t++) {
        sums_t sums;
        judged_t judged;
        tester->test[0] = x;
        tester->test[1] = t + (t >= x);
        if (!run_test(tester, PAIR, &sums, &judged))
            return NO_MEMORY;
        statistics[t] = judged.statistic;
        dofs[t] = judged.dof;
        rows[t] = sums.rows;
        decisions[t] = (int8_t)judged.decision;
    }
    return DONE;
}

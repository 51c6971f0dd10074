/* Counting by sorting the rows, for tables with far more cells than rows: only occupied cells cost time. */
#ifndef APSL_SORTED_ROWS_H
#define APSL_SORTED_ROWS_H

#include "tests/strata.h"

/* Sum all strata of the test's table, as sum_strata does; the order has room for twice the lines. */
sums_t tests_sum_by_sorting(tester_t *tester, i64 dims);

#endif

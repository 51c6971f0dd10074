/* The sums behind a statistic and its degrees of freedom, from the counts of x and y in each stratum. */
#ifndef APSL_STRATA_H
#define APSL_STRATA_H

#include "counts/tester.h"

/* The sums of a table, in the order of the fields in library.py: n·ln(n) in units over the cells, the margins and the
 * strata; degrees of freedom; rows. For χ² the first is the statistic, and the next three are 0. */
typedef struct {
    i64 joint, of_x, of_y, of_all, dof, rows;
} sums_t;

/* Sum the test's table in the cells from `at` on. Cells of missing values are left out. */
sums_t tests_sum_strata(const tester_t *tester, i64 dims, i64 at);

#endif

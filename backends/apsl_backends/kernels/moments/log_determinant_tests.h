/* The likelihood-ratio test of two blocks given others, from a covariance matrix S.
 *
 * The statistic is n·(ln|S_xz| + ln|S_yz| - ln|S_z| - ln|S_xyz|); the degrees of freedom are the product of the
 * numbers of columns of x and of y that do not depend on those given. For two numbers it is the test of partial
 * correlation, and in general -n·ln of Wilks' Λ. Bartlett's correction replaces n by n - 1 - rank of z - (columns of x
 * and y + 1) / 2. Neither the order of x and y nor that of the given blocks changes a bit of it.
 *
 * A test without degrees of freedom is unreliable: given the others x or y no longer varies, so that nothing was
 * compared. Only a column that never varies at all is independent of every other, given enough rows to say so. */
#ifndef APSL_LOG_DETERMINANT_TESTS_H
#define APSL_LOG_DETERMINANT_TESTS_H

#include "moments/moments.h"

/* The outcome of a test; `rank` is that of the given columns. */
typedef struct {
    decision_t decision;
    double statistic;
    i64 dof, rank;
} block_outcome_t;

/* Return the outcome for x and y given the blocks that the decomposition holds; the room for both must be reserved. */
block_outcome_t moments_test_blocks(moments_t *moments, i64 x, i64 y);

/* Run tests: the blocks of a test (x, y and the given ones) are those from its start to that of the next one. */
EXPORT int32_t apsl_log_determinant_tests(moments_t *moments, const i64 *starts, const i64 *blocks, i64 tests,
                                          int8_t *decisions, double *statistics, i64 *dofs, i64 *ranks);

#endif

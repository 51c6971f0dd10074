/* Single tests that share no work: their sums, statistics and decisions. */
#ifndef APSL_SINGLE_TESTS_H
#define APSL_SINGLE_TESTS_H

#include "tests/decision.h"

/* What apsl_run_tests returns if a test has fewer than two places, or one that is no column. */
enum { NO_TEST = -1 };

/* Run the tests from low to high, `count` being the number of places, and write their sums, statistics and decisions.
 *
 * The columns of a test (x, y and the given ones) are the places from its start to the start of the next test. If x or
 * y is constant, or the test cannot be reliable, nothing is counted and its rows are -1. */
EXPORT int32_t apsl_run_tests(tester_t *tester, const i64 *starts, const i64 *places, i64 count, i64 low, i64 high,
                              sums_t *sums, double *statistics, int8_t *decisions);

/* Test x against the other columns from low to high, with nothing given. */
EXPORT int32_t apsl_sweep(tester_t *tester, i64 x, i64 low, i64 high, double *statistics, i64 *dofs, i64 *rows,
                          int8_t *decisions);

#endif

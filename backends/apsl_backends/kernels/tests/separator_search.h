/* The search for a separator: all subsets of a pool, small ones first, until x and y are independent.
 *
 * The tables of one search share work: the tables of one size are kept for the next size, the bit rows of x, y and the
 * fixed columns are made once, and the bit rows of a subset's first columns are kept while its last changes. */
#ifndef APSL_SEPARATOR_SEARCH_H
#define APSL_SEPARATOR_SEARCH_H

#include "tests/decision.h"
#include "base/stopping.h"

/* The decision (unreliable if nothing could be tested); the statistic, degrees of freedom and rows (-1 if nothing was
 * counted) of the test behind it; the number of tests; and the size of the subset. */
typedef struct {
    i64 decision;
    double statistic;
    i64 dof, rows, tests, size;
} found_t;

/* Search for a separator; `places` are x, y, the fixed columns and the pool, `count` in all. The subset's places in the
 * pool are in `chosen` of the tester's search. Once `stop` is set, the search ends without an outcome. */
status_t tests_search_separator(tester_t *tester, const i64 *places, i64 count, i64 fixed, i64 most, flag_t *stop,
                          found_t *found);

/* The same, and write the subset's places in the pool; `chosen` has room for `most`. */
EXPORT int32_t apsl_search(tester_t *tester, const i64 *places, i64 count, i64 fixed, i64 most, flag_t *stop,
                           found_t *found, i64 *chosen);

#endif

/* The search for a separator with log-determinant tests: all subsets of a pool, small ones first, until x and y are
 * independent. Consecutive subsets share the decomposition of the blocks that both begin with. */
#ifndef APSL_LOG_DETERMINANT_SEARCH_H
#define APSL_LOG_DETERMINANT_SEARCH_H

#include "moments/log_determinant_tests.h"
#include "base/stopping.h"

/* The outcome that separates, or else the weakest dependence; UNRELIABLE if nothing could be tested. `size` is that of
 * the subset behind it. */
typedef struct {
    block_outcome_t outcome;
    i64 tests, size;
} block_found_t;

/* Search; `blocks` are x, y, the fixed blocks, which are always given, and the pool. Subsets have at most `most`
 * blocks, which is at most the size of the pool. `pick` has space for the fixed blocks and twice `most`, and `chosen`
 * gets the places in the pool of the subset. Return STOPPED once the flag is set. */
status_t moments_search_blocks(moments_t *moments, const i64 *blocks, i64 fixed, i64 pool, i64 most, flag_t *stop,
                               i64 *pick,
                       i64 *chosen, block_found_t *found);

/* The same; write decision, degrees of freedom, rank, tests and size, in this order, into `figures`. */
EXPORT int32_t apsl_log_determinant_search(moments_t *moments, const i64 *blocks, i64 fixed, i64 pool, i64 most,
                                           flag_t *stop, double *statistic, i64 *figures, i64 *chosen);

#endif

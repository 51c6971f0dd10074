/* Try all subsets of a pool of blocks, small ones first, until one separates x and y.
 *
 * `pick` holds the given blocks and the current subset. Consecutive subsets share the decomposition of their first
 * blocks. The flag is read before each test. */
#include "moments/log_determinant_search.h"

#include "base/chi_square_tail.h"
#include "base/subsets.h"

#include <stdlib.h>

/* The weakest dependence so far, with ln p once it was needed. */
typedef struct {
    const block_outcome_t *outcome;
    double log;
    bool has_log;
} weakest_t;

/* Return whether an outcome separates or is weaker than the weakest dependence so far. */
static bool is_to_note(const block_outcome_t *outcome, weakest_t *weakest)
{
    const block_outcome_t *other = weakest->outcome;
    if (outcome->decision != DEPENDENT || other->decision == UNRELIABLE)
        return outcome->decision != UNRELIABLE;
    if (outcome->dof != other->dof && !weakest->has_log) {
        weakest->log = base_log_tail(other->statistic, other->dof);
        weakest->has_log = true;
    }
    return tests_is_weaker(outcome->statistic, outcome->dof, other->statistic, other->dof, weakest->log);
}

status_t moments_search_blocks(moments_t *moments, const i64 *blocks, i64 fixed, i64 pool, i64 most, flag_t *stop,
                               i64 *pick,
                       i64 *chosen, block_found_t *found)
{
    i64 x = blocks[0], y = blocks[1], *given = pick + most;
    *found = (block_found_t){{UNRELIABLE, 0.0, 0, 0}, 0, 0};
    i64 widest = 0;
    for (i64 k = 0; k < pool; k++)
        widest = larger(widest, moments_width_of(moments, blocks + 2 + fixed + k, 1));
    if (!moments_reserve(moments, moments_width_of(moments, blocks, 2 + fixed) + most * widest, fixed + most))
        return NO_MEMORY;
    weakest_t weakest = {&found->outcome, 0.0, false};
    for (i64 k = 0; k < fixed; k++)
        given[k] = blocks[2 + k];
    for (i64 size = 0; size <= most; size++) {
        for (i64 i = 0; i < size; i++)
            pick[i] = i;
        do {
            found->tests++;
            if (is_stopped(stop, found->tests))
                return STOPPED;
            for (i64 i = 0; i < size; i++)
                given[fixed + i] = blocks[2 + fixed + pick[i]];
            moments_condition_on(moments, given, fixed + size);
            block_outcome_t outcome = moments_test_blocks(moments, x, y);
            if (!is_to_note(&outcome, &weakest))
                continue;
            found->outcome = outcome;
            found->size = size;
            weakest.has_log = false;
            for (i64 i = 0; i < size; i++)
                chosen[i] = pick[i];
            if (outcome.decision == INDEPENDENT)
                return DONE;
        } while (base_step_subset(pick, size, pool) >= 0);
    }
    return DONE;
}

int32_t apsl_log_determinant_search(moments_t *moments, const i64 *blocks, i64 fixed, i64 pool, i64 most, flag_t *stop,
                                    double *statistic, i64 *figures, i64 *chosen)
{
    i64 *pick = malloc((size_t)(fixed + 2 * most + 1) * sizeof *pick);
    if (!pick)
        return NO_MEMORY;
    block_found_t found;
    status_t status = moments_search_blocks(moments, blocks, fixed, pool, most, stop, pick, chosen, &found);
    free(pick);
    *statistic = found.outcome.statistic;
    figures[0] = (i64)found.outcome.decision;
    figures[1] = found.outcome.dof;
    figures[2] = found.outcome.rank;
    figures[3] = found.tests;
    figures[4] = found.size;
    return status;
}

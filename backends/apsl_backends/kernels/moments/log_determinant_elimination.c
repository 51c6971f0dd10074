/* HITON's elimination by log-determinant tests; tests/hiton_elimination.c is the same from counts.
 *
 * An outcome is OUTCOME_FIELDS integers for each candidate, its given blocks a row of `most`. Members are places among
 * the candidates, in the order of their entry. */
#include "moments/log_determinant_elimination.h"

#include "base/chi_square_tail.h"

#include <stdlib.h>

/* What a call works on. `blocks` are those of a search (x, the candidate, the newcomer if it is fixed, and the pool),
 * and `pick` and `chosen` are its space. */
typedef struct {
    moments_t *moments;
    const i64 *ranked;
    i64 most;
    flag_t *stop;
    i64 *outcomes, *given, *members, *blocks, *pick, *chosen;
    double *statistics;
    i64 count, tests;
} elimination_t;

/* Record the outcome of a search if it separates the candidate or is its weakest dependence so far. */
static void note(elimination_t *run, i64 candidate, i64 fixed, const block_found_t *found)
{
    i64 *met = run->outcomes + candidate * OUTCOME_FIELDS, *given = run->given + candidate * run->most;
    double statistic = run->statistics[candidate];
    const block_outcome_t *outcome = &found->outcome;
    if (outcome->decision == UNRELIABLE)
        return;
    if (outcome->decision == DEPENDENT && met[STATE] != UNRELIABLE &&
        !tests_is_weaker(outcome->statistic, outcome->dof, statistic, met[DOF_MET],
                         outcome->dof == met[DOF_MET] ? 0.0 : base_log_tail(statistic, met[DOF_MET])))
        return;
    met[STATE] = (i64)outcome->decision;
    met[DOF_MET] = outcome->dof;
    met[RANK_MET] = outcome->rank;
    met[SIZE] = fixed + found->size;
    run->statistics[candidate] = outcome->statistic;
    for (i64 i = 0; i < fixed; i++)
        given[i] = run->blocks[2 + i];
    for (i64 i = 0; i < found->size; i++)
        given[fixed + i] = run->blocks[2 + fixed + run->chosen[i]];
}

/* Search for a separator of x and the member at a turn, with the newcomer, if it is another, always given. */
static status_t test_again(elimination_t *run, i64 turn, i64 newcomer)
{
    i64 candidate = run->members[turn], fixed = candidate != newcomer, pool = 0;
    run->blocks[1] = run->ranked[candidate];
    run->blocks[2] = run->ranked[newcomer];
    for (i64 i = 0; i < run->count; i++)
        if (i != turn && run->members[i] != newcomer)
            run->blocks[2 + fixed + pool++] = run->ranked[run->members[i]];
    i64 largest = smaller(pool, run->most - fixed);
    if (largest < 0 || fixed + pool == 0)
        return DONE;
    block_found_t found;
    status_t status = moments_search_blocks(run->moments, run->blocks, fixed, pool, largest, run->stop, run->pick,
                                    run->chosen, &found);
    run->tests += found.tests;
    if (status == DONE && is_stopped(run->stop, run->tests))
        return STOPPED;
    if (status == DONE)
        note(run, candidate, fixed, &found);
    return status;
}

/* Let a candidate enter, then test it and the members before it, the latest first. */
static status_t enter(elimination_t *run, i64 newcomer)
{
    run->members[run->count++] = newcomer;
    for (i64 turn = run->count - 1; turn >= 0; turn--) {
        i64 candidate = run->members[turn];
        status_t status = test_again(run, turn, newcomer);
        if (status != DONE)
            return status;
        if (run->outcomes[candidate * OUTCOME_FIELDS + STATE] != INDEPENDENT)
            continue;
        run->count--;
        for (i64 i = turn; i < run->count; i++)
            run->members[i] = run->members[i + 1];
        if (candidate == newcomer)
            return DONE;
    }
    return DONE;
}

int32_t apsl_log_determinant_elimination(moments_t *moments, i64 x, const i64 *ranked, i64 candidates, i64 most,
                                         flag_t *stop, i64 *outcomes, double *statistics, i64 *given, i64 *members,
                                         i64 *totals)
{
    i64 *space = malloc((size_t)(candidates + 3 + 3 * most + 1) * sizeof *space);
    if (!space)
        return NO_MEMORY;
    elimination_t run = {moments, ranked, most, stop, outcomes, given, members, space, space + candidates + 3,
                         space + candidates + 4 + 2 * most, statistics, 0, 0};
    run.blocks[0] = x;
    status_t status = DONE;
    for (i64 newcomer = 0; newcomer < candidates && status == DONE; newcomer++)
        status = enter(&run, newcomer);
    free(space);
    totals[0] = run.count;
    totals[1] = run.tests;
    return status;
}

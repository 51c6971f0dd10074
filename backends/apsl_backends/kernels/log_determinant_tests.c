#include "log_determinant_tests.h"

#include "chi_square_tail.h"

static bool is_independent(const test_rules_t *rules, double statistic, i64 dof)
{
    return dof < rules->tabled ? statistic < rules->thresholds[dof] : tail(statistic, dof) > rules->alpha;
}

block_outcome_t test_blocks(moments_t *moments, i64 x, i64 y)
{
    decomposition_t *decomposition = &moments->decomposition;
    const i64 *leading = moments->leading;
    /* the block whose pivots are needed twice is the narrower one, whatever the order of naming */
    bool is_x_last = leading[x] < leading[y] || (leading[x] == leading[y] && x < y);
    i64 first = is_x_last ? y : x, last = is_x_last ? x : y;
    i64 given = decomposition->rank, count = 0;
    for (i64 k = 0; k < leading[last]; k++) {
        i64 column = moments->starts[last] + k;
        double pivot = pivot_of(decomposition, column);
        if (!is_free(decomposition, column, pivot))
            continue;
        keep_column(decomposition, column, pivot);
        moments->columns[count] = column;
        moments->pivots[count++] = pivot;
    }
    decomposition->rank = given;
    for (i64 k = 0; k < leading[first]; k++)
        add_column(decomposition, moments->starts[first] + k);
    i64 of_first = decomposition->rank - given;
    block_outcome_t outcome = {INDEPENDENT, 0.0, of_first * count, given};
    double used = (double)(1 + given + of_first + count);
    if (moments->rows <= used || moments->rows < moments->rules.rows_per_column * used) {
        outcome.decision = UNRELIABLE;
        outcome.dof = 0;
    } else if (outcome.dof > 0) {
        double ratio = log_ratio(decomposition, moments->columns, moments->pivots, count), scale = moments->rows;
        if (moments->rules.corrected)
            scale -= (double)(1 + given) + 0.5 * (double)(of_first + count + 1);
        outcome.statistic = ratio > 0.0 ? scale * ratio : 0.0;
        if (!is_independent(&moments->rules, outcome.statistic, outcome.dof))
            outcome.decision = DEPENDENT;
    }
    decomposition->rank = given;
    return outcome;
}

int32_t apsl_log_determinant_tests(moments_t *moments, const i64 *starts, const i64 *blocks, i64 tests,
                                   int8_t *decisions, double *statistics, i64 *dofs, i64 *ranks)
{
    for (i64 t = 0; t < tests; t++) {
        const i64 *test = blocks + starts[t];
        i64 count = starts[t + 1] - starts[t];
        if (!reserve(moments, width_of(moments, test, count), count))
            return NO_MEMORY;
        condition_on(moments, test + 2, count - 2);
        block_outcome_t outcome = test_blocks(moments, test[0], test[1]);
        decisions[t] = (int8_t)outcome.decision;
        statistics[t] = outcome.statistic;
        dofs[t] = outcome.dof;
        ranks[t] = outcome.rank;
    }
    return DONE;
}

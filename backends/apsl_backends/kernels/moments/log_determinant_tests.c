/* The likelihood-ratio test of two blocks given others, from moments.
 *
 * Outcomes are written to one array for each figure. The given blocks are those that the decomposition holds. */
#include "moments/log_determinant_tests.h"

#include "base/chi_square_tail.h"

static bool is_independent(const test_rules_t *rules, double statistic, i64 dof)
{
    return dof < rules->tabled ? statistic < rules->thresholds[dof] : base_tail(statistic, dof) > rules->alpha;
}

/* Return how many of the columns that stand for a block vary. */
static i64 varying(const moments_t *moments, i64 block)
{
    i64 count = 0;
    for (i64 k = 0; k < moments->leading[block]; k++)
        count += moments->alone[moments->starts[block] + k] > 0.0;
    return count;
}

static block_t tested_block(const moments_t *moments, i64 block)
{
    return (block_t){moments->starts[block], moments->leading[block], moments->categories[block] != 0};
}

/* The test at one level: whether both columns vary there, whether there are rows enough, and its figures. */
typedef struct {
    bool varies, is_tested;
    i64 of_x, of_y, dof;
    double statistic, by_products;
} level_test_t;

static level_test_t test_level(moments_t *moments, i64 x, i64 y)
{
    i64 given = moments->decomposition.rank;
    comparison_t compared = moments_compare(&moments->decomposition, tested_block(moments, x), tested_block(moments, y),
                                            moments->starts, moments->columns, moments->pivots);
    double used = (double)(1 + given + compared.of_x + compared.of_y);
    level_test_t found = {false, false, varying(moments, x), varying(moments, y), compared.of_x * compared.of_y, 0.0, 0.0};
    found.varies = found.of_x > 0 && found.of_y > 0;
    bool is_sparse = moments->rows * compared.levels.joint < moments->rules.joint_rows;
    found.is_tested = found.varies && found.dof > 0 && !is_sparse && moments->rows > used &&
                      moments->rows >= moments->rules.rows_per_column * used;
    if (!found.is_tested)
        return found;
    double scale = moments->rows;
    if (moments->rules.corrected)
        scale -= (double)(1 + given) + 0.5 * (double)(compared.of_x + compared.of_y + 1);
    found.statistic = scale * compared.ratio / compared.levels.inflation;
    found.by_products = found.statistic + scale * compared.levels.products / compared.levels.inflation;
    return found;
}

block_outcome_t moments_test_blocks(moments_t *moments, i64 x, i64 y)
{
    i64 given = moments->decomposition.rank;
    level_test_t found = test_level(moments, x, y);
    block_outcome_t outcome = {INDEPENDENT, 0.0, found.dof, given};
    if (moments->between) {
        level_test_t means = test_level(moments->between, x, y);
        found.dof = (found.is_tested ? found.dof : 0) + (means.is_tested ? means.dof : 0);
        found.statistic += means.statistic;
        found.by_products += means.by_products;
        found.varies |= means.varies;
        found.is_tested |= means.is_tested;
        outcome.dof = found.dof;
    }
    if (!found.varies) {
        i64 least = 1 + given + larger(found.of_x, 1) + larger(found.of_y, 1);
        if (moments->rows < moments->rules.rows_per_column * (double)least)
            outcome.decision = UNRELIABLE;
        return outcome;
    }
    if (!found.is_tested) {
        outcome.decision = UNRELIABLE;
        outcome.dof = 0;
        return outcome;
    }
    outcome.statistic = found.statistic;
    if (!is_independent(&moments->rules, outcome.statistic, outcome.dof)) {
        bool is_due = is_independent(&moments->rules, found.by_products > 0.0 ? found.by_products : 0.0, outcome.dof);
        outcome.decision = is_due ? UNRELIABLE : DEPENDENT;
    }
    return outcome;
}

int32_t apsl_log_determinant_tests(moments_t *moments, const i64 *starts, const i64 *blocks, i64 tests,
                                   int8_t *decisions, double *statistics, i64 *dofs, i64 *ranks)
{
    for (i64 t = 0; t < tests; t++) {
        const i64 *test = blocks + starts[t];
        i64 count = starts[t + 1] - starts[t];
        if (!moments_reserve(moments, moments_width_of(moments, test, count), count))
            return NO_MEMORY;
        moments_condition_on(moments, test + 2, count - 2);
        block_outcome_t outcome = moments_test_blocks(moments, test[0], test[1]);
        decisions[t] = (int8_t)outcome.decision;
        statistics[t] = outcome.statistic;
        dofs[t] = outcome.dof;
        ranks[t] = outcome.rank;
    }
    return DONE;
}

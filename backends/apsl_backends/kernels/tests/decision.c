/* Decide a test from its sums: reliable or not, the statistic, its degrees of freedom, and against which value.
 *
 * Tabled critical values decide where they exist, the tail elsewhere. Two dependences are compared by ln p, which is
 * computed only if rough bounds overlap. */
#include "tests/decision.h"

static const double LARGEST_DOF = 4e18;

static i64 full_dof(const tester_t *tester, i64 dims)
{
    double dof = ((double)tester->cards[0] - 1.0) * ((double)tester->cards[1] - 1.0);
    for (i64 d = PAIR; d < dims; d++)
        dof *= (double)tester->cards[d];
    return (i64)(dof < LARGEST_DOF ? dof : LARGEST_DOF);
}

judged_t tests_judge(const tester_t *tester, const sums_t *sums, i64 dims, double levels)
{
    const measure_t *measure = tester->measure;
    if ((double)sums->rows < measure->rows_per_cell * levels)
        return (judged_t){UNRELIABLE, 0.0, 0};
    if (sums->dof == 0) /* x or y is constant in every stratum, so that nothing was compared */
        return (judged_t){UNRELIABLE, 0.0, 0};
    i64 dof = measure->full_dof ? full_dof(tester, dims) : sums->dof;
    double statistic = (double)(sums->joint - sums->of_x - sums->of_y + sums->of_all) / measure->scale;
    if (measure->kind == G_SQUARE)
        statistic *= 2.0;
    if (!(statistic > 0.0))
        statistic = 0.0;
    bool is_independent =
        dof < TABLED_DOFS ? statistic < measure->thresholds[dof] : base_tail(statistic, dof) > measure->alpha;
    return (judged_t){is_independent ? INDEPENDENT : DEPENDENT, statistic, dof};
}

bool tests_is_weaker(double statistic, i64 dof, double other, i64 other_dof, double other_log)
{
    if (dof == other_dof)
        return statistic < other;
    if (dof > other_dof && statistic <= other)
        return true;
    if (dof < other_dof && statistic >= other)
        return false;
    if (statistic >= 2.0 * (double)dof) {
        double difference = base_rough_log_tail(statistic, dof) - other_log;
        if (difference > ROUGHNESS || difference < -ROUGHNESS)
            return difference > 0.0;
    }
    double mine = base_log_tail(statistic, dof);
    return mine > other_log || (mine == other_log && statistic < other);
}

int32_t apsl_is_weaker(double statistic, i64 dof, double other, i64 other_dof)
{
    return tests_is_weaker(statistic, dof, other, other_dof, base_log_tail(other, other_dof));
}

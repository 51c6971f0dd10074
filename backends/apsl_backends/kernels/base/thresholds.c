/* Critical values of χ² at one level, for 0 to TABLED_DOFS - 1 degrees of freedom.
 *
 * A value is found by Newton steps and then by bisection of its bits, down to the double at which the tail crosses the level, so
 * that comparing a statistic with it decides as the tail would. */
#include "base/thresholds.h"

#include "base/chi_square_tail.h"
#include "base/double_bits.h"
#include "base/elementary.h"

enum { MOST_STEPS = 60 };

/* Return ln of the density at a statistic. */
static double log_density(double statistic, i64 dof)
{
    double a = 0.5 * (double)dof, x = 0.5 * statistic;
    return (a - 1.0) * base_natural_log(x) - x - base_log_gamma(a) - 0.69314718055994530942;
}

/* Return a statistic whose tail is near alpha, by Newton's method from another guess. */
static double near_threshold(double alpha, i64 dof, double guess)
{
    double statistic = guess;
    for (int step = 0; step < MOST_STEPS; step++) {
        double above = base_tail(statistic, dof) - alpha, density = base_exponential(log_density(statistic, dof));
        double next = statistic + above / density;
        if (!(next > 0.5 * statistic))
            next = 0.5 * statistic;
        if (!(next < 2.0 * statistic))
            next = 2.0 * statistic;
        double change = next > statistic ? next - statistic : statistic - next;
        statistic = next;
        if (change <= 1e-13 * statistic)
            break;
    }
    return statistic;
}

static double threshold(double alpha, i64 dof, double guess)
{
    uint64_t low = bits_of(near_threshold(alpha, dof, guess)), high = low, width = 1;
    while (low > 0 && base_tail(with_bits(low), dof) <= alpha) {
        high = low;
        low = low > width ? low - width : 0;
        width *= 4;
    }
    for (width = 1; base_tail(with_bits(high), dof) > alpha; width *= 4) {
        low = high;
        high += width;
    }
    while (low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        if (base_tail(with_bits(middle), dof) > alpha)
            low = middle;
        else
            high = middle;
    }
    return with_bits(high);
}

void apsl_thresholds(double alpha, double *out)
{
    out[0] = 0.0;
    for (i64 dof = 1; dof < TABLED_DOFS; dof++)
        out[dof] = threshold(alpha, dof, dof == 1 ? 1.0 : out[dof - 1] + 1.0);
}

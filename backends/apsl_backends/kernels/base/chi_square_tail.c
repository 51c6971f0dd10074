/* P(χ² > s) and its logarithm.
 *
 * Below x = a + 1 (a half of the degrees of freedom, x half of the statistic) the lower tail is a series, above it the
 * upper tail is a continued fraction; both are relative to x^a·e^-x / Γ(a), whose logarithm never underflows. Only
 * basic operations are used. */
#include "base/chi_square_tail.h"

#include "base/elementary.h"

static const double TINY = 1e-300;
static const double CLOSE = 1e-16;
enum { MOST_ROUNDS = 1000000 };

static double magnitude(double x) { return x < 0.0 ? -x : x; }

/* Return ln(x^a · e^-x / Γ(a)). For a large a it is written in x/a - 1, since its parts would nearly cancel. */
static double log_front(double a, double x)
{
    if (a < 10.0)
        return a * base_natural_log(x) - x - base_log_gamma(a);
    static const double stirling[] = {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360};
    const double half_ln_two_pi = 0.91893853320467274178;
    double excess = (x - a) / a, inverse = 1.0 / a, series = 0.0;
    double power = excess > -0.5 ? base_natural_log_plus_one(excess) : base_natural_log(x / a);
    for (int k = 5; k >= 0; k--)
        series = series * inverse * inverse + stirling[k];
    return a * (power - excess) + 0.5 * base_natural_log(a) - half_ln_two_pi - series * inverse;
}

/* Return the lower tail divided by the front, for x < a + 1, by a series. */
static double lower_series(double a, double x)
{
    double share = 1.0 / a, total = share, up = a;
    while (share > total * CLOSE) {
        up += 1.0;
        share *= x / up;
        total += share;
    }
    return total;
}

/* Return the upper tail divided by the front, for x >= a + 1, by a continued fraction. */
static double upper_fraction(double a, double x)
{
    double b = x + 1.0 - a, c = 1.0 / TINY, d = 1.0 / b, fraction = d;
    for (i64 i = 1; i < MOST_ROUNDS; i++) {
        double step = -(double)i * ((double)i - a);
        b += 2.0;
        d = step * d + b;
        if (magnitude(d) < TINY)
            d = TINY;
        c = b + step / c;
        if (magnitude(c) < TINY)
            c = TINY;
        d = 1.0 / d;
        double factor = d * c;
        fraction *= factor;
        if (magnitude(factor - 1.0) < CLOSE)
            break;
    }
    return fraction;
}

double apsl_tail(double statistic, i64 dof, double *log)
{
    double a = 0.5 * (double)dof, x = 0.5 * statistic;
    if (dof <= 0 || !(x > 0.0)) {
        *log = 0.0;
        return 1.0;
    }
    double front = log_front(a, x);
    if (x < a + 1.0) {
        double lower = base_exponential(front + base_natural_log(lower_series(a, x)));
        lower = lower < 1.0 - CLOSE ? lower : 1.0 - CLOSE;
        *log = base_natural_log_plus_one(-lower);
        return 1.0 - lower;
    }
    *log = front + base_natural_log(upper_fraction(a, x));
    return base_exponential(*log);
}

double base_log_tail(double statistic, i64 dof)
{
    double log;
    apsl_tail(statistic, dof, &log);
    return log;
}

double base_tail(double statistic, i64 dof)
{
    double log;
    return apsl_tail(statistic, dof, &log);
}

/* With a = dof/2 and x = statistic/2, Γ(a, x) lies between x^(a-1)·e^-x and x^a·e^-x / (x - a + 1), which differ by a
 * factor of at most 2. */
double base_rough_log_tail(double statistic, i64 dof)
{
    double a = 0.5 * (double)dof, x = 0.5 * statistic;
    return (a - 1.0) * base_natural_log(x) - x - base_log_gamma(a);
}

void apsl_tails(const double *statistics, const i64 *dofs, i64 count, double *tails, double *logs)
{
    for (i64 k = 0; k < count; k++)
        tails[k] = apsl_tail(statistics[k], dofs[k], logs + k);
}

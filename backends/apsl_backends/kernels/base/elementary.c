/* ln, exp, powers of two, ln Γ, square roots and normal quantiles in additions, multiplications and divisions alone.
 *
 * The order of the operations is fixed and the compiler may not fuse them, so every machine gives the same bits.
 * Arguments are reduced by the bits of a double (double_bits.h); constants are split where a product must be exact. The
 * range of each argument is in elementary.h and is not checked. */
#include "base/elementary.h"

#include "base/double_bits.h"

static const double LN2_HIGH = 6.93147180369123816490e-01; /* its last 32 bits are 0, so small multiples are exact */
static const double LN2_LOW = 1.90821492927058770002e-10;
static const double LN2 = 0.69314718055994530942;
static const double HALF_LN_TWO_PI = 0.91893853320467274178;
static const double INFINITE = 1.0e308 * 10.0;

/* Return ln((1 + s) / (1 - s)) - 2s for |s| < 0.172, by the series of the inverse hyperbolic tangent. */
static double rest_of_log(double s)
{
    double square = s * s, sum = 0.0;
    for (int k = 12; k >= 1; k--)
        sum = square * (sum + 2.0 / (2 * k + 1));
    return s * sum;
}

double base_natural_log(double x)
{
    uint64_t bits = bits_of(x);
    int power = (int)(bits >> 52) - 1023;
    double mantissa = with_bits((bits & 0xFFFFFFFFFFFFFu) | 0x3FF0000000000000u);
    if (mantissa > 1.4142135623730951) {
        mantissa *= 0.5;
        power++;
    }
    double f = mantissa - 1.0, s = f / (2.0 + f), half_square = 0.5 * f * f;
    /* 2s = f - s·f, and s·f = f²/2 - s·f²/2: written so that f, the largest part, enters exactly */
    double correction = s * half_square + rest_of_log(s);
    return power * LN2_HIGH + (f - (half_square - (correction + power * LN2_LOW)));
}

double base_natural_log_plus_one(double x)
{
    double sum = 1.0 + x;
    if (sum == 1.0)
        return x;
    return base_natural_log(sum) + (x - (sum - 1.0)) / sum; /* what the sum lost */
}

double base_nearest(double x)
{
    const double shift = 6755399441055744.0; /* 1.5 · 2^52: adding it rounds away the fraction */
    volatile double shifted = x + shift;
    return shifted - shift;
}

double base_exponential(double x)
{
    if (x < -708.0)
        return 0.0;
    if (x > 709.0)
        return INFINITE;
    double power = base_nearest(x / LN2);
    double r = (x - power * LN2_HIGH) - power * LN2_LOW, sum = 1.0;
    for (int k = 14; k >= 1; k--)
        sum = 1.0 + sum * r / k;
    return sum * with_bits((uint64_t)((int64_t)power + 1023) << 52);
}

double base_power_of_two(double x)
{
    double whole = base_nearest(x);
    return base_exponential((x - whole) * LN2) * with_bits((uint64_t)((int64_t)whole + 1023) << 52);
}

double base_log_gamma(double x)
{
    double product = 1.0;
    while (x < 10.0) { /* Γ(x) = Γ(x + 1) / x */
        product *= x;
        x += 1.0;
    }
    static const double stirling[] = {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360,
                                      1.0 / 156};
    double inverse = 1.0 / x, square = inverse * inverse, series = 0.0;
    for (int k = 6; k >= 0; k--)
        series = series * square + stirling[k];
    double value = (x - 0.5) * base_natural_log(x) - x + HALF_LN_TWO_PI + series * inverse;
    return product == 1.0 ? value : value - base_natural_log(product);
}

i64 base_nearest_integer(double x)
{
    i64 whole = (i64)x;
    double rest = x - (double)whole;
    if (rest > 0.5 || (rest == 0.5 && whole % 2))
        return whole + 1;
    return rest < -0.5 || (rest == -0.5 && whole % 2) ? whole - 1 : whole;
}

void apsl_log_gamma(const double *values, i64 count, double *out)
{
    for (i64 k = 0; k < count; k++)
        out[k] = base_log_gamma(values[k]);
}

double base_square_root(double value)
{
    if (value <= 0.0)
        return 0.0;
    double root = 1.0, next = 0.5 * (root + value / root);
    while (next < root) { /* from above, each step of Newton's is smaller until rounding ends it */
        root = next;
        next = 0.5 * (root + value / root);
    }
    return root;
}

enum { NORMAL_TERMS = 8 };

/* Coefficients of Wichura (1988), algorithm AS 241, the highest powers first. */
static const double CENTRAL_ABOVE[NORMAL_TERMS] = {
    2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
    13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608,
};
static const double CENTRAL_BELOW[NORMAL_TERMS] = {
    5226.495278852545925,  28729.085735721942674, 39307.89580009271061,  21213.794301586595867,
    5394.1960214247511077, 687.1870074920579083,  42.313330701600911252, 1.0,
};
static const double OUTER_ABOVE[NORMAL_TERMS] = {
    7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
    3.64784832476320460504,   5.7694972214606914055,    4.6303378461565452959,  1.42343711074968357734,
};
static const double OUTER_BELOW[NORMAL_TERMS] = {
    1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
    0.68976733498510000455,    1.6763848301838038494,   2.05319162663775882187,   1.0,
};
static const double FAR_ABOVE[NORMAL_TERMS] = {
    2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
    0.29656057182850489123,    1.7848265399172913358,     5.4637849111641143699,    6.6579046435011037772,
};
static const double FAR_BELOW[NORMAL_TERMS] = {
    2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
    0.0148753612908506148525,   0.13692988092273580531,   0.59983220655588793769,   1.0,
};

static double ratio_of(const double *above, const double *below, double x)
{
    double top = above[0], bottom = below[0];
    for (int k = 1; k < NORMAL_TERMS; k++) {
        top = top * x + above[k];
        bottom = bottom * x + below[k];
    }
    return top / bottom;
}

static double normal_quantile(double share)
{
    double middle = share - 0.5;
    if (middle >= -0.425 && middle <= 0.425)
        return middle * ratio_of(CENTRAL_ABOVE, CENTRAL_BELOW, 0.180625 - middle * middle);
    double least = middle < 0.0 ? share : 1.0 - share;
    if (!(least >= 2.2250738585072014e-308))
        return middle * INFINITE;
    double root = 32.0 * base_square_root(-base_natural_log(least) / 1024.0);
    double found = root <= 5.0 ? ratio_of(OUTER_ABOVE, OUTER_BELOW, root - 1.6)
                               : ratio_of(FAR_ABOVE, FAR_BELOW, root - 5.0);
    return middle < 0.0 ? -found : found;
}

void apsl_normal_quantiles(const double *shares, i64 count, double *out)
{
    for (i64 k = 0; k < count; k++)
        out[k] = normal_quantile(shares[k]);
}

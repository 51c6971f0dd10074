/* How far the spread of indicators makes a test of two categories too large, and how often their levels meet.
 *
 * Both are read off variances that a decomposition holds, pair of levels by pair of levels. Nothing is kept. */
#include "moments/level_pairs.h"

#include "base/elementary.h"

/* An indicator: the rate of its level (at most one half: it is not the most frequent one), 1 - 2p, and its variance plus
 * the part of it that the given columns explain. */
typedef struct {
    double rate, skew, spread;
} indicator_t;

static indicator_t indicator_of(double variance, double explained)
{
    double skew = base_square_root(1.0 - 4.0 * variance);
    return (indicator_t){2.0 * variance / (1.0 + skew), skew, variance + explained};
}

static double variance_of(const decomposition_t *decomposition, i64 column)
{
    return decomposition->matrix[column * (decomposition->columns + 1)];
}

/* Return the part of the variance of a kept column that the given ones before it explain. */
static double explained_of(const decomposition_t *decomposition, i64 given, i64 kept)
{
    double explained = 0.0;
    for (i64 k = 0; k < given; k++) {
        double slope = decomposition->upper[k * decomposition->capacity + kept];
        explained += slope * slope * decomposition->pivots[k];
    }
    return explained;
}

/* With the rates p and q of two levels in a row, the mean of p(1 - p)q(1 - q) follows from the covariance of p and q, if
 * the slope of p(1 - p) on p is that of a beta distribution with the mean and variance of p. */
level_pairs_t moments_weigh_level_pairs(decomposition_t *decomposition, i64 given, const i64 *columns, i64 count)
{
    i64 rank = decomposition->rank;
    double inflations = 0.0, weights = 0.0, parts = 0.0;
    for (i64 i = 0; i < count; i++) {
        decomposition->rank = given;
        double left = moments_pivot_of(decomposition, columns[i]), variance = variance_of(decomposition, columns[i]);
        indicator_t one = indicator_of(variance, variance - left);
        decomposition->rank = rank;
        for (i64 kept = given; kept < rank; kept++) {
            indicator_t other = indicator_of(variance_of(decomposition, decomposition->kept[kept]),
                                             explained_of(decomposition, given, kept));
            double shared = 0.0, alone = one.rate * other.rate;
            for (i64 k = 0; k < given; k++)
                shared += decomposition->left[k] * decomposition->upper[k * decomposition->capacity + kept];
            double inflation = 1.0 + one.skew * other.skew * shared / (one.spread * other.spread);
            double lift = 1.0 + shared / alone;
            inflations += inflation > 0.0 ? inflation : 0.0;
            weights += lift > 0.0 ? lift * lift : 0.0;
            parts += lift > 0.0 ? lift / alone : 0.0;
        }
    }
    double inflation = inflations / (double)(count * (rank - given));
    return (level_pairs_t){inflation > 1.0 ? inflation : 1.0, parts > 0.0 ? weights / parts : 0.0};
}

/* How far the spread of indicators and products make a test of two categories too large, and how often levels meet.
 *
 * All are read off variances that a decomposition holds, pair of levels by pair of levels. Nothing is kept. */
#include "moments/level_pairs.h"

#include "base/elementary.h"

/* An indicator: the rate of its level (at most one half: it is not the most frequent one), 1 - 2p, its variance, and
 * that plus the part of it that the given columns explain. */
typedef struct {
    double rate, skew, variance, spread;
} indicator_t;

static indicator_t indicator_of(double variance, double explained)
{
    double skew = base_square_root(1.0 - 4.0 * variance);
    return (indicator_t){2.0 * variance / (1.0 + skew), skew, variance, variance + explained};
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

/* What given columns share of two indicators: in all, and the sum of the products of what any two blocks share. */
typedef struct {
    double sum, products;
} shares_t;

static shares_t shares_of(const decomposition_t *decomposition, i64 given, i64 kept, const i64 *starts)
{
    shares_t shares = {0.0, 0.0};
    for (i64 k = 0, block = 0; k < given;) {
        while (starts[block + 1] <= decomposition->kept[k])
            block++;
        double of_block = 0.0;
        for (; k < given && decomposition->kept[k] < starts[block + 1]; k++)
            of_block += decomposition->left[k] * decomposition->upper[k * decomposition->capacity + kept];
        shares.products += of_block * shares.sum;
        shares.sum += of_block;
    }
    return shares;
}

/* Return by how much c²/vw may be too large for products, c being the covariance of two indicators given the others. If
 * the rate of a level is a logistic curve of a sum, a product of two terms adds at most (1 - 2p) / p(1 - p) times these,
 * and less where the curve is steep. */
static double change_by_products(indicator_t one, indicator_t other, double covariance, double products)
{
    double one_left = 2.0 * one.variance - one.spread, other_left = 2.0 * other.variance - other.spread;
    if (!(one_left > 0.0 && other_left > 0.0))
        return 0.0;
    double most = one.skew * other.skew * products / (one.variance * other.variance);
    if (!(most * covariance > 0.0))
        return 0.0;
    double explained = most * most < covariance * covariance ? most : covariance;
    return explained * (explained - 2.0 * covariance) / (one_left * other_left);
}

/* With the rates p and q of two levels in a row, the mean of p(1 - p)q(1 - q) follows from the covariance of p and q, if
 * the slope of p(1 - p) on p is that of a beta distribution with the mean and variance of p. */
level_pairs_t moments_weigh_level_pairs(decomposition_t *decomposition, i64 given, const i64 *columns, i64 count,
                                        const i64 *starts)
{
    i64 rank = decomposition->rank;
    double inflations = 0.0, weights = 0.0, parts = 0.0, products = 0.0;
    for (i64 i = 0; i < count; i++) {
        decomposition->rank = given;
        double left = moments_pivot_of(decomposition, columns[i]), variance = variance_of(decomposition, columns[i]);
        indicator_t one = indicator_of(variance, variance - left);
        decomposition->rank = rank;
        for (i64 kept = given; kept < rank; kept++) {
            indicator_t other = indicator_of(variance_of(decomposition, decomposition->kept[kept]),
                                             explained_of(decomposition, given, kept));
            double alone = one.rate * other.rate;
            shares_t shares = shares_of(decomposition, given, kept, starts);
            double inflation = 1.0 + one.skew * other.skew * shares.sum / (one.spread * other.spread);
            double lift = 1.0 + shares.sum / alone;
            double whole = decomposition->matrix[columns[i] * decomposition->columns + decomposition->kept[kept]];
            products += change_by_products(one, other, whole - shares.sum, shares.products);
            inflations += inflation > 0.0 ? inflation : 0.0;
            weights += lift > 0.0 ? lift * lift : 0.0;
            parts += lift > 0.0 ? lift / alone : 0.0;
        }
    }
    double inflation = inflations / (double)(count * (rank - given));
    return (level_pairs_t){inflation > 1.0 ? inflation : 1.0, parts > 0.0 ? weights / parts : 0.0, products};
}

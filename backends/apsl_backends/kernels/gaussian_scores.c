#include "gaussian_scores.h"

#include "elementary.h"

prices_t prices_of(const moments_t *moments, double penalty, double price)
{
    return (prices_t){penalty * 0.5 * natural_log(moments->rows), price};
}

double gaussian_score(moments_t *moments, const prices_t *prices, i64 child, const i64 *parents, i64 count)
{
    condition_on(moments, parents, count);
    i64 rank = 0;
    double alone = 0.0;
    for (i64 k = 0; k < moments->leading[child]; k++) {
        i64 column = moments->starts[child] + k;
        if (!(moments->alone[column] > 0.0))
            continue;
        moments->columns[rank] = column;
        moments->pivots[rank++] = moments->alone[column];
        alone += moments->logs[column];
    }
    double explained = log_ratio(&moments->decomposition, moments->columns, moments->pivots, rank);
    double parameters = (double)(rank * moments->decomposition.rank);
    return -0.5 * moments->rows * (alone - explained) - prices->per_parameter * parameters -
           prices->per_parent * (double)count;
}

int32_t apsl_gaussian_scores(moments_t *moments, const i64 *children, const i64 *starts, const i64 *parents,
                             i64 families, double penalty, double price, double *scores)
{
    prices_t prices = prices_of(moments, penalty, price);
    for (i64 f = 0; f < families; f++) {
        const i64 *first = parents + starts[f];
        i64 count = starts[f + 1] - starts[f];
        if (!reserve(moments, width_of(moments, first, count) + width_of(moments, children + f, 1), count))
            return NO_MEMORY;
        scores[f] = gaussian_score(moments, &prices, children[f], first, count);
    }
    return DONE;
}

/* The score of a child given its parents, from a covariance matrix S of blocks, in nats.
 *
 * It is -n/2·(ln|S_ab| - ln|S_b|) - penalty·½·ln n·(rank of a)·(rank of b) - price for each parent, where a is the
 * child and b are the parents; a constant that depends on the child alone is left out. Without parents only the
 * determinant of the child remains. If all columns of a block are leading ones, equivalent graphs have equal sums of
 * scores. */
#ifndef APSL_GAUSSIAN_SCORES_H
#define APSL_GAUSSIAN_SCORES_H

#include "moments.h"

typedef struct {
    double per_parameter, per_parent;
} prices_t;

/* Return the prices: `penalty` times ½·ln n for each parameter, and `price` for each parent. */
prices_t prices_of(const moments_t *moments, double penalty, double price);

/* Return the score of a family. The room for its columns must be reserved. */
double gaussian_score(moments_t *moments, const prices_t *prices, i64 child, const i64 *parents, i64 count);

/* Write the score of each child; its parents are those from its start to the start of the next child's. */
EXPORT int32_t apsl_gaussian_scores(moments_t *moments, const i64 *children, const i64 *starts, const i64 *parents,
                                    i64 families, double penalty, double price, double *scores);

#endif

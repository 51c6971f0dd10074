/* The decomposition LDLᵀ of a part of a covariance matrix, column after column, without square roots.
 *
 * The pivot of a column is its variance given the columns kept before it. A column whose pivot is at most `tolerance`
 * of its variance depends on those before it: it is left out, and the rank is the number of columns kept. The sums are
 * made in a fixed order, so that the same columns in the same order give the same bits everywhere. */
#ifndef APSL_DECOMPOSITION_H
#define APSL_DECOMPOSITION_H

#include "base/common.h"

/* A product of ratios beyond this gets its logarithm taken; a ratio is at most 1e12, since no tolerance is smaller. */
#define LARGE_PRODUCT 1e200

/* `upper` has Lᵀ in rows of `capacity`. `left` and `slopes` belong to the column whose pivot was computed last: its
 * covariances with each kept column given the ones before that, and these divided by the pivots. */
typedef struct {
    const double *matrix; /* symmetric, columns by columns */
    i64 columns;
    double tolerance;
    i64 capacity, rank;
    i64 *kept;
    double *upper, *pivots, *left, *slopes;
} decomposition_t;

/* Make room for so many kept columns; if there was less, forget those that are kept. Return false without memory. */
bool moments_reserve_columns(decomposition_t *decomposition, i64 capacity);

void moments_free_columns(decomposition_t *decomposition);

/* Return the variance of a column given the kept ones; never more than its variance. */
double moments_pivot_of(decomposition_t *decomposition, i64 column);

/* Keep the column whose pivot was computed last. */
void moments_keep_column(decomposition_t *decomposition, i64 column, double pivot);

/* Return whether a pivot is more than the tolerance of a column's variance. */
bool moments_is_free(const decomposition_t *decomposition, i64 column, double pivot);

/* Keep a column unless it depends on those before it. */
void moments_add_column(decomposition_t *decomposition, i64 column);

/* Return the sum of ln(alone / pivot) over columns, each pivot given the kept columns and the earlier of these; the
 * kept columns stay as they are. `alone` has the positive pivots without some of the kept columns. A pivot counts as at
 * least the tolerance of `alone`, so that what is determined has a large but finite figure. */
double moments_log_ratio(decomposition_t *decomposition, const i64 *columns, const double *alone, i64 count);

#endif

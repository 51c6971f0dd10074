/* Open the moments of a table: blocks of columns, their pivots, and the decomposition of what is given.
 *
 * The decomposition of the last call is kept: a call that gives blocks with the same first numbers goes on from there.
 * Given blocks are sorted, so their order changes no bit. The caller owns the matrix and checks it with
 * apsl_find_flaw. */
#include "moments/moments.h"


#include <stdlib.h>

/* Beyond these, products of covariances could be subnormal or infinite. */
#define LEAST_VARIANCE 1e-100
#define LARGEST_VARIANCE 1e100
/* The square of a correlation may exceed 1 by this, from rounding. */
#define SLACK 1e-6

enum { NO_FLAW, WRONG_VARIANCE, NOT_SYMMETRIC, WRONG_COVARIANCE };

int32_t apsl_find_flaw(const double *matrix, i64 columns)
{
    for (i64 i = 0; i < columns; i++) {
        double variance = matrix[i * (columns + 1)];
        if (!(variance == 0.0 || (variance >= LEAST_VARIANCE && variance <= LARGEST_VARIANCE)))
            return WRONG_VARIANCE;
    }
    for (i64 i = 0; i < columns; i++) {
        for (i64 j = 0; j < i; j++) {
            double covariance = matrix[i * columns + j];
            double most = (1.0 + SLACK) * matrix[i * (columns + 1)] * matrix[j * (columns + 1)];
            if (!(covariance * covariance <= most))
                return WRONG_COVARIANCE;
            if (covariance != matrix[j * columns + i])
                return NOT_SYMMETRIC;
        }
    }
    return NO_FLAW;
}

void apsl_moments_add_level(moments_t *moments, moments_t *between) { moments->between = between; }

bool moments_reserve(moments_t *moments, i64 columns, i64 blocks)
{
    if (moments->between && !moments_reserve(moments->between, columns, blocks))
        return false;
    if (columns > moments->decomposition.capacity)
        moments->depth = 0;
    if (!moments_reserve_columns(&moments->decomposition, columns))
        return false;
    if (blocks <= moments->most_given)
        return true;
    i64 *space = malloc(3 * (size_t)blocks * sizeof *space);
    if (!space)
        return false;
    free(moments->given);
    moments->depth = moments->decomposition.rank = 0;
    moments->most_given = blocks;
    moments->given = space;
    moments->ranks = space + blocks;
    moments->sorted = space + 2 * blocks;
    return true;
}

/* Compute the pivots of the columns of each block by itself. */
static void decompose_blocks(moments_t *moments)
{
    decomposition_t *decomposition = &moments->decomposition;
    for (i64 block = 0; block < moments->blocks; block++) {
        decomposition->rank = 0;
        for (i64 column = moments->starts[block]; column < moments->starts[block + 1]; column++) {
            double pivot = moments_pivot_of(decomposition, column);
            bool is_kept = moments_is_free(decomposition, column, pivot);
            moments->alone[column] = is_kept ? pivot : 0.0;
            if (is_kept)
                moments_keep_column(decomposition, column, pivot);
        }
    }
    decomposition->rank = 0;
}

moments_t *apsl_moments_open(const double *matrix, const i64 *starts, const i64 *leading,
                             const int8_t *categories, i64 blocks, double rows, double tolerance,
                             const double *thresholds, i64 tabled, double alpha, double rows_per_column,
                             double joint_rows, int32_t corrected)
{
    moments_t *moments = calloc(1, sizeof *moments);
    if (!moments)
        return NULL;
    i64 columns = starts[blocks], widest = 0;
    for (i64 block = 0; block < blocks; block++)
        widest = larger(widest, starts[block + 1] - starts[block]);
    moments->decomposition.matrix = matrix;
    moments->decomposition.columns = columns;
    moments->decomposition.tolerance = tolerance;
    moments->starts = starts;
    moments->leading = leading;
    moments->categories = categories;
    moments->blocks = blocks;
    moments->rows = rows;
    moments->rules = (test_rules_t){thresholds, tabled, alpha, rows_per_column, joint_rows, corrected != 0};
    moments->alone = malloc((size_t)(columns + widest + 1) * sizeof *moments->alone);
    moments->columns = malloc((size_t)(widest + 1) * sizeof *moments->columns);
    if (!moments->alone || !moments->columns || !moments_reserve(moments, larger(widest, 16), 8)) {
        apsl_moments_close(moments);
        return NULL;
    }
    moments->pivots = moments->alone + columns;
    decompose_blocks(moments);
    return moments;
}

void apsl_moments_close(moments_t *moments)
{
    if (!moments)
        return;
    moments_free_columns(&moments->decomposition);
    free(moments->given);
    free(moments->alone);
    free(moments->columns);
    free(moments);
}

i64 moments_width_of(const moments_t *moments, const i64 *blocks, i64 count)
{
    i64 width = 0;
    for (i64 k = 0; k < count; k++)
        width += moments->starts[blocks[k] + 1] - moments->starts[blocks[k]];
    return width;
}

void moments_condition_on(moments_t *moments, const i64 *given, i64 count)
{
    if (moments->between)
        moments_condition_on(moments->between, given, count);
    i64 *sorted = moments->sorted;
    for (i64 k = 0; k < count; k++) {
        i64 at = k;
        for (; at > 0 && sorted[at - 1] > given[k]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = given[k];
    }
    i64 same = 0;
    while (same < smaller(moments->depth, count) && moments->given[same] == sorted[same])
        same++;
    moments->decomposition.rank = same > 0 ? moments->ranks[same - 1] : 0;
    for (i64 k = same; k < count; k++) {
        for (i64 column = moments->starts[sorted[k]]; column < moments->starts[sorted[k] + 1]; column++)
            moments_add_column(&moments->decomposition, column);
        moments->given[k] = sorted[k];
        moments->ranks[k] = moments->decomposition.rank;
    }
    moments->depth = count;
}

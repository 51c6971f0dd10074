/* LDLᵀ of some columns of a covariance matrix, one column after another.
 *
 * Lᵀ lies in rows of `capacity`; the kept columns are its first `rank`. A caller goes back to an earlier state by
 * lowering the rank. moments_pivot_of must be called before the column is kept. */
#include "moments/decomposition.h"

#include "base/elementary.h"

#include <stdlib.h>

/* More columns would take more than 32 GB. */
enum { MOST_COLUMNS = 1 << 16 };

bool moments_reserve_columns(decomposition_t *decomposition, i64 capacity)
{
    if (capacity <= decomposition->capacity)
        return true;
    if (capacity > MOST_COLUMNS)
        return false;
    capacity = smaller(larger(capacity, 2 * decomposition->capacity), MOST_COLUMNS);
    size_t size = (size_t)capacity;
    i64 *kept = malloc(size * sizeof *kept);
    double *upper = malloc(size * size * sizeof *upper), *rows = malloc(3 * size * sizeof *rows);
    if (!kept || !upper || !rows) {
        free(kept);
        free(upper);
        free(rows);
        return false;
    }
    moments_free_columns(decomposition);
    decomposition->capacity = capacity;
    decomposition->kept = kept;
    decomposition->upper = upper;
    decomposition->pivots = rows;
    decomposition->left = rows + capacity;
    decomposition->slopes = rows + 2 * capacity;
    return true;
}

void moments_free_columns(decomposition_t *decomposition)
{
    free(decomposition->kept);
    free(decomposition->upper);
    free(decomposition->pivots);
    decomposition->kept = NULL;
    decomposition->upper = decomposition->pivots = decomposition->left = decomposition->slopes = NULL;
    decomposition->capacity = decomposition->rank = 0;
}

double moments_pivot_of(decomposition_t *decomposition, i64 column)
{
    const double *row = decomposition->matrix + column * decomposition->columns;
    const double *pivots = decomposition->pivots;
    double *restrict left = decomposition->left, *restrict slopes = decomposition->slopes;
    i64 rank = decomposition->rank;
    for (i64 k = 0; k < rank; k++)
        left[k] = row[decomposition->kept[k]];
    for (i64 k = 0; k + 1 < rank; k++) {
        const double *restrict upper = decomposition->upper + k * decomposition->capacity;
        double share = left[k];
        for (i64 j = k + 1; j < rank; j++)
            left[j] -= share * upper[j];
    }
    for (i64 k = 0; k < rank; k++)
        slopes[k] = left[k] / pivots[k];
    double pivot = row[column];
    for (i64 k = 0; k < rank; k++)
        pivot -= left[k] * slopes[k];
    return pivot;
}

void moments_keep_column(decomposition_t *decomposition, i64 column, double pivot)
{
    i64 rank = decomposition->rank++;
    for (i64 k = 0; k < rank; k++)
        decomposition->upper[k * decomposition->capacity + rank] = decomposition->slopes[k];
    decomposition->kept[rank] = column;
    decomposition->pivots[rank] = pivot;
}

bool moments_is_free(const decomposition_t *decomposition, i64 column, double pivot)
{
    return pivot > decomposition->tolerance * decomposition->matrix[column * (decomposition->columns + 1)];
}

void moments_add_column(decomposition_t *decomposition, i64 column)
{
    double pivot = moments_pivot_of(decomposition, column);
    if (moments_is_free(decomposition, column, pivot))
        moments_keep_column(decomposition, column, pivot);
}

double moments_log_ratio(decomposition_t *decomposition, const i64 *columns, const double *alone, i64 count)
{
    i64 rank = decomposition->rank;
    double sum = 0.0, product = 1.0;
    for (i64 k = 0; k < count; k++) {
        double pivot = moments_pivot_of(decomposition, columns[k]), least = decomposition->tolerance * alone[k];
        if (pivot > least)
            moments_keep_column(decomposition, columns[k], pivot);
        else
            pivot = least; /* what is left of the column is noise, which must explain nothing */
        product *= alone[k] / pivot;
        if (product > LARGE_PRODUCT) {
            sum += base_natural_log(product);
            product = 1.0;
        }
    }
    decomposition->rank = rank;
    return sum + base_natural_log(product);
}

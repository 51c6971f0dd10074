/* Compare two blocks of columns given the kept ones: ranks and the log ratio of determinants.
 *
 * The narrower block, or the earlier of two as narrow ones, is always worked on last, so the order of x and y changes
 * no bit. The decomposition is left as it was. */
#include "moments/comparison.h"

comparison_t moments_compare(decomposition_t *decomposition, block_t x, block_t y, const i64 *starts,
                             i64 *columns, double *pivots)
{
    /* the block whose pivots are needed twice is the narrower one, whatever the order of naming */
    bool is_x_last = x.width < y.width || (x.width == y.width && x.first < y.first);
    block_t early = is_x_last ? y : x, late = is_x_last ? x : y;
    i64 given = decomposition->rank, count = 0;
    for (i64 column = late.first; column < late.first + late.width; column++) {
        double pivot = moments_pivot_of(decomposition, column);
        if (!moments_is_free(decomposition, column, pivot))
            continue;
        moments_keep_column(decomposition, column, pivot);
        columns[count] = column;
        pivots[count++] = pivot;
    }
    decomposition->rank = given;
    for (i64 column = early.first; column < early.first + early.width; column++)
        moments_add_column(decomposition, column);
    i64 of_early = decomposition->rank - given;
    comparison_t found = {is_x_last ? count : of_early, is_x_last ? of_early : count, 0.0, NO_LEVEL_PAIRS};
    if (of_early > 0 && count > 0) {
        if (x.is_category && y.is_category)
            found.levels = moments_weigh_level_pairs(decomposition, given, columns, count, starts);
        double ratio = moments_log_ratio(decomposition, columns, pivots, count);
        found.ratio = ratio > 0.0 ? ratio : 0.0;
    }
    decomposition->rank = given;
    return found;
}

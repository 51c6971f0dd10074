/* Count or score values by their place among ascending knots.
 *
 * A grid of cells over the knots gives the first knot of a value's cell, and a few steps find the knot. NaN is passed
 * over or kept. */
#include "moments/value_scores.h"

#include <stdlib.h>

/* More cells make fewer steps, as long as they are near. */
enum { CELLS_PER_KNOT = 8, MOST_CELLS_OF_GRID = 1 << 21 };

/* The cells divide the knots from a low one to a high one; others may lie far out. Knots of a cell go from its first to
 * that of the next one. */
typedef struct {
    const double *knots;
    i64 last, cells;
    double from, scale;
    int32_t *firsts;
} grid_t;

/* Return the cell of a value; of two values the larger one has no lower cell, however it is rounded. */
ALWAYS_INLINE i64 cell_of(const grid_t *grid, double value)
{
    double place = (value - grid->from) * grid->scale, most = (double)(grid->cells - 1);
    place = place > 0.0 ? place : 0.0;
    return (i64)(place < most ? place : most);
}

/* Return the last knot that is at most a value, or -1. Most cells have at most one knot, so the first step needs no
 * branch. */
ALWAYS_INLINE i64 knot_below(const grid_t *grid, double value)
{
    const int32_t *firsts = grid->firsts + cell_of(grid, value);
    i64 low = firsts[0], end = firsts[1];
    low += (low < end) & (grid->knots[smaller(low, grid->last)] <= value);
    if (low + 1 < end || (low < end && grid->knots[low] <= value)) {
        for (i64 left = end - low; left > 0;) {
            i64 half = left >> 1;
            bool is_below = grid->knots[low + half] <= value;
            low = is_below ? low + half + 1 : low;
            left = is_below ? left - half - 1 : half;
        }
    }
    return low - 1;
}

static bool open_grid(grid_t *grid, const double *knots, i64 count, i64 low, i64 high)
{
    double width = knots[high] - knots[low];
    grid->knots = knots;
    grid->last = count - 1;
    grid->cells = smaller(CELLS_PER_KNOT * (high - low + 1), MOST_CELLS_OF_GRID);
    grid->from = knots[low];
    grid->scale = (double)grid->cells / width;
    if (!(width > 0.0 && grid->scale > 0.0 && grid->scale < 1e300 && grid->from - grid->from == 0.0))
        grid->scale = 0.0;
    grid->firsts = malloc((size_t)(grid->cells + 1) * sizeof *grid->firsts);
    if (!grid->firsts)
        return false;
    i64 cell = 0;
    for (i64 k = 0; k < count; k++)
        for (i64 last = cell_of(grid, knots[k]); cell <= last; cell++)
            grid->firsts[cell] = (int32_t)k;
    for (; cell <= grid->cells; cell++)
        grid->firsts[cell] = (int32_t)count;
    return true;
}

i64 apsl_values_outside(const double *values, i64 rows, double low, double high, double *out, i64 most)
{
    i64 found = 0;
    for (i64 row = 0; row < rows; row++) {
        double value = values[row];
        if (value < low || value > high) {
            if (found < most)
                out[found] = value;
            found++;
        }
    }
    return found;
}

int32_t apsl_count_values(const double *values, i64 rows, const double *knots, i64 count, i64 low, i64 high,
                          i64 *equal, i64 *between)
{
    grid_t grid;
    if (!open_grid(&grid, knots, count, low, high))
        return NO_MEMORY;
    for (i64 k = 0; k < count; k++)
        equal[k] = between[k] = 0;
    between[count] = 0;
    for (i64 row = 0; row < rows; row++) {
        double value = values[row];
        if (value != value)
            continue;
        i64 below = knot_below(&grid, value);
        if (below >= 0 && knots[below] == value)
            equal[below]++;
        else
            between[below + 1]++;
    }
    free(grid.firsts);
    return DONE;
}

int32_t apsl_score_values(const double *values, i64 rows, const double *knots, i64 count, i64 low, i64 high,
                          const double *at, const double *above, const double *slope, double *out)
{
    grid_t grid;
    if (!open_grid(&grid, knots, count, low, high))
        return NO_MEMORY;
    for (i64 row = 0; row < rows; row++) {
        double value = values[row];
        i64 below = value == value ? knot_below(&grid, value) : 0;
        if (value != value)
            out[row] = value;
        else if (below < 0)
            out[row] = at[0];
        else if (knots[below] == value)
            out[row] = at[below];
        else
            out[row] = above[below] + (value - knots[below]) * slope[below];
    }
    free(grid.firsts);
    return DONE;
}

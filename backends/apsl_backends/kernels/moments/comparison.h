/* Two blocks of columns compared, given others. */
#ifndef APSL_COMPARISON_H
#define APSL_COMPARISON_H

#include "moments/level_pairs.h"

/* Of two blocks of columns, how many depend neither on the kept ones nor on those before them in their block,
 * ln|S_xz| + ln|S_yz| - ln|S_z| - ln|S_xyz|, 0 if one of them has none, and what their levels do to a test. */
typedef struct {
    i64 of_x, of_y;
    double ratio;
    level_pairs_t levels;
} comparison_t;

/* A block: its first column, how many it has, and whether these are the indicators of a category. */
typedef struct {
    i64 first, width;
    bool is_category;
} block_t;

/* Compare blocks of columns, given the kept columns, which stay as they are. Neither block is worked on first because
 * it is named first, so their order changes no bit. `starts` has the first columns of all blocks, and where the last one ends. `columns` and `pivots` have space for the narrower block, and there
 * is room to keep both. */
comparison_t moments_compare(decomposition_t *decomposition, block_t x, block_t y, const i64 *starts, i64 *columns,
                             double *pivots);

#endif

/* Counting by bitmaps: a column has one bit row per level, and the count of a cell is the number of ones of an AND.
 *
 * The last code of a column has no bit row. Tables are first counted with "any code" in its place, and the counts of
 * the last code follow by subtraction. So a binary column needs one row, not two. */
#ifndef APSL_BITMAPS_H
#define APSL_BITMAPS_H

#include "counts/tester.h"

/* Count the table of two or more columns into the cells from `at` on; false without memory for the masks. */
bool counts_count_by_bits(tester_t *tester, i64 dims, i64 at);

/* AND the bit rows of the test's columns from `first` on for all combinations of codes; the last code means any.
 *
 * The masks have `width` words, from word `low` on. They are written to the words of the tester, and the code of the
 * first column runs fastest. */
void counts_make_masks(tester_t *tester, i64 first, i64 dims, i64 low, i64 width);

/* Turn counts of any code of x or y, in one stratum, into counts of the last code. */
void counts_settle_block(i64 *cells, i64 span_x, i64 span_y);

/* Turn counts of any code of the columns after x and y into counts of the last code. */
void counts_settle_strata(tester_t *tester, i64 dims, i64 at);

#endif

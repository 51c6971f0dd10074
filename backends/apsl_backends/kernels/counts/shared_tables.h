/* Counting a subset's table from bit rows and from the tables of the subsets that lack one of its columns.
 *
 * Only the cells without the last code of any chosen column are counted. The count of a cell with the last code of a
 * column is the count in the table without this column, minus the counts of the column's other codes. */
#ifndef APSL_SHARED_TABLES_H
#define APSL_SHARED_TABLES_H

#include "counts/tester.h"

/* Make the bit rows of all combinations of non-last codes of the chosen columns up to one depth: the words of the
 * tester from row starts[depth] to before row starts[depth + 1]. */
void counts_extend_prefix(tester_t *tester, i64 base, i64 depth);

/* Count the cells without the last code of any chosen column. The first bit rows of the words are the masks of x, y
 * and the fixed columns. */
void counts_count_inner(tester_t *tester, i64 base, i64 size, i64 base_cells, i64 at);

/* Fill in the cells with a last code from the lower tables, one chosen column after another. */
void counts_fill_outer(tester_t *tester, i64 base, i64 size, i64 base_cells, i64 at);

#endif

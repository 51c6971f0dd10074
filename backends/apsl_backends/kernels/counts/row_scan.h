/* Counting by a scan of the rows. */
#ifndef APSL_ROW_SCAN_H
#define APSL_ROW_SCAN_H

#include "counts/tester.h"

/* Count a table of `size` cells into the cells from `at` on; each stratum of x and y has `block` of them. */
void counts_count_by_rows(tester_t *tester, i64 dims, i64 at, i64 size, i64 block);

#endif

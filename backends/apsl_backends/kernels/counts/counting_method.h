/* The choice of a counting method by estimated cost. */
#ifndef APSL_COUNTING_METHOD_H
#define APSL_COUNTING_METHOD_H

#include "counts/tester.h"

/* The most cells of a table that is held in memory; larger ones are counted by sorting. */
enum { MOST_CELLS = 1 << 24 };
/* The most cells of a table that is counted by bitmaps. */
enum { CELLS_OF_BITS = 4096 };
/* The most cells whose codes fit into 16 bits. */
enum { SHORT_CODES = 65536 };

/* Products over the columns of a test. */
typedef struct {
    double cells;  /* of spans */
    double levels; /* of cardinalities */
    bool bits;     /* whether all have bit rows */
} size_of_test_t;

/* Record spans and cardinalities of the test's columns from `first` on, and return their products. */
size_of_test_t counts_measure_test(const tester_t *tester, i64 first, i64 dims);

/* Return the size of the largest table that is not counted by sorting. */
i64 counts_most_cells(const table_t *table);

/* Choose how to count a table; `counted` is the number of its cells that bitmaps would have to count. */
method_t counts_choose_method(const tester_t *tester, double cells, double counted, bool bits);

#endif

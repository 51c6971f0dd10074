/* A table and a measure with the working space of one thread. */
#ifndef APSL_TESTER_H
#define APSL_TESTER_H

#include "base/growing.h"
#include "counts/measure.h"
#include "counts/table.h"
#include "counts/words.h"

/* Table rows whose cell codes are computed together, so that the codes stay in the L1 cache. */
enum { ROWS_AT_A_TIME = 1024 };
/* The most cells that are counted in several histograms, with neighbouring rows in different ones. In a single
 * histogram, the increment of a row would wait for that of an equal neighbour. */
enum { LANES = 4, CELLS_IN_LANES = 4096 };
/* Words of a bit row that are processed together, so that the rows of a table stay in the L1 cache. */
enum { WORDS_AT_A_TIME = 248 };
/* x and y, the first two columns of every test. */
enum { PAIR = 2 };

/* What the tests of one search share. */
typedef struct {
    i64 sizes;          /* subsets have fewer columns than this; the arrays below have this length */
    i64 pool;           /* the most columns to choose from */
    longs_t numbers;    /* the memory of the following six */
    i64 *pick;          /* the current subset */
    i64 *chosen;        /* the subset of the result so far */
    i64 *first;         /* the number of the first subset of each size, or -1 if that size was passed over */
    i64 *lower;         /* the places of the tables that lack one of the chosen columns */
    i64 *digits;        /* enumerates their cells */
    i64 *starts;        /* the first bit row of all combinations of so many chosen columns */
    doubles_t products; /* the memory of the following three, over k columns of the pool */
    double *least;      /* the smallest product of cardinalities */
    double *largest;    /* the largest product of spans */
    double *sums;       /* the sum of the products of spans over all subsets */
    longs_t binomials;  /* the number of subsets of k among n, at n·sizes + k */
    longs_t tables;     /* the place in the cells of each subset's table, or -1 */
    longs_t spots;      /* the stratum of each bit row of the first chosen columns */
} search_t;

typedef struct {
    const table_t *table;
    const measure_t *measure;
    longs_t columns; /* the memory of the following three */
    i64 *test;       /* the columns of the current test, x and y first */
    i64 *spans;
    i64 *cards;
    longs_t cells;   /* contingency tables: the code of x runs fastest, then that of y; strata are padded to STEPs */
    longs_t margins; /* counts by level */
    words_t words;   /* bit rows */
    longs_t order;   /* two orders of the lines */
    longs_t places;  /* the columns of a search within an elimination */
    search_t search;
    uint64_t mask[WORDS_AT_A_TIME];
    uint16_t codes[ROWS_AT_A_TIME];
    uint32_t lanes[LANES * CELLS_IN_LANES];
} tester_t;

/* Return a tester, or NULL without memory; the table and the measure must outlive it. Only one thread at a time may use
 * a tester. */
EXPORT tester_t *apsl_tester_open(const table_t *table, const measure_t *measure);

/* Free a tester; NULL is allowed. */
EXPORT void apsl_tester_close(tester_t *tester);

/* Make room for tests of so many columns. */
bool counts_reserve_test(tester_t *tester, i64 dims);

/* Make room for a search that chooses up to `most` of `free` columns. */
bool counts_reserve_search(search_t *search, i64 most, i64 free);

static inline const column_t *column_in(const tester_t *tester, i64 d)
{
    return tester->table->columns + tester->test[d];
}

/* Return the number of cells of the table of x and y in one stratum, padding included. */
static inline i64 block_of(const tester_t *tester)
{
    return (tester->spans[0] * tester->spans[1] + STEP - 1) / STEP * STEP;
}

/* Return the product of the spans of the columns after x and y. */
static inline i64 strata_of(const tester_t *tester, i64 dims)
{
    i64 strata = 1;
    for (i64 d = PAIR; d < dims; d++)
        strata *= tester->spans[d];
    return strata;
}

#endif

/* The columns of a table with numbers, from which rows of real values are made on the fly.
 *
 * A number z stands for itself and the Hermite polynomials z² - 1 and z³ - 3z, up to its degree; NaN is a missing value.
 * Another value may stand in the place of z itself, beside the polynomials of z.
 * A category stands for indicators: each code has the number of its indicator, or -1 for the reference. The code after
 * the last level is a missing value. */
#ifndef APSL_EMBEDDED_COLUMNS_H
#define APSL_EMBEDDED_COLUMNS_H

#include "counts/codes.h"

typedef struct {
    const double *numbers; /* NULL for a category */
    const double *first;   /* what stands in the place of z; NULL for z */
    const void *codes;
    int bytes;             /* of a code */
    const i64 *indicators; /* of the codes of levels */
    i64 levels;
    i64 width;         /* the number of embedded columns */
    i64 missing;       /* the number of missing values */
    uint64_t *present; /* a bit for each row; NULL where no value is missing */
} embedded_column_t;

typedef struct {
    i64 rows, count;
    embedded_column_t *columns;
} embedded_t;

/* Return a handle on so many columns, none of them set, or NULL without memory. What they point to stays the caller's. */
EXPORT embedded_t *apsl_embedded_open(i64 rows, i64 count);

EXPORT void apsl_embedded_close(embedded_t *embedded);

/* Set a column to a number of degree 1, 2 or 3, with `first` in the place of z unless that is NULL. Write the number of
 * missing values. An infinite value, or one that is missing in one of the two alone, is WRONG_INPUT. */
EXPORT int32_t apsl_embedded_set_number(embedded_t *embedded, i64 place, const double *numbers, const double *first,
                                        i64 degree, i64 *missing);

/* Set a column to a category with so many levels, whose indicators are below the width. Write the number of missing
 * values. A code beyond that of missing values is WRONG_INPUT. */
EXPORT int32_t apsl_embedded_set_category(embedded_t *embedded, i64 place, const void *codes, int32_t bytes,
                                          const i64 *indicators, i64 levels, i64 width, i64 *missing);

/* Return how many columns stand for a column where it is tested: the first of a number, all of a category. */
static inline i64 leading_width(const embedded_column_t *column)
{
    return column->numbers ? smaller(column->width, 1) : column->width;
}

/* Write the first `width` embedded values of some rows into a panel, whose rows are `stride` apart. The rows are those
 * listed, or from `low` on if the list is NULL. Of a missing number the values are NaN, of a category 0. */
void moments_fill_panel(const embedded_column_t *column, i64 width, const i64 *listed, i64 low, i64 count,
                        double *panel,
                        i64 stride);

#endif

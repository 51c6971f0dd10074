/* How to decide from counts: the statistic, its degrees of freedom, the level and the reliability rule. */
#ifndef APSL_MEASURE_H
#define APSL_MEASURE_H

#include "base/chi_square_tail.h"
#include "base/elementary.h"

/* The numbers of these are those of library.py. */
typedef enum { G_SQUARE, CHI_SQUARE } kind_t;
typedef enum { ANY_METHOD, BY_ROWS, BY_BITS, BY_SORTING } method_t;

typedef struct {
    kind_t kind;
    method_t method; /* only comparisons of the counting methods fix it */
    bool full_dof;
    double alpha;
    double rows_per_cell;
    double scale;   /* the units in 1; sums of integers do not depend on the order of levels, columns or threads */
    i64 *terms;     /* n·ln(n) in units */
    i64 term_count;
    bool all_terms; /* whether there is a term for every possible count */
    double thresholds[TABLED_DOFS];
} measure_t;

/* Return a measure for tables of at most so many rows, or NULL without memory. */
EXPORT measure_t *apsl_measure_open(int32_t kind, i64 rows, double scale, double alpha, const double *thresholds,
                                    int32_t full_dof, double rows_per_cell, int32_t method);

/* Free a measure; NULL is allowed. */
EXPORT void apsl_measure_close(measure_t *measure);

/* Return the nearest integer of a number from 0 to 2^62, and of two the even one. */
static inline i64 in_units(double x)
{
    const double shift = 4503599627370496.0; /* 2^52: adding it rounds away the fraction */
    return (i64)(x < shift ? (x + shift) - shift : x);
}

/* Return n·ln(n) in units; 0 for n = 0. */
static inline i64 term_of(const measure_t *measure, i64 count)
{
    if (count < measure->term_count)
        return measure->terms[count];
    return in_units((double)count * base_natural_log((double)count) * measure->scale);
}

/* Return a cell's share O²/E of χ² in units; χ² of a stratum is the sum of its shares minus its rows. */
static inline i64 pearson(const measure_t *measure, i64 count, i64 of_x, i64 of_y, i64 rows)
{
    double share = (double)count * (double)count / ((double)of_x * (double)of_y);
    return in_units(share * (double)rows * measure->scale);
}

#endif

/* Sums of products of the columns of a panel, which has some rows of real values.
 *
 * Each sum over the rows of a panel is made in their order, one product after another; only different sums are made at
 * once. So neither the width of the processor's vectors nor the division of the work changes a bit. The sums of panels
 * are added with the error that each addition leaves, so that it does not matter how many there are. */
#ifndef APSL_PANEL_PRODUCTS_H
#define APSL_PANEL_PRODUCTS_H

#include "base/common.h"
#include "base/stopping.h"

/* The rows of a panel that is full. */
enum { PANEL_ROWS = 256 };

/* A matrix of sums and of what their additions lost, columns by columns; only what is on or above the diagonal counts. */
typedef struct {
    double *sums, *errors;
    i64 columns;
} products_t;

/* Return how far apart the rows of a panel with so many columns lie. The values beyond these must be finite. */
i64 moments_panel_stride(i64 columns);

/* Return a panel of PANEL_ROWS rows with so many columns, all 0, or NULL without memory. */
double *moments_new_panel(i64 columns);

/* Add a value to a sum and keep what is lost. */
static inline void add_exactly(double *sum, double *error, double value)
{
    double total = *sum + value, gained = total - *sum;
    *error += (*sum - (total - gained)) + (value - gained);
    *sum = total;
}

/* Add the products of all pairs of the first `columns` columns over some rows of a panel. With `first` below `columns`
 * only pairs with one of the first `first` columns are added. Return false if the run was stopped. */
bool moments_add_products(products_t *products, const double *panel, i64 rows, i64 first, flag_t *stop);

#endif

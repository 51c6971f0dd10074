/* The covariance matrix of embedded columns, from sums over sections of the rows that are added in order.
 *
 * The sums of a section are those of a constant 1 and of the embedded columns of some places, block after block. */
#ifndef APSL_COVARIANCE_H
#define APSL_COVARIANCE_H

#include "moments/embedded_columns.h"
#include "moments/panel_products.h"

/* Return the number of embedded columns of some places. */
i64 moments_embedded_width(const embedded_t *embedded, const i64 *places, i64 count);

/* Fill a panel with a constant 1 and the embedded columns of some places. */
void moments_fill_places(const embedded_t *embedded, const i64 *places, i64 count, const i64 *listed, i64 low, i64 rows,
                         double *panel, i64 stride);

/* Add the sums of products over the rows from low to high to those that are there. Sums and errors are matrices with
 * a column more than the places have. No value there may be missing. */
EXPORT int32_t apsl_add_rows(const embedded_t *embedded, const i64 *places, i64 count, i64 low, i64 high,
                             double *sums, double *errors, int64_t *stop);

/* Add other sums with their errors to sums. */
EXPORT void apsl_add_sums(double *sums, double *errors, const double *others, const double *other_errors, i64 count);

/* Write the covariance matrix, divided by the number of rows, from sums with so many columns besides the constant. A
 * column whose values differ by no more than rounding is constant: its covariances are 0. */
EXPORT void apsl_covariance(const double *sums, const double *errors, i64 columns, double *out);

#endif

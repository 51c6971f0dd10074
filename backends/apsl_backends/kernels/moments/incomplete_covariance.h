/* The covariance matrix of embedded columns with missing values: the estimate of maximum likelihood under a Gaussian
 * model, by expectation and maximisation.
 *
 * Rows in which the same places are missing form a pattern. A pattern with many rows is reduced to its sums of products
 * once; the rows of others are completed anew in each iteration. */
#ifndef APSL_INCOMPLETE_COVARIANCE_H
#define APSL_INCOMPLETE_COVARIANCE_H

#include "moments/covariance.h"

/* Write the covariance matrix and the number of iterations. `listed` has the rows, pattern after pattern; those of a
 * pattern go from its start to that of the next one, and `is_missing` has a byte for each place of each pattern. The
 * iterations end when no covariance changes by more than the tolerance of the standard deviations. Each place is
 * present in some row. */
EXPORT int32_t apsl_incomplete_covariance(const embedded_t *embedded, const i64 *places, i64 count, const i64 *listed,
                                          const i64 *starts, const uint8_t *is_missing, i64 patterns, double tolerance,
                                          i64 most_iterations, double *out, i64 *iterations, int64_t *stop);

#endif

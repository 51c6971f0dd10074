/* Scores of values by where they lie among knots, which ascend: for ranks, exact or in a fine histogram.
 *
 * A value is found by a grid over the knots from a low to a high one, and a search in its cell. So it takes a few steps
 * whatever the distribution, if few values lie beyond these knots. */
#ifndef APSL_VALUE_SCORES_H
#define APSL_VALUE_SCORES_H

#include "base/common.h"

/* Count the values that equal each knot, and those between: between[k] lie below knot k, the last above all knots. NaN
 * is not counted. */
EXPORT int32_t apsl_count_values(const double *values, i64 rows, const double *knots, i64 count, i64 low, i64 high,
                                 i64 *equal, i64 *between);

/* Write the score of each value: `at` of the knot that it equals; or `above` of the knot below it, and `slope` for each
 * unit beyond that; `at` of the first knot for what lies below it. NaN stays NaN. */
EXPORT int32_t apsl_score_values(const double *values, i64 rows, const double *knots, i64 count, i64 low, i64 high,
                                 const double *at, const double *above, const double *slope, double *out);

/* Write the values below or above some limits, as many as there is space for; return how many there are. */
EXPORT i64 apsl_values_outside(const double *values, i64 rows, double low, double high, double *out, i64 most);

#endif

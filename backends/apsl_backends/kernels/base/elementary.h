/* Elementary functions in basic operations only.
 *
 * The C library's differ between systems in the last bit of many values. These give the same bits everywhere, because
 * the basic operations of IEEE 754 do and the compiler may not fuse them (-ffp-contract=off). */
#ifndef APSL_ELEMENTARY_H
#define APSL_ELEMENTARY_H

#include "base/common.h"

/* Return ln x for a positive normal x, within 2 units in the last place. */
double base_natural_log(double x);

/* Return ln(1 + x) for x > -1. */
double base_natural_log_plus_one(double x);

/* Return e^x; 0 where that underflows, infinity where it overflows. */
double base_exponential(double x);

/* Return 2^x for -1000 < x < 1000. */
double base_power_of_two(double x);

/* Return ln Γ(x) for a positive x, with an absolute error below 2e-14, or a relative one of 1e-15 for large x. */
double base_log_gamma(double x);

/* Return the nearest integer, and of two the even one; |x| < 2^51. */
double base_nearest(double x);

/* Return the same as an integer; |x| < 2^62. */
i64 base_nearest_integer(double x);

/* Write ln Γ of each value. */
EXPORT void apsl_log_gamma(const double *values, i64 count, double *out);

/* Write the value of a standard normal variable that lies above each share of its values, from 0 to 1. */
EXPORT void apsl_normal_quantiles(const double *shares, i64 count, double *out);

/* Return the square root of a number of at most 1, 0 of a negative one; the same bits with every compiler. */
double base_square_root(double value);

#endif

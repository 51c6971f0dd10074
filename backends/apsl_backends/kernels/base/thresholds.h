/* Critical values of χ², which make its tail unnecessary for most decisions. */
#ifndef APSL_THRESHOLDS_H
#define APSL_THRESHOLDS_H

#include "base/common.h"

/* Write, for each number of degrees of freedom below TABLED_DOFS, the smallest statistic whose tail is at most alpha:
 * the tail of the next smaller number is above it. The value for 0 degrees is 0. */
EXPORT void apsl_thresholds(double alpha, double *out);

#endif

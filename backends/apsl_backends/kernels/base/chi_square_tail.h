/* The upper tail of χ². */
#ifndef APSL_CHI_SQUARE_TAIL_H
#define APSL_CHI_SQUARE_TAIL_H

#include "base/common.h"

/* Degrees of freedom for which critical values are tabled: those below. */
enum { TABLED_DOFS = 256 };

/* Return ln P(χ² > statistic), accurate even where the probability itself underflows; 0 without degrees of freedom. */
double base_log_tail(double statistic, i64 dof);

/* Return P(χ² > statistic); 1 without degrees of freedom. */
double base_tail(double statistic, i64 dof);

/* Return the tail of a statistic, and write its logarithm. */
EXPORT double apsl_tail(double statistic, i64 dof, double *log);

/* Return ln P(χ² > statistic) with an error of at most ROUGHNESS, for a statistic of at least 2·dof. */
double base_rough_log_tail(double statistic, i64 dof);

/* Slightly more than ln 2. */
#define ROUGHNESS 0.7

/* Write the tail of each statistic and its logarithm. */
EXPORT void apsl_tails(const double *statistics, const i64 *dofs, i64 count, double *tails, double *logs);

#endif

/* The decision of a test from the sums of its table. */
#ifndef APSL_DECISION_H
#define APSL_DECISION_H

#include "tests/strata.h"

/* The numbers are those of library.py. */
typedef enum { INDEPENDENT, DEPENDENT, UNRELIABLE } decision_t;

typedef struct {
    decision_t decision;
    double statistic;
    i64 dof;
} judged_t;

/* Decide a test; `levels` is the product of the cardinalities. */
judged_t tests_judge(const tester_t *tester, const sums_t *sums, i64 dims, double levels);

/* Return whether one dependence has the larger p, or the smaller statistic if p is the same.
 *
 * `other_log` is ln p of the other. That of the first is only computed when a rough value does not decide. */
bool tests_is_weaker(double statistic, i64 dof, double other, i64 other_dof, double other_log);

/* The same for two dependences whose tails are not known. */
EXPORT int32_t apsl_is_weaker(double statistic, i64 dof, double other, i64 other_dof);

#endif

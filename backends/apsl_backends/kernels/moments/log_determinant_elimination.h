/* HITON's elimination with log-determinant tests in one call: candidates enter by association, and each entry tests the
 * members again. */
#ifndef APSL_LOG_DETERMINANT_ELIMINATION_H
#define APSL_LOG_DETERMINANT_ELIMINATION_H

#include "moments/log_determinant_search.h"

/* The fields of a candidate's outcome; SIZE is that of the given set. */
enum { STATE, DOF_MET, RANK_MET, SIZE, OUTCOME_FIELDS };

/* Eliminate candidates of x; `ranked` are their blocks, strongest first. On entry `outcomes` and `statistics` hold the
 * results of their tests against x given nothing; on return, those of the test that eliminated a candidate, or of its
 * weakest dependence, whose given blocks are in its row of `given`, with `most` places. `members` gets the places in
 * `ranked` of those that remain, and `totals` their number and that of the tests. */
EXPORT int32_t apsl_log_determinant_elimination(moments_t *moments, i64 x, const i64 *ranked, i64 candidates, i64 most,
                                                flag_t *stop, i64 *outcomes, double *statistics, i64 *given,
                                                i64 *members, i64 *totals);

#endif

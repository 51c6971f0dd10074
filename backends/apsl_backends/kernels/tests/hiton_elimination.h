/* HITON's elimination in one call: candidates enter by association, and each entry tests the members again. */
#ifndef APSL_HITON_ELIMINATION_H
#define APSL_HITON_ELIMINATION_H

#include "tests/separator_search.h"

/* The last test of a candidate, in the order of the fields in library.py: decision, degrees of freedom, rows, and how
 * many columns were given. */
typedef struct {
    i64 state, dof, rows, size;
} outcome_t;

/* Eliminate candidates, and write the numbers of remaining members and of tests.
 *
 * `ranked` are the candidates' columns, strongest first. On entry `outcomes` and `statistics` hold the results of the
 * sweep; on return, those of the test that eliminated a candidate, or of its weakest dependence. `given` gets the
 * separator of each eliminated candidate, `most` + 1 places for each. `members` gets the remaining candidates, in the
 * order of their entry; it has room for all. */
EXPORT int32_t apsl_eliminate(tester_t *tester, i64 x, const i64 *ranked, i64 count, i64 most, outcome_t *outcomes,
                              i64 *given, double *statistics, i64 *members, flag_t *stop, i64 *left, i64 *tests);

#endif

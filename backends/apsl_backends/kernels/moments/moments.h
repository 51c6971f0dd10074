/* The moments of a table: the covariance matrix of its columns, which form blocks, and the number of its rows.
 *
 * A block is a variable: a number with some functions of it, or the indicators of a category. Its first columns, as
 * many as `leading` says, stand for it where it is tested or is a child; all stand for it where it is given. */
#ifndef APSL_MOMENTS_H
#define APSL_MOMENTS_H

#include "moments/comparison.h"
#include "tests/decision.h"

/* How tests decide: critical values, as many as are tabled, and the level. A test is unreliable with fewer rows than
 * `rows_per_column` for each column that counts in it and for the mean, with no rows beyond these, or where levels of
 * two categories are expected to meet in fewer than `joint_rows`. `corrected` is Bartlett's correction of the
 * statistic. */
typedef struct {
    const double *thresholds;
    i64 tabled;
    double alpha;
    double rows_per_column;
    double joint_rows;
    bool corrected;
} test_rules_t;

/* The decomposition holds the columns of the first `depth` blocks of `given`, of which `ranks` has the rank after each.
 * `alone` has the pivot of each column given those before it in its block, 0 where it depends on them. `columns` and `pivots` have space for one block, and `sorted` for the given blocks of one call. */
typedef struct moments {
    decomposition_t decomposition;
    struct moments *between; /* the means of groups, if rows are in groups: this is the level inside them */
    const i64 *starts, *leading;
    const int8_t *categories; /* whether a block has the indicators of a category */
    i64 blocks;
    double rows;
    test_rules_t rules;
    i64 depth, most_given;
    i64 *given, *ranks, *sorted, *columns;
    double *alone, *pivots;
} moments_t;

/* Return a handle, or NULL without memory. The arrays stay the caller's; starts has an element more than there are
 * blocks. 1e-12 <= tolerance < 1, and find_flaw finds none. */
EXPORT moments_t *apsl_moments_open(const double *matrix, const i64 *starts, const i64 *leading,
                                    const int8_t *categories, i64 blocks, double rows, double tolerance,
                                    const double *thresholds, i64 tabled, double alpha, double rows_per_column,
                                    double joint_rows, int32_t corrected);

EXPORT void apsl_moments_close(moments_t *moments);

/* Add the level between groups to the level inside them: as many blocks, with other widths, rows and rules. A test adds
 * the statistics and the degrees of freedom of the levels that have enough rows, and both columns vary in. The other
 * level stays the caller's and must outlive this one. */
EXPORT void apsl_moments_add_level(moments_t *moments, moments_t *between);

/* Return 0 for a matrix of covariances; 1 if a variance is negative, not finite, or so small or large that sums may not
 * be; 2 if the matrix is not symmetric; 3 if a covariance is too large for the variances. */
EXPORT int32_t apsl_find_flaw(const double *matrix, i64 columns);

/* Make room for a call with so many columns in so many blocks. Return false without memory. */
bool moments_reserve(moments_t *moments, i64 columns, i64 blocks);

/* Return the number of columns of some blocks. */
i64 moments_width_of(const moments_t *moments, const i64 *blocks, i64 count);

/* Make the decomposition that of the given blocks, in the order of their numbers. The room must be reserved. */
void moments_condition_on(moments_t *moments, const i64 *given, i64 count);

#endif

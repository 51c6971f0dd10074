/* Tests of columns given others, each on the rows that are complete in its columns.
 *
 * The covariance matrix of a test is made from its rows alone. Of a number the first embedded column is tested and all
 * are given; of a category all are tested and given. Neither the order of x and y nor that of the given columns, nor
 * the other tests of a call, change a bit. */
#ifndef APSL_ROW_TESTS_H
#define APSL_ROW_TESTS_H

#include "moments/covariance.h"

/* The figures of a test: ln|S_xz| + ln|S_yz| - ln|S_z| - ln|S_xyz| with what pairs of levels do to the test, and apart
 * how many columns of x and of y depend on no given ones, the rank of the given columns, and the complete rows. */
enum { LOG_RATIO, INFLATION, JOINT_RATE, PRODUCTS, ROW_TEST_MEASURES };
enum { X_RANK, Y_RANK, GIVEN_RANK, COMPLETE_ROWS, ROW_TEST_FIELDS };

/* Run tests: the places of a test (x, y and the given ones) are those from its start to that of the next one. */
EXPORT int32_t apsl_row_tests(const embedded_t *embedded, const i64 *starts, const i64 *places, i64 tests,
                              double tolerance, double *measures, i64 *figures, int64_t *stop);

/* Run the same tests from a covariance matrix of so many blocks, whose columns go from its start to that of the next
 * one and of which the leading ones are tested; some are categories. No rows are counted. */
EXPORT int32_t apsl_matrix_tests(const double *matrix, const i64 *blocks, const i64 *leading,
                                 const int8_t *categories, i64 count, const i64 *starts, const i64 *places, i64 tests,
                                 double tolerance, double *measures, i64 *figures);

#endif

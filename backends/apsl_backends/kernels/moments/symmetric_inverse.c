/* The inverse of a symmetric positive definite matrix, in place, by sweeps over its columns.
 *
 * Pivots have a floor, so that a nearly singular matrix has an inverse. The order of operations is fixed. */
#include "moments/symmetric_inverse.h"

#define LEAST_SHARE 1e-14
#define LEAST_VARIANCE 1e-30

void moments_invert(double *matrix, i64 columns, double *space)
{
    for (i64 k = 0; k < columns; k++) {
        double least = LEAST_SHARE * matrix[k * (columns + 1)];
        space[k] = least > LEAST_VARIANCE ? least : LEAST_VARIANCE;
    }
    for (i64 k = 0; k < columns; k++) {
        double *restrict row = matrix + k * columns;
        double pivot = row[k] > space[k] ? row[k] : space[k];
        row[k] = 1.0;
        for (i64 j = 0; j < columns; j++)
            row[j] /= pivot;
        for (i64 i = 0; i < columns; i++) {
            if (i == k)
                continue;
            double *restrict other = matrix + i * columns;
            double share = other[k];
            other[k] = 0.0;
            for (i64 j = 0; j < columns; j++)
                other[j] -= share * row[j];
        }
    }
    for (i64 i = 0; i < columns; i++)
        for (i64 j = 0; j < i; j++)
            matrix[i * columns + j] = matrix[j * columns + i];
}

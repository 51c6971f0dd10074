/* The inverse of a positive definite matrix, with a fixed order of operations. */
#ifndef APSL_SYMMETRIC_INVERSE_H
#define APSL_SYMMETRIC_INVERSE_H

#include "base/common.h"

/* Replace a matrix of some columns by its inverse; `space` has an element for each column. What is left of a variance
 * counts as at least 1e-14 of it, and no variance as 1e-30, so that a matrix that is nearly singular has an inverse. */
void moments_invert(double *matrix, i64 columns, double *space);

#endif

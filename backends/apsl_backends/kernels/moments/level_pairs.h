/* What the levels of two categories do to a test of them, read off the covariances of their indicators.
 *
 * A test of covariances takes it that the spread of x and y is the same wherever the given columns are. That of an
 * indicator is p(1 - p), and where p rises with what is given for x and y alike, both spread most in the same rows: their
 * covariance then varies more than the test takes it to.
 *
 * A test also takes it that the effects of given columns add up. On a rate they rather multiply: where two given blocks
 * move x and y alike, their products move both too, and the products of different blocks are not among the columns. */
#ifndef APSL_LEVEL_PAIRS_H
#define APSL_LEVEL_PAIRS_H

#include "moments/decomposition.h"

/* `inflation` is by how much the statistic is too large on average if x and y are independent, at least 1. `joint` is
 * the share of the rows in which a level of x meets one of y if they are independent, the mean over pairs of levels,
 * harmonic and weighted by what a pair adds to the variance of the statistic; 0 where no pair can meet. `products` is
 * what the statistic of a row changes by, less or more, if products of given blocks move both as logistic curves do. */
typedef struct {
    double inflation, joint, products;
} level_pairs_t;

/* What holds where x and y are not both categories. */
#define NO_LEVEL_PAIRS ((level_pairs_t){1.0, 1.0, 0.0})

/* Weigh the pairs of levels of two blocks of indicators, given the first `given` kept columns: those of one block are
 * kept after them, and `columns` are those of the other. `starts` has the first columns of all blocks. The kept columns
 * stay as they are. */
level_pairs_t moments_weigh_level_pairs(decomposition_t *decomposition, i64 given, const i64 *columns, i64 count,
                                        const i64 *starts);

#endif

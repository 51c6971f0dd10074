/* Subsets of a pool in lexicographic order: their numbers, the next subset, and products over subsets. */
#ifndef APSL_SUBSETS_H
#define APSL_SUBSETS_H

#include "base/common.h"

/* No number of subsets is larger; those that would be are this. */
#define MOST_SUBSETS ((i64)1 << 62)

/* Write the number of subsets of k < sizes among n <= pool, at n·sizes + k. */
void base_fill_binomials(i64 *binomials, i64 pool, i64 sizes);

/* Return the sum of two numbers of tests, each at most MOST_SUBSETS. */
i64 base_add_tests(i64 one, i64 other);

/* Return the number, among subsets of its size, of a subset without its element at one position. */
i64 base_number_without(const i64 *pick, i64 size, i64 left_out, i64 free, const i64 *binomials, i64 sizes);

/* Advance to the next subset of this size; return the first position that changed, or -1 after the last. */
i64 base_step_subset(i64 *pick, i64 size, i64 free);

/* Add a value to sums[k], the sum over all subsets of k values of their product. */
void base_add_to_sums(double value, double *sums, i64 most);

/* Insert a value into the smallest so far, ordered[1..most] in ascending order, if it is one of them. */
void base_add_in_order(double value, double *ordered, i64 count, i64 most);

#endif

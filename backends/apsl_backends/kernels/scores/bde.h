/* BDeu, and BDe with an empirical prior: the score of a node given its parents, from the rows of a table.
 *
 * The score is the difference of two figures, each for a set of columns as one joint column: that of the parents with
 * the node, minus that of the parents. */
#ifndef APSL_BDE_H
#define APSL_BDE_H

#include "scores/score.h"

/* The two figures: of the parents with the node, and of the parents. */
typedef struct {
    i64 whole, rest;
} figures_t;

static inline i64 score_from(figures_t figures) { return figures.whole - figures.rest; }

/* What was built of some nodes: the level of its classes, an upper bound of their number, and the configurations. */
typedef struct {
    i64 level, span;
    double configurations;
} built_t;

/* The rows divided by parents, and by these with their node, so that further parents can be tried. */
typedef struct {
    built_t base, family;
} divided_t;

/* Find the figures of a node given its parents except one (-1: all), in units, without any penalty. */
figures_t scores_find_figures(score_t *score, i64 node, const i64 *parents, i64 count, i64 but);

/* Divide the rows; what is built is valid until the next call for other figures. */
divided_t scores_divide(score_t *score, i64 node, const i64 *parents, i64 count);

/* Find the figures with another parent. */
figures_t scores_find_wider_figures(score_t *score, const divided_t *rows, i64 other);

/* Sum the terms of ``span`` classes by ``levels`` codes of a column, all counted in an array: class k with code c at
 * k + c * span. ``cells`` are the log priors of the classes and ``log_priors`` those of the codes, or NULL. */
i64 scores_sum_terms(score_t *score, const int32_t *counts, i64 span, i64 levels, double configurations,
                     const int32_t *cells,
                     const int32_t *log_priors);

/* Score one joint column whose counts are known, with a uniform prior. */
EXPORT i64 apsl_score_counts(score_t *score, const i64 *counts, i64 size, double configurations);

#endif

/* The Gaussian figure of a set of nodes, from a covariance matrix whose columns form a block for each node.
 *
 * The figure of a set S with d columns is n/2·Σ ln(alone / pivot) - c·¼·ln n·(d² - Σ dᵥ²), in units. The pivot of a column
 * is its variance given the columns before it, by number, in the whole set, and `alone` that in its own block. So a family
 * scores n/2·(ln|S_v| + ln|S_b| - ln|S_vb|) - c·½·ln n·dᵥ·d_b, a node without parents 0, and equivalent graphs have equal
 * sums of scores. An edge with a bent end costs `per_bent` nats more: a set pays that for each of its pairs with one.
 *
 * Columns that depend on others of their own block are left out. A column that depends on other blocks is not kept for the
 * columns after it, and its pivot counts as the tolerance of its variance: what is determined has a large but finite
 * figure, and a redundant parent gains nothing. The columns always come in the same order, so that the figure is a
 * function of the set alone, to the last bit.
 *
 * A figure may also be asked of the caller, who then answers for every set; the matrix is not looked at.
 *
 * A set of several nodes with more columns than the `widest` has a figure so low that no family has it, by its columns
 * alone: equivalent graphs still have equal sums. */
#ifndef APSL_SET_FIGURES_H
#define APSL_SET_FIGURES_H

#include "moments/decomposition.h"

/* The first nodes of the set that was asked for last: the number of the last of them, the rank and the number of their
 * columns, the pairs of columns of two nodes, how many are bent, the pairs of nodes of which one is, and the sum of
 * logarithms, of which the product is still to be taken. */
typedef struct {
    i64 number, rank, columns, pairs, bent, bent_pairs;
    double sum, product;
} prefix_t;

/* A family whose further parents are compared: a decomposition of its parents' columns, the product of their pivots as
 * shares of their variances, the node, and the pivots of its columns given the parents, with space for those of another node. */
typedef struct {
    decomposition_t decomposition;
    double shares;
    i64 node, columns; /* of the parents and the node */
    double *pivots, *spare;
} compared_t;

/* The caller's figure of the set of some ascending numbers, in units. */
typedef i64 (*asked_figure_t)(const i64 *numbers, i64 count);

/* `listed` are the columns that are free in their block, those of a node from `first` of it to that of the next, and
 * `alone` are their pivots there. `prefixes` has space for all nodes and holds `depth` of them. */
typedef struct set_figures {
    decomposition_t decomposition;
    struct set_figures *between; /* the means of groups, if rows are in groups: its figures are added */
    i64 nodes, depth, widest;
    i64 *first, *listed;
    double *alone;
    prefix_t *prefixes;
    compared_t compared;
    double half_rows, per_pair, per_bent, scale;
    bool *is_bent;
    i64 error; /* of an estimated gain, in units */
    asked_figure_t ask; /* NULL if the figures are those of the matrix */
    i64 *asked;         /* space for all nodes */
} set_figures_t;

/* Return the figures of a matrix, or NULL without memory. The matrix stays the caller's; `starts` has an element more than
 * there are nodes. `factor` multiplies the penalty of parameters, and `scale` is the number of units in a nat. No node is
 * bent at first. */
set_figures_t *scores_set_figures_open(const double *matrix, const i64 *starts, i64 nodes, double rows, double factor,
                                       double tolerance, double scale);
void scores_set_figures_close(set_figures_t *figures);

/* Make room for sets of some nodes. Return false without memory. */
bool scores_reserve_sets(set_figures_t *figures, const i64 *members, i64 count);

/* Return the figure of the set of some ascending numbers and of another one, unless that is negative. The room must be
 * reserved. */
i64 scores_set_figure(set_figures_t *figures, const i64 *numbers, i64 count, i64 other);

/* Begin to compare further parents of a node that has some ascending ones. The room must be reserved. */
void scores_compare_parents(set_figures_t *figures, i64 node, const i64 *parents, i64 count);

/* Write by how many units a further parent raises the score of the family, without a penalty, within `error`. Return false
 * if that is not certain, since a column of the family depends so much on others that the order of columns matters, or
 * since there are too many. */
bool scores_estimate_gain(set_figures_t *figures, i64 other, i64 *gain);

#endif

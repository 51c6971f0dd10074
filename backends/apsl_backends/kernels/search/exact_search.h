/* The best graph over a few nodes, by dynamic programming over subsets, one layer of subsets of one size after another.
 *
 * Subsets are integers, with bit i for node i. The best parents of a node among a set are the whole set, or the best
 * parents among a set with one node less. In a best graph over a set of nodes, some node is last: it has its best
 * parents among the others, and these form a best graph among themselves. */
#ifndef APSL_EXACT_SEARCH_H
#define APSL_EXACT_SEARCH_H

#include "scores/joints.h"

/* Find for the nodes of a graph of the best score: its parents as a subset for each node, and the score.
 *
 * ``joints[s]`` is the score of subset s as one joint column, ``allowed[i]`` the nodes that may be parents of node i,
 * ``most`` the most parents of a node. Of equally good last nodes the one with the lowest number is taken, and of equally
 * good sets of parents the one with fewer nodes, then with the first node in which they differ. */
EXPORT int32_t apsl_best_graph(const i64 *joints, const i64 *allowed, i64 width, i64 most, i64 penalty, i64 *parents,
                               i64 *score, flag_t *stop);

/* Find for each pair of nodes x < y the best score of a graph that joins them, at x * width + y, and of one that does not, at
 * y * width + x. */
EXPORT int32_t apsl_best_by_pairs(const i64 *joints, const i64 *allowed, i64 width, i64 most, i64 penalty, i64 *best,
                                  flag_t *stop);

/* Estimate the bytes for so many nodes: the subsets, and the two largest layers of choices. */
EXPORT i64 apsl_best_graph_bytes(i64 width);

#endif

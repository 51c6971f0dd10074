/* A search over orders of the nodes: each order has a graph in which arrows lead forward.
 *
 * The parents of a node are found among the nodes before it: the best one is added while that gains, then the best one is
 * removed, and so on. A sweep takes each node out and inserts it where that gains most; it moves there step by step, and a
 * step changes the parents of two nodes only. After sweeps that gain nothing more come kicks: a few nodes move to random
 * places in a random order of the graph, they and the nodes that get other parents are reinserted, and if that gains all
 * nodes are. What is not worse is kept (iterated local search). Ties are broken by the places of the nodes, and the random
 * numbers depend on the seed and the start alone. */
#ifndef APSL_ORDER_SEARCH_H
#define APSL_ORDER_SEARCH_H

#include "search/graph_search.h"

/* What a search has found: the score of its graph and that of the given one, how many starts were made to their end, and
 * how many of these reached the score of the graph. */
typedef struct {
    i64 score, given_score, starts, agreeing;
} order_outcome_t;

/* Search from the order of an acyclic graph, and then from random orders, so many starts in all. Each ends after so many
 * kicks, one after another, of which none gains. A node that is reinserted goes no farther where that is worse than at its best place by more than the most loss.
 * Only the places listed as near are kicked and reinserted; others get other parents where these pass them. The graph is
 * replaced by the first of the best that were found, if that is better.
 *
 * Of each pair of places x < y, `seen` (if not NULL) gets the best score of a graph that joins them, at x * width + y, and
 * of one that does not, at y * width + x, among the graphs come to that are behind the best so far by `behind` at most. */
EXPORT int32_t apsl_search_order(search_t *search, mark_t *dag, const uint8_t *opened, i64 limit, const i64 *near,
                                 i64 near_count, i64 starts, i64 kicks, i64 most_loss, i64 seed, flag_t *stop,
                                 i64 *seen, i64 behind, order_outcome_t *outcome);

#endif

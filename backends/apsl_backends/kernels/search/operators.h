/* The moves of a greedy equivalence search between classes of graphs: insert, delete, turn.
 *
 * The conditions for a move from one class to another, and its gain, are those of Chickering (2002) for insertions and
 * deletions and of Hauser and Bühlmann (2012) for turns. A move is given by an ordered pair (x, y) and a clique of nodes
 * that undirected edges (lines) connect with y. The best move of a pair is found by trying all cliques. */
#ifndef APSL_OPERATORS_H
#define APSL_OPERATORS_H

#include "search/graph_search.h"

/* List the numbers of a node's parents except one; return how many there are. */
i64 search_list_parents(const search_t *search, const mark_t *marks, i64 node, i64 but, i64 *out);

/* List the places of the nodes that lines connect with a node; return how many there are. */
i64 search_list_lines(const search_t *search, const mark_t *marks, i64 node, i64 *out);

/* Return whether moves of a kind are possible for a pair. */
static inline bool applies(const search_t *search, const mark_t *marks, int kind, i64 x, i64 y)
{
    i64 width = search->width;
    if (x == y)
        return false;
    if (kind == INSERT)
        return search->opened[x * width + y] && !joined(marks, width, x, y);
    return kind == DELETE ? marks[x * width + y] : marks[y * width + x];
}

/* Return whether a move closes no cycle: every path from y to x passes its clique. The paths are those of the marks. */
bool search_closes_no_cycle(search_t *search, const mark_t *marks, int kind, i64 x, i64 y, const moves_t *moves);

/* Find the best move of a pair; only if ``strict``, check that it closes no cycle. The scratch has the ``count`` parents
 * of y other than x, and the ``lines`` places that lines connect with y; the paths are those of the marks. */
void search_best_move(search_t *search, const mark_t *marks, int kind, i64 x, i64 y, bool strict, moves_t *moves,
                      i64 count,
                      i64 lines);

/* Do the same, and fill the scratch before. */
void search_best_strict_move(search_t *search, const mark_t *marks, int kind, i64 x, i64 y, moves_t *moves);

/* Change the marks so that their extensions are the graphs of the class that the best move of a pair leads to. */
void search_make_move(search_t *search, mark_t *marks, int kind, i64 x, i64 y, const moves_t *moves);

/* Find the best move of a kind for a pair that closes no cycle: its gain (NEVER if there is none), and the pattern that
 * it leads to. */
EXPORT int32_t apsl_search_best_move(search_t *search, const mark_t *marks, const uint8_t *opened, i64 limit,
                                     int32_t kind, i64 x, i64 y, i64 *gain, mark_t *after, flag_t *stop);

#endif

/* Partially directed graphs as square matrices of marks: extensions, classes, paths.
 *
 * marks[i][j] without marks[j][i] is an arrow from i to j, both are an undirected edge (line), neither is a gap. The
 * pattern (CPDAG) of an equivalence class has an arrow where all graphs of the class have it, and a line elsewhere. */
#ifndef APSL_PATTERNS_H
#define APSL_PATTERNS_H

#include <string.h>

#include "base/common.h"

typedef uint8_t mark_t;

/* The most nodes: their places are kept in 16 bits. */
enum { MOST_NODES = INT16_MAX };

/* Working space: neighbours or children of each node, its parents, the numbers of both, an order, the remaining nodes. */
typedef struct {
    i64 width;
    int16_t *near, *above;
    i64 *degrees, *parents, *waiting, *order;
    bool *left;
} pattern_space_t;

/* All zero bytes are a valid state before; what was allocated is freed by close, also after a failure. */
status_t search_pattern_space_open(pattern_space_t *space, i64 width);
void search_pattern_space_close(pattern_space_t *space);

/* Return whether two nodes are adjacent. */
static inline bool joined(const mark_t *marks, i64 width, i64 x, i64 y)
{
    return (marks[x * width + y] | marks[y * width + x]) != 0;
}

/* Return whether a line connects two nodes. */
static inline bool lined(const mark_t *marks, i64 width, i64 x, i64 y)
{
    return (marks[x * width + y] & marks[y * width + x]) != 0;
}

/* Return the first place from one on with a mark in a row, or the width. Most marks are 0, so eight are read at once. */
static inline i64 next_mark(const mark_t *row, i64 width, i64 from)
{
    for (uint64_t some; from + 8 <= width; from += 8) {
        memcpy(&some, row + from, sizeof some);
        if (some)
            break;
    }
    while (from < width && !row[from])
        from++;
    return from;
}

/* Direct all lines without a cycle or a new V-structure (Dor and Tarsi 1992); return whether that is possible. */
bool search_extend(const mark_t *marks, mark_t *dag, pattern_space_t *space);

/* Order the nodes of a graph so that parents come before their children; return whether it is acyclic. The space then has
 * the children of each node (``near``), and its parents in this order (``above``). */
bool search_order_nodes(const mark_t *dag, pattern_space_t *space);

/* Find the pattern of the class of an acyclic graph (Chickering 1995). */
void search_find_pattern(const mark_t *dag, mark_t *marks, pattern_space_t *space);

/* The same for the bindings: WRONG_INPUT if the marks have no extension, or the graph is not acyclic. */
EXPORT int32_t apsl_extend(const mark_t *marks, i64 width, mark_t *dag);
EXPORT int32_t apsl_pattern(const mark_t *dag, i64 width, mark_t *marks);

#endif

/* How much better a class of graphs is than its best rival without an edge, a gap or a triple.
 *
 * A rival is a class one move away without the feature: without the edge, with the missing edge, or with the triple
 * directed otherwise, without one of its edges, or with its ends adjacent. At the end of a search no rival is better. */
#ifndef APSL_RIVALS_H
#define APSL_RIVALS_H

#include "search/operators.h"

/* A feature of a class: two adjacent or not adjacent places, or the places of a triple, its middle second. */
typedef struct {
    i64 x, middle, y; /* y is negative for a pair, whose second place is the middle */
} feature_t;

/* The move to a rival: its gain (NEVER if no move undoes the feature), its kind (NOT_SOUGHT if the search ended before
 * this feature), its pair and its clique. */
typedef struct {
    i64 gain, kind, x, y, size, clique[MOST_PARENTS];
} rival_t;

enum { NOT_SOUGHT = -1 };

/* Find the move to the best rival for each feature of the class with a pattern. STOPPED if more than ``most`` moves would
 * be compared (0: no such limit): the call is to be made again. */
EXPORT int32_t apsl_search_rivals(search_t *search, const mark_t *marks, const uint8_t *opened, i64 limit, i64 most,
                                  const feature_t *features, i64 count, rival_t *rivals, flag_t *stop);

#endif

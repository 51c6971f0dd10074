/* Paths of arrows and lines in a partially directed graph, by sets of places as bits. */
#ifndef APSL_PATHS_H
#define APSL_PATHS_H

#include "search/patterns.h"

/* For each place, the places that an arrow or a line leads to, and those that a line connects with it. */
typedef struct {
    i64 width, words; /* a set of places has so many words */
    uint64_t *ahead, *lines;
    uint64_t *seen, *pending; /* working space: two sets */
    uint64_t *beyond;         /* where paths lead from each place without its lines, if that is known */
    uint64_t *needed;         /* by pair of places, as find_needed says, if that is known of the first */
    bool *knows_beyond, *knows_needed;
} paths_t;

/* All zero bytes are a valid state before; what was allocated is freed by close, also after a failure. */
status_t search_paths_open(paths_t *paths, i64 width);
void search_paths_close(paths_t *paths);

/* Take the marks of a graph. */
void search_note_marks(paths_t *paths, const mark_t *marks);

/* Begin with no place seen. */
void search_see_none(paths_t *paths);

static inline void see(paths_t *paths, i64 place) { paths->seen[place >> 6] |= UINT64_C(1) << (place & 63); }

/* See the places that lines connect with a place. */
void search_see_lines(paths_t *paths, i64 place);

/* Return whether a path leads from one place to another without a place that was seen before. With ``skip``, the edge
 * from start to end itself does not count. */
bool search_has_path(paths_t *paths, i64 start, i64 end, bool skip);

/* Return whether a path leads from one place to another, which is not adjacent to it, without any place that a line
 * connects with the start: no clique of such places is on it. */
bool search_has_open_path(paths_t *paths, i64 start, i64 end);

/* Find the places that a clique of places which lines connect with the start must contain so that it is on every path
 * to the end, unless there is an open path: the i-th of these places for bit i. Return false if they are more than 64. */
bool search_find_needed(paths_t *paths, i64 start, i64 end, uint64_t *needed);

#endif

/* A search for graphs over some of the nodes of a score: what all kinds of searches share.
 *
 * Nodes have places, in the ascending order of their numbers. A matrix has a row and a column for each place. */
#ifndef APSL_GRAPH_SEARCH_H
#define APSL_GRAPH_SEARCH_H

#include "search/paths.h"
#include "scores/score.h"
#include "base/stopping.h"

/* A gain that no move has. */
#define NEVER INT64_MIN
enum { INSERT, DELETE, TURN };
/* Whether an arrow is allowed. */
enum { CLOSED, OPEN, REQUIRED };

/* The best move of each ordered pair of places (x, y), at x * width + y: its gain, and its clique with its size. */
typedef struct {
    i64 *gain;
    int8_t *size;
    int16_t (*clique)[MOST_PARENTS];
    bool *stale;   /* whether the move may no longer be the best, at y * width + x */
    bool *suspect; /* whether a better one was left out since it closed a cycle, at y * width + x */
    uint64_t *needed; /* for a suspect insertion, which lines at y its clique must contain, at y * width + x */
} moves_t;

/* Lists of numbers and places, and marks of places, for the moves into one node. */
typedef struct {
    i64 *base, *above, *lines, *pool, *needed, *clique, *both, *at_pool, *parents, *ahead, *others, *tops, *at_top;
    bool *shared, *seen;
    batch_t batch;
} scratch_t;

typedef struct {
    score_t *score;
    i64 width, *members;   /* the numbers of the nodes */
    const uint8_t *opened; /* whether each arrow is allowed */
    i64 limit;             /* the most parents */
    flag_t *stop;
    moves_t moves, turns;
    mark_t *former, *dag;
    i64 *numbers; /* the memory of the lists */
    scratch_t scratch;
    pattern_space_t pattern_space;
    paths_t paths; /* of the class that the search has reached */
} search_t;

/* Open a search over nodes with columns, in ascending order, or return NULL. */
EXPORT search_t *apsl_search_open(score_t *score, const i64 *members, i64 width, i64 most_known);
EXPORT void apsl_search_close(search_t *search);

/* Return whether all members of a search have columns; the score may have other rows or moments than when it was opened. */
static inline bool is_ready(search_t *search)
{
    return scores_have_columns(search->score, search->members, search->width) &&
           scores_reserve_families(search->score, search->members, search->width);
}

/* Limits of a score that are put aside while a call is short. */
typedef struct {
    i64 tried, most_tries;
} limits_t;

/* Let a call compare no more than so many moves (0: as many as the score allows). */
static inline limits_t shorten(search_t *search, i64 most)
{
    score_t *score = search->score;
    limits_t before = {score->tried, score->most_tries};
    if (most && most < score->most_tries - score->tried)
        score->most_tries = score->tried + most;
    return before;
}

/* Restore the limits; return whether the call was too long, and is to be made again. */
static inline bool was_too_long(search_t *search, limits_t before)
{
    score_t *score = search->score;
    bool is_too_long = score->most_tries < before.most_tries && score->tried >= score->most_tries;
    score->most_tries = before.most_tries;
    if (is_too_long)
        score->tried = before.tried;
    return is_too_long;
}

/* Return whether the search should end early. */
static inline bool is_over(const search_t *search)
{
    return search->stop[REASON] || search->score->tried >= search->score->most_tries;
}

#endif

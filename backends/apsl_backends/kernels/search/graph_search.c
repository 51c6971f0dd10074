/* Open and close the working space that all searches share.
 *
 * All lists of numbers are parts of one block. Matrices have a row and a column for each place; places are in the
 * ascending order of the nodes' numbers. */
#include "search/graph_search.h"

#include <stdlib.h>
#include <string.h>

static status_t moves_open(moves_t *moves, size_t pairs)
{
    moves->gain = malloc(sizeof *moves->gain * pairs);
    moves->size = calloc(pairs, sizeof *moves->size);
    moves->clique = malloc(sizeof *moves->clique * pairs);
    moves->stale = calloc(pairs, sizeof *moves->stale);
    moves->suspect = calloc(pairs, sizeof *moves->suspect);
    moves->needed = malloc(sizeof *moves->needed * pairs);
    if (!moves->gain || !moves->size || !moves->clique || !moves->stale || !moves->suspect || !moves->needed)
        return NO_MEMORY;
    for (size_t pair = 0; pair < pairs; pair++)
        moves->gain[pair] = NEVER;
    return DONE;
}

static void moves_close(moves_t *moves)
{
    free(moves->gain);
    free(moves->size);
    free(moves->clique);
    free(moves->stale);
    free(moves->suspect);
    free(moves->needed);
}

/* Divide the memory of a search into lists, each with space for all places and for two full sets of parents. */
static status_t open_lists(search_t *search)
{
    scratch_t *scratch = &search->scratch;
    i64 **lists[] = {&scratch->base,   &scratch->above,   &scratch->lines,        &scratch->pool, &scratch->needed,
                     &scratch->clique, &scratch->both,    &scratch->at_pool,      &scratch->parents,
                     &scratch->ahead,  &scratch->others,  &scratch->tops,         &scratch->at_top,
                     &scratch->batch.parents, &scratch->batch.wanted};
    size_t count = sizeof lists / sizeof *lists, size = (size_t)search->width + 2 * MOST_PARENTS;
    search->numbers = calloc(count * size, sizeof *search->numbers);
    scratch->shared = calloc(size, sizeof *scratch->shared);
    scratch->seen = calloc(size, sizeof *scratch->seen);
    if (!search->numbers || !scratch->shared || !scratch->seen)
        return NO_MEMORY;
    for (size_t at = 0; at < count; at++)
        *lists[at] = search->numbers + at * size;
    return DONE;
}

static status_t open_all(search_t *search, const i64 *members, i64 most_known)
{
    size_t nodes = (size_t)search->width, pairs = nodes * nodes;
    search->members = malloc(sizeof *search->members * nodes);
    search->former = malloc(pairs);
    search->dag = malloc(pairs);
    if (!search->members || !search->former || !search->dag)
        return NO_MEMORY;
    memcpy(search->members, members, sizeof *members * nodes);
    status_t status = open_lists(search);
    status = status == DONE ? moves_open(&search->moves, pairs) : status;
    status = status == DONE ? moves_open(&search->turns, pairs) : status;
    status = status == DONE ? search_pattern_space_open(&search->pattern_space, search->width) : status;
    status = status == DONE ? search_paths_open(&search->paths, search->width) : status;
    if (status == DONE && !scores_reserve_families(search->score, members, search->width))
        status = NO_MEMORY;
    return status == DONE ? scores_families_reserve(&search->score->known, most_known) : status;
}

search_t *apsl_search_open(score_t *score, const i64 *members, i64 width, i64 most_known)
{
    search_t *search = calloc(1, sizeof *search);
    if (!search)
        return NULL;
    search->score = score;
    search->width = width;
    if (open_all(search, members, most_known) != DONE) {
        apsl_search_close(search);
        return NULL;
    }
    return search;
}

void apsl_search_close(search_t *search)
{
    moves_close(&search->moves);
    moves_close(&search->turns);
    search_pattern_space_close(&search->pattern_space);
    search_paths_close(&search->paths);
    free(search->members);
    free(search->former);
    free(search->dag);
    free(search->numbers);
    free(search->scratch.shared);
    free(search->scratch.seen);
    free(search);
}

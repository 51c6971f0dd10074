/* A table of known scores by key.
 *
 * A key has two neighbouring places in one cache line, and a full pair loses the first. So a lookup is one access,
 * memory is fixed, and what was lost is scored again with the same result. */
#include "scores/known_scores.h"

#include <stdlib.h>
#include <string.h>

static bool is_free(const known_score_t *place) { return !place->key.words[0]; }

void scores_store_score(known_scores_t *known, score_key_t key, i64 score)
{
    i64 at = score_place(known, key);
    if (!is_free(known->table + at) && is_free(known->table + (at ^ 1)))
        at ^= 1;
    known->table[at] = (known_score_t){key, score};
}

status_t scores_known_scores_reserve(known_scores_t *known, i64 width, i64 least, i64 most)
{
    i64 wanted = smaller(larger(8 * width * width, least), most), capacity = 2;
    while (capacity < wanted)
        capacity *= 2;
    if (capacity <= known->capacity)
        return DONE;
    known_scores_t larger_one = {calloc((size_t)capacity, sizeof *known->table), capacity};
    if (!larger_one.table)
        return NO_MEMORY;
    for (i64 at = 0; at < known->capacity; at++)
        if (!is_free(known->table + at))
            scores_store_score(&larger_one, known->table[at].key, known->table[at].score);
    scores_known_scores_close(known);
    *known = larger_one;
    return DONE;
}

void scores_known_scores_close(known_scores_t *known)
{
    free(known->table);
    *known = (known_scores_t){NULL, 0};
}

void scores_known_scores_forget(known_scores_t *known)
{
    if (known->table)
        memset(known->table, 0, sizeof *known->table * (size_t)known->capacity);
}

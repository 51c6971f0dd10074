/* A table of known scores by key.
 *
 * A key has two neighbouring places in one cache line, and a full pair loses the first. So a lookup is one access.
 * The table grows while half of it is filled, up to a bound; what was lost is scored again with the same result. */
#include "scores/known_scores.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 1 << 12 };

static bool is_free(const known_score_t *place) { return !place->key.words[0]; }

static void put_score(known_scores_t *known, score_key_t key, i64 score)
{
    i64 at = score_place(known, key);
    if (!is_free(known->table + at) && is_free(known->table + (at ^ 1)))
        at ^= 1;
    known->filled += is_free(known->table + at);
    known->table[at] = (known_score_t){key, score};
}

/* Move what is known to a table of another capacity; without memory for it all stays as it is. */
static status_t resize(known_scores_t *known, i64 capacity)
{
    known_scores_t other = {calloc((size_t)capacity, sizeof *other.table), capacity, 0, known->most};
    if (!other.table)
        return NO_MEMORY;
    for (i64 at = 0; at < known->capacity; at++)
        if (!is_free(known->table + at))
            put_score(&other, known->table[at].key, known->table[at].score);
    free(known->table);
    *known = other;
    return DONE;
}

void scores_store_score(known_scores_t *known, score_key_t key, i64 score)
{
    if (2 * known->filled >= known->capacity && known->capacity < known->most)
        resize(known, smaller(4 * known->capacity, known->most));
    put_score(known, key, score);
}

status_t scores_known_scores_reserve(known_scores_t *known, i64 most)
{
    i64 capacity = 2;
    while (capacity < most)
        capacity *= 2;
    known->most = larger(known->most, capacity);
    return known->table ? DONE : resize(known, smaller(FIRST_CAPACITY, capacity));
}

void scores_known_scores_close(known_scores_t *known)
{
    free(known->table);
    *known = (known_scores_t){NULL, 0, 0, 0};
}

void scores_known_scores_forget(known_scores_t *known)
{
    known->filled = 0;
    if (known->table)
        memset(known->table, 0, sizeof *known->table * (size_t)known->capacity);
}

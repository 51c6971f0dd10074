/* Known scores, by a key of two words.
 *
 * They are in a hash table of fixed size, in which a new score may replace an older one. That costs another count, but
 * never changes a result. */
#ifndef APSL_KNOWN_SCORES_H
#define APSL_KNOWN_SCORES_H

#include "common.h"

/* The words of a key are not both 0. */
typedef struct {
    uint64_t high, low;
} score_key_t;

typedef struct {
    score_key_t key;   /* 0 where nothing is stored */
    i64 score, unused; /* two scores fill a cache line */
} known_score_t;

typedef struct {
    known_score_t *table;
    i64 capacity; /* a power of two */
} known_scores_t;

/* Make the table large enough for a search over so many nodes; ``least`` and ``most`` bound it. What is known stays. All
 * zero bytes are a valid state before. */
status_t known_scores_reserve(known_scores_t *known, i64 width, i64 least, i64 most);
void known_scores_close(known_scores_t *known);

/* Forget all scores; the table stays. */
void known_scores_forget(known_scores_t *known);

/* Store a score at the first of its two places, or at the second if only that is free. */
void store_score(known_scores_t *known, score_key_t key, i64 score);

/* Return the first place of a key; the second is its neighbour. */
static inline i64 score_place(const known_scores_t *known, score_key_t key)
{
    uint64_t mixed = key.high * UINT64_C(0x9E3779B97F4A7C15) ^ key.low * UINT64_C(0xC2B2AE3D27D4EB4F);
    mixed ^= mixed >> 29;
    mixed *= UINT64_C(0x9E3779B97F4A7C15);
    return (i64)(mixed >> 40 & (uint64_t)(known->capacity - 1));
}

static inline bool is_stored_at(const known_score_t *place, score_key_t key)
{
    return place->key.high == key.high && place->key.low == key.low;
}

/* Return where a score is stored, or NULL. */
static inline const i64 *find_score(const known_scores_t *known, score_key_t key)
{
    i64 near = score_place(known, key);
    if (is_stored_at(known->table + near, key))
        return &known->table[near].score;
    return is_stored_at(known->table + (near ^ 1), key) ? &known->table[near ^ 1].score : NULL;
}

#endif

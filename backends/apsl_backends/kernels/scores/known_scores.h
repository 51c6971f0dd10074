/* Known scores, by a key of three words.
 *
 * They are in a hash table that grows up to a bound, in which a new score may replace an older one. That costs another count, but
 * never changes a result. */
#ifndef APSL_KNOWN_SCORES_H
#define APSL_KNOWN_SCORES_H

#include "base/common.h"

enum { KEY_WORDS = 3 };

/* The first word of a key is not 0. */
typedef struct {
    uint64_t words[KEY_WORDS];
} score_key_t;

/* Two of these fill a cache line. */
typedef struct {
    score_key_t key; /* 0 where nothing is stored */
    i64 score;
} known_score_t;

typedef struct {
    known_score_t *table;
    i64 capacity; /* a power of two */
    i64 filled;   /* places that are taken */
    i64 most;     /* the capacity that the table may grow to */
} known_scores_t;

/* Let the table grow to at least ``most`` places. What is known stays. All zero bytes are a valid state before. */
status_t scores_known_scores_reserve(known_scores_t *known, i64 most);
void scores_known_scores_close(known_scores_t *known);

/* Forget all scores; the table stays. */
void scores_known_scores_forget(known_scores_t *known);

/* Store a score at the first of its two places, or at the second if only that is free. */
void scores_store_score(known_scores_t *known, score_key_t key, i64 score);

/* Return the place of a key in a table of so many places, a power of two. */
static inline i64 place_of_key(score_key_t key, i64 capacity)
{
    uint64_t mixed = key.words[0] * UINT64_C(0x9E3779B97F4A7C15) ^ key.words[1] * UINT64_C(0xC2B2AE3D27D4EB4F) ^
                     key.words[2] * UINT64_C(0xD6E8FEB86659FD93);
    mixed ^= mixed >> 29;
    mixed *= UINT64_C(0x9E3779B97F4A7C15);
    return (i64)(mixed >> 40 & (uint64_t)(capacity - 1));
}

/* Return the first place of a key; the second is its neighbour. */
static inline i64 score_place(const known_scores_t *known, score_key_t key)
{
    return place_of_key(key, known->capacity);
}

static inline bool is_same_key(score_key_t one, score_key_t other)
{
    uint64_t different = 0;
    for (int at = 0; at < KEY_WORDS; at++)
        different |= one.words[at] ^ other.words[at];
    return !different;
}

static inline bool is_stored_at(const known_score_t *place, score_key_t key) { return is_same_key(place->key, key); }

/* Return where a score is stored, or NULL. */
static inline const i64 *find_score(const known_scores_t *known, score_key_t key)
{
    i64 near = score_place(known, key);
    if (is_stored_at(known->table + near, key))
        return &known->table[near].score;
    return is_stored_at(known->table + (near ^ 1), key) ? &known->table[near ^ 1].score : NULL;
}

#endif

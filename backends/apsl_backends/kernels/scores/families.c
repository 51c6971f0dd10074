/* The score of a family: known, by the known figures of its sets, or counted now.
 *
 * Keys hold up to MOST_PACKED parents by number, and a 128-bit hash beyond. Batches count all families with one parent
 * more in one pass over the divided rows. */
#include "scores/families.h"

#include <string.h>

#include "scores/bde.h"
#include "scores/set_figures.h"

/* The numbers in one word of a key. */
enum { NUMBERS_IN_WORD = (MOST_PACKED + 1) / KEY_WORDS };
/* Marks the first word of a key that has a hash of its numbers. */
#define HASHED (UINT64_C(1) << 63)

status_t scores_families_reserve(families_t *known, i64 most)
{
    status_t status = scores_known_scores_reserve(&known->scores, most);
    return status == DONE ? scores_known_scores_reserve(&known->sets, most) : status;
}

void scores_families_close(families_t *known)
{
    scores_known_scores_close(&known->scores);
    scores_known_scores_close(&known->sets);
}

void scores_families_forget(families_t *known)
{
    scores_known_scores_forget(&known->scores);
    scores_known_scores_forget(&known->sets);
}

static uint64_t mix(uint64_t word)
{
    word = (word ^ (word >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94D049BB133111EB);
    return word ^ (word >> 31);
}

/* Hash a large family into 128 bits; that two families of one search share them is as good as impossible. */
static score_key_t hashed_key(i64 node, const i64 *parents, i64 count)
{
    score_key_t key = {{HASHED | ((uint64_t)node + 1), UINT64_C(0x9E3779B97F4A7C15), UINT64_C(0xC2B2AE3D27D4EB4F)}};
    for (i64 at = 0; at < count; at++) {
        key.words[1] = mix(key.words[1] + (uint64_t)parents[at]);
        key.words[2] = mix(key.words[2] ^ (uint64_t)parents[at]) + (uint64_t)at;
    }
    return key;
}

score_key_t scores_key_of(i64 node, const i64 *parents, i64 count)
{
    if (count > MOST_PACKED)
        return hashed_key(node, parents, count);
    score_key_t key = {{(uint64_t)node + 1}};
    for (i64 at = 0; at < count; at++) {
        uint64_t *word = key.words + (at + 1) / NUMBERS_IN_WORD;
        *word = *word << NUMBER_BITS | (uint64_t)(parents[at] + 1);
    }
    return key;
}

i64 scores_put(i64 *numbers, i64 count, i64 number)
{
    i64 at = count;
    for (; at && numbers[at - 1] > number; at--)
        numbers[at] = numbers[at - 1];
    numbers[at] = number;
    return count + 1;
}

/* Insert a number into ascending ones, in other memory. */
static void insert(const i64 *numbers, i64 count, i64 one, i64 *out)
{
    i64 at = 0;
    for (; at < count && numbers[at] < one; at++)
        out[at] = numbers[at];
    out[at] = one;
    for (; at < count; at++)
        out[at + 1] = numbers[at];
}

/* Pack a set of ascending numbers, at least one: as the family of the last one with the others as parents. */
static score_key_t set_key(const i64 *numbers, i64 count) { return scores_key_of(numbers[count - 1], numbers,
                                                                                 count - 1); }

/* Pack the set of a node and its parents. */
static score_key_t whole_key(i64 node, const i64 *parents, i64 count)
{
    i64 numbers[MOST_PARENTS + 1];
    insert(parents, count, node, numbers);
    return set_key(numbers, count + 1);
}

/* Find the score of a family by the known figures of its sets; return whether both are known. */
static bool find_by_sets(const score_t *score, i64 node, const i64 *parents, i64 count, i64 *found)
{
    if (!score->empirical || !count)
        return false;
    const i64 *rest = find_score(&score->known.sets, set_key(parents, count));
    const i64 *whole = rest ? find_score(&score->known.sets, whole_key(node, parents, count)) : NULL;
    if (whole)
        *found = *whole - *rest - score->penalty * count;
    return whole;
}

/* Store the score of a family and the figures of its sets; return the score. */
static i64 store_figures(score_t *score, i64 node, const i64 *parents, i64 count, figures_t figures)
{
    i64 value = score_from(figures) - score->penalty * count;
    score->counted++;
    scores_store_score(&score->known.scores, scores_key_of(node, parents, count), value);
    if (score->empirical) {
        scores_store_score(&score->known.sets, whole_key(node, parents, count), figures.whole);
        if (count)
            scores_store_score(&score->known.sets, set_key(parents, count), figures.rest);
    }
    return value;
}

/* Find the figure of a set by the moments, and keep it; a single node has none. */
static i64 find_set(score_t *score, score_key_t key, const i64 *numbers, i64 count, i64 other)
{
    if (count + (other >= 0) < 2)
        return 0;
    const i64 *found = find_score(&score->known.sets, key);
    if (found)
        return *found;
    i64 figure = scores_set_figure(score->sets, numbers, count, other);
    scores_store_score(&score->known.sets, key, figure);
    return figure;
}

/* Find the figures of a family by the moments. */
static figures_t find_by_moments(score_t *score, i64 node, const i64 *parents, i64 count)
{
    if (count > MOST_PARENTS)
        return (figures_t){scores_set_figure(score->sets, parents, count, node), scores_set_figure(score->sets,
                                                                                                   parents, count, -1)};
    i64 rest = count > 1 ? find_set(score, set_key(parents, count), parents, count, -1) : 0;
    return (figures_t){find_set(score, whole_key(node, parents, count), parents, count, node), rest};
}

static figures_t find_all_figures(score_t *score, i64 node, const i64 *parents, i64 count)
{
    return score->sets ? find_by_moments(score, node, parents, count) : scores_find_figures(score, node, parents,
                                                                                            count, -1);
}

i64 scores_family_score(score_t *score, i64 node, const i64 *parents, i64 count)
{
    if (count > MOST_PARENTS) {
        score->counted++;
        return score_from(find_all_figures(score, node, parents, count)) - score->penalty * count;
    }
    score_key_t key = scores_key_of(node, parents, count);
    const i64 *found = find_score(&score->known.scores, key);
    if (found)
        return *found;
    i64 value;
    if (!find_by_sets(score, node, parents, count, &value))
        return store_figures(score, node, parents, count, find_all_figures(score, node, parents, count));
    scores_store_score(&score->known.scores, key, value);
    return value;
}

static bool is_parent(const i64 *parents, i64 count, i64 one)
{
    bool found = false;
    for (i64 at = 0; at < count; at++)
        found |= parents[at] == one;
    return found;
}

/* Return whether the score of a family is known, also if its sets tell it. */
static bool is_known(score_t *score, i64 node, const i64 *parents, i64 count)
{
    score_key_t key = scores_key_of(node, parents, count);
    i64 value;
    if (find_score(&score->known.scores, key))
        return true;
    if (!find_by_sets(score, node, parents, count, &value))
        return false;
    scores_store_score(&score->known.scores, key, value);
    return true;
}

void scores_score_ahead(score_t *score, i64 node, const i64 *parents, i64 count, const i64 *others, i64 size,
                        const batch_t *batch)
{
    if (score->sets || count >= MOST_PARENTS)
        return;
    i64 missing = 0;
    for (i64 at = 0; at < size; at++) {
        if (others[at] == node || is_parent(parents, count, others[at]))
            continue;
        insert(parents, count, others[at], batch->parents);
        if (!is_known(score, node, batch->parents, count + 1))
            batch->wanted[missing++] = others[at];
    }
    if (missing < 2)
        return;
    divided_t rows = scores_divide(score, node, parents, count);
    for (i64 at = 0; at < missing; at++) {
        insert(parents, count, batch->wanted[at], batch->parents);
        figures_t figures = scores_find_wider_figures(score, &rows, batch->wanted[at]);
        store_figures(score, node, batch->parents, count + 1, figures);
    }
}

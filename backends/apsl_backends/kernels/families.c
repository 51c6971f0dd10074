#include "families.h"

#include <string.h>

#include "bde.h"

enum { HALF = MOST_PARENTS / 2, REST_BITS = 64 - HALF * NUMBER_BITS };

status_t families_reserve(families_t *known, i64 width, i64 least, i64 most)
{
    status_t status = known_scores_reserve(&known->scores, width, least, most);
    return status == DONE ? known_scores_reserve(&known->sets, width, least, most) : status;
}

void families_close(families_t *known)
{
    known_scores_close(&known->scores);
    known_scores_close(&known->sets);
}

void families_forget(families_t *known)
{
    known_scores_forget(&known->scores);
    known_scores_forget(&known->sets);
}

/* Pack a family into two words that are not both 0. */
static score_key_t key_of(i64 node, const i64 *parents, i64 count)
{
    score_key_t key = {0, 0};
    uint64_t number = (uint64_t)node + 1;
    for (i64 at = 0; at < count && at < HALF; at++)
        key.high = key.high << NUMBER_BITS | (uint64_t)(parents[at] + 1);
    for (i64 at = HALF; at < count; at++)
        key.low = key.low << NUMBER_BITS | (uint64_t)(parents[at] + 1);
    key.high |= number << (HALF * NUMBER_BITS);
    key.low |= number >> REST_BITS << (HALF * NUMBER_BITS);
    return key;
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
static score_key_t set_key(const i64 *numbers, i64 count) { return key_of(numbers[count - 1], numbers, count - 1); }

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
    store_score(&score->known.scores, key_of(node, parents, count), value);
    if (score->empirical) {
        store_score(&score->known.sets, whole_key(node, parents, count), figures.whole);
        if (count)
            store_score(&score->known.sets, set_key(parents, count), figures.rest);
    }
    return value;
}

i64 family_score(score_t *score, i64 node, const i64 *parents, i64 count)
{
    if (count > MOST_PARENTS) {
        score->counted++;
        return score_from(find_figures(score, node, parents, count, -1)) - score->penalty * count;
    }
    score_key_t key = key_of(node, parents, count);
    const i64 *found = find_score(&score->known.scores, key);
    if (found)
        return *found;
    i64 value;
    if (!find_by_sets(score, node, parents, count, &value))
        return store_figures(score, node, parents, count, find_figures(score, node, parents, count, -1));
    store_score(&score->known.scores, key, value);
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
    score_key_t key = key_of(node, parents, count);
    i64 value;
    if (find_score(&score->known.scores, key))
        return true;
    if (!find_by_sets(score, node, parents, count, &value))
        return false;
    store_score(&score->known.scores, key, value);
    return true;
}

void score_ahead(score_t *score, i64 node, const i64 *parents, i64 count, const i64 *others, i64 size,
                 const batch_t *batch)
{
    if (count >= MOST_PARENTS)
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
    divided_t rows = divide(score, node, parents, count);
    for (i64 at = 0; at < missing; at++) {
        insert(parents, count, batch->wanted[at], batch->parents);
        figures_t figures = find_wider_figures(score, &rows, batch->wanted[at]);
        store_figures(score, node, batch->parents, count + 1, figures);
    }
}

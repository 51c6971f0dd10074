/* The known scores of families: a node with its parents.
 *
 * Families of the same nodes differ in the figure of the parents only, so the figures of sets of nodes are kept too, if
 * they are the same in any order: with an empirical prior, and with moments. What is missing is counted, in batches where
 * much is needed, or found by the moments. */
#ifndef APSL_FAMILIES_H
#define APSL_FAMILIES_H

#include "scores/known_scores.h"

/* The most parents in a search and in a family that is stored, and in one whose key holds its numbers, of so many bits. */
enum { MOST_PARENTS = 24, MOST_PACKED = 8, NUMBER_BITS = 18 };

typedef struct {
    known_scores_t scores, sets;
} families_t;

struct score;

/* Let at least ``most`` scores be kept. What is known stays. All zero bytes are a valid state before. */
status_t scores_families_reserve(families_t *known, i64 most);
void scores_families_close(families_t *known);

/* Forget all scores. */
void scores_families_forget(families_t *known);

/* Insert a number into ascending ones; return how many there are now. */
i64 scores_put(i64 *numbers, i64 count, i64 number);

/* Pack a family into a key; its parents are ascending, and at most MOST_PARENTS. */
score_key_t scores_key_of(i64 node, const i64 *parents, i64 count);

/* Score a node given its parents, in ascending order, in units, minus their penalty. */
i64 scores_family_score(struct score *score, i64 node, const i64 *parents, i64 count);

/* Working space for scores in batches: each array has an element for each other node, and as many as MOST_PARENTS. */
typedef struct {
    i64 *parents, *wanted;
} batch_t;

/* Score in one batch the families with one of the others as a further parent that are not known yet. */
void scores_score_ahead(struct score *score, i64 node, const i64 *parents, i64 count, const i64 *others, i64 size,
                        const batch_t *batch);

#endif

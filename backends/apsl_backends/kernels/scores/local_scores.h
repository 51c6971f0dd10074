/* The scores of single families for the bindings, by the rows or by the moments of a score. */
#ifndef APSL_LOCAL_SCORES_H
#define APSL_LOCAL_SCORES_H

#include "scores/score.h"

/* Write the score of a node given its parents, without a penalty. WRONG_INPUT if a number is out of range or, for moments,
 * if the node or a parent occurs twice. */
EXPORT int32_t apsl_score_local(score_t *score, i64 node, const i64 *parents, i64 count, i64 *out);

/* Write the gain of adding each other node to the parents, or of removing it if it is one of them; a parent costs the
 * penalty. */
EXPORT int32_t apsl_score_gains(score_t *score, i64 node, const i64 *parents, i64 count, const i64 *others, i64 size,
                                i64 *out);

/* Count in how many of ``count`` renamings, each a node for every one of ``width`` places, a graph gains at least ``least``
 * over one without edges; a parent costs the penalty. The parents of a place are those from its start to the next one, and
 * ``room`` has for each node what parents can add to its score at most. WRONG_INPUT if a node has no column. */
EXPORT int32_t apsl_score_renamed(score_t *score, const i64 *starts, const i64 *parents, i64 width, const i64 *room,
                                  i64 least, const i64 *names, i64 count, i64 *out);

#endif

/* The score of every subset of some nodes as one joint column.
 *
 * The distinct rows are found once; each subset is built from the one without its last column, whose classes lie at the
 * level before. Subset s is at index s of the result. The flag is read between subsets. */
#include "scores/joints.h"

#include <stdlib.h>
#include <string.h>

#include "scores/bde.h"
#include "scores/set_figures.h"

/* The distinct rows of some columns, and how many rows each represents. */
typedef struct {
    i64 rows, total;
    uint32_t *codes; /* column after column */
    int32_t *weights;
} distinct_t;

/* Find the distinct rows of some nodes. */
static status_t find_distinct(score_t *score, const i64 *members, i64 width, distinct_t *out)
{
    row_classes_t *space = &score->space;
    i64 level = 0, span = 1;
    counts_join_all(space, level);
    for (i64 at = 0; at < width; at++, level = 1 - level) {
        column_t column = column_for(score, members[at]);
        span = counts_refine(space, level, span, &column, 1 - level);
    }
    i64 found = counts_label(space, level, span, NULL, 1 - level, NULL), next = 0;
    const uint32_t *labels = classes_at(space, 1 - level);
    out->codes = malloc(sizeof *out->codes * (size_t)(larger(found * width, 1)));
    out->weights = calloc((size_t)found, sizeof *out->weights);
    if (!out->codes || !out->weights)
        return NO_MEMORY;
    out->rows = found;
    for (i64 row = 0; row < score->codes.rows; row++) {
        i64 one = labels[row];
        if (one == next) { /* the first row with this label */
            next++;
            for (i64 at = 0; at < width; at++) {
                column_t column = column_for(score, members[at]);
                out->codes[at * found + one] = code_at(column.codes, column.bytes, row);
            }
        }
        i64 weight = score->weights ? score->weights[row] : 1;
        out->weights[one] += (int32_t)weight;
        out->total += weight;
    }
    return DONE;
}

/* A subset that is being built: the last column, an upper bound of its classes, and its configurations. */
typedef struct {
    i64 column, span;
    double configurations;
} step_t;

/* Score all subsets, each from the classes of the subset without its last column; those are kept at each level. */
static status_t score_subsets(score_t *score, const i64 *members, i64 width, const distinct_t *distinct,
                              row_classes_t *space, i64 *scores, flag_t *stop)
{
    static const int32_t no_log_prior[] = {0};
    step_t steps[MOST_JOINT_NODES + 1] = {{0, 1, 1.0}};
    prior_t whole = score->empirical ? scores_empirical_prior(&score->terms, 0) : scores_uniform_prior(&score->terms,
                                                                                                       1.0);
    scores[0] = scores_new_term(&score->terms, whole, distinct->total);
    counts_join_all(space, 0);
    i64 level = 0, subset = 0, next = 0;
    while (level || next < width) {
        if (stop[REASON])
            return STOPPED;
        if (next == width) {
            next = steps[level].column + 1;
            subset ^= (i64)1 << steps[level].column;
            level--;
            continue;
        }
        column_t column = column_for(score, members[next]);
        column.codes = distinct->codes + next * distinct->rows;
        column.bytes = sizeof *distinct->codes;
        const step_t *before = steps + level++;
        i64 span = counts_refine(space, level - 1, before->span, &column, level);
        steps[level] = (step_t){next, span, before->configurations * (double)column.card};
        counts_count_classes(space, level, span, distinct->weights);
        subset |= (i64)1 << next++;
        scores[subset] = scores_sum_terms(score, space->counts, span, 1, steps[level].configurations, cells_at(space,
                                                                                                               level),
                                          no_log_prior);
    }
    return DONE;
}

/* Write the figures of all subsets by the moments. */
static status_t find_figures_of_subsets(score_t *score, const i64 *members, i64 width, i64 *scores, flag_t *stop)
{
    i64 sorted[MOST_JOINT_NODES], subset[MOST_JOINT_NODES];
    for (i64 at = 0; at < width; at++)
        scores_put(sorted, at, members[at]);
    for (i64 at = 1; at < width; at++)
        if (sorted[at] == sorted[at - 1])
            return WRONG_INPUT;
    if (!scores_reserve_sets(score->sets, sorted, width))
        return NO_MEMORY;
    for (i64 bits = 0; bits < (i64)1 << width; bits++) {
        i64 count = 0;
        if (stop[REASON])
            return STOPPED;
        for (i64 at = 0; at < width; at++)
            if (bits >> at & 1)
                scores_put(subset, count++, members[at]);
        scores[bits] = scores_set_figure(score->sets, subset, count, -1);
    }
    return DONE;
}

int32_t apsl_score_joints(score_t *score, const i64 *members, i64 width, i64 *scores, flag_t *stop)
{
    if (width < 0 || width > MOST_JOINT_NODES || !scores_have_columns(score, members, width))
        return WRONG_INPUT;
    if (score->sets)
        return (int32_t)find_figures_of_subsets(score, members, width, scores, stop);
    if (!score->rests)
        return WRONG_INPUT;
    distinct_t distinct = {0, 0, NULL, NULL};
    row_classes_t space;
    memset(&space, 0, sizeof space);
    status_t status = find_distinct(score, members, width, &distinct);
    if (status == DONE)
        status = counts_row_classes_open(&space, distinct.rows, width + 1, score->empirical);
    if (status == DONE)
        status = score_subsets(score, members, width, &distinct, &space, scores, stop);
    counts_row_classes_close(&space);
    free(distinct.codes);
    free(distinct.weights);
    return (int32_t)status;
}

i64 apsl_joints_bytes(i64 rows, i64 width, int32_t empirical)
{
    return ((i64)8 << width) + counts_row_classes_bytes(rows, width + 1, empirical != 0) + 4 * rows * (width + 1);
}

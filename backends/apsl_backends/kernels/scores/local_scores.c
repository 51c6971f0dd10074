/* Scores of single families, and the gains of all changes of one family, by rows or by moments.
 *
 * Numbers are checked here. Gains are in units, with the penalty of a parent. */
#include "scores/local_scores.h"

#include <stdlib.h>
#include <string.h>

#include "scores/bde.h"
#include "scores/set_figures.h"

/* How many families of renamed graphs are kept. */
enum { KNOWN_OF_RENAMED = 1 << 14 };

/* A graph over places: the parents of each are those from its start to the next one. */
typedef struct {
    i64 width, least;
    const i64 *starts, *parents, *room;
} renamed_t;

static bool is_among(const i64 *members, i64 count, i64 one)
{
    bool found = false;
    for (i64 at = 0; at < count; at++)
        found |= members[at] == one;
    return found;
}

/* Write the gains by the rows. */
static void count_gains(score_t *score, i64 node, const i64 *parents, i64 count, const i64 *others, i64 size, i64 *out)
{
    i64 own = score_from(scores_find_figures(score, node, parents, count, -1));
    for (i64 at = 0; at < size; at++)
        if (is_among(parents, count, others[at]))
            out[at] = score_from(scores_find_figures(score, node, parents, count, others[at])) - own + score->penalty;
    divided_t rows = scores_divide(score, node, parents, count);
    for (i64 at = 0; at < size; at++)
        if (!is_among(parents, count, others[at]))
            out[at] = score_from(scores_find_wider_figures(score, &rows, others[at])) - own - score->penalty;
}

/* Sort numbers into a list that has space for one more; return whether they differ from each other and from the node. */
static bool sort_parents(i64 node, const i64 *parents, i64 count, i64 *sorted)
{
    for (i64 at = 0; at < count; at++)
        scores_put(sorted, at, parents[at]);
    for (i64 at = 0; at < count; at++)
        if (sorted[at] == node || (at && sorted[at] == sorted[at - 1]))
            return false;
    return true;
}

/* Score a node by the moments, given sorted parents with another one, or without it if it is one of them. */
static i64 score_changed(score_t *score, i64 node, const i64 *sorted, i64 count, i64 other, i64 *changed)
{
    i64 kept = 0;
    for (i64 at = 0; at < count; at++)
        if (sorted[at] != other)
            changed[kept++] = sorted[at];
    i64 price = kept == count ? score->penalty : -score->penalty;
    if (kept == count)
        kept = scores_put(changed, kept, other);
    return scores_set_figure(score->sets, changed, kept, node) - scores_set_figure(score->sets, changed, kept,
                                                                                   -1) - price;
}

/* Write the score of a family and the gains of its changes by the moments. */
static status_t find_by_moments(score_t *score, i64 node, const i64 *parents, i64 count, const i64 *others, i64 size,
                                i64 *own, i64 *gains)
{
    i64 *sorted = malloc(2 * (size_t)(count + 2) * sizeof *sorted), *changed = sorted + count + 2;
    status_t status = sorted ? DONE : NO_MEMORY;
    if (status == DONE && (!sort_parents(node, parents, count, sorted) || is_among(others, size, node)))
        status = WRONG_INPUT;
    for (i64 at = 0; at < larger(size, 1) && status == DONE; at++) { /* room for the widest set that is scored */
        memcpy(changed, sorted, (size_t)count * sizeof *changed);
        changed[count] = node;
        changed[count + 1] = size ? others[at] : node;
        if (!scores_reserve_sets(score->sets, changed, count + 1 + (size > 0)))
            status = NO_MEMORY;
    }
    if (status == DONE) {
        *own = scores_set_figure(score->sets, sorted, count, node) - scores_set_figure(score->sets, sorted, count, -1);
        for (i64 at = 0; at < size; at++)
            gains[at] = score_changed(score, node, sorted, count, others[at], changed) - *own;
    }
    free(sorted);
    return status;
}

int32_t apsl_score_local(score_t *score, i64 node, const i64 *parents, i64 count, i64 *out)
{
    if (!has_column(score, node) || !scores_have_columns(score, parents, count))
        return WRONG_INPUT;
    if (score->sets)
        return (int32_t)find_by_moments(score, node, parents, count, NULL, 0, out, NULL);
    *out = score_from(scores_find_figures(score, node, parents, count, -1));
    return DONE;
}

int32_t apsl_score_gains(score_t *score, i64 node, const i64 *parents, i64 count, const i64 *others, i64 size, i64 *out)
{
    if (!has_column(score, node) || !scores_have_columns(score, parents, count) || !scores_have_columns(score, others,
                                                                                                        size))
        return WRONG_INPUT;
    i64 own;
    if (score->sets)
        return (int32_t)find_by_moments(score, node, parents, count, others, size, &own, out);
    count_gains(score, node, parents, count, others, size, out);
    return DONE;
}

/* Return whether a graph under other names gains enough: the family with the most room comes first, and none is scored once
 * the rest cannot make up for what is lacking. */
static bool reaches(score_t *score, const renamed_t *graph, const i64 *names, i64 *waiting, i64 *given)
{
    i64 ahead = 0, left = 0, count = 0;
    for (i64 at = 0; at < graph->width; at++)
        if (graph->starts[at + 1] > graph->starts[at]) {
            waiting[count++] = at;
            left += graph->room[names[at]];
        }
    while (count && ahead + left >= graph->least) {
        i64 best = 0, size = 0;
        for (i64 one = 1; one < count; one++)
            if (graph->room[names[waiting[one]]] > graph->room[names[waiting[best]]])
                best = one;
        i64 at = waiting[best], node = names[at];
        waiting[best] = waiting[--count];
        for (i64 one = graph->starts[at]; one < graph->starts[at + 1]; one++)
            size = scores_put(given, size, names[graph->parents[one]]);
        ahead += scores_family_score(score, node, given, size) - scores_family_score(score, node, given, 0);
        left -= graph->room[node];
    }
    return ahead >= graph->least;
}

int32_t apsl_score_renamed(score_t *score, const i64 *starts, const i64 *parents, i64 width, const i64 *room, i64 least,
                           const i64 *names, i64 count, i64 *out)
{
    renamed_t graph = {width, least, starts, parents, room};
    *out = 0;
    if (!scores_have_columns(score, names, count * width))
        return WRONG_INPUT;
    i64 *space = malloc(2 * (size_t)width * sizeof *space);
    bool has_room = space && (!count || scores_reserve_families(score, names, width));
    status_t status = has_room ? scores_families_reserve(&score->known, KNOWN_OF_RENAMED) : NO_MEMORY;
    for (i64 at = 0; at < count && status == DONE; at++)
        *out += reaches(score, &graph, names + at * width, space, space + width);
    free(space);
    return (int32_t)status;
}

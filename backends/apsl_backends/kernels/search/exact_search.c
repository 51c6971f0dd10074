/* The best graph over a few nodes, by dynamic programming over subsets.
 *
 * Subsets are integers; those of one size form a layer, of which two are in memory. The row of a subset in its layer is
 * kept by subset. The flag is read between subsets. */
#include "search/exact_search.h"

#include <stdlib.h>
#include <string.h>

static const i64 NEVER = INT64_MIN;

/* The choices of a layer: for each subset and each node outside it, the best parents there and their score. */
typedef struct {
    i64 *scores;
    int32_t *parents;
} layer_t;

/* For each subset: its row in its layer, the score of its best graph, the last node there, and that node's parents. */
typedef struct {
    int32_t *place, *chosen;
    i64 *best;
    int8_t *last;
} subsets_t;

static i64 size_of(i64 subset)
{
    i64 found = 0;
    for (; subset; subset &= subset - 1)
        found++;
    return found;
}

/* Return the next larger number with as many ones; after the empty set, the empty set. */
static i64 next_of(i64 subset)
{
    if (!subset)
        return 0;
    i64 lowest = subset & -subset, ripple = subset + lowest;
    return ripple | (subset ^ ripple) / lowest >> 2;
}

/* Return whether a set of parents precedes another: smaller sets first, then by the first node that differs. */
static bool is_simpler(i64 one, i64 other)
{
    i64 size = size_of(one), other_size = size_of(other), different = one ^ other;
    return size != other_size ? size < other_size : (one & different & -different) != 0;
}

/* Choose the best parents of a node from a subset: all of it, with the score ``own``, or the best of a smaller one. */
static i64 choose(const subsets_t *subsets, const layer_t *below, i64 subset, i64 width, i64 node, i64 own,
                  int32_t *parents)
{
    i64 top = own, choice = subset, columns = width - size_of(subset) + 1;
    i64 column = node - size_of(subset & (((i64)1 << node) - 1));
    for (i64 rest = subset; rest; rest &= rest - 1) {
        i64 bit = rest & -rest;
        i64 at = subsets->place[subset ^ bit] * columns + column + (bit < (i64)1 << node);
        i64 score = below->scores[at];
        if (score > top || (score == top && is_simpler(below->parents[at], choice))) {
            top = score;
            choice = below->parents[at];
        }
    }
    *parents = (int32_t)choice;
    return top;
}

/* Fill the layer of the subsets of one size from the layer below, and improve the graphs of one node more. */
static status_t fill_layer(const subsets_t *subsets, const layer_t *below, const layer_t *layer, i64 size, i64 rows,
                           const i64 *joints, const i64 *allowed, i64 width, i64 most, i64 penalty, flag_t *stop)
{
    i64 subset = ((i64)1 << size) - 1;
    for (i64 row = 0, at = 0; row < rows; row++, subset = next_of(subset)) {
        if (stop[REASON])
            return STOPPED;
        for (i64 node = 0; node < width; node++) {
            i64 whole = subset | (i64)1 << node;
            if (whole == subset)
                continue;
            bool may_be_all = size <= most && !(subset & ~allowed[node]);
            i64 own = may_be_all ? joints[whole] - joints[subset] - size * penalty : NEVER;
            i64 top = layer->scores[at] = choose(subsets, below, subset, width, node, own, layer->parents + at);
            i64 value = subsets->best[subset] + top;
            if (value > subsets->best[whole] || (value == subsets->best[whole] && node < subsets->last[whole])) {
                subsets->best[whole] = value;
                subsets->last[whole] = (int8_t)node;
                subsets->chosen[whole] = layer->parents[at];
            }
            at++;
        }
    }
    return DONE;
}

static status_t fill_layers(const subsets_t *subsets, const i64 *joints, const i64 *allowed, i64 width, i64 most,
                            i64 penalty, flag_t *stop)
{
    i64 filled[MOST_JOINT_NODES + 1] = {0};
    for (i64 subset = 0; subset < (i64)1 << width; subset++) {
        subsets->place[subset] = (int32_t)filled[size_of(subset)]++;
        subsets->best[subset] = subset ? NEVER : 0;
    }
    layer_t below = {NULL, NULL};
    status_t status = DONE;
    for (i64 size = 0; size < width && status == DONE; size++) {
        size_t choices = (size_t)(filled[size] * (width - size));
        layer_t layer = {malloc(sizeof *layer.scores * choices), malloc(sizeof *layer.parents * choices)};
        status = NO_MEMORY;
        if (layer.scores && layer.parents)
            status = fill_layer(subsets, &below, &layer, size, filled[size], joints, allowed, width, most, penalty,
                                stop);
        free(below.scores);
        free(below.parents);
        below = layer;
    }
    free(below.scores);
    free(below.parents);
    return status;
}

int32_t apsl_best_graph(const i64 *joints, const i64 *allowed, i64 width, i64 most, i64 penalty, i64 *parents,
                        i64 *score, flag_t *stop)
{
    if (width < 0 || width > MOST_JOINT_NODES)
        return WRONG_INPUT;
    size_t count = (size_t)1 << width;
    subsets_t subsets = {malloc(sizeof *subsets.place * count), malloc(sizeof *subsets.chosen * count),
                         malloc(sizeof *subsets.best * count), calloc(count, sizeof *subsets.last)};
    status_t status = NO_MEMORY;
    if (subsets.place && subsets.chosen && subsets.best && subsets.last)
        status = fill_layers(&subsets, joints, allowed, width, most, penalty, stop);
    if (status == DONE) {
        i64 subset = ((i64)1 << width) - 1;
        *score = subsets.best[subset];
        while (subset) {
            parents[subsets.last[subset]] = subsets.chosen[subset];
            subset ^= (i64)1 << subsets.last[subset];
        }
    }
    free(subsets.place);
    free(subsets.chosen);
    free(subsets.best);
    free(subsets.last);
    return (int32_t)status;
}

/* Scores of all subsets: the best family of each node with its parents among them, the best graph over the nodes of
 * each, what the nodes outside add at best when all of it comes before them, and space. */
typedef struct {
    i64 width, count, *families, *inside, *outside, *space;
} tables_t;

static i64 sum(i64 one, i64 other) { return one == NEVER || other == NEVER ? NEVER : one + other; }

/* Score a family by itself. */
static i64 own_score(const i64 *joints, const i64 *allowed, i64 most, i64 penalty, i64 subset, i64 node)
{
    i64 size = size_of(subset);
    bool may_be = size <= most && !(subset & ~allowed[node]);
    return may_be ? joints[subset | (i64)1 << node] - joints[subset] - size * penalty : NEVER;
}

/* Find the best graphs over all subsets, where two nodes (if any) are not joined. */
static void find_graphs(const tables_t *tables, i64 one, i64 other, i64 *inside)
{
    inside[0] = 0;
    for (i64 subset = 1; subset < tables->count; subset++) {
        inside[subset] = NEVER;
        for (i64 node = 0; node < tables->width; node++) {
            i64 bit = (i64)1 << node, left = subset & ~bit;
            if (left == subset)
                continue;
            i64 among = node == one ? left & ~((i64)1 << other) : node == other ? left & ~((i64)1 << one) : left;
            i64 found = sum(inside[left], tables->families[node * tables->count + among]);
            inside[subset] = larger(inside[subset], found);
        }
    }
}

static void fill_tables(const tables_t *tables, const i64 *joints, const i64 *allowed, i64 most, i64 penalty)
{
    i64 count = tables->count;
    for (i64 node = 0; node < tables->width; node++)
        for (i64 subset = 0; subset < count; subset++) {
            i64 *families = tables->families + node * count, found = NEVER;
            if (subset & (i64)1 << node)
                continue;
            found = own_score(joints, allowed, most, penalty, subset, node);
            for (i64 rest = subset; rest; rest &= rest - 1)
                found = larger(found, families[subset ^ (rest & -rest)]);
            families[subset] = found;
        }
    find_graphs(tables, -1, -1, tables->inside);
    tables->outside[count - 1] = 0;
    for (i64 subset = count - 2; subset >= 0; subset--) {
        tables->outside[subset] = NEVER;
        for (i64 node = 0; node < tables->width; node++) {
            i64 whole = subset | (i64)1 << node;
            if (whole != subset)
                tables->outside[subset] = larger(tables->outside[subset], sum(tables->outside[whole],
                                                                              tables->families[node * count + subset]));
        }
    }
}

/* Return the best score of a graph in which one node is a parent of another. */
static i64 with_arrow(const tables_t *tables, const i64 *joints, const i64 *allowed, i64 most, i64 penalty, i64 tail,
                      i64 head)
{
    i64 best = NEVER, from = (i64)1 << tail, to = (i64)1 << head;
    for (i64 subset = from; subset < tables->count; subset++) {
        if (!(subset & from) || subset & to)
            continue;
        i64 found = own_score(joints, allowed, most, penalty, subset, head);
        for (i64 rest = subset ^ from; rest; rest &= rest - 1)
            found = larger(found, tables->space[subset ^ (rest & -rest)]);
        tables->space[subset] = found;
        best = larger(best, sum(sum(tables->inside[subset], found), tables->outside[subset | to]));
    }
    return best;
}

int32_t apsl_best_by_pairs(const i64 *joints, const i64 *allowed, i64 width, i64 most, i64 penalty, i64 *best,
                           flag_t *stop)
{
    if (width < 0 || width > MOST_JOINT_NODES)
        return WRONG_INPUT;
    i64 count = (i64)1 << width;
    i64 *space = malloc(sizeof *space * (size_t)(count * (width + 3)));
    if (!space)
        return NO_MEMORY;
    tables_t tables = {width, count, space, space + width * count, space + (width + 1) * count,
                       space + (width + 2) * count};
    fill_tables(&tables, joints, allowed, most, penalty);
    status_t status = DONE;
    for (i64 one = 0; one < width && status == DONE; one++)
        for (i64 other = one + 1; other < width && status == DONE; other++) {
            best[one * width + other] = larger(with_arrow(&tables, joints, allowed, most, penalty, one, other),
                                               with_arrow(&tables, joints, allowed, most, penalty, other, one));
            i64 top = tables.inside[count - 1], joined = best[one * width + other];
            if (joined == top)
                find_graphs(&tables, one, other, tables.space);
            best[other * width + one] = joined == top ? tables.space[count - 1] : top;
            status = stop[REASON] ? STOPPED : DONE;
        }
    free(space);
    return (int32_t)status;
}

i64 apsl_best_graph_bytes(i64 width)
{
    i64 subsets = 1, before = 0, most = 0; /* subsets is the number of those of one size */
    for (i64 size = 0; size < width; size++) {
        i64 choices = subsets * (width - size);
        most = larger(most, before + choices);
        before = choices;
        subsets = choices / (size + 1);
    }
    return ((i64)21 << width) + 12 * larger(most, 1);
}

/* The Gaussian figure of a set of nodes, from a covariance matrix.
 *
 * The decomposition of the set asked for last is kept node by node in `prefixes`, so that sets with the same first
 * numbers go on from there. Estimates of gains use a second decomposition and carry a bound of their error. */
#include "scores/set_figures.h"

#include "base/elementary.h"

#include <stdlib.h>
#include <string.h>

/* With a larger product of shares no column depends on others in any order, since no share is above 1. */
#define LEAST_SHARES 1e-6
/* Then the error of an estimate is below these nats, for half of the rows each and in all. */
#define ERROR_PER_ROW 1e-8
#define LEAST_ERROR 1e-6
/* The most that a column explains for half of the rows, 12·ln 10, since no tolerance is smaller than 1e-12. */
#define MOST_EXPLAINED 27.6310211159285

/* List the columns that are free in their block, with their pivots there. */
static void list_columns(set_figures_t *figures, const i64 *starts)
{
    decomposition_t *decomposition = &figures->decomposition;
    i64 found = 0;
    for (i64 node = 0; node < figures->nodes; node++) {
        figures->first[node] = found;
        decomposition->rank = 0;
        for (i64 column = starts[node]; column < starts[node + 1]; column++) {
            double pivot = moments_pivot_of(decomposition, column);
            if (!moments_is_free(decomposition, column, pivot))
                continue;
            moments_keep_column(decomposition, column, pivot);
            figures->listed[found] = column;
            figures->alone[found++] = pivot;
        }
    }
    figures->first[figures->nodes] = found;
    decomposition->rank = 0;
}

set_figures_t *scores_set_figures_open(const double *matrix, const i64 *starts, i64 nodes, double rows, double factor,
                                       double tolerance, double scale)
{
    set_figures_t *figures = calloc(1, sizeof *figures);
    if (!figures)
        return NULL;
    i64 columns = starts[nodes], widest = 1;
    for (i64 node = 0; node < nodes; node++)
        widest = larger(widest, starts[node + 1] - starts[node]);
    figures->decomposition.matrix = matrix;
    figures->decomposition.columns = columns;
    figures->decomposition.tolerance = tolerance;
    figures->nodes = nodes;
    figures->widest = columns;
    figures->half_rows = 0.5 * rows;
    figures->per_pair = 0.5 * factor * base_natural_log(rows);
    figures->scale = scale;
    figures->error = base_nearest_integer((LEAST_ERROR + ERROR_PER_ROW * figures->half_rows) * scale) + 4;
    figures->first = malloc(sizeof *figures->first * (size_t)(nodes + 1));
    figures->listed = malloc(sizeof *figures->listed * (size_t)larger(columns, 1));
    figures->alone = malloc(sizeof *figures->alone * (size_t)larger(columns, 1));
    figures->prefixes = malloc(sizeof *figures->prefixes * (size_t)nodes);
    figures->is_bent = calloc((size_t)nodes, sizeof *figures->is_bent);
    figures->asked = malloc(sizeof *figures->asked * (size_t)nodes);
    figures->compared.decomposition = figures->decomposition;
    figures->compared.pivots = malloc(2 * sizeof *figures->compared.pivots * (size_t)widest);
    bool is_whole = figures->first && figures->listed && figures->alone && figures->prefixes && figures->asked;
    if (!is_whole || !figures->is_bent || !figures->compared.pivots || !moments_reserve_columns(&figures->decomposition, widest)) {
        scores_set_figures_close(figures);
        return NULL;
    }
    figures->compared.spare = figures->compared.pivots + widest;
    list_columns(figures, starts);
    return figures;
}

void scores_set_figures_close(set_figures_t *figures)
{
    if (!figures)
        return;
    scores_set_figures_close(figures->between);
    moments_free_columns(&figures->decomposition);
    moments_free_columns(&figures->compared.decomposition);
    free(figures->compared.pivots);
    free(figures->first);
    free(figures->listed);
    free(figures->alone);
    free(figures->prefixes);
    free(figures->is_bent);
    free(figures->asked);
    free(figures);
}

bool scores_reserve_sets(set_figures_t *figures, const i64 *members, i64 count)
{
    if (figures->between && !scores_reserve_sets(figures->between, members, count))
        return false;
    i64 columns = 0;
    for (i64 at = 0; at < count; at++)
        columns += figures->first[members[at] + 1] - figures->first[members[at]];
    if (columns > figures->decomposition.capacity)
        figures->depth = 0;
    return moments_reserve_columns(&figures->decomposition, columns) &&
           moments_reserve_columns(&figures->compared.decomposition, columns);
}

/* Add the columns of a node to those of the prefix before it. */
static void add_node(set_figures_t *figures, i64 number)
{
    decomposition_t *decomposition = &figures->decomposition;
    i64 from = figures->first[number], width = figures->first[number + 1] - from;
    prefix_t prefix = {.product = 1.0};
    if (figures->depth)
        prefix = figures->prefixes[figures->depth - 1];
    prefix.number = number;
    prefix.pairs += prefix.columns * width;
    prefix.columns += width;
    prefix.bent_pairs += figures->is_bent[number] ? figures->depth : prefix.bent;
    prefix.bent += figures->is_bent[number];
    decomposition->rank = prefix.rank;
    for (i64 at = from; at < from + width; at++) {
        i64 column = figures->listed[at];
        double pivot = moments_pivot_of(decomposition, column);
        if (moments_is_free(decomposition, column, pivot))
            moments_keep_column(decomposition, column, pivot);
        else /* what is left of the column is noise, which must explain nothing */
            pivot = decomposition->tolerance * decomposition->matrix[column * (decomposition->columns + 1)];
        prefix.product *= figures->alone[at] / pivot;
        if (prefix.product > LARGE_PRODUCT) {
            prefix.sum += base_natural_log(prefix.product);
            prefix.product = 1.0;
        }
    }
    prefix.rank = decomposition->rank;
    figures->prefixes[figures->depth++] = prefix;
}

/* Ask the caller for the figure of a set. */
static i64 ask_figure(set_figures_t *figures, const i64 *numbers, i64 count, i64 other)
{
    memcpy(figures->asked, numbers, sizeof *numbers * (size_t)count);
    i64 at = count;
    for (; other >= 0 && at && figures->asked[at - 1] > other; at--)
        figures->asked[at] = figures->asked[at - 1];
    if (other >= 0)
        figures->asked[at] = other;
    return figures->ask(figures->asked, count + (other >= 0));
}

i64 scores_set_figure(set_figures_t *figures, const i64 *numbers, i64 count, i64 other)
{
    i64 size = count + (other >= 0), place = 0;
    if (!size)
        return 0;
    if (figures->ask)
        return ask_figure(figures, numbers, count, other);
    i64 of_means = figures->between ? scores_set_figure(figures->between, numbers, count, other) : 0;
    for (i64 at = 0; at < size; at++) {
        bool is_other = place == count || (other >= 0 && other < numbers[place]);
        i64 number = is_other ? other : numbers[place++];
        if (is_other)
            other = -1;
        if (at < figures->depth && figures->prefixes[at].number == number)
            continue;
        figures->depth = at;
        add_node(figures, number);
    }
    prefix_t found = figures->prefixes[size - 1];
    if (size > 1 && found.columns > figures->widest) {
        double below = (double)(found.columns - figures->widest) * MOST_EXPLAINED * figures->half_rows;
        return of_means + base_nearest_integer(-below * figures->scale);
    }
    double explained = figures->half_rows * (found.sum + base_natural_log(found.product));
    double price = figures->per_pair * (double)found.pairs + figures->per_bent * (double)found.bent_pairs;
    return of_means + base_nearest_integer((explained - price) * figures->scale);
}

/* Return a pivot as a share of the variance of its column. */
static double share_of(const decomposition_t *decomposition, i64 column, double pivot)
{
    return pivot / decomposition->matrix[column * (decomposition->columns + 1)];
}

void scores_compare_parents(set_figures_t *figures, i64 node, const i64 *parents, i64 count)
{
    if (figures->between)
        scores_compare_parents(figures->between, node, parents, count);
    compared_t *compared = &figures->compared;
    decomposition_t *decomposition = &compared->decomposition;
    compared->node = node;
    compared->shares = 1.0;
    compared->columns = figures->first[node + 1] - figures->first[node];
    decomposition->rank = 0;
    for (i64 k = 0; k < count; k++) {
        compared->columns += figures->first[parents[k] + 1] - figures->first[parents[k]];
        for (i64 at = figures->first[parents[k]]; at < figures->first[parents[k] + 1]; at++) {
            double pivot = moments_pivot_of(decomposition, figures->listed[at]);
            double share = share_of(decomposition, figures->listed[at], pivot);
            compared->shares = share > 0.0 ? compared->shares * share : 0.0;
            if (share > 0.0)
                moments_keep_column(decomposition, figures->listed[at], pivot);
        }
    }
    i64 rank = decomposition->rank, from = figures->first[node];
    for (i64 at = from; at < figures->first[node + 1]; at++) {
        double pivot = compared->pivots[at - from] = moments_pivot_of(decomposition, figures->listed[at]);
        if (pivot > 0.0)
            moments_keep_column(decomposition, figures->listed[at], pivot);
    }
    decomposition->rank = rank;
}

/* Keep the columns of a node after those of the parents, and multiply their shares and pivots; return false if a column
 * depends too much on others. */
static bool keep_node(set_figures_t *figures, i64 node, double *shares, double *pivots)
{
    decomposition_t *decomposition = &figures->compared.decomposition;
    for (i64 at = figures->first[node]; at < figures->first[node + 1]; at++) {
        i64 column = figures->listed[at];
        double pivot = moments_pivot_of(decomposition, column);
        *shares *= share_of(decomposition, column, pivot);
        if (!(*shares > LEAST_SHARES && *shares > 10.0 * decomposition->tolerance))
            return false;
        pivots[at - figures->first[node]] = pivot;
        moments_keep_column(decomposition, column, pivot);
    }
    return true;
}

bool scores_estimate_gain(set_figures_t *figures, i64 other, i64 *gain)
{
    compared_t *compared = &figures->compared;
    i64 rank = compared->decomposition.rank, width = figures->first[compared->node + 1] - figures->first[compared->node];
    double *now = compared->spare, shares = compared->shares, ratio = 1.0;
    i64 of_means = 0;
    if (figures->between && !scores_estimate_gain(figures->between, other, &of_means))
        return false;
    if (figures->ask || compared->columns + figures->first[other + 1] - figures->first[other] > figures->widest)
        return false;
    bool is_regular = keep_node(figures, other, &shares, now) && keep_node(figures, compared->node, &shares, now);
    compared->decomposition.rank = rank;
    if (!is_regular)
        return false;
    for (i64 at = 0; at < width; at++)
        ratio *= compared->pivots[at] / now[at]; /* at most 1 / LEAST_SHARES in all */
    i64 pairs = width * (figures->first[other + 1] - figures->first[other]);
    bool is_bent = figures->is_bent[other] || figures->is_bent[compared->node];
    double price = figures->per_pair * (double)pairs + (is_bent ? figures->per_bent : 0.0);
    double nats = figures->half_rows * base_natural_log(ratio) - price;
    *gain = of_means + base_nearest_integer(nats * figures->scale);
    return true;
}

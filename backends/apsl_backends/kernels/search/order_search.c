/* Iterated local search over orders.
 *
 * Two orderings are held: the one that is changed and the top of the start; the best graph of all starts is the
 * caller's. A node walks over its neighbours step by step, and each step chooses the parents of two nodes. The flag and
 * the limit of tries end it with the best so far. */
#include "search/order_search.h"

#include <stdlib.h>
#include <string.h>

#include "search/ordering.h"
#include "base/random_numbers.h"

/* One step of a node over another one: that node, and the choices of both after it. */
typedef struct {
    i64 passed;
    choice_t of_passed, own;
} step_t;

typedef struct {
    search_t *search;
    chooser_t chooser;
    ordering_t trial, top; /* what is changed, and the best of this start */
    step_t *steps;         /* of a walk to the left, and of one to the right */
    i64 most_loss;         /* a walk ends when it is so much worse than at its best place */
    const i64 *near;       /* the nodes that are reinserted and kicked */
    i64 near_count;
    bool *unsettled;       /* the nodes to reinsert after a kick */
    i64 *space;            /* two numbers for each node */
    uint64_t random;
    i64 *seen, behind; /* what is noted of pairs, and how far behind a graph may be */
    mark_t *joined;    /* of the graph that is noted */
    i64 highest;       /* the best score so far */
} order_search_t;

/* Note a graph for each pair, as the best one that joins it or as the best one that does not, unless it is far behind. */
static void note_graph(order_search_t *orders, const ordering_t *ordering)
{
    i64 width = orders->search->width, *seen = orders->seen;
    orders->highest = larger(orders->highest, ordering->total);
    if (!seen || ordering->total < orders->highest - orders->behind)
        return;
    memset(orders->joined, 0, (size_t)(width * width));
    for (i64 node = 0; node < width; node++)
        for (i64 at = 0; at < ordering->choices[node].count; at++) {
            i64 parent = ordering->choices[node].parents[at];
            orders->joined[smaller(node, parent) * width + larger(node, parent)] = 1;
        }
    for (i64 one = 0; one < width; one++)
        for (i64 other = one + 1; other < width; other++) {
            i64 *known = seen + (orders->joined[one * width + other] ? one * width + other : other * width + one);
            *known = larger(*known, ordering->total);
        }
}

/* Choose the parents of all nodes anew, from those that they have and that are before them. */
static void choose_all(order_search_t *orders, ordering_t *ordering)
{
    i64 width = orders->search->width;
    chooser_t *chooser = &orders->chooser;
    memset(chooser->before, 0, sizeof *chooser->before * (size_t)width);
    ordering->total = 0;
    for (i64 at = 0; at < width; at++) {
        i64 node = ordering->order[at];
        search_keep_those_before(chooser, node, ordering->choices + node);
        search_choose(chooser, node, ordering->choices + node);
        ordering->total += ordering->choices[node].score;
        chooser->before[node] = true;
    }
}

/* Move a node over the next ones to the left or to the right, one after another, without changing the order; return the
 * number of steps with the best gain, and write that. What is before the node must be marked. */
static i64 walk(order_search_t *orders, i64 from, bool leftwards, step_t *steps, i64 *best_gain)
{
    const ordering_t *ordering = &orders->trial;
    chooser_t *chooser = &orders->chooser;
    i64 width = orders->search->width, node = ordering->order[from], gain = 0, best = 0;
    i64 most = leftwards ? from : width - 1 - from;
    choice_t own = ordering->choices[node];
    *best_gain = 0;
    for (i64 count = 0; count < most && *best_gain - gain <= orders->most_loss && !is_over(orders->search); count++) {
        step_t *step = steps + count;
        i64 passed = step->passed = ordering->order[leftwards ? from - 1 - count : from + 1 + count];
        step->of_passed = ordering->choices[passed];
        gain -= own.score + step->of_passed.score;
        if (leftwards) {
            chooser->before[passed] = false;
            search_lose(chooser, node, passed, &own);
            chooser->before[node] = true;
            search_win(chooser, passed, node, &step->of_passed);
            chooser->before[node] = false;
        } else {
            search_lose(chooser, passed, node, &step->of_passed);
            chooser->before[passed] = true;
            search_win(chooser, node, passed, &own);
        }
        step->own = own;
        gain += own.score + step->of_passed.score;
        if (gain > *best_gain) {
            *best_gain = gain;
            best = count + 1;
        }
    }
    return best;
}

/* Make the first steps of a walk. */
static void make_steps(ordering_t *ordering, i64 from, bool leftwards, const step_t *steps, i64 count)
{
    i64 node = ordering->order[from], way = leftwards ? -1 : 1;
    for (i64 at = 0; at < count; at++) {
        ordering->order[from + way * at] = steps[at].passed;
        ordering->choices[steps[at].passed] = steps[at].of_passed;
    }
    ordering->order[from + way * count] = node;
    ordering->choices[node] = steps[count - 1].own;
}

/* Mark the places before one in the order. */
static void mark_before(order_search_t *orders, i64 end)
{
    bool *before = orders->chooser.before;
    memset(before, 0, sizeof *before * (size_t)orders->search->width);
    for (i64 at = 0; at < end; at++)
        before[orders->trial.order[at]] = true;
}

/* Insert a node where that gains most; return the gain. */
static i64 reinsert(order_search_t *orders, i64 node)
{
    i64 from = search_place_in_order(&orders->trial, node), left_gain, right_gain;
    step_t *left = orders->steps, *right = left + orders->search->width;
    mark_before(orders, from);
    i64 left_steps = walk(orders, from, true, left, &left_gain);
    mark_before(orders, from);
    i64 right_steps = walk(orders, from, false, right, &right_gain);
    if (left_gain >= right_gain && left_gain > 0)
        make_steps(&orders->trial, from, true, left, left_steps);
    else if (right_gain > 0)
        make_steps(&orders->trial, from, false, right, right_steps);
    return larger(left_gain, right_gain);
}

/* Reinsert all nodes that are near, repeatedly, until that gains nothing. */
static void sweep(order_search_t *orders)
{
    i64 before;
    do {
        before = orders->trial.total;
        for (i64 at = 0; at < orders->near_count && !is_over(orders->search); at++)
            orders->trial.total += reinsert(orders, orders->near[at]);
    } while (orders->trial.total > before && !is_over(orders->search));
}

/* After a kick, mark the nodes with other parents than at the top as unsettled. */
static void mark_unsettled(order_search_t *orders)
{
    for (i64 node = 0; node < orders->search->width; node++)
        orders->unsettled[node] |= !search_has_same_parents(&orders->trial, &orders->top, node);
}

/* Reinsert the unsettled nodes, repeatedly, until that gains nothing. Most kicks gain nothing, and this shows it without
 * scoring families of the nodes that they do not concern. */
static void settle(order_search_t *orders)
{
    i64 before;
    mark_unsettled(orders);
    do {
        before = orders->trial.total;
        for (i64 node = 0; node < orders->search->width && !is_over(orders->search); node++) {
            i64 gain = orders->unsettled[node] ? reinsert(orders, node) : 0;
            orders->trial.total += gain;
            if (gain)
                mark_unsettled(orders);
        }
    } while (orders->trial.total > before && !is_over(orders->search));
}

/* Begin with the order and the parents of a graph. */
static void begin_with_graph(order_search_t *orders, const mark_t *dag)
{
    search_t *search = orders->search;
    search_order_nodes(dag, &search->pattern_space);
    memcpy(orders->trial.order, search->pattern_space.order, sizeof *orders->trial.order * (size_t)search->width);
    for (i64 node = 0; node < search->width; node++)
        search_take_parents(&orders->chooser, dag, node, orders->trial.choices + node);
}

/* Search on from what a start begins with; its best ordering is at the top. */
static void search_on(order_search_t *orders, i64 kicks)
{
    i64 width = orders->search->width;
    kicks = width > 1 ? kicks : 0;
    choose_all(orders, &orders->trial);
    sweep(orders);
    search_copy_ordering(&orders->trial, &orders->top, width);
    note_graph(orders, &orders->top);
    for (i64 idle = 0; idle < kicks && !is_over(orders->search); idle++) {
        search_copy_ordering(&orders->top, &orders->trial, width);
        search_kick(&orders->trial, width, orders->near, orders->near_count, &orders->random, orders->unsettled,
                    orders->space);
        choose_all(orders, &orders->trial);
        settle(orders);
        if (orders->trial.total > orders->top.total)
            sweep(orders);
        note_graph(orders, &orders->trial);
        if (orders->trial.total > orders->top.total)
            idle = -1; /* kicks pay still */
        if (orders->trial.total >= orders->top.total)
            search_copy_ordering(&orders->trial, &orders->top, width);
    }
}

/* Write the graph of the top. */
static void write_graph(const order_search_t *orders, mark_t *dag)
{
    i64 width = orders->search->width;
    memset(dag, 0, (size_t)(width * width));
    for (i64 node = 0; node < width; node++)
        for (i64 at = 0; at < orders->top.choices[node].count; at++)
            dag[orders->top.choices[node].parents[at] * width + node] = 1;
}

/* Make all starts, and keep the first of the best graphs. */
static void make_starts(order_search_t *orders, mark_t *dag, i64 starts, i64 kicks, i64 seed,
                        order_outcome_t *outcome)
{
    uint64_t streams = (uint64_t)seed;
    for (i64 start = 0; start < starts; start++) {
        orders->random = next_random(&streams);
        if (start)
            search_shuffle(&orders->trial, orders->search->width, &orders->random);
        else
            begin_with_graph(orders, dag);
        search_on(orders, kicks);
        if (orders->top.total > outcome->score) {
            outcome->score = orders->top.total;
            outcome->agreeing = 0;
            write_graph(orders, dag);
        }
        if (is_over(orders->search))
            return;
        outcome->starts++;
        outcome->agreeing += orders->top.total == outcome->score;
    }
}

static status_t order_search_open(order_search_t *orders, search_t *search)
{
    memset(orders, 0, sizeof *orders);
    orders->search = search;
    size_t nodes = (size_t)larger(search->width, 1);
    orders->steps = malloc(2 * sizeof *orders->steps * nodes);
    orders->unsettled = malloc(sizeof *orders->unsettled * nodes);
    orders->space = malloc(2 * sizeof *orders->space * nodes);
    orders->joined = malloc(nodes * nodes);
    bool has_space = orders->steps && orders->unsettled && orders->space && orders->joined;
    status_t status = has_space ? search_chooser_open(&orders->chooser, search) : NO_MEMORY;
    status = status == DONE ? search_ordering_open(&orders->trial, search->width) : status;
    return status == DONE ? search_ordering_open(&orders->top, search->width) : status;
}

static void order_search_close(order_search_t *orders)
{
    search_chooser_close(&orders->chooser);
    search_ordering_close(&orders->trial);
    search_ordering_close(&orders->top);
    free(orders->steps);
    free(orders->unsettled);
    free(orders->space);
    free(orders->joined);
}

int32_t apsl_search_order(search_t *search, mark_t *dag, const uint8_t *opened, i64 limit, const i64 *near,
                          i64 near_count, i64 starts, i64 kicks, i64 most_loss, i64 seed, flag_t *stop,
                          i64 *seen, i64 behind, order_outcome_t *outcome)
{
    if (!is_ready(search) || !search_order_nodes(dag, &search->pattern_space))
        return WRONG_INPUT;
    search->opened = opened;
    search->limit = limit;
    search->stop = stop;
    order_search_t orders;
    status_t status = order_search_open(&orders, search);
    if (status == DONE) {
        i64 given = search_score_graph(search, dag);
        *outcome = (order_outcome_t){given, given, 0, 0};
        orders.seen = seen;
        orders.behind = behind;
        orders.highest = given;
        orders.most_loss = most_loss;
        orders.near = near;
        orders.near_count = near_count;
        make_starts(&orders, dag, starts, kicks, seed, outcome);
    }
    order_search_close(&orders);
    return (int32_t)status;
}

/* An order with the parents of its nodes, and random changes of it.
 *
 * Orders are arrays of places; choices lie by place. Random numbers come from the caller's state alone. */
#include "search/ordering.h"

#include <stdlib.h>
#include <string.h>

#include "base/random_numbers.h"

/* How many nodes a kick moves. More of them are seldom put back to better places. */
enum { MOVED_NODES = 4 };

status_t search_ordering_open(ordering_t *ordering, i64 width)
{
    ordering->order = malloc(sizeof *ordering->order * (size_t)larger(width, 1));
    ordering->choices = calloc((size_t)larger(width, 1), sizeof *ordering->choices);
    return ordering->order && ordering->choices ? DONE : NO_MEMORY;
}

void search_ordering_close(ordering_t *ordering)
{
    free(ordering->order);
    free(ordering->choices);
}

void search_copy_ordering(const ordering_t *from, ordering_t *to, i64 width)
{
    memcpy(to->order, from->order, sizeof *to->order * (size_t)width);
    memcpy(to->choices, from->choices, sizeof *to->choices * (size_t)width);
    to->total = from->total;
}

void search_shuffle(ordering_t *ordering, i64 width, uint64_t *random)
{
    memset(ordering->choices, 0, sizeof *ordering->choices * (size_t)width);
    for (i64 at = 0; at < width; at++) {
        i64 other = random_below(random, at + 1);
        ordering->order[at] = ordering->order[other];
        ordering->order[other] = at;
    }
}

/* Draw an order of the graph: the next node is a random one of those whose parents all came before. */
static void draw_order(ordering_t *ordering, i64 width, uint64_t *random, i64 *ready, i64 *waiting)
{
    i64 count = 0, done = 0;
    for (i64 node = 0; node < width; node++) {
        waiting[node] = ordering->choices[node].count;
        if (!waiting[node])
            ready[count++] = node;
    }
    while (count) {
        i64 at = random_below(random, count), node = ready[at];
        ready[at] = ready[--count];
        ordering->order[done++] = node;
        for (i64 child = 0; child < width; child++)
            if (waiting[child] && search_has_parent(ordering->choices + child, node) && !--waiting[child])
                ready[count++] = child;
    }
}

/* Move a node from one place in the order to another. */
static void move_place(i64 *order, i64 from, i64 to)
{
    i64 node = order[from];
    if (from < to)
        memmove(order + from, order + from + 1, sizeof *order * (size_t)(to - from));
    else
        memmove(order + to + 1, order + to, sizeof *order * (size_t)(from - to));
    order[to] = node;
}

i64 search_place_in_order(const ordering_t *ordering, i64 node)
{
    i64 at = 0;
    while (ordering->order[at] != node)
        at++;
    return at;
}

void search_kick(ordering_t *ordering, i64 width, const i64 *listed, i64 count, uint64_t *random, bool *moved,
                 i64 *space)
{
    draw_order(ordering, width, random, space, space + width);
    memset(moved, 0, sizeof *moved * (size_t)width);
    for (i64 left = MOVED_NODES; left && count; left--) {
        i64 node = listed[random_below(random, count)];
        moved[node] = true;
        move_place(ordering->order, search_place_in_order(ordering, node), random_below(random, width));
    }
}

bool search_has_same_parents(const ordering_t *one, const ordering_t *other, i64 node)
{
    const choice_t *ours = one->choices + node, *theirs = other->choices + node;
    return ours->count == theirs->count &&
           !memcmp(ours->parents, theirs->parents, sizeof *ours->parents * (size_t)ours->count);
}

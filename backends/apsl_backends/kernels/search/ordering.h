/* An order of the nodes of a search, with the parents of each node among those before it; and random changes of it. */
#ifndef APSL_ORDERING_H
#define APSL_ORDERING_H

#include "search/parent_choice.h"

/* The places in order, the choices by place, and the sum of their scores. */
typedef struct {
    i64 *order;
    choice_t *choices;
    i64 total;
} ordering_t;

/* All zero bytes are a valid state before; what was allocated is freed by close, also after a failure. */
status_t search_ordering_open(ordering_t *ordering, i64 width);
void search_ordering_close(ordering_t *ordering);

void search_copy_ordering(const ordering_t *from, ordering_t *to, i64 width);

/* Return at which place of the order a node is. */
i64 search_place_in_order(const ordering_t *ordering, i64 node);

/* Make a random order of nodes without parents. */
void search_shuffle(ordering_t *ordering, i64 width, uint64_t *random);

/* Draw another order of the same graph, and move a few of the listed nodes to random places in it, which are marked. The
 * choices stay as they are, although some parents may now come after their children. `space` has two numbers for each
 * node. */
void search_kick(ordering_t *ordering, i64 width, const i64 *listed, i64 count, uint64_t *random, bool *moved,
                 i64 *space);

/* Return whether a node has the same parents in two orderings. */
bool search_has_same_parents(const ordering_t *one, const ordering_t *other, i64 node);

#endif

/* The choice of a node's parents among the nodes before it in an order: grow, shrink, and repeat. */
#ifndef APSL_PARENT_CHOICE_H
#define APSL_PARENT_CHOICE_H

#include "search/graph_search.h"

/* The parents of a node, as ascending places, and their score. */
typedef struct {
    i64 score, count;
    int16_t parents[MOST_PARENTS];
} choice_t;

/* What can be gained by a change of a family: the places whose addition may gain, in the list of all such places, those
 * that gain more first, and the place whose removal gains most, if that was asked for. */
typedef struct {
    score_key_t key; /* 0 where nothing is stored */
    uint32_t start;
    uint16_t count;
    int16_t removal;
} changes_t;

/* `before` says which places are before the node whose parents are chosen, and `into` which arrows are allowed, by node and
 * parent. The changes that were found are known, until there are too many of them. */
typedef struct {
    search_t *search;
    bool *before;
    uint8_t *into;
    changes_t *known;
    i64 filled;
    int16_t *listed;
    i64 *gains, error; /* of the listed places; by moments they are estimates with an error */
    i64 used, room;
} chooser_t;

/* All zero bytes are a valid state before; what was allocated is freed by close, also after a failure. */
status_t search_chooser_open(chooser_t *chooser, search_t *search);
void search_chooser_close(chooser_t *chooser);

/* Return whether a place is among the parents of a choice. */
bool search_has_parent(const choice_t *choice, i64 place);

/* Improve a node's choice, of which the score is known, until no parent that is added or removed gains. */
void search_choose(chooser_t *chooser, i64 node, choice_t *choice);

/* Keep only those parents that are before a node, and score them. */
void search_keep_those_before(chooser_t *chooser, i64 node, choice_t *choice);

/* Choose again after a place is no longer before a node. */
void search_lose(chooser_t *chooser, i64 node, i64 other, choice_t *choice);

/* Choose again after a place has come before a node. */
void search_win(chooser_t *chooser, i64 node, i64 other, choice_t *choice);

/* Take the parents of a node in a graph, as many as are allowed; they have no score yet. */
void search_take_parents(const chooser_t *chooser, const mark_t *dag, i64 node, choice_t *choice);

/* Return the sum of the scores of all nodes in a graph, which may have more parents. */
i64 search_score_graph(search_t *search, const mark_t *dag);

#endif

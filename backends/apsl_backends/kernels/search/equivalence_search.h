/* Greedy equivalence search (Chickering 2002; turns: Hauser and Bühlmann 2012).
 *
 * The search moves between equivalence classes of graphs: it inserts edges while that gains, then deletes, then turns,
 * and repeats this until no move gains. Ties are broken by the numbers of the nodes, and gains are integers, so the order
 * of the columns does not matter.
 *
 * The gain of each pair's best move is kept; after a move, only the pairs that it may affect are computed again. Whether
 * a move would close a cycle is only checked for the best one. */
#ifndef APSL_EQUIVALENCE_SEARCH_H
#define APSL_EQUIVALENCE_SEARCH_H

#include "search/operators.h"

/* Move from class to class until no move gains, and write the total gain.
 *
 * ``marks`` is the pattern of the first class and becomes that of the last. A search that must end early keeps the class
 * that it has reached. WRONG_INPUT if the marks are no pattern, so that a move leads to no graph. STOPPED if more than
 * ``most`` moves would be compared (0: no such limit): the call is to be made again, with the marks as before. */
EXPORT int32_t apsl_search_greedy(search_t *search, mark_t *marks, const uint8_t *opened, i64 limit, i64 most,
                                  flag_t *stop, i64 *gain);

#endif

/* A tabu climb over graphs (Glover 1989): add, delete or turn the best arrow, repeatedly.
 *
 * Each step makes the best legal move, even one that loses, to a graph that was not visited in the last steps. The climb
 * improves the result of a greedy equivalence search. Ties are broken by the numbers of the nodes. */
#ifndef APSL_TABU_H
#define APSL_TABU_H

#include "search/operators.h"

/* Climb from an acyclic graph and replace it by the best one visited; write the gain.
 *
 * The climb avoids the last ``tabu`` graphs, at least one, and ends after ``patience`` steps without a better graph. */
EXPORT int32_t apsl_search_climb(search_t *search, mark_t *dag, const uint8_t *opened, i64 limit, i64 patience,
                                 i64 tabu,
                                 flag_t *stop, i64 *gain);

#endif

/* The plan of a search: what its tests can share, and the working space that this takes. */
#ifndef APSL_SEARCH_PLAN_H
#define APSL_SEARCH_PLAN_H

#include "counts/tester.h"

/* What a search starts from (the table of x, y and the fixed columns) and what it shares.
 *
 * The table has `cells` cells, padding included, of which bitmaps count `counted`; `levels` are without missing values.
 * The tables of subsets smaller than `kept` are kept, those of subsets up to size `shared` are counted from shared bit
 * rows. Tables that are not kept are counted into the cells from `scratch` on. */
typedef struct {
    double cells, counted, levels;
    bool bits;
    i64 kept, shared, scratch;
} plan_t;

/* Plan the search through a pool, given the first columns of the test, and make room for it; false without memory. */
bool tests_plan_search(tester_t *tester, i64 base, const i64 *pool, i64 free, i64 most, plan_t *plan);

#endif

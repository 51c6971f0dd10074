/* The working space of one thread for tests on one table with one measure.
 *
 * All arrays grow on demand and are kept between calls. `columns` is one block of memory for the current test, its
 * spans and its cardinalities; `search` has the arrays of a separator search. One thread at a time may use a
 * tester. */
#include "counts/tester.h"

#include <stdlib.h>

#include "base/subsets.h"

tester_t *apsl_tester_open(const table_t *table, const measure_t *measure)
{
    tester_t *tester = calloc(1, sizeof *tester);
    if (!tester)
        return NULL;
    tester->table = table;
    tester->measure = measure;
    if (!base_reserve_longs(&tester->margins, 2 * table->widest + 1)) {
        apsl_tester_close(tester);
        return NULL;
    }
    return tester;
}

void apsl_tester_close(tester_t *tester)
{
    if (tester) {
        free(tester->columns.data);
        free(tester->cells.data);
        free(tester->margins.data);
        free(tester->words.data);
        free(tester->order.data);
        free(tester->places.data);
        free(tester->search.numbers.data);
        free(tester->search.products.data);
        free(tester->search.binomials.data);
        free(tester->search.tables.data);
        free(tester->search.spots.data);
    }
    free(tester);
}

bool counts_reserve_test(tester_t *tester, i64 dims)
{
    if (!base_reserve_longs(&tester->columns, 3 * dims))
        return false;
    i64 most = tester->columns.length / 3;
    tester->test = tester->columns.data;
    tester->spans = tester->test + most;
    tester->cards = tester->spans + most;
    return true;
}

bool counts_reserve_search(search_t *search, i64 most, i64 free)
{
    i64 sizes = larger(search->sizes, most + 2), pool = larger(search->pool, free);
    if (sizes == search->sizes && pool == search->pool)
        return true;
    search->sizes = search->pool = 0; /* until all arrays are there */
    if (!base_reserve_longs(&search->numbers, 6 * sizes) || !base_reserve_doubles(&search->products, 3 * sizes) ||
        !base_reserve_longs(&search->binomials, (pool + 1) * sizes))
        return false;
    i64 *numbers = search->numbers.data;
    search->pick = numbers;
    search->chosen = numbers + sizes;
    search->first = numbers + 2 * sizes;
    search->lower = numbers + 3 * sizes;
    search->digits = numbers + 4 * sizes;
    search->starts = numbers + 5 * sizes;
    search->least = search->products.data;
    search->largest = search->products.data + sizes;
    search->sums = search->products.data + 2 * sizes;
    base_fill_binomials(search->binomials.data, pool, sizes);
    search->sizes = sizes;
    search->pool = pool;
    return true;
}

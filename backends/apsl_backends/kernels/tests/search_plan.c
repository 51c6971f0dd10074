/* Plan a separator search: which tables are kept, which share bit rows, and how much space that takes.
 *
 * Products over subsets give the sizes of all tables in advance. Tables of small subsets are kept within MOST_KEPT
 * cells, bit rows of prefixes within MOST_WORDS words. */
#include "tests/search_plan.h"

#include "counts/counting_method.h"
#include "base/subsets.h"

enum { MOST_KEPT = 1 << 22, MOST_WORDS = 1 << 24 };

/* Fill the products over subsets of the pool; return the most bit rows of a column. */
static i64 multiply(tester_t *tester, const i64 *pool, i64 free, i64 most)
{
    search_t *search = &tester->search;
    i64 widest = 1;
    for (i64 k = 0; k <= most; k++) {
        search->least[k] = search->largest[k] = 1.0;
        search->sums[k] = k == 0;
    }
    for (i64 i = 0; i < free; i++) {
        const column_t *column = tester->table->columns + pool[i];
        base_add_to_sums((double)column->span, search->sums, most);
        base_add_in_order((double)column->card, search->least, i, most);
        base_add_in_order(-(double)column->span, search->largest, i, most);
        if (column->first_bit >= 0)
            widest = larger(widest, column->span - 1);
    }
    for (i64 k = 1; k <= most; k++) {
        search->least[k] *= search->least[k - 1];
        search->largest[k] *= -search->largest[k - 1];
    }
    return widest;
}

bool tests_plan_search(tester_t *tester, i64 base, const i64 *pool, i64 free, i64 most, plan_t *plan)
{
    search_t *search = &tester->search;
    size_of_test_t size = counts_measure_test(tester, 0, base);
    double cells = size.cells / (double)(tester->spans[0] * tester->spans[1]) * (double)block_of(tester);
    *plan = (plan_t){.cells = cells, .counted = size.cells, .levels = size.levels};
    plan->bits = size.bits && cells <= CELLS_OF_BITS;
    i64 widest = multiply(tester, pool, free, most), tables = 0;
    double held = 0.0;
    for (; plan->kept < most && held + cells * search->sums[plan->kept] <= MOST_KEPT; plan->kept++) {
        held += cells * search->sums[plan->kept];
        tables += search->binomials.data[free * search->sizes + plan->kept];
    }
    plan->scratch = (i64)held;
    const i64 words = tester->table->words;
    double rows = cells, more = 0.0;
    for (; plan->bits && plan->shared < plan->kept && (rows + more) * (double)words <= MOST_WORDS; plan->shared++) {
        rows += more;
        more = plan->shared == 0 ? (double)widest : more * (double)widest;
    }
    double largest = cells * search->largest[most], limit = (double)counts_most_cells(tester->table);
    i64 lines = largest > limit || tester->measure->method == BY_SORTING ? lines_of(tester->table) : 0;
    i64 masks = plan->bits ? (i64)rows : 0;
    return base_reserve_longs(&tester->cells, (i64)(held + (largest < limit ? largest : limit))) &&
           base_reserve_longs(&search->tables, tables) && base_reserve_words(&tester->words, masks * words) &&
           base_reserve_longs(&search->spots, masks) && base_reserve_longs(&tester->order, 2 * lines);
}

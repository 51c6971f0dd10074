/* Count a table by ANDs of bit rows and counts of their ones.
 *
 * Cells are laid out as in tester.h. A last code has no bit row: cells are first counted for `any code` in its place,
 * and the settle functions then subtract. Words are taken WORDS_AT_A_TIME, so that the masks of all strata stay in the
 * L1 cache. */
#include "counts/bitmaps.h"

#include <string.h>

/* Count the table of two columns; the totals of codes are known, so only the inner cells are counted. */
static void count_pair(tester_t *tester, i64 at)
{
    const table_t *table = tester->table;
    const column_t *x = column_in(tester, 0), *y = column_in(tester, 1);
    i64 *cells = tester->cells.data + at, *last = cells + x->span * (y->span - 1);
    memcpy(last, x->totals, (size_t)x->span * sizeof *last);
    for (i64 j = 0; j < y->span - 1; j++) {
        i64 rest = y->totals[j], *row = cells + x->span * j;
        const uint64_t *bits = bit_row(table, y->first_bit + j);
        for (i64 i = 0; i < x->span - 1; i++) {
            row[i] = common_ones(bit_row(table, x->first_bit + i), bits, table->words);
            last[i] -= row[i];
            rest -= row[i];
        }
        row[x->span - 1] = rest;
        last[x->span - 1] -= rest;
    }
}

/* Count the rows with each code of x under each mask of the other columns. */
static void count_masks(tester_t *tester, i64 strata, i64 at, i64 low, i64 width)
{
    const table_t *table = tester->table;
    const i64 span_x = tester->spans[0], span_y = tester->spans[1], block = block_of(tester);
    const uint64_t *of_x = bit_row(table, column_in(tester, 0)->first_bit) + low;
    const uint64_t *any = bit_row(table, table->bit_rows - 1) + low, *mask = tester->words.data;
    for (i64 stratum = 0; stratum < strata; stratum++) {
        i64 *cell = tester->cells.data + at + stratum * block;
        for (i64 j = 0; j < span_y; j++, mask += width)
            for (i64 i = 0; i < span_x; i++, cell++) {
                i64 count = common_ones(i < span_x - 1 ? of_x + table->words * i : any, mask, width);
                *cell = low == 0 ? count : *cell + count;
            }
    }
}

bool counts_count_by_bits(tester_t *tester, i64 dims, i64 at)
{
    if (dims == PAIR) {
        count_pair(tester, at);
        return true;
    }
    const i64 words = tester->table->words, strata = strata_of(tester, dims), block = block_of(tester);
    if (!base_reserve_words(&tester->words, tester->spans[1] * strata * smaller(WORDS_AT_A_TIME, words)))
        return false;
    for (i64 low = 0; low < words; low += WORDS_AT_A_TIME) {
        i64 width = smaller(WORDS_AT_A_TIME, words - low);
        counts_make_masks(tester, 1, dims, low, width);
        count_masks(tester, strata, at, low, width);
    }
    for (i64 stratum = 0; stratum < strata; stratum++)
        counts_settle_block(tester->cells.data + at + stratum * block, tester->spans[0], tester->spans[1]);
    counts_settle_strata(tester, dims, at);
    return true;
}

void counts_make_masks(tester_t *tester, i64 first, i64 dims, i64 low, i64 width)
{
    const table_t *table = tester->table;
    uint64_t *masks = tester->words.data;
    i64 made = 1;
    memcpy(masks, bit_row(table, table->bit_rows - 1) + low, (size_t)width * sizeof *masks);
    for (i64 d = first; d < dims; d++) {
        i64 span = tester->spans[d];
        const uint64_t *bits = bit_row(table, column_in(tester, d)->first_bit) + low;
        uint64_t *kept = masks + width * (span - 1) * made;
        if (span > 1)
            memcpy(kept, masks, (size_t)(made * width) * sizeof *masks);
        for (i64 code = 0; code < span - 1; code++)
            for (i64 old = 0; old < made; old++)
                and_rows(masks + width * (code * made + old), kept + width * old, bits + table->words * code, width);
        made *= span;
    }
}

void counts_settle_block(i64 *cells, i64 span_x, i64 span_y)
{
    i64 *row = cells;
    for (i64 j = 0; j < span_y; j++, row += span_x) {
        i64 inner = 0;
        for (i64 i = 0; i < span_x - 1; i++)
            inner += row[i];
        row[span_x - 1] -= inner;
    }
    row -= span_x;
    for (const i64 *other = cells; other < row; other += span_x)
        for (i64 i = 0; i < span_x; i++)
            row[i] -= other[i];
}

void counts_settle_strata(tester_t *tester, i64 dims, i64 at)
{
    i64 inner = block_of(tester), size = inner * strata_of(tester, dims);
    for (i64 d = PAIR; d < dims; d++) {
        i64 outer = inner * tester->spans[d];
        for (i64 start = at; start < at + size; start += outer) {
            i64 *cells = tester->cells.data + start, *last = cells + outer - inner;
            for (; cells < last; cells += inner)
                subtract_rows(last, last, cells, inner);
        }
        inner = outer;
    }
}

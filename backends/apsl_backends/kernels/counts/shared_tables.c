/* Count the tables of a search from bit rows that its subsets share.
 *
 * The words of the tester begin with the masks of x, y and the fixed columns; then come, for each depth, the ANDs of
 * the codes of the chosen columns so far. Only cells without a last code are counted; the others follow from the tables
 * of smaller subsets, which must be there. */
#include "counts/shared_tables.h"

#include <string.h>

#include "counts/bitmaps.h"

/* Return the product of the spans of the first chosen columns. */
static i64 stride_of(const tester_t *tester, i64 base, i64 depth)
{
    i64 stride = 1;
    for (i64 d = base; d < base + depth; d++)
        stride *= tester->spans[d];
    return stride;
}

void counts_extend_prefix(tester_t *tester, i64 base, i64 depth)
{
    const i64 words = tester->table->words, stride = stride_of(tester, base, depth);
    i64 *starts = tester->search.starts, *spots = tester->search.spots.data, row = starts[depth];
    const uint64_t *bits = bit_row(tester->table, column_in(tester, base + depth)->first_bit);
    uint64_t *made = tester->words.data;
    for (i64 code = 0; code < tester->spans[base + depth] - 1; code++, bits += words) {
        if (depth == 0) {
            memcpy(made + words * row, bits, (size_t)words * sizeof *made);
            spots[row++] = code;
        } else
            for (i64 old = starts[depth - 1]; old < starts[depth]; old++) {
                and_rows(made + words * row, made + words * old, bits, words);
                spots[row++] = spots[old] + code * stride;
            }
    }
    starts[depth + 1] = row;
}

/* Count the rows under one mask, or add them to those counted before. */
static void count_masks(tester_t *tester, i64 strata, i64 low, i64 width, const uint64_t *mask, i64 at)
{
    const i64 words = tester->table->words, pairs = tester->spans[0] * tester->spans[1], block = block_of(tester);
    const uint64_t *row = tester->words.data + low;
    for (i64 stratum = 0; stratum < strata; stratum++) {
        i64 *cells = tester->cells.data + at + stratum * block;
        for (i64 c = 0; c < pairs; c++, row += words) {
            i64 count = common_ones(row, mask, width);
            cells[c] = low == 0 ? count : cells[c] + count;
        }
    }
}

static void settle_masks(tester_t *tester, i64 base, i64 base_cells, i64 at)
{
    const i64 block = block_of(tester);
    for (i64 start = at; start < at + base_cells; start += block)
        counts_settle_block(tester->cells.data + start, tester->spans[0], tester->spans[1]);
    if (base > PAIR)
        counts_settle_strata(tester, base, at);
}

void counts_count_inner(tester_t *tester, i64 base, i64 size, i64 base_cells, i64 at)
{
    const i64 words = tester->table->words, strata = strata_of(tester, base);
    const i64 codes = tester->spans[base + size - 1] - 1, stride = stride_of(tester, base, size - 1);
    const i64 *starts = tester->search.starts, *spots = tester->search.spots.data;
    const i64 first = size > 1 ? starts[size - 2] : 0, end = size > 1 ? starts[size - 1] : 1;
    const uint64_t *bits = bit_row(tester->table, column_in(tester, base + size - 1)->first_bit);
    for (i64 low = 0; low < words; low += WORDS_AT_A_TIME) {
        i64 width = smaller(WORDS_AT_A_TIME, words - low);
        for (i64 code = 0; code < codes; code++) {
            const uint64_t *mask = bits + words * code + low;
            if (size == 1) {
                count_masks(tester, strata, low, width, mask, at + base_cells * code);
                continue;
            }
            for (i64 row = first; row < end; row++) {
                and_rows(tester->mask, mask, tester->words.data + words * row + low, width);
                count_masks(tester, strata, low, width, tester->mask, at + base_cells * (code * stride + spots[row]));
            }
        }
    }
    for (i64 code = 0; code < codes; code++)
        for (i64 row = first; row < end; row++)
            settle_masks(tester, base, base_cells, at + base_cells * (code * stride + (size > 1 ? spots[row] : 0)));
}

void counts_fill_outer(tester_t *tester, i64 base, i64 size, i64 base_cells, i64 at)
{
    i64 *cells = tester->cells.data, *digits = tester->search.digits, inner = base_cells;
    for (i64 i = 0; i < size; i++) {
        const i64 span = tester->spans[base + i];
        const i64 *lower = cells + tester->search.lower[i];
        i64 spot = 0, d = i;
        memset(digits, 0, (size_t)size * sizeof *digits);
        while (d < size) {
            i64 *first = cells + at + spot * span, *last = first + (span - 1) * inner;
            const i64 *left = lower + spot;
            if (span == 1)
                memcpy(last, left, (size_t)inner * sizeof *last);
            for (; first < last; first += inner, left = last)
                subtract_rows(last, left, first, inner);
            i64 stride = inner;
            for (d = i + 1; d < size; d++) {
                digits[d]++;
                spot += stride;
                if (digits[d] < tester->spans[base + d] - 1)
                    break;
                spot -= digits[d] * stride;
                digits[d] = 0;
                stride *= tester->spans[base + d];
            }
        }
        inner *= span;
    }
}

/* The sums of a table that is too large for memory, by sorting the rows.
 *
 * Lines are sorted by z, x and y with counting sorts between the two halves of `order`; equal neighbours are a cell.
 * Time and memory depend on the rows alone. The sums are those of strata.c, unit for unit. */
#include "tests/sorted_rows.h"

#include <string.h>

static uint32_t code_in(const tester_t *tester, i64 d, i64 line)
{
    const codes_t *codes = &tester->table->codes;
    return code_at(column_of(codes, tester->test[d]), codes->bytes, line);
}

static i64 weight_of(const tester_t *tester, i64 line)
{
    return tester->table->weights ? tester->table->weights[line] : 1;
}

/* Return whether two lines have the same codes in the test's columns from `first` to `end`. */
static bool are_same(const tester_t *tester, i64 first, i64 end, i64 one, i64 other)
{
    for (i64 d = first; d < end; d++)
        if (code_in(tester, d, one) != code_in(tester, d, other))
            return false;
    return true;
}

/* Write lines in the order of one column, and in the old order where it is equal. */
static void sort_by(tester_t *tester, i64 d, const i64 *source, i64 *target, i64 count)
{
    i64 *starts = tester->margins.data;
    memset(starts, 0, (size_t)(tester->cards[d] + 1) * sizeof *starts);
    for (i64 k = 0; k < count; k++)
        starts[code_in(tester, d, source[k]) + 1]++;
    for (i64 code = 0; code < tester->cards[d]; code++)
        starts[code + 1] += starts[code];
    for (i64 k = 0; k < count; k++)
        target[starts[code_in(tester, d, source[k])]++] = source[k];
}

/* Sort the complete lines that have a weight by z, then x, then y; return them, and write how many there are. */
static const i64 *sort_lines(tester_t *tester, i64 dims, i64 *count)
{
    i64 lines = lines_of(tester->table), kept = 0, *source = tester->order.data, *target = source + lines;
    for (i64 line = 0; line < lines; line++) {
        bool is_complete = weight_of(tester, line) > 0;
        for (i64 d = 0; d < dims; d++)
            is_complete &= code_in(tester, d, line) < tester->cards[d];
        if (is_complete)
            source[kept++] = line;
    }
    for (i64 turn = 0; turn < dims; turn++) {
        sort_by(tester, turn < PAIR ? 1 - turn : turn, source, target, kept);
        i64 *sorted = target;
        target = source;
        source = sorted;
    }
    *count = kept;
    return source;
}

/* Add one stratum, the lines from `low` to `high`, whose margins are known; clear the margins. */
static void add_stratum(tester_t *tester, const i64 *low, const i64 *high, i64 rows, sums_t *sums)
{
    const measure_t *measure = tester->measure;
    i64 *of_x = tester->margins.data, *of_y = of_x + tester->cards[0];
    for (const i64 *run = low, *end; run < high; run = end) {
        i64 count = 0;
        for (end = run; end < high && are_same(tester, 0, PAIR, *run, *end); end++)
            count += weight_of(tester, *end);
        if (measure->kind == G_SQUARE)
            sums->joint += term_of(measure, count);
        else
            sums->joint +=
                pearson(measure, count, of_x[code_in(tester, 0, *run)], of_y[code_in(tester, 1, *run)], rows);
    }
    if (measure->kind == G_SQUARE)
        sums->of_all += term_of(measure, rows);
    else
        sums->joint -= (i64)((double)rows * measure->scale);
    for (const i64 *line = low; line < high; line++) { /* the term of 0 is 0, so each level counts once */
        i64 *margin_x = of_x + code_in(tester, 0, *line), *margin_y = of_y + code_in(tester, 1, *line);
        if (measure->kind == G_SQUARE) {
            sums->of_x += term_of(measure, *margin_x);
            sums->of_y += term_of(measure, *margin_y);
        }
        *margin_x = *margin_y = 0;
    }
}

sums_t tests_sum_by_sorting(tester_t *tester, i64 dims)
{
    i64 count;
    const i64 *low = sort_lines(tester, dims, &count), *end = low + count;
    i64 *of_x = tester->margins.data, *of_y = of_x + tester->cards[0];
    memset(of_x, 0, (size_t)(tester->cards[0] + tester->cards[1]) * sizeof *of_x);
    sums_t sums = {0};
    while (low < end) {
        const i64 *high = low;
        i64 rows = 0, levels_x = 0, levels_y = 0;
        for (; high < end && are_same(tester, PAIR, dims, *low, *high); high++) {
            i64 weight = weight_of(tester, *high);
            i64 *margin_x = of_x + code_in(tester, 0, *high), *margin_y = of_y + code_in(tester, 1, *high);
            levels_x += *margin_x == 0;
            levels_y += *margin_y == 0;
            *margin_x += weight;
            *margin_y += weight;
            rows += weight;
        }
        sums.rows += rows;
        sums.dof += (levels_x - 1) * (levels_y - 1);
        add_stratum(tester, low, high, rows, &sums);
        low = high;
    }
    return sums;
}

/* Add up the terms of a counted table: cells, margins, strata, degrees of freedom, rows.
 *
 * Strata lie `block` cells apart, the code of x fastest. Up to four levels of x the margins stay in registers, with one
 * loop for each number of levels. Cells and strata of missing values are left out. */
#include "tests/strata.h"

#include <string.h>

/* Return whether a stratum has a missing value of a column after x and y. */
static bool is_missing(const tester_t *tester, i64 stratum, i64 dims)
{
    for (i64 d = PAIR; d < dims; d++) {
        if (stratum % tester->spans[d] >= tester->cards[d])
            return true;
        stratum /= tester->spans[d];
    }
    return false;
}

/* Sum G² of strata with at most four levels of x, whose margins fit into registers; the callers give a constant. */
ALWAYS_INLINE sums_t sum_narrow(const tester_t *tester, i64 at, i64 strata, const i64 card_x)
{
    const i64 *terms = tester->measure->terms, *cell = tester->cells.data + at;
    const i64 span_x = tester->spans[0], card_y = tester->cards[1], gap = block_of(tester) - span_x * card_y;
    sums_t sums = {0};
    for (i64 stratum = 0; stratum < strata; stratum++) {
        i64 margins[4] = {0}, levels_x = 0, levels_y = 0, rows = 0;
        for (i64 j = 0; j < card_y; j++) {
            i64 margin = 0;
            for (i64 i = 0; i < card_x; i++) {
                margin += cell[i];
                margins[i] += cell[i];
                sums.joint += terms[cell[i]];
            }
            sums.of_y += terms[margin];
            levels_y += margin > 0;
            cell += span_x;
        }
        cell += gap;
        for (i64 i = 0; i < card_x; i++) {
            rows += margins[i];
            levels_x += margins[i] > 0;
            sums.of_x += terms[margins[i]];
        }
        sums.of_all += terms[rows];
        sums.rows += rows;
        sums.dof += larger(levels_x - 1, 0) * larger(levels_y - 1, 0);
    }
    return sums;
}

/* Add one stratum of any number of levels to the sums. */
static void add_wide(const tester_t *tester, const i64 *cells, sums_t *sums)
{
    const measure_t *measure = tester->measure;
    const i64 span_x = tester->spans[0], card_x = tester->cards[0], card_y = tester->cards[1];
    i64 *of_x = tester->margins.data, *of_y = of_x + card_x, rows = 0, levels_x = 0, levels_y = 0;
    memset(of_x, 0, (size_t)card_x * sizeof *of_x);
    for (i64 j = 0; j < card_y; j++) {
        i64 margin = 0;
        for (i64 i = 0; i < card_x; i++) {
            margin += cells[i + span_x * j];
            of_x[i] += cells[i + span_x * j];
        }
        of_y[j] = margin;
        levels_y += margin > 0;
        rows += margin;
    }
    if (rows == 0)
        return;
    for (i64 i = 0; i < card_x; i++)
        levels_x += of_x[i] > 0;
    sums->dof += (levels_x - 1) * (levels_y - 1);
    sums->rows += rows;
    if (measure->kind == CHI_SQUARE) {
        for (i64 j = 0; j < card_y; j++)
            for (i64 i = 0; i < card_x; i++)
                if (cells[i + span_x * j] > 0)
                    sums->joint += pearson(measure, cells[i + span_x * j], of_x[i], of_y[j], rows);
        sums->joint -= (i64)((double)rows * measure->scale);
        return;
    }
    for (i64 i = 0; i < card_x; i++)
        sums->of_x += term_of(measure, of_x[i]);
    for (i64 j = 0; j < card_y; j++) {
        sums->of_y += term_of(measure, of_y[j]);
        for (i64 i = 0; i < card_x; i++)
            sums->joint += term_of(measure, cells[i + span_x * j]);
    }
    sums->of_all += term_of(measure, rows);
}

sums_t tests_sum_strata(const tester_t *tester, i64 dims, i64 at)
{
    i64 strata = strata_of(tester, dims), block = block_of(tester);
    bool is_complete = true;
    for (i64 d = PAIR; d < dims; d++)
        is_complete &= tester->spans[d] == tester->cards[d];
    if (is_complete && tester->measure->kind == G_SQUARE && tester->measure->all_terms) {
        switch (tester->cards[0]) {
        case 1:
            return sum_narrow(tester, at, strata, 1);
        case 2:
            return sum_narrow(tester, at, strata, 2);
        case 3:
            return sum_narrow(tester, at, strata, 3);
        case 4:
            return sum_narrow(tester, at, strata, 4);
        default:
            break;
        }
    }
    sums_t sums = {0};
    for (i64 stratum = 0; stratum < strata; stratum++)
        if (is_complete || !is_missing(tester, stratum, dims))
            add_wide(tester, tester->cells.data + at + stratum * block, &sums);
    return sums;
}

/* Choose how to count a table: by bitmaps, by rows or by sorting.
 *
 * The choice compares estimated nanoseconds, with constants measured per level of processor. It changes the time only:
 * all methods give the same counts. */
#include "counts/counting_method.h"

enum { CELLS_PER_ROW = 8 };

/* Measured nanoseconds for a word of a bit row, a cell counted by bitmaps, a row that is scanned, and a cell counted by
 * a scan. Only their ratios matter, and only to the time taken. */
#if defined(__AVX512VPOPCNTDQ__)
static const double OF_WORD = 0.11;
#elif defined(__AVX2__)
static const double OF_WORD = 0.22;
#else
static const double OF_WORD = 0.35;
#endif
static const double OF_CELL = 5.0, OF_ROW = 0.45, OF_BIN = 0.5;

size_of_test_t counts_measure_test(const tester_t *tester, i64 first, i64 dims)
{
    size_of_test_t size = {.cells = 1.0, .levels = 1.0, .bits = true};
    for (i64 d = first; d < dims; d++) {
        const column_t *column = column_in(tester, d);
        tester->spans[d] = column->span;
        tester->cards[d] = column->card;
        size.cells *= (double)column->span;
        size.levels *= (double)column->card;
        size.bits &= column->first_bit >= 0;
    }
    return size;
}

i64 counts_most_cells(const table_t *table)
{
    return smaller(MOST_CELLS, larger(SHORT_CODES, CELLS_PER_ROW * lines_of(table)));
}

method_t counts_choose_method(const tester_t *tester, double cells, double counted, bool bits)
{
    method_t asked = tester->measure->method;
    if (asked == BY_SORTING || cells > (double)counts_most_cells(tester->table))
        return BY_SORTING;
    if (asked == BY_ROWS || !bits || cells > CELLS_OF_BITS)
        return BY_ROWS;
    double by_bits = counted * ((double)tester->table->words * OF_WORD + OF_CELL);
    double by_rows = (double)lines_of(tester->table) * OF_ROW + cells * OF_BIN;
    return asked == BY_BITS || by_bits <= by_rows ? BY_BITS : BY_ROWS;
}

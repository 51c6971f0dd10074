/* Open a table of codes, pack its columns into bit rows, and count their totals.
 *
 * Bit rows lie one after another, `words` words each, padded to STEPs with zeros; a column of at most MOST_SPAN_OF_BITS
 * codes has one for each code but the last, and the last bit row of the table has a one for each row. Weighted tables
 * have none. apsl_table_pack must run on every column before the table is used, and may run on different columns at
 * once. */
#include "counts/table.h"

#include <stdlib.h>

#include "counts/equal_codes.h"
#include "counts/largest_code.h"
#include "counts/words.h"

/* A column of at most nine codes gets bit rows, which then take no more memory than its codes. */
enum { MOST_SPAN_OF_BITS = 9 };

/* Lay out the columns; return how many bit rows and totals they have together. */
static void lay_out(table_t *table, const i64 *cards, const uint8_t *incomplete, i64 *spans)
{
    table->widest = 1;
    for (i64 c = 0; c < table->count; c++) {
        column_t *column = table->columns + c;
        column->card = cards[c];
        column->span = larger(cards[c] + (incomplete[c] != 0), 1);
        column->first_bit = -1;
        if (!table->weights && column->span <= MOST_SPAN_OF_BITS) {
            column->first_bit = table->bit_rows;
            table->bit_rows += column->span - 1;
        }
        table->widest = larger(table->widest, column->span);
        *spans += column->span;
    }
    table->bit_rows++;
}

/* Set a bit for each row in the last bit row. */
static void fill_any_code(table_t *table)
{
    uint64_t *any = table->bits + table->words * (table->bit_rows - 1);
    for (i64 w = 0; w < table->rows / 64; w++)
        any[w] = UINT64_MAX;
    if (table->rows % 64)
        any[table->rows / 64] = ((uint64_t)1 << (table->rows % 64)) - 1;
}

table_t *apsl_table_open(const void *codes, int32_t bytes, i64 lines, i64 count, const i64 *cards,
                         const uint8_t *incomplete, const i64 *weights, i64 rows)
{
    table_t *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    *table = (table_t){
        .codes = {.data = codes, .rows = lines, .bytes = bytes}, .weights = weights, .rows = rows, .count = count};
    table->columns = calloc((size_t)larger(count, 1), sizeof *table->columns);
    if (!table->columns) {
        apsl_table_close(table);
        return NULL;
    }
    i64 spans = 0;
    lay_out(table, cards, incomplete, &spans);
    if (!weights)
        table->words = (rows + 64 * STEP - 1) / (64 * STEP) * STEP;
    table->totals = calloc((size_t)larger(spans, 1), sizeof *table->totals);
    table->bits = calloc((size_t)larger(table->bit_rows * table->words, 1), sizeof *table->bits);
    if (!table->totals || !table->bits) {
        apsl_table_close(table);
        return NULL;
    }
    i64 *totals = table->totals;
    for (i64 c = 0; c < count; c++) {
        table->columns[c].totals = totals;
        totals += table->columns[c].span;
    }
    if (!weights)
        fill_any_code(table);
    return table;
}

void apsl_table_close(table_t *table)
{
    if (table) {
        free(table->bits);
        free(table->totals);
        free(table->columns);
    }
    free(table);
}

/* Set the bits of the rows that have one code. */
ALWAYS_INLINE void pack_code(const void *column, int bytes, i64 rows, uint32_t code, uint64_t *bits)
{
    i64 whole = rows / 64;
    for (i64 w = 0; w < whole; w++)
        bits[w] = equal_codes((const char *)column + 64 * w * bytes, bytes, code);
    for (i64 r = 64 * whole; r < rows; r++)
        bits[whole] |= (uint64_t)(code_at(column, bytes, r) == code) << (r % 64);
}

static void fill_bits(const table_t *table, i64 place, const column_t *column)
{
    const void *codes = column_of(&table->codes, place);
    i64 rest = table->rows;
    for (i64 code = 0; code < column->span - 1; code++) {
        uint64_t *bits = table->bits + table->words * (column->first_bit + code);
        switch (table->codes.bytes) {
        case 1:
            pack_code(codes, 1, table->rows, (uint32_t)code, bits);
            break;
        case 2:
            pack_code(codes, 2, table->rows, (uint32_t)code, bits);
            break;
        default:
            pack_code(codes, 4, table->rows, (uint32_t)code, bits);
        }
        column->totals[code] = common_ones(bits, bits, table->words);
        rest -= column->totals[code];
    }
    column->totals[column->span - 1] = rest;
}

static void fill_totals(const table_t *table, i64 place, const column_t *column)
{
    const void *codes = column_of(&table->codes, place);
    for (i64 line = 0; line < lines_of(table); line++)
        column->totals[code_at(codes, table->codes.bytes, line)] += table->weights ? table->weights[line] : 1;
}

i64 apsl_table_pack(table_t *table, i64 low, i64 high)
{
    for (i64 c = low; c < high; c++) {
        column_t *column = table->columns + c;
        if (counts_largest_code(&table->codes, c) >= column->span)
            return c;
        if (column->first_bit >= 0)
            fill_bits(table, c, column);
        else
            fill_totals(table, c, column);
        i64 occurring = 0;
        for (i64 code = 0; code < column->card; code++)
            occurring += column->totals[code] > 0;
        column->is_varied = occurring > 1;
    }
    return -1;
}

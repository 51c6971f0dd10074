/* Columns of numbers and categories, and rows of real values made from them.
 *
 * A handle keeps addresses only. Columns with missing values get a bit for each row. A panel is row-major with a fixed
 * stride; a column fills its own places of each row. Codes and numbers are checked when a column is set. */
#include "moments/embedded_columns.h"

#include <stdlib.h>

enum { WORD = 64 };

embedded_t *apsl_embedded_open(i64 rows, i64 count)
{
    embedded_t *embedded = calloc(1, sizeof *embedded);
    if (!embedded)
        return NULL;
    embedded->rows = rows;
    embedded->count = count;
    embedded->columns = calloc((size_t)larger(count, 1), sizeof *embedded->columns);
    if (!embedded->columns) {
        free(embedded);
        return NULL;
    }
    return embedded;
}

void apsl_embedded_close(embedded_t *embedded)
{
    if (!embedded)
        return;
    for (i64 place = 0; place < embedded->count; place++)
        free(embedded->columns[place].present);
    free(embedded->columns);
    free(embedded);
}

/* Return bits that are all 0, one for each row. */
static uint64_t *bits_of_rows(i64 rows) { return calloc((size_t)(rows / WORD + 1), sizeof(uint64_t)); }

static void set_bit(uint64_t *bits, i64 row) { bits[row / WORD] |= (uint64_t)1 << (row % WORD); }

static void set_column(embedded_column_t *column, embedded_column_t set)
{
    free(column->present);
    *column = set;
}

int32_t apsl_embedded_set_number(embedded_t *embedded, i64 place, const double *numbers, const double *first,
                                 i64 degree, i64 *missing)
{
    embedded_column_t column = {.numbers = numbers, .first = first, .width = degree};
    i64 wrong = 0;
    for (i64 row = 0; row < embedded->rows; row++) {
        column.missing += numbers[row] != numbers[row];
        wrong += !(numbers[row] - numbers[row] == 0.0);
        wrong += first && (first[row] - first[row] == 0.0) != (numbers[row] == numbers[row]);
    }
    if (wrong > column.missing)
        return WRONG_INPUT;
    if (column.missing) {
        column.present = bits_of_rows(embedded->rows);
        if (!column.present)
            return NO_MEMORY;
        for (i64 row = 0; row < embedded->rows; row++)
            if (numbers[row] == numbers[row])
                set_bit(column.present, row);
    }
    *missing = column.missing;
    set_column(embedded->columns + place, column);
    return DONE;
}

ALWAYS_INLINE int32_t look_at_codes(embedded_column_t *column, int bytes, i64 rows)
{
    uint32_t levels = (uint32_t)column->levels;
    i64 wrong = 0;
    for (i64 row = 0; row < rows; row++) {
        uint32_t code = code_at(column->codes, bytes, row);
        column->missing += code >= levels;
        wrong += code > levels;
    }
    if (wrong)
        return WRONG_INPUT;
    if (!column->missing)
        return DONE;
    column->present = bits_of_rows(rows);
    if (!column->present)
        return NO_MEMORY;
    for (i64 row = 0; row < rows; row++)
        if (code_at(column->codes, bytes, row) < levels)
            set_bit(column->present, row);
    return DONE;
}

int32_t apsl_embedded_set_category(embedded_t *embedded, i64 place, const void *codes, int32_t bytes,
                                   const i64 *indicators, i64 levels, i64 width, i64 *missing)
{
    embedded_column_t column = {
        .codes = codes, .bytes = bytes, .indicators = indicators, .levels = levels, .width = width};
    int32_t status = bytes == 1   ? look_at_codes(&column, 1, embedded->rows)
                     : bytes == 2 ? look_at_codes(&column, 2, embedded->rows)
                                  : look_at_codes(&column, 4, embedded->rows);
    if (status != DONE)
        return status;
    *missing = column.missing;
    set_column(embedded->columns + place, column);
    return DONE;
}

ALWAYS_INLINE void fill_numbers(const double *numbers, const double *first, i64 degree, const i64 *listed, i64 low,
                                i64 count, double *restrict panel, i64 stride)
{
    for (i64 k = 0; k < count; k++) {
        i64 from = listed ? listed[k] : low + k;
        double z = numbers[from], square = z * z;
        double *row = panel + k * stride;
        row[0] = first ? first[from] : z;
        if (degree > 1)
            row[1] = square - 1.0;
        if (degree > 2)
            row[2] = z * (square - 3.0);
    }
}

ALWAYS_INLINE void fill_indicators(const embedded_column_t *column, int bytes, const i64 *listed, i64 low, i64 count,
                                   double *restrict panel, i64 stride)
{
    i64 width = column->width;
    for (i64 k = 0; k < count; k++) {
        i64 code = code_at(column->codes, bytes, listed ? listed[k] : low + k);
        double *row = panel + k * stride;
        for (i64 j = 0; j < width; j++)
            row[j] = 0.0;
        if (code < column->levels && column->indicators[code] >= 0)
            row[column->indicators[code]] = 1.0;
    }
}

void moments_fill_panel(const embedded_column_t *column, i64 width, const i64 *listed, i64 low, i64 count,
                        double *panel,
                        i64 stride)
{
    if (!column->numbers && column->bytes == 1)
        fill_indicators(column, 1, listed, low, count, panel, stride);
    else if (!column->numbers && column->bytes == 2)
        fill_indicators(column, 2, listed, low, count, panel, stride);
    else if (!column->numbers)
        fill_indicators(column, 4, listed, low, count, panel, stride);
    else if (width && (listed || column->first))
        fill_numbers(column->numbers, column->first, width, listed, low, count, panel, stride);
    else if (width == 1)
        fill_numbers(column->numbers, NULL, 1, NULL, low, count, panel, stride);
    else if (width == 2)
        fill_numbers(column->numbers, NULL, 2, NULL, low, count, panel, stride);
    else if (width == 3)
        fill_numbers(column->numbers, NULL, 3, NULL, low, count, panel, stride);
}

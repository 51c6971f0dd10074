/* Count a table by one pass over the rows.
 *
 * Where the cells have 16-bit numbers, those of ROWS_AT_A_TIME rows are computed column by column, and small tables are
 * counted in LANES histograms, so that equal neighbours do not wait for each other. Weighted or larger tables are
 * counted plainly. */
#include "counts/row_scan.h"

#include <string.h>

#include "counts/counting_method.h"

/* Return the distance of neighbouring codes of the column after d, given that of d. */
static i64 next_stride(const tester_t *tester, i64 d, i64 stride, i64 block)
{
    return d == 1 ? block : stride * tester->spans[d];
}

/* Count row by row: weighted rows, or a table whose cell codes do not fit into 16 bits. */
static void count_plainly(tester_t *tester, i64 dims, i64 *cells, i64 block)
{
    const table_t *table = tester->table;
    const int bytes = table->codes.bytes;
    for (i64 line = 0; line < lines_of(table); line++) {
        i64 cell = 0, stride = 1;
        for (i64 d = 0; d < dims; d++) {
            cell += stride * code_at(column_of(&table->codes, tester->test[d]), bytes, line);
            stride = next_stride(tester, d, stride, block);
        }
        cells[cell] += table->weights ? table->weights[line] : 1;
    }
}

/* Write the codes of one column, or add them times a stride. */
ALWAYS_INLINE void add_codes(uint16_t *restrict codes, const void *restrict column, int bytes, i64 low, i64 width,
                             uint16_t stride, bool is_first)
{
    if (is_first)
        for (i64 r = 0; r < width; r++)
            codes[r] = (uint16_t)code_at(column, bytes, low + r);
    else
        for (i64 r = 0; r < width; r++)
            codes[r] = (uint16_t)(codes[r] + (uint16_t)code_at(column, bytes, low + r) * (uint32_t)stride);
}

/* Write the cell codes of some rows. */
static void make_codes(tester_t *tester, i64 dims, i64 low, i64 width, i64 block)
{
    i64 stride = 1;
    for (i64 d = 0; d < dims; d++) {
        const void *column = column_of(&tester->table->codes, tester->test[d]);
        switch (tester->table->codes.bytes) {
        case 1:
            add_codes(tester->codes, column, 1, low, width, (uint16_t)stride, d == 0);
            break;
        case 2:
            add_codes(tester->codes, column, 2, low, width, (uint16_t)stride, d == 0);
            break;
        default:
            add_codes(tester->codes, column, 4, low, width, (uint16_t)stride, d == 0);
        }
        stride = next_stride(tester, d, stride, block);
    }
}

static void count_in_lanes(const uint16_t *codes, i64 width, uint32_t *lanes, i64 size)
{
    uint32_t *second = lanes + size, *third = second + size, *fourth = third + size;
    i64 r = 0;
    for (; r + LANES <= width; r += LANES) {
        lanes[codes[r]]++;
        second[codes[r + 1]]++;
        third[codes[r + 2]]++;
        fourth[codes[r + 3]]++;
    }
    for (; r < width; r++)
        lanes[codes[r]]++;
}

void counts_count_by_rows(tester_t *tester, i64 dims, i64 at, i64 size, i64 block)
{
    const i64 lines = lines_of(tester->table);
    i64 *cells = tester->cells.data + at;
    if (tester->table->weights || size > SHORT_CODES) {
        memset(cells, 0, (size_t)size * sizeof *cells);
        count_plainly(tester, dims, cells, block);
        return;
    }
    const bool in_lanes = size <= CELLS_IN_LANES && LANES * size <= lines;
    uint32_t *lanes = tester->lanes;
    if (in_lanes)
        memset(lanes, 0, (size_t)(LANES * size) * sizeof *lanes);
    else
        memset(cells, 0, (size_t)size * sizeof *cells);
    for (i64 low = 0; low < lines; low += ROWS_AT_A_TIME) {
        i64 width = smaller(ROWS_AT_A_TIME, lines - low);
        make_codes(tester, dims, low, width, block);
        if (in_lanes)
            count_in_lanes(tester->codes, width, lanes, size);
        else
            for (i64 r = 0; r < width; r++)
                cells[tester->codes[r]]++;
    }
    if (in_lanes)
        for (i64 c = 0; c < size; c++)
            cells[c] = (i64)lanes[c] + lanes[size + c] + lanes[2 * size + c] + lanes[3 * size + c];
}

/* The largest code of a column, which tells whether all codes are in range.
 *
 * There is one plain loop for each width of code, which compilers turn into vector maxima. Codes are checked with it
 * once, when a table is opened; later loops follow them unchecked. */
#include "counts/largest_code.h"

static uint8_t largest_8(const uint8_t *codes, i64 rows)
{
    uint8_t largest = 0;
    for (i64 r = 0; r < rows; r++)
        largest = codes[r] > largest ? codes[r] : largest;
    return largest;
}

static uint16_t largest_16(const uint16_t *codes, i64 rows)
{
    uint16_t largest = 0;
    for (i64 r = 0; r < rows; r++)
        largest = codes[r] > largest ? codes[r] : largest;
    return largest;
}

static uint32_t largest_32(const uint32_t *codes, i64 rows)
{
    uint32_t largest = 0;
    for (i64 r = 0; r < rows; r++)
        largest = codes[r] > largest ? codes[r] : largest;
    return largest;
}

i64 counts_largest_code(const codes_t *codes, i64 column)
{
    if (codes->rows == 0)
        return -1;
    switch (codes->bytes) {
    case 1:
        return largest_8(column_of(codes, column), codes->rows);
    case 2:
        return largest_16(column_of(codes, column), codes->rows);
    default:
        return largest_32(column_of(codes, column), codes->rows);
    }
}

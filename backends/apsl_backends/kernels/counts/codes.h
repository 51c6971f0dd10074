/* The codes of a table: columns by rows, each column contiguous, in 8, 16 or 32 bits.
 *
 * A hot loop is an ALWAYS_INLINE function that takes the bytes of a code, called with a constant: so each width gets
 * its own loop. Elsewhere code_at decides at each access, which costs little. */
#ifndef APSL_CODES_H
#define APSL_CODES_H

#include "base/common.h"

typedef struct {
    const void *data;
    i64 rows;
    int bytes; /* 1, 2 or 4 */
} codes_t;

/* Return the first code of a column. */
static inline const void *column_of(const codes_t *codes, i64 column)
{
    return (const char *)codes->data + column * codes->rows * codes->bytes;
}

/* Return one code of a column. */
ALWAYS_INLINE uint32_t code_at(const void *column, int bytes, i64 row)
{
    if (bytes == 1)
        return ((const uint8_t *)column)[row];
    if (bytes == 2)
        return ((const uint16_t *)column)[row];
    return ((const uint32_t *)column)[row];
}

#endif

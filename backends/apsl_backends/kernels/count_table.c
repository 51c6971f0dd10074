#include "count_table.h"

#include "largest_code.h"

ALWAYS_INLINE void count(const codes_t *codes, int bytes, const i64 *places, const i64 *spans, i64 dims, i64 *counts)
{
    for (i64 r = 0; r < codes->rows; r++) {
        i64 cell = 0;
        for (i64 d = 0; d < dims; d++)
            cell = cell * spans[d] + code_at(column_of(codes, places[d]), bytes, r);
        counts[cell]++;
    }
}

i64 apsl_count_table(const void *codes, int32_t bytes, i64 rows, const i64 *places, const i64 *spans, i64 dims,
                     i64 *counts)
{
    const codes_t table = {.data = codes, .rows = rows, .bytes = bytes};
    for (i64 d = 0; d < dims; d++)
        if (largest_code(&table, places[d]) >= spans[d])
            return d;
    switch (bytes) {
    case 1:
        count(&table, 1, places, spans, dims, counts);
        break;
    case 2:
        count(&table, 2, places, spans, dims, counts);
        break;
    default:
        count(&table, 4, places, spans, dims, counts);
    }
    return -1;
}

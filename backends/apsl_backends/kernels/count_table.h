/* Plain tables of counts. */
#ifndef APSL_COUNT_TABLE_H
#define APSL_COUNT_TABLE_H

#include "common.h"

/* Count the table of some columns into a flat array of zeros; the last column's code runs fastest. Return -1, or the
 * first place of `places` whose column has a code beyond its span, with nothing counted. */
EXPORT i64 apsl_count_table(const void *codes, int32_t bytes, i64 rows, const i64 *places, const i64 *spans, i64 dims,
                            i64 *counts);

#endif

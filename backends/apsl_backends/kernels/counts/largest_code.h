/* The largest code of a column, by which the codes of a table are checked before they are followed. */
#ifndef APSL_LARGEST_CODE_H
#define APSL_LARGEST_CODE_H

#include "counts/codes.h"

/* Return the largest code of a column; -1 without rows. */
i64 counts_largest_code(const codes_t *codes, i64 column);

#endif

/* The flag that ends a long call early; its fields are those of apsl_rules/stopping.py. */
#ifndef APSL_STOPPING_H
#define APSL_STOPPING_H

#include "base/common.h"

enum { REASON, MOST_TESTS, FLAG_FIELDS };
enum { TESTS_ARE_MADE = 3 };

/* Another thread may set the flag at any time. */
typedef volatile i64 flag_t;

/* Return whether a run should end after so many tests of one call; set the reason if they are too many. */
static inline bool is_stopped(flag_t *stop, i64 tests)
{
    if (!stop[REASON] && stop[MOST_TESTS] > 0 && tests > stop[MOST_TESTS])
        stop[REASON] = TESTS_ARE_MADE;
    return stop[REASON] != 0;
}

#endif

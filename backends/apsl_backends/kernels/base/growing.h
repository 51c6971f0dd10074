/* Arrays that grow to the length that a call needs; their contents are lost when they do. */
#ifndef APSL_GROWING_H
#define APSL_GROWING_H

#include "base/common.h"

typedef struct {
    i64 *data;
    i64 length;
} longs_t;

typedef struct {
    uint64_t *data;
    i64 length;
} words_t;

typedef struct {
    double *data;
    i64 length;
} doubles_t;

/* Make room for so many numbers; return false if there is not enough memory, and leave an empty array. */
bool base_reserve_longs(longs_t *array, i64 length);
bool base_reserve_words(words_t *array, i64 length);
bool base_reserve_doubles(doubles_t *array, i64 length);

#endif

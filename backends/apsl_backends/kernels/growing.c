#include "growing.h"

#include <stdlib.h>

/* Free the old numbers and return uninitialised ones, each of 8 bytes; NULL and a length of 0 without memory. */
static void *replaced(void *old, i64 asked, i64 *length)
{
    free(old);
    void *data = (uint64_t)asked < SIZE_MAX / 8 ? malloc((size_t)asked * 8) : NULL;
    *length = data ? asked : 0;
    return data;
}

bool reserve_longs(longs_t *array, i64 length)
{
    if (length > array->length)
        array->data = replaced(array->data, length, &array->length);
    return length <= array->length;
}

bool reserve_words(words_t *array, i64 length)
{
    if (length > array->length)
        array->data = replaced(array->data, length, &array->length);
    return length <= array->length;
}

bool reserve_doubles(doubles_t *array, i64 length)
{
    if (length > array->length)
        array->data = replaced(array->data, length, &array->length);
    return length <= array->length;
}

/* Arrays of 8-byte numbers that grow to what a call needs.
 *
 * An array is freed and allocated anew when it is too short, so what was in it is lost. Without memory it is left empty
 * with length 0, which the owner may free or grow again. */
#include "base/growing.h"

#include <stdlib.h>

/* Free the old numbers and return uninitialised ones, each of 8 bytes; NULL and a length of 0 without memory. */
static void *replaced(void *old, i64 asked, i64 *length)
{
    free(old);
    void *data = (uint64_t)asked < SIZE_MAX / 8 ? malloc((size_t)asked * 8) : NULL;
    *length = data ? asked : 0;
    return data;
}

bool base_reserve_longs(longs_t *array, i64 length)
{
    if (length > array->length)
        array->data = replaced(array->data, length, &array->length);
    return length <= array->length;
}

bool base_reserve_words(words_t *array, i64 length)
{
    if (length > array->length)
        array->data = replaced(array->data, length, &array->length);
    return length <= array->length;
}

bool base_reserve_doubles(doubles_t *array, i64 length)
{
    if (length > array->length)
        array->data = replaced(array->data, length, &array->length);
    return length <= array->length;
}

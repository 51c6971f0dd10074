/* The bits of a double. Positive numbers are in the order of their bits. */
#ifndef APSL_DOUBLE_BITS_H
#define APSL_DOUBLE_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double with_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif

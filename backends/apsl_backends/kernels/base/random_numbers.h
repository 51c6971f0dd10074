/* Random numbers that depend on their seed alone: a splitmix64 generator (Steele, Lea and Flood 2014). */
#ifndef APSL_RANDOM_NUMBERS_H
#define APSL_RANDOM_NUMBERS_H

#include "base/common.h"

/* Return the next number of a generator, and move its state on. */
static inline uint64_t next_random(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ mixed >> 31;
}

/* Return a random number below an end. */
static inline i64 random_below(uint64_t *state, i64 end)
{
    return (i64)((next_random(state) >> 32) * (uint64_t)end >> 32);
}

#endif

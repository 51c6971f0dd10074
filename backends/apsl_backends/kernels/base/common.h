/* What all kernels share: integers, exported names, and how a call can end.
 *
 * Kernels are plain C99 without Python.h. They never see a Python object: bindings checks every array and passes its
 * address. All figures that decide are integers, and floating-point code uses only the basic operations and the
 * functions of elementary.h, so that results do not depend on the compiler, the library or the processor. */
#ifndef APSL_COMMON_H
#define APSL_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/* For a function whose loops are compiled anew for each constant that it is called with. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

typedef int64_t i64;

/* How a call ended; bindings raises an error for NO_MEMORY and WRONG_INPUT. */
typedef enum { DONE, NO_MEMORY, STOPPED, WRONG_INPUT } status_t;

/* Return the number of the lowest bit of a word that is not 0. */
static inline i64 lowest_bit(uint64_t word) { return __builtin_ctzll(word); }

static inline i64 smaller(i64 one, i64 other) { return one < other ? one : other; }
static inline i64 larger(i64 one, i64 other) { return one > other ? one : other; }

#endif

/* The levels of processors for which the library is built, each with the instructions of those before it. */
#ifndef APSL_CPU_LEVEL_H
#define APSL_CPU_LEVEL_H

#include "base/common.h"

/* The order is that of LEVELS in build.py. */
typedef enum { BASELINE, AVX2, AVX512 } cpu_level_t;

/* Return the highest level that this processor and its operating system support. */
EXPORT int32_t apsl_cpu_level(void);

#endif

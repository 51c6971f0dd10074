/* Which instructions this processor has and its operating system saves: the level of library to load.
 *
 * It asks cpuid and xgetbv on x86-64 and is BASELINE elsewhere. It is compiled into every level, and called in the
 * lowest. */
#include "base/cpu_level.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* Return the register states that the operating system saves. */
static uint64_t saved_states(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

int32_t apsl_cpu_level(void)
{
    enum { OSXSAVE = 1 << 27 };                                             /* of leaf 1, register c */
    enum { BMI1 = 1 << 3, BIT_AVX2 = 1 << 5, BMI2 = 1 << 8 };               /* of leaf 7, register b */
    enum { F = 1 << 16, DQ = 1 << 17, BW = 1 << 30 };                       /* AVX-512, of leaf 7, register b */
    enum { POPCOUNT = 1 << 14 };                                            /* AVX-512, of leaf 7, register c */
    enum { YMM = 0x06, ZMM = 0xe6 };                                        /* saved states */
    const uint32_t VL = 1u << 31;
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE))
        return BASELINE;
    uint64_t saved = saved_states();
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (saved & YMM) != YMM)
        return BASELINE;
    const uint32_t avx2 = BMI1 | BIT_AVX2 | BMI2, avx512 = F | DQ | BW | VL;
    if ((b & avx2) != avx2)
        return BASELINE;
    return (b & avx512) == avx512 && (c & POPCOUNT) && (saved & ZMM) == ZMM ? AVX512 : AVX2;
}

#else

int32_t apsl_cpu_level(void) { return BASELINE; }

#endif

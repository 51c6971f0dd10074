/* Which of 64 neighbouring codes are equal to one code, as a word of bits. */
#ifndef APSL_EQUAL_CODES_H
#define APSL_EQUAL_CODES_H

#include "counts/codes.h"

#if defined(__SSE2__)

#include <emmintrin.h>

/* Return the bits of 16 codes of 8 bits, or of 16 bits. */
ALWAYS_INLINE uint64_t equal_sixteen(const char *codes, int bytes, uint32_t code)
{
    __m128i first = _mm_loadu_si128((const __m128i *)codes);
    if (bytes == 1)
        return (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(first, _mm_set1_epi8((char)code)));
    __m128i second = _mm_loadu_si128((const __m128i *)(codes + 16)), wanted = _mm_set1_epi16((short)code);
    __m128i found = _mm_packs_epi16(_mm_cmpeq_epi16(first, wanted), _mm_cmpeq_epi16(second, wanted));
    return (uint64_t)_mm_movemask_epi8(found);
}

#endif

ALWAYS_INLINE uint64_t equal_codes(const char *codes, int bytes, uint32_t code)
{
    uint64_t word = 0;
#if defined(__SSE2__)
    if (bytes < 4) {
        for (int b = 0; b < 64; b += 16)
            word |= equal_sixteen(codes + b * bytes, bytes, code) << b;
        return word;
    }
#endif
    for (int b = 0; b < 64; b++)
        word |= (uint64_t)(code_at(codes, bytes, b) == code) << b;
    return word;
}

#endif

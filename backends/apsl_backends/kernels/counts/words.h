/* Long rows of bits and of counts; the length of every row is a multiple of STEP. */
#ifndef APSL_WORDS_H
#define APSL_WORDS_H

#include "base/common.h"

/* The 64-bit numbers in one vector register of AVX2. */
enum { STEP = 4 };

#if defined(__AVX2__) && !defined(__AVX512VPOPCNTDQ__)

#include <immintrin.h>

/* Count the ones that two rows of bits have in common: those of each half byte by a table of sixteen. */
static inline i64 common_ones(const uint64_t *one, const uint64_t *other, i64 words)
{
    const __m256i ones_of = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1,
                                             2, 2, 3, 2, 3, 3, 4);
    const __m256i half = _mm256_set1_epi8(15), none = _mm256_setzero_si256();
    __m256i total = none;
    for (i64 w = 0; w < words; w += STEP) {
        __m256i both = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(one + w)),
                                        _mm256_loadu_si256((const __m256i *)(other + w)));
        __m256i low = _mm256_shuffle_epi8(ones_of, _mm256_and_si256(both, half));
        __m256i high = _mm256_shuffle_epi8(ones_of, _mm256_and_si256(_mm256_srli_epi16(both, 4), half));
        total = _mm256_add_epi64(total, _mm256_sad_epu8(_mm256_add_epi8(low, high), none));
    }
    return _mm256_extract_epi64(total, 0) + _mm256_extract_epi64(total, 1) + _mm256_extract_epi64(total, 2) +
           _mm256_extract_epi64(total, 3);
}

#else

/* Count the ones that two rows of bits have in common. */
static inline i64 common_ones(const uint64_t *one, const uint64_t *other, i64 words)
{
    i64 ones[STEP] = {0};
    for (i64 w = 0; w < words; w += STEP)
        for (int k = 0; k < STEP; k++)
            ones[k] += __builtin_popcountll(one[w + k] & other[w + k]);
    return ones[0] + ones[1] + ones[2] + ones[3];
}

#endif

/* Write the AND of two rows of bits to a third, which is none of them. */
static inline void and_rows(uint64_t *restrict target, const uint64_t *one, const uint64_t *other, i64 words)
{
    for (i64 w = 0; w < words; w += STEP)
        for (int k = 0; k < STEP; k++)
            target[w + k] = one[w + k] & other[w + k];
}

/* Write the difference of two rows of counts to a third, which may be the first; what pads a row may wrap. */
static inline void subtract_rows(i64 *target, const i64 *one, const i64 *other, i64 length)
{
    for (i64 c = 0; c < length; c += STEP)
        for (int k = 0; k < STEP; k++)
            target[c + k] = (i64)((uint64_t)one[c + k] - (uint64_t)other[c + k]);
}

#endif

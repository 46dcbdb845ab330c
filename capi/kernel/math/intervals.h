/* Functions of a float by a table of polynomials, one for each of 32 intervals, with AVX-512: the
 * coefficients of one power fit two registers, from which one instruction picks those of 16
 * numbers. Generic loops (kernel/elementwise/loop.h) cannot express this. MXL_INTERVALS is defined
 * where it works. */
#ifndef MXL_KERNEL_MATH_INTERVALS_H
#define MXL_KERNEL_MATH_INTERVALS_H

#include "kernel/target.h"

#if MXL_HAS_WIDE
#include <immintrin.h>
#include <stdint.h>

#include "kernel/elementwise/loop.h"

#define MXL_INTERVALS       32
#define MXL_INTERVAL_POWERS 6

MXL_TARGET_AVX512 MXL_INLINE __m512 mxl_at_interval(const float *row, __m512i k)
{
    return _mm512_permutex2var_ps(_mm512_loadu_ps(row), k,
                                  _mm512_loadu_ps(row + MXL_INTERVALS / 2));
}

/* c0[k] + c1[k] v + ... + c5[k] v^5 for a = k step + v, |v| <= step / 2; the table has all c0, then
 * all c1, ... For the numbers `near` 0, c0 is a, which keeps small relative errors. Undefined, but
 * no error, where k is not 0 to 31. */
MXL_TARGET_AVX512 MXL_INLINE __m512 mxl_by_intervals(const float (*table)[MXL_INTERVALS],
                                                     float step, __m512 a, __mmask16 near)
{
    const __m512 shift = _mm512_set1_ps(MXL_ROUND_F32);
    const __m512 t = _mm512_fmadd_ps(a, _mm512_set1_ps(1 / step), shift);
    const __m512 v = _mm512_fmadd_ps(_mm512_sub_ps(t, shift), _mm512_set1_ps(-step), a);
    const __m512i k = _mm512_castps_si512(t); /* its low five bits count */
    __m512 p = mxl_at_interval(table[MXL_INTERVAL_POWERS - 1], k);

    for (int i = MXL_INTERVAL_POWERS - 2; i > 0; i--)
        p = _mm512_fmadd_ps(p, v, mxl_at_interval(table[i], k));
    return _mm512_fmadd_ps(p, v, _mm512_mask_mov_ps(mxl_at_interval(table[0], k), near, a));
}

/* z[i] = f(a[i]). The last few numbers use the same code, so that results do not depend on the
 * borders of a thread's chunk; f gets zeros beside them. */
MXL_TARGET_AVX512 MXL_INLINE void mxl_each_16(float *z, const float *a, int64_t n,
                                              __m512 (*f)(__m512))
{
    for (int64_t i = 0; i < n; i += 16) {
        const __mmask16 here = (__mmask16)(n - i < 16 ? (1u << (n - i)) - 1 : 0xffffu);

        _mm512_mask_storeu_ps(z + i, here, f(_mm512_maskz_loadu_ps(here, a + i)));
    }
}

/* The loop `fn` of f, which is f's with AVX-512 and `plain` without. */
#define MXL_INTERVAL_LOOP(fn, f, plain)                                                            \
    MXL_TARGET_AVX512 static void fn##_by_intervals(float *z, const float *a, int64_t n)           \
    {                                                                                              \
        mxl_each_16(z, a, n, f);                                                                   \
    }                                                                                              \
    static void fn MXL_LOOP_PARAMETERS                                                             \
    {                                                                                              \
        if (mxl_level() == MXL_AVX512)                                                             \
            fn##_by_intervals(out, in[0], n);                                                      \
        else                                                                                       \
            plain(out, in, step, n, params);                                                       \
    }

#endif
#endif

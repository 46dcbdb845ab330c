/* For loops with AVX-512 and VNNI: dots.c, fused.c and depthwise.c. */
#ifndef MXL_KERNEL_QUANTIZED_VNNI_H
#define MXL_KERNEL_QUANTIZED_VNNI_H

#include <stddef.h>
#include <string.h>

#include "kernel/quantized/dots.h"
#include "kernel/target.h"

#if MXL_HAS_WIDE
#include <immintrin.h>

#if defined(__clang__)
#define VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,f16c")))
#else
#define VNNI                                                                                       \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,f16c,prefer-vector-"  \
                          "width=512")))
#endif
#define UNROLL _Pragma("GCC unroll 16")

/* So many bytes of weights ahead are asked for: large ones are in memory or in the last cache, and
 * a network reads each of them once. */
enum { MXL_DOTS_AHEAD = 8192 };

/* acc += rows of x times 16 or 32 columns of w, as mxl_dots_tile reads them.
 * (Fourteen rows have more addresses than there are registers, but not as multiples of `step` from
 * every fifth of them; the compiler must not know that these are multiples too.) */
VNNI MXL_INLINE void mxl_dots_vnni(int rows, int vectors, bool flips, const mxl_dots_runs *runs,
                                   const uint8_t *x, int64_t step, const int8_t *w,
                                   __m512i acc[MXL_DOTS_ROWS][2])
{
    __m512i flip = _mm512_set1_epi8((char)-128);
    int64_t thrice = 3 * step, count = runs->count, quads = runs->quads;
    const int64_t *offset = runs->offset;

    __asm__("" : "+r"(thrice));
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *from = x + offset[i], *fifth[3] = {from, from + 5 * step, from + 10 * step};

        __asm__("" : "+r"(fifth[1]), "+r"(fifth[2]));
        for (int64_t q = 0; q < quads; q++, w += (ptrdiff_t)4 * MXL_DOTS_COLUMNS) {
            __m512i a = _mm512_loadu_si512(w), b = vectors > 1 ? _mm512_loadu_si512(w + 64) : a;

            if (rows > MXL_DOTS_ROWS / 2 && vectors > 1) {
                _mm_prefetch((const char *)w + MXL_DOTS_AHEAD, _MM_HINT_T0);
                _mm_prefetch((const char *)w + MXL_DOTS_AHEAD + 64, _MM_HINT_T0);
            }
            UNROLL for (int r = 0; r < rows; r++)
            {
                int32_t four;
                __m512i all;

                memcpy(&four, fifth[r / 5] + (r % 5 == 3 ? thrice : r % 5 * step), 4);
                all = _mm512_set1_epi32(four);
                if (flips)
                    all = _mm512_xor_si512(all, flip);
                acc[r][0] = _mm512_dpbusd_epi32(acc[r][0], all, a);
                if (vectors > 1)
                    acc[r][1] = _mm512_dpbusd_epi32(acc[r][1], all, b);
            }
            UNROLL for (int j = 0; j < 3; j++) fifth[j] += 4;
        }
    }
}
#endif

#endif

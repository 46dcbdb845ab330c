/* Micro kernels of depthwise convolutions: one source for all instruction sets. */
#include "kernel/conv/depthwise_micro.h"

#include <stdbool.h>

#include "kernel/vectors.h"

#define UNROLL _Pragma("GCC unroll 16")

enum { TALL = 4 }; /* rows that share the rows of the image that they read */

/* SET names an instruction set of kernel/vectors.h, ISA the attribute of its functions, SQUARES
 * whether it has loops of its own for 3 x 3 taps. */
#define DEPTHWISE(SET, ISA, SQUARES)                                                               \
    /* The end of a vector of sums: n elements of it are stored. */                                \
    ISA MXL_INLINE void SET##_end(const mxl_depthwise_rows *r, SET##_v sum, const float *add,      \
                                  float *dst, int64_t n)                                           \
    {                                                                                              \
        enum { N = sizeof(SET##_v) / sizeof(float) };                                              \
                                                                                                   \
        sum = SET##_add(sum, SET##_splat(r->bias));                                                \
        if (add != NULL)                                                                           \
            sum = SET##_add(sum, n == N ? SET##_load(add) : SET##_load_part(add, n));              \
        sum = SET##_limit(sum, SET##_splat(r->low), SET##_splat(r->high));                         \
        if (n == N)                                                                                \
            SET##_store(dst, sum);                                                                 \
        else                                                                                       \
            SET##_store_part(dst, sum, n);                                                         \
    }                                                                                              \
    /* `tall` rows of one vector, of 3 x 3 taps: each row of the image is read once. */            \
    ISA MXL_INLINE void SET##_square(int tall, const mxl_depthwise_rows *r, const float *x,        \
                                     const float *w, const float *add, float *dst, int64_t n)      \
    {                                                                                              \
        SET##_v sum[TALL];                                                                         \
                                                                                                   \
        UNROLL for (int i = 0; i < tall; i++) sum[i] = SET##_splat(0);                             \
        UNROLL for (int row = 0; row < tall + 2; row++)                                            \
        {                                                                                          \
            UNROLL for (int j = 0; j < 3; j++)                                                     \
            {                                                                                      \
                SET##_v some = SET##_load(x + row * r->square + j);                                \
                                                                                                   \
                UNROLL for (int i = 0; i < tall; i++)                                              \
                {                                                                                  \
                    if (row - i >= 0 && row - i < 3)                                               \
                        sum[i] = SET##_fma(SET##_splat(w[3 * (row - i) + j]), some, sum[i]);       \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        UNROLL for (int i = 0; i < tall; i++) SET##_end(                                           \
            r, sum[i], add != NULL ? add + i * r->dst_pitch : NULL, dst + i * r->dst_pitch, n);    \
    }                                                                                              \
    ISA MXL_INLINE void SET##_taps(const mxl_depthwise_rows *r, const float *x, const float *w,    \
                                   const float *add, float *dst, int64_t n)                        \
    {                                                                                              \
        SET##_v sum = SET##_splat(0);                                                              \
                                                                                                   \
        for (int64_t t = 0; t < r->taps; t++)                                                      \
            sum = SET##_fma(SET##_splat(w[t]), SET##_load(x + r->offsets[t]), sum);                \
        SET##_end(r, sum, add, dst, n);                                                            \
    }                                                                                              \
    ISA static void SET##_depthwise(const mxl_depthwise_rows *r, const float *planes,              \
                                    const float *w, const float *add, float *dst)                  \
    {                                                                                              \
        enum { N = sizeof(SET##_v) / sizeof(float) };                                              \
                                                                                                   \
        for (int64_t h = 0, tall; h < r->rows; h += tall) {                                        \
            tall = SQUARES && r->square != 0 && r->rows - h >= TALL ? TALL : 1;                    \
            for (int64_t i = 0; i < r->n; i += N) {                                                \
                const float *x = planes + h * r->pitch + i;                                        \
                const float *more = add != NULL ? add + h * r->dst_pitch + i : NULL;               \
                float *to = dst + h * r->dst_pitch + i;                                            \
                int64_t n = r->n - i < N ? r->n - i : N;                                           \
                                                                                                   \
                if (tall == TALL)                                                                  \
                    SET##_square(TALL, r, x, w, more, to, n);                                      \
                else if (SQUARES && r->square != 0)                                                \
                    SET##_square(1, r, x, w, more, to, n);                                         \
                else                                                                               \
                    SET##_taps(r, x, w, more, to, n);                                              \
            }                                                                                      \
        }                                                                                          \
    }

/* (Small at the baseline, as other loops of many forms.) */
DEPTHWISE(base_f32, , 0)
#if MXL_HAS_WIDE
DEPTHWISE(avx2_f32, MXL_TARGET_AVX2, 1)
DEPTHWISE(avx512_f32, MXL_TARGET_AVX512, 1)
#define LEVELS {base_f32_depthwise, avx2_f32_depthwise, avx512_f32_depthwise}
#else
#define LEVELS {base_f32_depthwise, base_f32_depthwise, base_f32_depthwise}
#endif

mxl_depthwise_micro mxl_depthwise_micro_f32(void)
{
    static const mxl_depthwise_micro micro[MXL_LEVELS] = LEVELS;

    return micro[mxl_level()];
}

/* See ends.h. AVX-512 keeps sixteen sums in a register until they are bytes; the other levels take
 * a step after the other over the whole tile. */
#include "kernel/quantized/ends.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "kernel/quantized/bytes.h"

enum { R = MXL_DOTS_ROWS, N = MXL_DOTS_COLUMNS };

/* ---- steps over a tile ---- */

/* Sums with the bias of their column, as bytes between two limits; in place, as int32. */
MXL_INLINE void to_bytes_at(int level, int rows, const int32_t *bias, float scale, float low,
                            float high, int32_t *sums)
{
    (void)level;
    for (int r = 0; r < rows; r++, sums += N) {
        for (int i = 0; i < N; i++)
            sums[i] = mxl_quantized_round((float)(sums[i] + bias[i]) * scale, low, high);
    }
}
MXL_UP_TO_AVX2(to_bytes,
               (int rows, const int32_t *bias, float scale, float low, float high, int32_t *sums),
               rows, bias, scale, low, high, sums)

static const float wide_steps = 2147483648.0F;

/* Adds the bytes `add`, whose bit `sign` counts below 0 (0: none does). */
MXL_INLINE void add_bytes_at(int level, int rows, const mxl_quantized_tail *t, const uint8_t *add,
                             int sign, float low, float high, int32_t *sums)
{
    /* (Not as a constant: of comparisons with one gcc makes masks.) */
    const float widest = *(const volatile float *)&wide_steps;
    float byte_scale = t->byte_scale, add_scale = t->add_scale, scale = t->sum_scale;

    (void)level;
    for (int r = 0; r < rows; r++, sums += N, add += N) {
        for (int i = 0; i < N; i++) {
            int32_t more = add[i] - 2 * (add[i] & sign);
            float sum = (float)sums[i] * byte_scale + (float)more * add_scale;

            /* An int32 of the sum, as float32. */
            sum = rintf(sum);
            sum = sum < widest ? sum : widest;
            sum = sum > -widest ? sum : -widest;
            sums[i] = mxl_quantized_round(sum * scale, low, high);
        }
    }
}
MXL_UP_TO_AVX2(add_bytes,
               (int rows, const mxl_quantized_tail *t, const uint8_t *add, int sign, float low,
                float high, int32_t *sums),
               rows, t, add, sign, low, high, sums)

static void end_in_steps(const mxl_quantized_tail *t, int rows, int columns, int32_t *sums,
                         const int32_t *bias, uint8_t *y, int64_t at, int64_t step)
{
    uint8_t add[R * N];

    to_bytes(rows, bias, t->scale, mxl_quantized_lowest(t->dtype, t->least),
             mxl_quantized_highest(t->dtype), sums);
    if (t->add != NULL) {
        memset(add, 0, sizeof(add));
        for (int r = 0; r < rows; r++)
            memcpy(add + (ptrdiff_t)r * N, (const uint8_t *)t->add + at + r * step,
                   (size_t)columns);
        add_bytes(rows, t, add, t->add_dtype == MXL_I8 ? 128 : 0,
                  mxl_quantized_lowest(t->sum_dtype, t->sum_least),
                  mxl_quantized_highest(t->sum_dtype), sums);
    }
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++)
            y[at + r * step + c] = (uint8_t)sums[(ptrdiff_t)r * N + c];
    }
}

/* ---- AVX-512 ---- */

#if MXL_HAS_WIDE
#include <immintrin.h>

/* The nearest integers between two limits, which are integers; NaN becomes the upper one. */
MXL_TARGET_AVX512 MXL_INLINE __m512i round_512(__m512 x, __m512 low, __m512 high)
{
    return _mm512_cvtps_epi32(_mm512_max_ps(_mm512_min_ps(x, high), low));
}

MXL_TARGET_AVX512 MXL_INLINE void end_512_of(bool adds, const mxl_quantized_tail *t, int rows,
                                             int columns, const int32_t *sums, const int32_t *bias,
                                             uint8_t *y, int64_t at, int64_t step)
{
    __m512 low = _mm512_set1_ps(mxl_quantized_lowest(t->dtype, t->least));
    __m512 high = _mm512_set1_ps(mxl_quantized_highest(t->dtype));
    __m512 scale = _mm512_set1_ps(t->scale), widest = _mm512_set1_ps(wide_steps);
    __m512 byte_scale = _mm512_set1_ps(t->byte_scale), add_scale = _mm512_set1_ps(t->add_scale);
    __m512 sum_scale = _mm512_set1_ps(t->sum_scale);
    __m512 sum_low = _mm512_set1_ps(mxl_quantized_lowest(t->sum_dtype, t->sum_least));
    __m512 sum_high = _mm512_set1_ps(mxl_quantized_highest(t->sum_dtype));
    bool is_signed = t->add_dtype == MXL_I8;

    for (int c = 0; c < columns; c += 16) {
        __mmask16 mask = columns - c >= 16 ? 0xffff : (__mmask16)((1U << (columns - c)) - 1);
        __m512i more = _mm512_loadu_si512(bias + c);

        for (int r = 0; r < rows; r++) {
            __m512i sum = _mm512_add_epi32(_mm512_loadu_si512(sums + (ptrdiff_t)r * N + c), more);

            sum = round_512(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), scale), low, high);
            if (adds) {
                const uint8_t *from = (const uint8_t *)t->add + at + r * step + c;
                __m128i bytes = _mm_maskz_loadu_epi8(mask, from);
                __m512i wide = is_signed ? _mm512_cvtepi8_epi32(bytes)
                                         : _mm512_cvtepu8_epi32(bytes);
                __m512 all = _mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), byte_scale),
                                           _mm512_mul_ps(_mm512_cvtepi32_ps(wide), add_scale));

                all = _mm512_roundscale_ps(all, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
                all = _mm512_min_ps(all, widest);
                all = _mm512_max_ps(all, _mm512_sub_ps(_mm512_setzero_ps(), widest));
                sum = round_512(_mm512_mul_ps(all, sum_scale), sum_low, sum_high);
            }
            if (mask == 0xffff)
                _mm_storeu_si128((__m128i *)(y + at + r * step + c), _mm512_cvtepi32_epi8(sum));
            else
                _mm_mask_storeu_epi8(y + at + r * step + c, mask, _mm512_cvtepi32_epi8(sum));
        }
    }
}

MXL_TARGET_AVX512 static void end_512(const mxl_quantized_tail *t, int rows, int columns,
                                      const int32_t *sums, const int32_t *bias, uint8_t *y,
                                      int64_t at, int64_t step)
{
    if (t->add != NULL)
        end_512_of(true, t, rows, columns, sums, bias, y, at, step);
    else
        end_512_of(false, t, rows, columns, sums, bias, y, at, step);
}
#endif

/* ---- choice ---- */

void mxl_quantized_end(const mxl_quantized_tail *t, int rows, int columns, int32_t *sums,
                       const int32_t *bias, void *y, int64_t at, int64_t step)
{
    if (t == NULL) {
        for (int r = 0; r < rows; r++) {
            int32_t *to = (int32_t *)y + at + r * step;

            for (int c = 0; c < columns; c++)
                to[c] = sums[(ptrdiff_t)r * N + c] + bias[c];
        }
        return;
    }
#if MXL_HAS_WIDE
    if (mxl_level() >= MXL_AVX512) {
        end_512(t, rows, columns, sums, bias, y, at, step);
        return;
    }
#endif
    end_in_steps(t, rows, columns, sums, bias, y, at, step);
}

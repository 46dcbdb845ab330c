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

/* What the steps of a tail need. */
typedef struct factors {
    __m512 scale, low, high, byte_scale, add_scale, sum_scale, sum_high, most, least_sum;
    __m512i order, least;
    bool is_unsigned, adds_signed; /* of the last byte; of what is added */
} factors;

MXL_TARGET_AVX512 MXL_INLINE factors factors_of(bool adds, const mxl_quantized_tail *t)
{
    factors f = {.scale = _mm512_set1_ps(t->scale),
                 .low = _mm512_set1_ps(mxl_quantized_lowest(t->dtype, t->least)),
                 .high = _mm512_set1_ps(mxl_quantized_highest(t->dtype)),
                 .byte_scale = _mm512_set1_ps(t->byte_scale),
                 .add_scale = _mm512_set1_ps(t->add_scale),
                 .sum_scale = _mm512_set1_ps(t->sum_scale),
                 .sum_high = _mm512_set1_ps(mxl_quantized_highest(t->sum_dtype)),
                 .most = _mm512_set1_ps(wide_steps),
                 .least_sum = _mm512_set1_ps(-wide_steps),
                 .order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
                 .least = _mm512_set1_epi8((char)(adds ? t->sum_least : t->least)),
                 .is_unsigned = (adds ? t->sum_dtype : t->dtype) == MXL_U8,
                 .adds_signed = t->add_dtype == MXL_I8};

    return f;
}

/* Sixteen sums as integers that are not above the bytes; `add`: the bytes that are added. The lower
 * limit comes as they are narrowed with saturation; too large numbers would become negative. */
MXL_TARGET_AVX512 MXL_INLINE __m512i end_sixteen(bool adds, bool cuts, const factors *f,
                                                 __m512i sum, __m128i add)
{
    __m512 x = _mm512_min_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), f->scale), f->high);
    __m512i wide;

    if (!adds)
        return _mm512_cvtps_epi32(x);
    wide = f->adds_signed ? _mm512_cvtepi8_epi32(add) : _mm512_cvtepu8_epi32(add);
    x = _mm512_roundscale_ps(_mm512_max_ps(x, f->low),
                             _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    x = _mm512_add_ps(_mm512_mul_ps(x, f->byte_scale),
                      _mm512_mul_ps(_mm512_cvtepi32_ps(wide), f->add_scale));
    x = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    if (cuts)
        x = _mm512_max_ps(_mm512_min_ps(x, f->most), f->least_sum);
    return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_mul_ps(x, f->sum_scale), f->sum_high));
}

/* The 32 sums of a row, as numbers of 16 bits, in turns of four of the first and the second half.
 */
MXL_TARGET_AVX512 MXL_INLINE __m512i end_row(bool adds, bool cuts, const factors *f,
                                             const int32_t *sums, const __m512i bias[2],
                                             const uint8_t *add, __mmask32 mask)
{
    __m128i first = _mm_setzero_si128(), second = first;

    if (adds) {
        __m256i bytes = mask == 0xffffffff ? _mm256_loadu_si256((const __m256i *)add)
                                           : _mm256_maskz_loadu_epi8(mask, add);

        first = _mm256_castsi256_si128(bytes);
        second = _mm256_extracti128_si256(bytes, 1);
    }
    return _mm512_packs_epi32(
        end_sixteen(adds, cuts, f, _mm512_add_epi32(_mm512_loadu_si512(sums), bias[0]), first),
        end_sixteen(adds, cuts, f, _mm512_add_epi32(_mm512_loadu_si512(sums + 16), bias[1]),
                    second));
}

MXL_TARGET_AVX512 MXL_INLINE void put_row(uint8_t *y, __mmask32 mask, __m256i bytes)
{
    if (mask == 0xffffffff)
        _mm256_storeu_si256((__m256i *)y, bytes);
    else
        _mm256_mask_storeu_epi8(y, mask, bytes);
}

MXL_TARGET_AVX512 MXL_INLINE void end_512_of(bool adds, bool cuts, const mxl_quantized_tail *t,
                                             int rows, int columns, const int32_t *sums,
                                             const int32_t *bias, uint8_t *y, int64_t step,
                                             const uint8_t *add)
{
    __mmask32 mask = (__mmask32)((UINT64_C(1) << columns) - 1);
    const __m512i more[2] = {_mm512_loadu_si512(bias), _mm512_loadu_si512(bias + 16)};
    factors f = factors_of(adds, t);

    for (int r = 0; r < rows; r += 2, sums += (ptrdiff_t)2 * N, y += 2 * step) {
        bool pair = r + 1 < rows;
        __m512i a = end_row(adds, cuts, &f, sums, more, add, mask), b = a, both;

        if (pair)
            b = end_row(adds, cuts, &f, sums + N, more, adds ? add + step : NULL, mask);
        if (f.is_unsigned)
            both = _mm512_packus_epi16(a, b);
        else
            both = _mm512_max_epi8(_mm512_packs_epi16(a, b), f.least);
        both = _mm512_permutexvar_epi32(f.order, both);
        put_row(y, mask, _mm512_castsi512_si256(both));
        if (pair)
            put_row(y + step, mask, _mm512_extracti64x4_epi64(both, 1));
        if (adds)
            add += 2 * step;
    }
}

/* Whether sums with what is added may be numbers that an int32 does not hold. */
static bool may_exceed(const mxl_quantized_tail *t)
{
    float most = mxl_quantized_highest(t->dtype) * t->byte_scale +
                 mxl_quantized_highest(t->add_dtype) * t->add_scale;
    float least = mxl_quantized_lowest(t->dtype, t->least) * t->byte_scale +
                  mxl_quantized_lowest(t->add_dtype, -128) * t->add_scale;

    return !(t->byte_scale >= 0 && t->add_scale >= 0 && most < wide_steps && least > -wide_steps);
}

MXL_TARGET_AVX512 static void end_512(const mxl_quantized_tail *t, int rows, int columns,
                                      const int32_t *sums, const int32_t *bias, uint8_t *y,
                                      int64_t at, int64_t step)
{
    const uint8_t *add = t->add != NULL ? (const uint8_t *)t->add + at : NULL;

    if (add == NULL)
        end_512_of(false, false, t, rows, columns, sums, bias, y + at, step, NULL);
    else if (may_exceed(t))
        end_512_of(true, true, t, rows, columns, sums, bias, y + at, step, add);
    else
        end_512_of(true, false, t, rows, columns, sums, bias, y + at, step, add);
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

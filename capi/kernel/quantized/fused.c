/* See fused.h. The 28 sums of a tile fill the registers: what all of them meet stays in memory. */
#include "kernel/quantized/fused.h"

#include "kernel/quantized/vnni.h"

enum { R = MXL_DOTS_ROWS, N = MXL_DOTS_COLUMNS };

bool mxl_quantized_fuses(const mxl_quantized_tail *t, mxl_quantized_factors *f)
{
#if MXL_HAS_WIDE
    static const int32_t order[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};

    if (t == NULL || t->add != NULL || !mxl_quantized_fits(t->scale) || !mxl_level_has_vnni())
        return false;
    for (int i = 0; i < 16; i++) {
        f->scale[i] = t->scale;
        f->order[i] = order[i];
    }
    f->is_unsigned = t->dtype == MXL_U8;
    f->least = (int8_t)t->least;
    return true;
#else
    (void)t, (void)f;
    return false;
#endif
}

#if MXL_HAS_WIDE

/* x *= 16 numbers in memory. (The compiler would keep these in registers, and sums in memory.) */
#define TIMES_MEMORY(x, from)                                                                      \
    __asm__("vmulps %1, %0, %0" : "+v"(x) : "m"(*(const __m512 *)(const void *)(from)))

/* Two rows of 32 sums become bytes, cut to their limits as they are narrowed; the first one is the
 * lower half. */
VNNI MXL_INLINE __m512i end_pair(bool is_unsigned, const mxl_quantized_factors *f,
                                 const __m512i a[2], const __m512i b[2])
{
    __m512i sum[4] = {a[0], a[1], b[0], b[1]}, both;

    UNROLL for (int i = 0; i < 4; i++)
    {
        __m512 x = _mm512_cvtepi32_ps(sum[i]);

        TIMES_MEMORY(x, f->scale);
        sum[i] = _mm512_cvtps_epi32(x);
    }
    sum[0] = _mm512_packs_epi32(sum[0], sum[1]);
    sum[2] = _mm512_packs_epi32(sum[2], sum[3]);
    if (is_unsigned)
        both = _mm512_packus_epi16(sum[0], sum[2]);
    else
        both = _mm512_max_epi8(_mm512_packs_epi16(sum[0], sum[2]), _mm512_set1_epi8(f->least));
    return _mm512_permutexvar_epi32(_mm512_loadu_si512(f->order), both);
}

VNNI MXL_INLINE void fused_of(bool flips, bool is_unsigned, const mxl_quantized_factors *f,
                              int columns, const mxl_dots_runs *runs, const uint8_t *x,
                              int64_t x_step, const int8_t *w, const int32_t *bias, uint8_t *y,
                              int64_t step)
{
    __mmask32 mask = (__mmask32)((UINT64_C(1) << columns) - 1);
    __m512i acc[R][2];

    UNROLL for (int r = 0; r < R; r++)
    {
        acc[r][0] = _mm512_loadu_si512(bias);
        acc[r][1] = _mm512_loadu_si512(bias + 16);
    }
    mxl_dots_vnni(R, 2, flips, runs, x, x_step, w, acc);
    /* (Without this the compiler copies the sums to memory in the loop.) */
    UNROLL for (int r = 0; r < R; r++) __asm__ volatile("" : "+v"(acc[r][0]), "+v"(acc[r][1]));
    UNROLL for (int r = 0; r < R; r += 2)
    {
        __m512i both = end_pair(is_unsigned, f, acc[r], acc[r + 1]);

        if (columns == N) {
            _mm256_storeu_si256((__m256i *)y, _mm512_castsi512_si256(both));
            _mm256_storeu_si256((__m256i *)(y + step), _mm512_extracti64x4_epi64(both, 1));
        } else {
            _mm256_mask_storeu_epi8(y, mask, _mm512_castsi512_si256(both));
            _mm256_mask_storeu_epi8(y + step, mask, _mm512_extracti64x4_epi64(both, 1));
        }
        y += 2 * step;
    }
}

#define FUSED(flips, is_unsigned)                                                                  \
    VNNI static void fused_##flips##_##is_unsigned(                                                \
        const mxl_quantized_factors *f, int columns, const mxl_dots_runs *runs, const uint8_t *x,  \
        int64_t x_step, const int8_t *w, const int32_t *bias, uint8_t *y, int64_t step)            \
    {                                                                                              \
        fused_of(flips, is_unsigned, f, columns, runs, x, x_step, w, bias, y, step);               \
    }

FUSED(0, 0)
FUSED(0, 1)
FUSED(1, 0)
FUSED(1, 1)
#endif

void mxl_quantized_fused(const mxl_quantized_factors *f, int columns, const mxl_dots_runs *runs,
                         const uint8_t *x, int64_t x_step, uint8_t flip, const int8_t *w,
                         const int32_t *bias, uint8_t *y, int64_t step)
{
#if MXL_HAS_WIDE
    if (flip != 0 && f->is_unsigned)
        fused_1_1(f, columns, runs, x, x_step, w, bias, y, step);
    else if (flip != 0)
        fused_1_0(f, columns, runs, x, x_step, w, bias, y, step);
    else if (f->is_unsigned)
        fused_0_1(f, columns, runs, x, x_step, w, bias, y, step);
    else
        fused_0_0(f, columns, runs, x, x_step, w, bias, y, step);
#else
    (void)f, (void)columns, (void)runs, (void)x, (void)x_step, (void)flip, (void)w, (void)bias;
    (void)y, (void)step;
#endif
}

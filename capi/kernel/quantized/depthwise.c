/* Convolutions of bytes of which each channel has its own kernel; see job.h. Sixty-four channels of
 * a pixel stay in registers while the taps pass by: AVX-512 interleaves the bytes of four taps, and
 * the sums, in that order of channels, go back when they become bytes.
 *
 * Packed weights: [taps][blocks * 64], and then, for AVX-512, [blocks][fours of taps][4][64]. */
#include <stddef.h>
#include <string.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "kernel/quantized/bytes.h"
#include "kernel/quantized/job.h"

enum { N = MXL_DOTS_COLUMNS, BLOCK = 64, PARTS = 4 };

static int64_t blocks_of(const mxl_conv *v)
{
    return (v->groups + BLOCK - 1) / BLOCK;
}

static int64_t fours_of(const mxl_conv *v)
{
    return (mxl_quantized_taps(v) + 3) / 4;
}

size_t mxl_quantized_depthwise_bytes(const mxl_conv *v)
{
    return (size_t)(blocks_of(v) * BLOCK * (mxl_quantized_taps(v) + 4 * fours_of(v)));
}

/* The channel of a block that byte i / 4 of part `part` is of. */
static int64_t channel_of(int part, int i)
{
    return i / 16 * 16 + 4 * part + i / 4 % 4;
}

void mxl_quantized_depthwise_pack(const mxl_conv *v, const int8_t *w, int8_t *packed, int32_t *sums)
{
    int64_t taps = mxl_quantized_taps(v), blocks = blocks_of(v), wide = blocks * BLOCK;
    int8_t *to = packed + taps * wide;

    memset(sums, 0, (size_t)((v->groups + N - 1) / N * N) * sizeof(*sums));
    memset(packed, 0, mxl_quantized_depthwise_bytes(v));
    for (int64_t c = 0; c < v->groups; c++) {
        for (int64_t t = 0; t < taps; t++) {
            packed[t * wide + c] = w[c * taps + t];
            sums[c] += 128 * w[c * taps + t];
        }
    }
    for (int64_t b = 0; b < blocks; b++) {
        for (int64_t four = 0; four < fours_of(v); four++) {
            for (int part = 0; part < PARTS; part++) {
                for (int i = 0; i < BLOCK; i++, to++) {
                    int64_t t = 4 * four + i % 4;

                    if (t < taps)
                        *to = packed[t * wide + b * BLOCK + channel_of(part, i)];
                }
            }
        }
    }
}

/* ---- taps by themselves ---- */

MXL_INLINE void add_tap_at(int level, const uint8_t *x, uint8_t flip, const int8_t *w,
                           int32_t *sums, int64_t n)
{
    (void)level;
    MXL_IVDEP
    for (int64_t i = 0; i < n; i++)
        sums[i] += (int16_t)(uint8_t)(x[i] ^ flip) * (int16_t)w[i];
}
MXL_BY_LEVEL(add_tap,
             (const uint8_t *x, uint8_t flip, const int8_t *w, int32_t *sums, int64_t n), x, flip,
             w, sums, n)

static void run_pixel(const mxl_quantized_job *k, const uint8_t *const *under, int64_t pixel,
                      int32_t *sums)
{
    int64_t taps = mxl_quantized_taps(k->v), wide = blocks_of(k->v) * BLOCK;

    memset(sums, 0, (size_t)wide * sizeof(*sums));
    for (int64_t t = 0; t < taps; t++)
        add_tap(under[t], k->flip, k->w->packed + t * wide, sums, k->channels);
    for (int64_t c = 0; c < k->channels; c += N)
        mxl_quantized_end(k->tail, 1, (int)(k->channels - c < N ? k->channels - c : N), sums + c,
                          k->bias + c, k->y, pixel * k->channels + c, 0);
}

/* ---- AVX-512 with VNNI ---- */

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

/* acc += the products of a block with four taps. */
VNNI MXL_INLINE void add_four(const uint8_t *const *under, int64_t at, __mmask64 mask, __m512i flip,
                              const int8_t *w, __m512i acc[PARTS])
{
    __m512i x[4], pair[4], part[PARTS];

    UNROLL for (int t = 0; t < 4; t++) x[t] =
        _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, under[t] + at), flip);
    pair[0] = _mm512_unpacklo_epi8(x[0], x[1]);
    pair[1] = _mm512_unpackhi_epi8(x[0], x[1]);
    pair[2] = _mm512_unpacklo_epi8(x[2], x[3]);
    pair[3] = _mm512_unpackhi_epi8(x[2], x[3]);
    part[0] = _mm512_unpacklo_epi16(pair[0], pair[2]);
    part[1] = _mm512_unpackhi_epi16(pair[0], pair[2]);
    part[2] = _mm512_unpacklo_epi16(pair[1], pair[3]);
    part[3] = _mm512_unpackhi_epi16(pair[1], pair[3]);
    UNROLL for (int i = 0; i < PARTS; i++) acc[i] =
        _mm512_dpbusd_epi32(acc[i], part[i], _mm512_loadu_si512(w + (ptrdiff_t)i * BLOCK));
}

/* Sums in the order of the channels. */
VNNI MXL_INLINE void store_sums(const __m512i acc[PARTS], int32_t *sums)
{
    int32_t parts[PARTS][16];

    UNROLL for (int i = 0; i < PARTS; i++) _mm512_storeu_si512(parts[i], acc[i]);
    for (int i = 0; i < PARTS; i++) {
        for (int j = 0; j < BLOCK; j += 4)
            memcpy(sums + channel_of(i, j), &parts[i][j / 4], sizeof(int32_t));
    }
}

/* Sums that become bytes at once. */
VNNI MXL_INLINE __m512i to_bytes(const __m512i acc[PARTS], const int32_t *bias,
                                 const mxl_quantized_tail *t)
{
    __m512 low = _mm512_set1_ps(mxl_quantized_lowest(t->dtype, t->least));
    __m512 high = _mm512_set1_ps(mxl_quantized_highest(t->dtype));
    __m512 scale = _mm512_set1_ps(t->scale);
    __m512i sum[PARTS], pair[2];

    UNROLL for (int i = 0; i < PARTS; i++)
    {
        __m512 x = _mm512_cvtepi32_ps(
            _mm512_add_epi32(acc[i], _mm512_loadu_si512(bias + (ptrdiff_t)16 * i)));

        sum[i] = _mm512_cvtps_epi32(
            _mm512_max_ps(_mm512_min_ps(_mm512_mul_ps(x, scale), high), low));
    }
    UNROLL for (int i = 0; i < 2; i++) pair[i] = _mm512_packs_epi32(sum[2 * i], sum[2 * i + 1]);
    return t->dtype == MXL_U8 ? _mm512_packus_epi16(pair[0], pair[1])
                              : _mm512_packs_epi16(pair[0], pair[1]);
}

/* `bias` has the bias of each block in the order of the sums. */
VNNI static void run_pixel_vnni(const mxl_quantized_job *k, const uint8_t *const *under,
                                int64_t pixel, const int32_t *bias, int32_t *sums)
{
    const mxl_quantized_tail *t = k->tail;
    int64_t fours = fours_of(k->v), blocks = blocks_of(k->v);
    const int8_t *w = k->w->packed + blocks * BLOCK * mxl_quantized_taps(k->v);
    __m512i flip = _mm512_set1_epi8((char)k->flip);

    for (int64_t c = 0; c < k->channels; c += BLOCK) {
        int64_t n = k->channels - c;
        __mmask64 mask = n >= BLOCK ? ~(__mmask64)0 : (((__mmask64)1 << n) - 1);
        __m512i acc[PARTS];

        UNROLL for (int i = 0; i < PARTS; i++) acc[i] = _mm512_setzero_si512();
        for (int64_t four = 0; four < fours; four++, w += PARTS * BLOCK)
            add_four(under + 4 * four, c, mask, flip, w, acc);
        if (t != NULL && t->add == NULL)
            _mm512_mask_storeu_epi8((uint8_t *)k->y + pixel * k->channels + c, mask,
                                    to_bytes(acc, bias + c, t));
        else
            store_sums(acc, sums + c);
    }
    for (int64_t c = 0; c < k->channels && (t == NULL || t->add != NULL); c += N)
        mxl_quantized_end(t, 1, (int)(k->channels - c < N ? k->channels - c : N), sums + c,
                          k->bias + c, k->y, pixel * k->channels + c, 0);
}
#endif

/* ---- the work ---- */

/* Where the taps of a pixel are; `zeros` outside. */
static void find_taps(const mxl_quantized_job *k, int64_t pixel, const uint8_t *zeros,
                      const uint8_t **under)
{
    const mxl_conv *v = k->v;
    int64_t corner[3], image = mxl_quantized_corner(k, pixel, corner);
    int64_t size = v->x_size[0] * v->x_size[1] * v->x_size[2] * k->x_channels;
    const uint8_t *x = k->x + image * size;

    for (int64_t i = 0; i < v->kernel[0] * v->kernel[1]; i++) {
        int64_t d = corner[0] + i / v->kernel[1] * v->dilate[0];
        int64_t h = corner[1] + i % v->kernel[1] * v->dilate[1];
        bool in = d >= 0 && d < v->x_size[0] && h >= 0 && h < v->x_size[1];
        const uint8_t *row = x + (d * v->x_size[1] + h) * v->x_size[2] * k->x_channels;

        for (int64_t j = 0; j < v->kernel[2]; j++) {
            int64_t w = corner[2] + j * v->dilate[2];

            *under++ = in && w >= 0 && w < v->x_size[2] ? row + w * k->x_channels : zeros;
        }
    }
}

void mxl_quantized_depthwise(void *data, int64_t begin, int64_t end)
{
    mxl_quantized_job *k = data;
    int64_t wide = blocks_of(k->v) * BLOCK, taps = 4 * fours_of(k->v);
    size_t bytes = (size_t)wide * (2 * sizeof(int32_t) + 1) + (size_t)taps * sizeof(void *);
    const uint8_t **under = mxl_alloc_zero(bytes);
    int32_t *sums, *bias;
    uint8_t *zeros;

    if (under == NULL) {
        k->failed = 1;
        return;
    }
    sums = (int32_t *)(void *)(under + taps);
    bias = sums + wide;
    zeros = (uint8_t *)(bias + wide);
    for (int64_t c = 0; c < wide; c++) {
        int64_t of = c / BLOCK * BLOCK + channel_of((int)(c % BLOCK / 16), (int)(c % 16 * 4));

        bias[c] = of < k->channels ? k->bias[of] : 0;
    }
    for (int64_t t = 0; t < taps; t++)
        under[t] = zeros;
    for (int64_t p = begin; p < end; p++) {
        find_taps(k, p, zeros, under);
#if MXL_HAS_WIDE
        if (mxl_level_has_vnni()) {
            run_pixel_vnni(k, under, p, bias, sums);
            continue;
        }
#endif
        run_pixel(k, under, p, sums);
    }
    mxl_free(under, bytes);
}

/* Convolutions of bytes of which each channel has its own kernel; see job.h. Sixty-four channels of
 * a pixel stay in registers while the taps pass by: AVX-512 interleaves the bytes of four taps, and
 * the sums, in that order of channels, go back when they become bytes. Of a kernel of 3 x 3 the
 * taps of a column are interleaved, once for the three pixels that they are under.
 *
 * Packed weights: [taps][blocks * 64], and then, for AVX-512, [blocks][fours of taps][4][64]. */
#include <stddef.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/quantized/bytes.h"
#include "kernel/quantized/job.h"
#include "kernel/quantized/vnni.h"

enum { N = MXL_DOTS_COLUMNS, BLOCK = 64, PARTS = 4, GRAIN = 1 << 13 };

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

/* Whether kernels are taken by columns. */
static bool has_columns(const mxl_conv *v)
{
    return v->kernel[0] == 1 && v->kernel[1] == 3 && v->kernel[2] == 3 && v->dilate[2] == 1 &&
           v->stride[2] <= 2;
}

/* The tap that is number i of a four; -1: none. */
static int64_t tap_of(const mxl_conv *v, int64_t four, int64_t i)
{
    int64_t t = 4 * four + i;

    if (has_columns(v))
        return i < 3 ? 3 * i + four : -1;
    return t < mxl_quantized_taps(v) ? t : -1;
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
                    int64_t t = tap_of(v, four, i % 4);

                    if (t >= 0)
                        *to = packed[t * wide + b * BLOCK + channel_of(part, i)];
                }
            }
        }
    }
}

/* The bias of all blocks, each in the order of its sums. */
static void mix_bias(const mxl_quantized_job *k, int32_t *mixed)
{
    for (int64_t b = 0; b < blocks_of(k->v); b++) {
        for (int i = 0; i < BLOCK; i++) {
            int64_t c = b * BLOCK + channel_of(i / 16, i % 16 * 4);

            mixed[b * BLOCK + i] = c < k->channels ? k->bias[c] : 0;
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
MXL_BY_LEVEL(add_tap, (const uint8_t *x, uint8_t flip, const int8_t *w, int32_t *sums, int64_t n),
             x, flip, w, sums, n)

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
VNNI MXL_INLINE __m512i load_block(const uint8_t *from, bool whole, __mmask64 mask)
{
    return whole ? _mm512_loadu_si512(from) : _mm512_maskz_loadu_epi8(mask, from);
}

/* The bytes of four taps, four by four. */
VNNI MXL_INLINE void interleave(const __m512i x[4], __m512i part[PARTS])
{
    __m512i a = _mm512_unpacklo_epi8(x[0], x[1]), b = _mm512_unpackhi_epi8(x[0], x[1]);
    __m512i c = _mm512_unpacklo_epi8(x[2], x[3]), d = _mm512_unpackhi_epi8(x[2], x[3]);

    part[0] = _mm512_unpacklo_epi16(a, c);
    part[1] = _mm512_unpackhi_epi16(a, c);
    part[2] = _mm512_unpacklo_epi16(b, d);
    part[3] = _mm512_unpackhi_epi16(b, d);
}

VNNI MXL_INLINE void add_parts(const __m512i part[PARTS], const int8_t *w, __m512i acc[PARTS])
{
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

/* Sums with their bias that become bytes at once. (Integers are cut to the bytes' limits as they
 * are narrowed; what is too large for an int32 is cut before.) */
VNNI MXL_INLINE __m512i to_bytes(const __m512i acc[PARTS], const mxl_quantized_tail *t)
{
    __m512 high = _mm512_set1_ps(mxl_quantized_highest(t->dtype)), scale = _mm512_set1_ps(t->scale);
    bool fits = mxl_quantized_fits(t->scale);
    __m512i sum[PARTS], low, high_half;

    UNROLL for (int i = 0; i < PARTS; i++)
    {
        __m512 x = _mm512_mul_ps(_mm512_cvtepi32_ps(acc[i]), scale);

        sum[i] = _mm512_cvtps_epi32(fits ? x : _mm512_min_ps(x, high));
    }
    low = _mm512_packs_epi32(sum[0], sum[1]);
    high_half = _mm512_packs_epi32(sum[2], sum[3]);
    if (t->dtype == MXL_U8)
        return _mm512_packus_epi16(low, high_half);
    return _mm512_max_epi8(_mm512_packs_epi16(low, high_half), _mm512_set1_epi8((char)t->least));
}

/* Writes the sums of a block of n channels of a pixel, which begins at place `at` of y. `bias` is
 * in the order of the channels, and used where sums are not bytes yet. */
VNNI MXL_INLINE void end_block(const mxl_quantized_job *k, bool whole, const __m512i acc[PARTS],
                               int64_t at, int64_t n, __mmask64 mask)
{
    static const int32_t none[BLOCK];
    const mxl_quantized_tail *t = k->tail;
    uint8_t *y = (uint8_t *)k->y + at;
    int32_t sums[BLOCK];

    if (t != NULL && t->add == NULL) {
        __m512i bytes = to_bytes(acc, t);

        if (whole)
            _mm512_storeu_si512(y, bytes);
        else
            _mm512_mask_storeu_epi8(y, mask, bytes);
        return;
    }
    store_sums(acc, sums);
    for (int64_t c = 0; c < n; c += N)
        mxl_quantized_end(t, 1, (int)(n - c < N ? n - c : N), sums + c, none, k->y, at + c, 0);
}

/* The block of n channels from c on; `bias`, in the order of the sums, and w are those of the
 * block. */
VNNI MXL_INLINE void run_block(bool whole, const mxl_quantized_job *k, const uint8_t *const *under,
                               int64_t pixel, int64_t c, int64_t n, const int32_t *bias,
                               const int8_t *w)
{
    int64_t fours = fours_of(k->v);
    __m512i flip = _mm512_set1_epi8((char)k->flip), acc[PARTS], x[4], part[PARTS];
    __mmask64 mask = whole ? ~(__mmask64)0 : (((__mmask64)1 << n) - 1);

    UNROLL for (int i = 0; i < PARTS; i++) acc[i] = _mm512_loadu_si512(bias + (ptrdiff_t)16 * i);
    for (int64_t four = 0; four < fours; four++, w += PARTS * BLOCK) {
        UNROLL for (int i = 0; i < 4; i++) x[i] =
            _mm512_xor_si512(load_block(under[4 * four + i] + c, whole, mask), flip);
        interleave(x, part);
        add_parts(part, w, acc);
    }
    end_block(k, whole, acc, pixel * k->channels + c, n, mask);
}

/* `bias` has the bias of each block in the order of the sums. */
VNNI static void run_pixel_vnni(const mxl_quantized_job *k, const uint8_t *const *under,
                                int64_t pixel, const int32_t *bias)
{
    int64_t size = fours_of(k->v) * PARTS, c = 0;
    const int8_t *w = k->w->packed + blocks_of(k->v) * BLOCK * mxl_quantized_taps(k->v);

    for (; c + BLOCK <= k->channels; c += BLOCK)
        run_block(true, k, under, pixel, c, BLOCK, bias + c, w + c * size);
    if (c < k->channels)
        run_block(false, k, under, pixel, c, k->channels - c, bias + c, w + c * size);
}

/* ---- kernels of 3 x 3 ---- */

/* A row of y, of one block of channels. */
typedef struct line {
    const uint8_t *row[3]; /* of x, under the rows of the kernel; NULL: outside */
    int64_t width, step;   /* of x; bytes between its pixels */
    __mmask64 mask;
    __m512i flip;
} line;

/* The three taps of column w of x. */
VNNI MXL_INLINE void load_column(bool whole, const line *l, int64_t w, __m512i part[PARTS])
{
    __m512i x[4];

    UNROLL for (int i = 0; i < 3; i++)
    {
        bool here = l->row[i] != NULL && w >= 0 && w < l->width;

        x[i] = here ? load_block(l->row[i] + w * l->step, whole, l->mask) : _mm512_setzero_si512();
        x[i] = _mm512_xor_si512(x[i], l->flip);
    }
    x[3] = _mm512_setzero_si512();
    interleave(x, part);
}

#define MOVE(to, from) UNROLL for (int i_ = 0; i_ < PARTS; i_++)(to)[i_] = (from)[i_]

VNNI MXL_INLINE void run_line(bool whole, int stride, const mxl_quantized_job *k, const line *l,
                              int64_t first, int64_t n, const int32_t *bias, const int8_t *w)
{
    const mxl_conv *v = k->v;
    __m512i a[PARTS], b[PARTS], c[PARTS], acc[PARTS];
    int64_t x = -v->pad[2];

    load_column(whole, l, x, a);
    if (stride == 1)
        load_column(whole, l, x + 1, b);
    for (int64_t o = 0; o < v->y_size[2]; o++, x += stride, first += k->channels) {
        UNROLL for (int i = 0; i < PARTS; i++) acc[i] =
            _mm512_loadu_si512(bias + (ptrdiff_t)16 * i);
        if (stride == 2)
            load_column(whole, l, x + 1, b);
        load_column(whole, l, x + 2, c);
        add_parts(a, w, acc);
        add_parts(b, w + (ptrdiff_t)PARTS * BLOCK, acc);
        add_parts(c, w + (ptrdiff_t)2 * PARTS * BLOCK, acc);
        end_block(k, whole, acc, first, n, l->mask);
        if (stride == 1) {
            MOVE(a, b);
            MOVE(b, c);
        } else {
            MOVE(a, c);
        }
    }
}

VNNI static void run_whole_line(const mxl_quantized_job *k, const line *l, int64_t first, int64_t n,
                                const int32_t *bias, const int8_t *w)
{
    if (k->v->stride[2] == 1)
        run_line(true, 1, k, l, first, n, bias, w);
    else
        run_line(true, 2, k, l, first, n, bias, w);
}

VNNI static void run_part_line(const mxl_quantized_job *k, const line *l, int64_t first, int64_t n,
                               const int32_t *bias, const int8_t *w)
{
    if (k->v->stride[2] == 1)
        run_line(false, 1, k, l, first, n, bias, w);
    else
        run_line(false, 2, k, l, first, n, bias, w);
}

/* Row `row` of y, of all images, and the block of channels from c on. */
VNNI static void find_line(const mxl_quantized_job *k, int64_t row, int64_t c, line *l)
{
    const mxl_conv *v = k->v;
    int64_t plane = row / v->y_size[1], top = row % v->y_size[1] * v->stride[1] - v->pad[1];
    int64_t image = plane / v->y_size[0], depth = plane % v->y_size[0] * v->stride[0] - v->pad[0];
    int64_t n = k->channels - c;

    l->width = v->x_size[2];
    l->step = k->x_channels;
    l->mask = n >= BLOCK ? ~(__mmask64)0 : (((__mmask64)1 << n) - 1);
    l->flip = _mm512_set1_epi8((char)k->flip);
    for (int i = 0; i < 3; i++) {
        int64_t h = top + i * v->dilate[1];
        bool in = h >= 0 && h < v->x_size[1] && depth >= 0 && depth < v->x_size[0];

        l->row[i] =
            in ? k->x +
                     (((image * v->x_size[0] + depth) * v->x_size[1] + h) * l->width * l->step + c)
               : NULL;
    }
}

/* Whether threads divide channels: as they do in a layer before this one that has a sixth of its
 * channels, so that they find in their caches what they have written. */
static bool divides_channels(const mxl_quantized_job *k)
{
    const mxl_conv *v = k->v;

    return k->channels > 7 * v->batch * v->x_size[0] * v->x_size[1] * v->x_size[2];
}

/* Ranges count blocks of channels of rows of y, of all images. */
VNNI static void run_lines(void *data, int64_t begin, int64_t end)
{
    const mxl_quantized_job *k = data;
    const mxl_conv *v = k->v;
    int64_t rows = k->pixels / v->y_size[2];
    bool by_channels = divides_channels(k);
    int64_t blocks = blocks_of(v), size = 3 * PARTS * BLOCK;
    const int8_t *w = k->w->packed + blocks * BLOCK * mxl_quantized_taps(v);

    for (int64_t i = begin; i < end; i++) {
        int64_t row = by_channels ? i % rows : i / blocks;
        int64_t b = by_channels ? i / rows : i % blocks, c = b * BLOCK, n = k->channels - c;
        int64_t first = row * v->y_size[2] * k->channels + c;
        const int32_t *bias = k->mixed + c;
        line l;

        find_line(k, row, c, &l);
        if (n >= BLOCK)
            run_whole_line(k, &l, first, BLOCK, bias, w + b * size);
        else
            run_part_line(k, &l, first, n, bias, w + b * size);
    }
}
#endif

/* ---- the work ---- */

/* Where the taps of a pixel are; `zeros` outside. Whether all are inside. */
static bool find_taps(const mxl_quantized_job *k, const mxl_quantized_pixel *pixel,
                      const uint8_t *zeros, const uint8_t **under)
{
    const mxl_conv *v = k->v;
    int64_t size = v->x_size[0] * v->x_size[1] * v->x_size[2] * k->x_channels;
    const uint8_t *x = k->x + pixel->image * size;
    bool all = true;

    for (int64_t i = 0; i < v->kernel[0] * v->kernel[1]; i++) {
        int64_t d = pixel->corner[0] + i / v->kernel[1] * v->dilate[0];
        int64_t h = pixel->corner[1] + i % v->kernel[1] * v->dilate[1];
        bool in = d >= 0 && d < v->x_size[0] && h >= 0 && h < v->x_size[1];
        const uint8_t *row = x + (d * v->x_size[1] + h) * v->x_size[2] * k->x_channels;

        for (int64_t j = 0; j < v->kernel[2]; j++) {
            int64_t w = pixel->corner[2] + j * v->dilate[2];
            bool here = in && w >= 0 && w < v->x_size[2];

            *under++ = here ? row + w * k->x_channels : zeros;
            all = all && here;
        }
    }
    return all;
}

/* The same for the next pixel of a row, if all taps of this one are inside, and of that one too. */
static bool move_taps(const mxl_quantized_job *k, const mxl_quantized_pixel *pixel,
                      const uint8_t **under)
{
    const mxl_conv *v = k->v;
    int64_t last = pixel->corner[2] + (v->kernel[2] - 1) * v->dilate[2], taps;

    if (pixel->at[2] == 0 || last >= v->x_size[2])
        return false;
    taps = mxl_quantized_taps(v);
    for (int64_t t = 0; t < taps; t++)
        under[t] += v->stride[2] * k->x_channels;
    return true;
}

/* Ranges count pixels of y. */
static void run_pixels(void *data, int64_t begin, int64_t end)
{
    mxl_quantized_job *k = data;
    int64_t wide = blocks_of(k->v) * BLOCK, taps = 4 * fours_of(k->v);
    size_t bytes = (size_t)wide * (sizeof(int32_t) + 1) + (size_t)taps * sizeof(void *);
    const uint8_t **under = mxl_alloc_zero(bytes);
    mxl_quantized_pixel pixel;
    bool inside = false;
    int32_t *sums;
    uint8_t *zeros;

    if (under == NULL) {
        k->failed = 1;
        return;
    }
    sums = (int32_t *)(void *)(under + taps);
    zeros = (uint8_t *)(sums + wide);
    for (int64_t t = 0; t < taps; t++)
        under[t] = zeros;
    pixel = mxl_quantized_pixel_of(k, begin);
    for (int64_t p = begin; p < end; p++, mxl_quantized_pixel_next(k->v, &pixel)) {
        if (!inside || !move_taps(k, &pixel, under))
            inside = find_taps(k, &pixel, zeros, under);
#if MXL_HAS_WIDE
        if (mxl_level_has_vnni()) {
            run_pixel_vnni(k, under, p, k->mixed);
            continue;
        }
#endif
        run_pixel(k, under, p, sums);
    }
    mxl_free(under, bytes);
}

static void run_all(mxl_quantized_job *k)
{
#if MXL_HAS_WIDE
    if (has_columns(k->v) && mxl_level_has_vnni()) {
        int64_t rows = k->pixels / k->v->y_size[2], unit = GRAIN / (BLOCK * k->v->y_size[2]) + 1;

        mxl_parallel_fine(rows * blocks_of(k->v), unit, 8 * unit, run_lines, k);
        return;
    }
#endif
    mxl_parallel_for(k->pixels, 8 * GRAIN / (mxl_quantized_taps(k->v) * k->channels) + 1,
                     run_pixels, k);
}

int mxl_quantized_depthwise(mxl_quantized_job *k)
{
    size_t bytes = (size_t)(blocks_of(k->v) * BLOCK) * sizeof(int32_t);

    k->mixed = mxl_alloc(bytes);
    if (k->mixed == NULL)
        return -1;
    mix_bias(k, k->mixed);
    run_all(k);
    mxl_free(k->mixed, bytes);
    return k->failed ? mxl_error_memory(bytes) : 0;
}

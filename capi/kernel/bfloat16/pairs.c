/* See pairs.h. */
#include "kernel/bfloat16/pairs.h"

#include <stddef.h>
#include <string.h>

#include "kernel/target.h"

#if MXL_HAS_WIDE
#include <immintrin.h>

enum {
    R = MXL_PAIRS_ROWS,
    N = MXL_PAIRS_COLUMNS,
    ROWS_AT_ONCE = 8,
    LANES = 16,
    AHEAD = 32,
    FEW = 2
};

#define UNROLL _Pragma("GCC unroll 16")

#if defined(__clang__)
#define BF16 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,fma,f16c")))
#else
#define BF16                                                                                       \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,fma,f16c,prefer-vector-"  \
                          "width=512")))
#endif

bool mxl_pairs_are_fast(void)
{
    return mxl_level_has_bfloat16();
}

/* ---- tiles ---- */

/* A few columns behind one vector of them: products with the weights of all rows, as lanes. */
BF16 MXL_INLINE void tile_of(int rows, int vectors, int columns, int64_t pairs, const uint32_t *w,
                             const uint32_t *x, float *sums)
{
    __m512 acc[R][2], more[FEW];
    __mmask16 mask = (__mmask16)((1U << rows) - 1);

    UNROLL for (int r = 0; r < rows; r++) acc[r][0] = acc[r][1] = _mm512_setzero_ps();
    UNROLL for (int c = 0; c < columns; c++) more[c] = _mm512_setzero_ps();
    for (int64_t p = 0; p < pairs; p++, x += N, w += rows) {
        __m512i a = _mm512_loadu_si512(x), b = vectors > 1 ? _mm512_loadu_si512(x + LANES) : a;

        _mm_prefetch((const char *)(w + (ptrdiff_t)AHEAD * rows), _MM_HINT_T0);
        UNROLL for (int r = 0; r < rows; r++)
        {
            __m512i by = _mm512_set1_epi32((int)w[r]);

            acc[r][0] = _mm512_dpbf16_ps(acc[r][0], (__m512bh)a, (__m512bh)by);
            if (vectors > 1)
                acc[r][1] = _mm512_dpbf16_ps(acc[r][1], (__m512bh)b, (__m512bh)by);
        }
        if (columns > 0)
            b = _mm512_maskz_loadu_epi32(mask, w);
        UNROLL for (int c = 0; c < columns; c++) more[c] =
            _mm512_dpbf16_ps(more[c], (__m512bh)b, (__m512bh)_mm512_set1_epi32((int)x[LANES + c]));
    }
    UNROLL for (int r = 0; r < rows; r++)
    {
        _mm512_storeu_ps(sums + (ptrdiff_t)r * N, acc[r][0]);
        if (vectors > 1)
            _mm512_storeu_ps(sums + (ptrdiff_t)r * N + LANES, acc[r][1]);
    }
    UNROLL for (int c = 0; c < columns; c++)
    {
        float lanes[LANES];

        _mm512_storeu_ps(lanes, more[c]);
        for (int r = 0; r < rows; r++)
            sums[(ptrdiff_t)r * N + LANES + c] = lanes[r];
    }
}

#define TILE(rows, kind, vectors, columns)                                                         \
    BF16 static void tile_##rows##_##kind(int64_t pairs, const uint32_t *w, const uint32_t *x,     \
                                          float *sums)                                             \
    {                                                                                              \
        tile_of(rows, vectors, columns, pairs, w, x, sums);                                        \
    }
#define TILES(rows)    TILE(rows, one, 1, 0) TILE(rows, few, 1, FEW) TILE(rows, two, 2, 0)
#define EACH_HEIGHT(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
#define ENTRIES(rows)  {tile_##rows##_one, tile_##rows##_few, tile_##rows##_two},

EACH_HEIGHT(TILES)

typedef void (*tile)(int64_t pairs, const uint32_t *w, const uint32_t *x, float *sums);
static const tile tiles[R][3] = {EACH_HEIGHT(ENTRIES)};

void mxl_pairs_tile(int rows, int columns, int64_t pairs, const uint32_t *w, const uint32_t *x,
                    float *sums)
{
    int kind = columns > LANES + FEW ? 2 : columns > LANES;

    tiles[rows - 1][kind](pairs, w, x, sums);
}

/* ---- rows ---- */

BF16 MXL_INLINE void rows_of(int rows, int64_t k, const uint16_t *x, const uint16_t *w, int64_t ld,
                             float *sums)
{
    __m512 acc[ROWS_AT_ONCE];

    UNROLL for (int r = 0; r < rows; r++) acc[r] = _mm512_setzero_ps();
    for (int64_t i = 0; i < k; i += N) {
        __mmask32 mask = i + N <= k ? ~(__mmask32)0 : (((__mmask32)1 << (k - i)) - 1);
        __m512i a = _mm512_maskz_loadu_epi16(mask, x + i);

        UNROLL for (int r = 0; r < rows; r++)
        {
            __m512i b = _mm512_maskz_loadu_epi16(mask, w + r * ld + i);

            acc[r] = _mm512_dpbf16_ps(acc[r], (__m512bh)a, (__m512bh)b);
        }
    }
    UNROLL for (int r = 0; r < rows; r++) sums[r] = _mm512_reduce_add_ps(acc[r]);
}

BF16 void mxl_pairs_rows(int64_t k, const uint16_t *x, const uint16_t *w, int64_t ld, int64_t rows,
                         float *sums)
{
    int64_t r = 0;

    for (; r + ROWS_AT_ONCE <= rows; r += ROWS_AT_ONCE)
        rows_of(ROWS_AT_ONCE, k, x, w + r * ld, ld, sums + r);
    for (; r < rows; r++)
        rows_of(1, k, x, w + r * ld, ld, sums + r);
}

/* ---- ends ---- */

BF16 void mxl_pairs_store(const mxl_pairs_end *end, const float *sums, const uint16_t *add,
                          uint16_t *y, int64_t n)
{
    __m512 scale = _mm512_set1_ps(end->scale), bias = _mm512_set1_ps(end->bias);
    __m512 low = _mm512_set1_ps(end->low), high = _mm512_set1_ps(end->high);

    for (int64_t i = 0; i < n; i += LANES) {
        __mmask16 mask = (__mmask16)(n - i >= LANES ? 0xFFFFU : (1U << (n - i)) - 1);
        __m512 s = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(mask, sums + i), scale, bias);

        if (add != NULL) {
            __m512i more = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, add + i));

            s = _mm512_add_ps(s, _mm512_castsi512_ps(_mm512_slli_epi32(more, 16)));
        }
        /* (The second operand stays where one is NaN.) */
        s = _mm512_min_ps(high, _mm512_max_ps(low, s));
        _mm256_mask_storeu_epi16(y + i, mask, (__m256i)_mm512_cvtneps_pbh(s));
    }
}

static uint32_t pair_at(const uint16_t *x, int64_t q, int64_t k)
{
    return x[q] | (q + 1 < k ? (uint32_t)x[q + 1] << 16 : 0);
}

/* Four rows of four pairs. */
BF16 MXL_INLINE void turn_four(const uint16_t *x, int64_t ld, uint32_t *to, int64_t width)
{
    __m128i a = _mm_loadu_si128((const __m128i *)x);
    __m128i b = _mm_loadu_si128((const __m128i *)(x + ld));
    __m128i c = _mm_loadu_si128((const __m128i *)(x + 2 * ld));
    __m128i d = _mm_loadu_si128((const __m128i *)(x + 3 * ld));
    __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);

    _mm_storeu_si128((__m128i *)to, _mm_unpacklo_epi64(ab, cd));
    _mm_storeu_si128((__m128i *)(to + width), _mm_unpackhi_epi64(ab, cd));
    ab = _mm_unpackhi_epi32(a, b);
    cd = _mm_unpackhi_epi32(c, d);
    _mm_storeu_si128((__m128i *)(to + 2 * width), _mm_unpacklo_epi64(ab, cd));
    _mm_storeu_si128((__m128i *)(to + 3 * width), _mm_unpackhi_epi64(ab, cd));
}

BF16 void mxl_pairs_turn(const uint16_t *x, int64_t ld, int64_t rows, int64_t k, uint32_t *to,
                         int64_t width)
{
    int64_t fours = rows / 4 * 4, eights = k / 8 * 8;

    for (int64_t r = 0; r < fours; r += 4)
        for (int64_t q = 0; q < eights; q += 8)
            turn_four(x + r * ld + q, ld, to + q / 2 * width + r, width);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t q = r < fours ? eights : 0; q < k; q += 2)
            to[q / 2 * width + r] = pair_at(x + r * ld, q, k);
}

BF16 void mxl_pairs_halve(const uint32_t *from, uint32_t *to)
{
    __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512(from + LANES);

    _mm512_storeu_si512(to, _mm512_permutex2var_epi32(a, even, b));
}

BF16 void mxl_pairs_weave(const uint16_t *a, const uint16_t *b, uint32_t *to, int64_t n)
{
    for (int64_t i = 0; i < n; i += LANES) {
        __mmask16 mask = (__mmask16)(n - i >= LANES ? 0xFFFFU : (1U << (n - i)) - 1);
        __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, a + i)), high = low;

        if (b != NULL) {
            high = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, b + i));
            low = _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
        }
        _mm512_mask_storeu_epi32(to + i, mask, low);
    }
}

#else

bool mxl_pairs_are_fast(void)
{
    return false;
}

void mxl_pairs_tile(int rows, int columns, int64_t pairs, const uint32_t *w, const uint32_t *x,
                    float *sums)
{
    (void)columns, (void)pairs, (void)w, (void)x;
    memset(sums, 0, (size_t)rows * MXL_PAIRS_COLUMNS * sizeof(*sums));
}

void mxl_pairs_rows(int64_t k, const uint16_t *x, const uint16_t *w, int64_t ld, int64_t rows,
                    float *sums)
{
    (void)k, (void)x, (void)w, (void)ld;
    memset(sums, 0, (size_t)rows * sizeof(*sums));
}

void mxl_pairs_store(const mxl_pairs_end *end, const float *sums, const uint16_t *add, uint16_t *y,
                     int64_t n)
{
    (void)end, (void)sums, (void)add;
    memset(y, 0, (size_t)n * sizeof(*y));
}

void mxl_pairs_turn(const uint16_t *x, int64_t ld, int64_t rows, int64_t k, uint32_t *to,
                    int64_t width)
{
    (void)x, (void)ld, (void)k, (void)width;
    memset(to, 0, (size_t)rows * sizeof(*to));
}

void mxl_pairs_halve(const uint32_t *from, uint32_t *to)
{
    (void)from;
    memset(to, 0, 16 * sizeof(*to));
}

void mxl_pairs_weave(const uint16_t *a, const uint16_t *b, uint32_t *to, int64_t n)
{
    (void)a, (void)b;
    memset(to, 0, (size_t)n * sizeof(*to));
}
#endif

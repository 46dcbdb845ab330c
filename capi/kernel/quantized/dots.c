/* See dots.h. Level AVX-512 with VNNI has instructions for it; AVX2 multiplies the even and the odd
 * bytes by themselves, as numbers of 16 bits. aarch64's loops are in dots_neon.c. */
#include "kernel/quantized/dots.h"

#include <stddef.h>
#include <string.h>

#include "kernel/quantized/neon.h"
#include "kernel/quantized/vnni.h"

enum { R = MXL_DOTS_ROWS, N = MXL_DOTS_COLUMNS };

/* ---- the baseline ---- */

static void tile_plain(int rows, const mxl_dots_runs *runs, const uint8_t *x, int64_t step,
                       uint8_t flip, const int8_t *w, int32_t *sums)
{
    memset(sums, 0, (size_t)rows * N * sizeof(*sums));
    for (int64_t i = 0; i < runs->count * runs->quads; i++, w += (ptrdiff_t)4 * N) {
        const uint8_t *from = x + runs->offset[i / runs->quads] + i % runs->quads * 4;

        for (int r = 0; r < rows; r++) {
            int32_t *to = sums + (ptrdiff_t)r * N, four[4];

            for (int j = 0; j < 4; j++)
                four[j] = from[r * step + j] ^ flip;
            for (int c = 0; c < N; c++) {
                const int8_t *by = w + (ptrdiff_t)4 * c;

                to[c] += by[0] * four[0] + by[1] * four[1] + by[2] * four[2] + by[3] * four[3];
            }
        }
    }
}

#define PLAIN_ROW(name, T)                                                                         \
    static int32_t name(int64_t k, const T *x, const int8_t *w)                                    \
    {                                                                                              \
        int32_t sum = 0;                                                                           \
                                                                                                   \
        for (int64_t i = 0; i < k; i++)                                                            \
            sum += x[i] * w[i];                                                                    \
        return sum;                                                                                \
    }

PLAIN_ROW(row_plain_i8, int8_t)
PLAIN_ROW(row_plain_u8, uint8_t)

static void rows_plain(bool is_unsigned, int64_t k, const void *x, const int8_t *w, int64_t rows,
                       int32_t *sums)
{
    for (int64_t i = 0; i < rows; i++, w += k)
        sums[i] = is_unsigned ? row_plain_u8(k, x, w) : row_plain_i8(k, x, w);
}

#if MXL_HAS_WIDE

/* ---- AVX2 ---- */

/* acc + the products of four neighbouring bytes; those of `odd` and `even` are numbers of 16 bits.
 */
MXL_TARGET_AVX2 MXL_INLINE __m256i add_quads(__m256i acc, __m256i w, __m256i even, __m256i odd)
{
    __m256i low = _mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8);

    acc = _mm256_add_epi32(acc, _mm256_madd_epi16(low, even));
    return _mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_srai_epi16(w, 8), odd));
}

MXL_TARGET_AVX2 MXL_INLINE __m256i load_256(const void *from)
{
    return _mm256_loadu_si256(from);
}

/* `rows` rows and 16 columns. */
MXL_TARGET_AVX2 MXL_INLINE void part_avx2_of(int rows, const mxl_dots_runs *runs, const uint8_t *x,
                                             int64_t step, uint8_t flip, const int8_t *w,
                                             int32_t *sums)
{
    __m256i acc[4][2], bytes = _mm256_set1_epi16(255);
    int32_t flips = (int32_t)(flip * 0x01010101U);

    UNROLL for (int r = 0; r < rows; r++) acc[r][0] = acc[r][1] = _mm256_setzero_si256();
    for (int64_t i = 0; i < runs->count; i++) {
        const uint8_t *from = x + runs->offset[i];

        for (int64_t q = 0; q < runs->quads; q++, from += 4, w += (ptrdiff_t)4 * N) {
            __m256i a = load_256(w), b = load_256(w + 32);
            __m256i a_even = _mm256_srai_epi16(_mm256_slli_epi16(a, 8), 8);
            __m256i b_even = _mm256_srai_epi16(_mm256_slli_epi16(b, 8), 8);
            __m256i a_odd = _mm256_srai_epi16(a, 8), b_odd = _mm256_srai_epi16(b, 8);

            UNROLL for (int r = 0; r < rows; r++)
            {
                int32_t four;
                __m256i all, even, odd;

                memcpy(&four, from + r * step, 4);
                all = _mm256_set1_epi32(four ^ flips);
                even = _mm256_and_si256(all, bytes);
                odd = _mm256_srli_epi16(all, 8);
                acc[r][0] = _mm256_add_epi32(acc[r][0], _mm256_madd_epi16(a_even, even));
                acc[r][1] = _mm256_add_epi32(acc[r][1], _mm256_madd_epi16(b_even, even));
                acc[r][0] = _mm256_add_epi32(acc[r][0], _mm256_madd_epi16(a_odd, odd));
                acc[r][1] = _mm256_add_epi32(acc[r][1], _mm256_madd_epi16(b_odd, odd));
            }
        }
    }
    UNROLL for (int r = 0; r < rows; r++)
    {
        _mm256_storeu_si256((__m256i *)(sums + (ptrdiff_t)r * N), acc[r][0]);
        _mm256_storeu_si256((__m256i *)(sums + (ptrdiff_t)r * N + 8), acc[r][1]);
    }
}

MXL_TARGET_AVX2 static void part_avx2_4(const mxl_dots_runs *runs, const uint8_t *x, int64_t step,
                                        uint8_t flip, const int8_t *w, int32_t *sums)
{
    part_avx2_of(4, runs, x, step, flip, w, sums);
}

MXL_TARGET_AVX2 static void part_avx2_1(const mxl_dots_runs *runs, const uint8_t *x, int64_t step,
                                        uint8_t flip, const int8_t *w, int32_t *sums)
{
    part_avx2_of(1, runs, x, step, flip, w, sums);
}

static void tile_avx2(int rows, int columns, const mxl_dots_runs *runs, const uint8_t *x,
                      int64_t step, uint8_t flip, const int8_t *w, int32_t *sums)
{
    for (int c = 0; c < columns; c += 16) {
        int r = 0;

        for (; r + 4 <= rows; r += 4)
            part_avx2_4(runs, x + r * step, step, flip, w + (ptrdiff_t)4 * c,
                        sums + (ptrdiff_t)r * N + c);
        for (; r < rows; r++)
            part_avx2_1(runs, x + r * step, step, flip, w + (ptrdiff_t)4 * c,
                        sums + (ptrdiff_t)r * N + c);
    }
}

MXL_TARGET_AVX2 static int32_t row_avx2(bool is_unsigned, int64_t k, const uint8_t *x,
                                        const int8_t *w)
{
    __m256i acc = _mm256_setzero_si256(), bytes = _mm256_set1_epi16(255);
    uint8_t x_end[32] = {0}, w_end[32] = {0};
    int32_t lanes[8], sum = 0;

    memcpy(x_end, x + k / 32 * 32, (size_t)(k % 32));
    memcpy(w_end, w + k / 32 * 32, (size_t)(k % 32));
    for (int64_t i = 0; i < k; i += 32) {
        bool whole = i + 32 <= k;
        __m256i a = load_256(whole ? x + i : x_end);
        __m256i b = load_256(whole ? (const uint8_t *)w + i : w_end);
        __m256i even = is_unsigned ? _mm256_and_si256(a, bytes)
                                   : _mm256_srai_epi16(_mm256_slli_epi16(a, 8), 8);
        __m256i odd = is_unsigned ? _mm256_srli_epi16(a, 8) : _mm256_srai_epi16(a, 8);

        acc = add_quads(acc, b, even, odd);
    }
    _mm256_storeu_si256((__m256i *)lanes, acc);
    for (int l = 0; l < 8; l++)
        sum += lanes[l];
    return sum;
}

/* ---- AVX-512 with VNNI ---- */

VNNI MXL_INLINE void tile_vnni_of(int rows, int vectors, bool flips, const mxl_dots_runs *runs,
                                  const uint8_t *x, int64_t step, const int8_t *w, int32_t *sums)
{
    __m512i acc[R][2];

    UNROLL for (int r = 0; r < rows; r++) acc[r][0] = acc[r][1] = _mm512_setzero_si512();
    mxl_dots_vnni(rows, vectors, flips, runs, x, step, w, acc);
    UNROLL for (int r = 0; r < rows; r++)
    {
        _mm512_storeu_si512(sums + (ptrdiff_t)r * N, acc[r][0]);
        if (vectors > 1)
            _mm512_storeu_si512(sums + (ptrdiff_t)r * N + 16, acc[r][1]);
    }
}

#define TILE_OF(rows, vectors, flips)                                                              \
    VNNI static void tile_vnni_##rows##_##vectors##_##flips(                                       \
        const mxl_dots_runs *runs, const uint8_t *x, int64_t step, const int8_t *w, int32_t *sums) \
    {                                                                                              \
        tile_vnni_of(rows, vectors, flips, runs, x, step, w, sums);                                \
    }
#define TILE(rows) TILE_OF(rows, 1, 0) TILE_OF(rows, 2, 0) TILE_OF(rows, 1, 1) TILE_OF(rows, 2, 1)
#define EACH_HEIGHT(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
#define FOUR_OF(rows)                                                                              \
    {tile_vnni_##rows##_1_0, tile_vnni_##rows##_2_0, tile_vnni_##rows##_1_1,                       \
     tile_vnni_##rows##_2_1},

EACH_HEIGHT(TILE)

typedef void (*vnni_tile)(const mxl_dots_runs *runs, const uint8_t *x, int64_t step,
                          const int8_t *w, int32_t *sums);
static const vnni_tile tiles_vnni[R][4] = {EACH_HEIGHT(FOUR_OF)};

enum { ROWS_AT_ONCE = 4 };

/* Of int8 data 128 is added to the bytes, as the instruction wants them without sign, and the same
 * number times the weights subtracted from the sums. */
VNNI MXL_INLINE void rows_vnni_of(int rows, bool is_unsigned, int64_t k, const uint8_t *x,
                                  const int8_t *w, int32_t *sums)
{
    __m512i acc[ROWS_AT_ONCE], more[ROWS_AT_ONCE], flip = _mm512_set1_epi8((char)-128);

    UNROLL for (int r = 0; r < rows; r++) acc[r] = more[r] = _mm512_setzero_si512();
    for (int64_t i = 0; i < k; i += 64) {
        __mmask64 mask = i + 64 <= k ? ~(__mmask64)0 : (((__mmask64)1 << (k - i)) - 1);
        __m512i a = _mm512_maskz_loadu_epi8(mask, x + i);

        if (!is_unsigned)
            a = _mm512_xor_si512(a, flip);
        UNROLL for (int r = 0; r < rows; r++)
        {
            __m512i b = _mm512_maskz_loadu_epi8(mask, w + r * k + i);

            acc[r] = _mm512_dpbusd_epi32(acc[r], a, b);
            if (!is_unsigned)
                more[r] = _mm512_dpbusd_epi32(more[r], flip, b);
        }
    }
    UNROLL for (int r = 0; r < rows; r++) sums[r] =
        _mm512_reduce_add_epi32(_mm512_sub_epi32(acc[r], more[r]));
}

VNNI static void rows_vnni(bool is_unsigned, int64_t k, const void *x, const int8_t *w,
                           int64_t rows, int32_t *sums)
{
    int64_t r = 0;

    for (; r + ROWS_AT_ONCE <= rows; r += ROWS_AT_ONCE)
        rows_vnni_of(ROWS_AT_ONCE, is_unsigned, k, x, w + r * k, sums + r);
    for (; r < rows; r++)
        rows_vnni_of(1, is_unsigned, k, x, w + r * k, sums + r);
}
#endif

/* ---- choice ---- */

void mxl_dots_tile(int rows, int columns, const mxl_dots_runs *runs, const uint8_t *x, int64_t step,
                   uint8_t flip, const int8_t *w, int32_t *sums)
{
#if MXL_HAS_WIDE
    if (mxl_level_has_vnni()) {
        tiles_vnni[rows - 1][2 * (flip != 0) + (columns > 16)](runs, x, step, w, sums);
        return;
    }
    if (mxl_level() >= MXL_AVX2) {
        tile_avx2(rows, columns, runs, x, step, flip, w, sums);
        return;
    }
#elif MXL_HAS_NEON
    if (mxl_level() >= MXL_NEON) {
        mxl_dots_tile_neon(rows, columns, runs, x, step, flip, w, sums);
        return;
    }
#endif
    (void)columns;
    tile_plain(rows, runs, x, step, flip, w, sums);
}

void mxl_dots_rows(bool is_unsigned, int64_t k, const void *x, const int8_t *w, int64_t rows,
                   int32_t *sums)
{
#if MXL_HAS_WIDE
    if (mxl_level_has_vnni()) {
        rows_vnni(is_unsigned, k, x, w, rows, sums);
        return;
    }
    if (mxl_level() >= MXL_AVX2) {
        for (int64_t i = 0; i < rows; i++, w += k)
            sums[i] = row_avx2(is_unsigned, k, x, w);
        return;
    }
#elif MXL_HAS_NEON
    if (mxl_level() >= MXL_NEON) {
        mxl_dots_rows_neon(is_unsigned, k, x, w, rows, sums);
        return;
    }
#endif
    rows_plain(is_unsigned, k, x, w, rows, sums);
}

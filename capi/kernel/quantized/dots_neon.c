/* See neon.h. The instructions multiply bytes with signs. Bytes of data without are taken less 128;
 * their sums come with 128 times the weights more, which all rows of a tile share. (Of int8 data,
 * which `flip` makes bytes without sign, nothing is subtracted.) */
#include "kernel/quantized/neon.h"

#include <stddef.h>
#include <string.h>

#include "kernel/target.h"

#if MXL_HAS_NEON
#include <arm_neon.h>

#define DOTPROD __attribute__((target("arch=armv8.2-a+dotprod")))
#define UNROLL  _Pragma("GCC unroll 16")

enum {
    N = MXL_DOTS_COLUMNS,
    VECTORS = 4,      /* of weights: sixteen columns at once */
    DOT_ROWS = 5,     /* rows whose sums the registers hold, with dot products, */
    NEON_ROWS = 2,    /* and without */
    ROWS_AT_ONCE = 4, /* of weights, for one row of data */
    LANES = 16
};

/* ---- dot products ---- */

/* acc + the products of the four bytes of x with each four of w. (A number of four bytes, in a
 * register of floats as it comes from memory.) */
DOTPROD MXL_INLINE int32x4_t dot_one(int32x4_t acc, int8x16_t w, float x)
{
    __asm__("sdot %0.4s, %1.16b, %2.4b[0]" : "+w"(acc) : "w"(w), "w"(x));
    return acc;
}

MXL_INLINE float flipped(float x, uint8x8_t bit)
{
    __asm__("eor %0.8b, %1.8b, %2.8b" : "=w"(x) : "w"(x), "w"(bit));
    return x;
}

DOTPROD MXL_INLINE void tile_dot(int rows, bool is_signed, const mxl_dots_runs *runs,
                                 const uint8_t *x, int64_t step, const int8_t *w, int32_t *sums)
{
    int32x4_t acc[DOT_ROWS][VECTORS], half[VECTORS]; /* half: 64 times the weights */
    const int8x16_t by = vdupq_n_s8(64);
    const uint8x8_t bit = vdup_n_u8(128);

    UNROLL for (int v = 0; v < VECTORS; v++)
    {
        half[v] = vdupq_n_s32(0);
        UNROLL for (int r = 0; r < rows; r++) acc[r][v] = vdupq_n_s32(0);
    }
    for (int64_t i = 0; i < runs->count; i++) {
        const uint8_t *from = x + runs->offset[i];

        for (int64_t q = 0; q < runs->quads; q++, from += 4, w += (ptrdiff_t)4 * N) {
            int8x16_t b[VECTORS];

            UNROLL for (int v = 0; v < VECTORS; v++)
            {
                b[v] = vld1q_s8(w + (ptrdiff_t)LANES * v);
                half[v] = vdotq_s32(half[v], b[v], by);
            }
            UNROLL for (int r = 0; r < rows; r++)
            {
                float four;

                memcpy(&four, from + r * step, sizeof(four));
                if (!is_signed)
                    four = flipped(four, bit);
                UNROLL for (int v = 0; v < VECTORS; v++) acc[r][v] = dot_one(acc[r][v], b[v], four);
            }
        }
    }
    UNROLL for (int r = 0; r < rows; r++)
    {
        UNROLL for (int v = 0; v < VECTORS; v++) vst1q_s32(
            sums + (ptrdiff_t)r * N + 4 * v, vaddq_s32(acc[r][v], vshlq_n_s32(half[v], 1)));
    }
}

/* ---- NEON ---- */

/* acc + the products of sixteen bytes, two by two. */
MXL_INLINE void add_products(int8x16_t a, int8x16_t b, int32x4_t *low, int32x4_t *high)
{
    *low = vpadalq_s16(*low, vmull_s8(vget_low_s8(a), vget_low_s8(b)));
    *high = vpadalq_s16(*high, vmull_high_s8(a, b));
}

MXL_INLINE int32x4_t add_fours(int32x4_t acc, int8x16_t w)
{
    return vpadalq_s16(acc, vpaddlq_s8(w));
}

MXL_INLINE void tile_neon(int rows, bool is_signed, const mxl_dots_runs *runs, const uint8_t *x,
                          int64_t step, const int8_t *w, int32_t *sums)
{
    int32x4_t acc[NEON_ROWS][2 * VECTORS], whole[VECTORS]; /* whole: the sums of the weights */
    const uint8x16_t bit = vdupq_n_u8(128);

    UNROLL for (int v = 0; v < VECTORS; v++)
    {
        whole[v] = vdupq_n_s32(0);
        UNROLL for (int r = 0; r < rows; r++) acc[r][2 * v] = acc[r][2 * v + 1] = vdupq_n_s32(0);
    }
    for (int64_t i = 0; i < runs->count; i++) {
        const uint8_t *from = x + runs->offset[i];

        for (int64_t q = 0; q < runs->quads; q++, from += 4, w += (ptrdiff_t)4 * N) {
            int8x16_t a[NEON_ROWS];

            UNROLL for (int r = 0; r < rows; r++)
            {
                uint32_t four;
                uint8x16_t all;

                memcpy(&four, from + r * step, sizeof(four));
                all = vreinterpretq_u8_u32(vdupq_n_u32(four));
                a[r] = vreinterpretq_s8_u8(is_signed ? all : veorq_u8(all, bit));
            }
            UNROLL for (int v = 0; v < VECTORS; v++)
            {
                int8x16_t b = vld1q_s8(w + (ptrdiff_t)LANES * v);

                whole[v] = add_fours(whole[v], b);
                UNROLL for (int r = 0; r < rows; r++)
                    add_products(a[r], b, &acc[r][2 * v], &acc[r][2 * v + 1]);
            }
        }
    }
    UNROLL for (int r = 0; r < rows; r++)
    {
        UNROLL for (int v = 0; v < VECTORS; v++) vst1q_s32(
            sums + (ptrdiff_t)r * N + 4 * v,
            vaddq_s32(vpaddq_s32(acc[r][2 * v], acc[r][2 * v + 1]), vshlq_n_s32(whole[v], 7)));
    }
}

/* ---- the choice of a tile ---- */

#define TILE(ISA, way, rows)                                                                       \
    ISA static void way##_##rows##_bytes(const mxl_dots_runs *runs, const uint8_t *x,              \
                                         int64_t step, const int8_t *w, int32_t *sums)             \
    {                                                                                              \
        way(rows, false, runs, x, step, w, sums);                                                  \
    }                                                                                              \
    ISA static void way##_##rows##_signed(const mxl_dots_runs *runs, const uint8_t *x,             \
                                          int64_t step, const int8_t *w, int32_t *sums)            \
    {                                                                                              \
        way(rows, true, runs, x, step, w, sums);                                                   \
    }
#define BOTH(way, rows) {way##_##rows##_bytes, way##_##rows##_signed}

TILE(DOTPROD, tile_dot, 1)
TILE(DOTPROD, tile_dot, 2)
TILE(DOTPROD, tile_dot, 3)
TILE(DOTPROD, tile_dot, 4)
TILE(DOTPROD, tile_dot, 5)
TILE(, tile_neon, 1)
TILE(, tile_neon, 2)

typedef void (*tile_fn)(const mxl_dots_runs *runs, const uint8_t *x, int64_t step, const int8_t *w,
                        int32_t *sums);
static const tile_fn dot_tiles[DOT_ROWS][2] = {
    BOTH(tile_dot, 1), BOTH(tile_dot, 2), BOTH(tile_dot, 3), BOTH(tile_dot, 4), BOTH(tile_dot, 5)};
static const tile_fn neon_tiles[NEON_ROWS][2] = {BOTH(tile_neon, 1), BOTH(tile_neon, 2)};

void mxl_dots_tile_neon(int rows, int columns, const mxl_dots_runs *runs, const uint8_t *x,
                        int64_t step, uint8_t flip, const int8_t *w, int32_t *sums)
{
    bool dots = mxl_level() >= MXL_DOTPROD;
    const tile_fn(*tiles)[2] = dots ? dot_tiles : neon_tiles;
    int most = dots ? DOT_ROWS : NEON_ROWS;

    for (int r = 0, some; r < rows; r += some) {
        some = rows - r < most ? rows - r : most;
        for (int c = 0; c < columns; c += 4 * VECTORS)
            tiles[some - 1][flip != 0](runs, x + r * step, step, w + (ptrdiff_t)4 * c,
                                       sums + (ptrdiff_t)r * N + c);
    }
}

/* ---- rows ---- */

DOTPROD MXL_INLINE void add_row_dot(int8x16_t a, int8x16_t b, int32x4_t acc[2])
{
    acc[0] = vdotq_s32(acc[0], a, b);
}

DOTPROD MXL_INLINE int32x4_t add_weights_dot(int32x4_t acc, int8x16_t b)
{
    return vdotq_s32(acc, b, vdupq_n_s8(1));
}

MXL_INLINE void add_row_neon(int8x16_t a, int8x16_t b, int32x4_t acc[2])
{
    add_products(a, b, &acc[0], &acc[1]);
}

#define add_weights_neon add_fours

/* The last bytes of rows that are no whole vector come from copies, with zeros behind them. */
#define ROWS(ISA, way)                                                                             \
    ISA MXL_INLINE void some_rows_##way(int rows, bool is_unsigned, int64_t k, const uint8_t *x,   \
                                        const int8_t *w, int32_t *sums)                            \
    {                                                                                              \
        int32x4_t acc[ROWS_AT_ONCE][2], whole[ROWS_AT_ONCE];                                       \
        const uint8x16_t bit = vdupq_n_u8(is_unsigned ? 128 : 0);                                  \
        int64_t full = k - k % LANES;                                                              \
        uint8_t x_end[LANES] = {0};                                                                \
        int8_t w_end[ROWS_AT_ONCE][LANES] = {{0}};                                                 \
                                                                                                   \
        memcpy(x_end, x + full, (size_t)(k - full));                                               \
        UNROLL for (int r = 0; r < rows; r++)                                                      \
        {                                                                                          \
            memcpy(w_end[r], w + r * k + full, (size_t)(k - full));                                \
            acc[r][0] = acc[r][1] = whole[r] = vdupq_n_s32(0);                                     \
        }                                                                                          \
        for (int64_t i = 0; i < k; i += LANES) {                                                   \
            bool inside = i < full;                                                                \
            int8x16_t a = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(inside ? x + i : x_end), bit));    \
                                                                                                   \
            UNROLL for (int r = 0; r < rows; r++)                                                  \
            {                                                                                      \
                int8x16_t b = vld1q_s8(inside ? w + r * k + i : w_end[r]);                         \
                                                                                                   \
                add_row_##way(a, b, acc[r]);                                                       \
                if (is_unsigned)                                                                   \
                    whole[r] = add_weights_##way(whole[r], b);                                     \
            }                                                                                      \
        }                                                                                          \
        UNROLL for (int r = 0; r < rows; r++) sums[r] =                                            \
            vaddvq_s32(vaddq_s32(vaddq_s32(acc[r][0], acc[r][1]), vshlq_n_s32(whole[r], 7)));      \
    }                                                                                              \
    ISA static void all_rows_##way(bool is_unsigned, int64_t k, const uint8_t *x, const int8_t *w, \
                                   int64_t rows, int32_t *sums)                                    \
    {                                                                                              \
        int64_t r = 0;                                                                             \
                                                                                                   \
        for (; r + ROWS_AT_ONCE <= rows; r += ROWS_AT_ONCE)                                        \
            some_rows_##way(ROWS_AT_ONCE, is_unsigned, k, x, w + r * k, sums + r);                 \
        for (; r < rows; r++)                                                                      \
            some_rows_##way(1, is_unsigned, k, x, w + r * k, sums + r);                            \
    }

ROWS(DOTPROD, dot)
ROWS(, neon)

void mxl_dots_rows_neon(bool is_unsigned, int64_t k, const void *x, const int8_t *w, int64_t rows,
                        int32_t *sums)
{
    if (mxl_level() >= MXL_DOTPROD)
        all_rows_dot(is_unsigned, k, x, w, rows, sums);
    else
        all_rows_neon(is_unsigned, k, x, w, rows, sums);
}
#endif

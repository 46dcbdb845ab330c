/* See pair_product.h. Rows of A are packed as tiles of pairs, once; 32 columns of B at a time as a
 * block, which meets all tiles. A few rows times a transposed B need no packing. */
#include "kernel/bfloat16/pair_product.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/bfloat16/pairs.h"

enum {
    R = MXL_PAIRS_ROWS,
    N = MXL_PAIRS_COLUMNS,
    GRAIN = 1 << 18,
    FEW_ROWS = 8, /* of A: B is read as it is */
    TOGETHER = 32 /* rows of B that meet all rows of A */
};

typedef struct work {
    const mxl_product *p;
    const uint16_t *a, *b, *bias;
    uint16_t *c;
    int64_t pairs;
    uint32_t *tiles; /* A: tiles of up to R rows, each [pairs][rows] */
    int64_t parts, part;
    _Atomic(int) failed;
} work;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static float number(uint16_t x)
{
    union {
        uint32_t u;
        float f;
    } bits = {.u = (uint32_t)x << 16};

    return bits.f;
}

/* Writes a row of sums, from column j on, with the bias of its columns. */
static void store(const work *k, int64_t i, int64_t j, float *sums, int64_t n)
{
    mxl_pairs_end end = {.scale = 1, .low = -INFINITY, .high = INFINITY};

    for (int64_t l = 0; l < n && k->bias != NULL; l++)
        sums[l] += number(k->bias[j + l]);
    mxl_pairs_store(&end, sums, NULL, k->c + i * k->p->ldc + j, n);
}

/* ---- few rows ---- */

/* Ranges count rows of B, which is transposed. */
static void run_rows(void *data, int64_t begin, int64_t end)
{
    const work *k = data;
    const mxl_product *p = k->p;
    float sums[TOGETHER];

    for (int64_t j = begin; j < end; j += TOGETHER) {
        int64_t n = least(end - j, TOGETHER);

        for (int64_t i = 0; i < p->m; i++) {
            mxl_pairs_rows(p->k, k->a + i * p->lda, k->b + j * p->ldb, p->ldb, n, sums);
            store(k, i, j, sums, n);
        }
    }
}

/* ---- tiles ---- */

/* n columns of a matrix of k rows as [pairs][width]. */
static void weave(const work *k, const uint16_t *x, int64_t ld, int64_t n, uint32_t *to,
                  int64_t width)
{
    for (int64_t q = 0; q < k->pairs; q++, x += 2 * ld, to += width)
        mxl_pairs_weave(x, 2 * q + 1 < k->p->k ? x + ld : NULL, to, n);
}

/* Ranges count tiles of rows of A. */
static void pack_tiles(void *data, int64_t begin, int64_t end)
{
    const work *k = data;
    const mxl_product *p = k->p;

    for (int64_t t = begin; t < end; t++) {
        int64_t rows = least(p->m - t * R, R);
        uint32_t *to = k->tiles + t * R * k->pairs;

        if (p->ta)
            weave(k, k->a + t * R, p->lda, rows, to, rows);
        else
            mxl_pairs_turn(k->a + t * R * p->lda, p->lda, rows, p->k, to, rows);
    }
}

/* Columns [j, j + n) of op(B) as [pairs][N]. */
static void pack_block(const work *k, int64_t j, int64_t n, uint32_t *to)
{
    const mxl_product *p = k->p;

    if (p->tb)
        mxl_pairs_turn(k->b + j * p->ldb, p->ldb, n, p->k, to, N);
    else
        weave(k, k->b + j, p->ldb, n, to, N);
}

/* Ranges count parts of A's rows, of blocks of B's columns. */
static void run_blocks(void *data, int64_t begin, int64_t end)
{
    work *k = data;
    const mxl_product *p = k->p;
    size_t bytes = (size_t)(k->pairs * N) * sizeof(uint32_t);
    uint32_t *block = mxl_alloc(bytes);
    float sums[R * N];
    int64_t made = -1;

    if (block == NULL) {
        k->failed = 1;
        return;
    }
    for (int64_t unit = begin; unit < end; unit++) {
        int64_t j = unit / k->parts * N, n = least(p->n - j, N);
        int64_t from = unit % k->parts * k->part, to = least(from + k->part, p->m);

        if (j != made)
            pack_block(k, j, n, block);
        made = j;
        for (int64_t i = from; i < to; i += R) {
            int64_t rows = least(to - i, R);

            mxl_pairs_tile((int)rows, (int)n, k->pairs, k->tiles + i * k->pairs, block, sums);
            for (int64_t r = 0; r < rows; r++)
                store(k, i + r, j, sums + r * N, n);
        }
    }
    mxl_free(block, bytes);
}

/* ---- all ---- */

bool mxl_bfloat16_multiplies(const mxl_product *p)
{
    return !p->accumulate && p->packed == NULL && mxl_pairs_are_fast();
}

static void run_range(int64_t count, int64_t each, void (*run)(void *, int64_t, int64_t), work *k,
                      bool alone)
{
    if (alone)
        run(k, 0, count);
    else
        mxl_parallel_for(count, GRAIN / (each + 1) + 1, run, k);
}

int mxl_bfloat16_product(const mxl_product *p, const void *a, const void *b, void *c, bool alone)
{
    work k = {.p = p, .a = a, .b = b, .c = c, .bias = p->bias, .pairs = (p->k + 1) / 2};
    size_t bytes = (size_t)(p->m * k.pairs) * sizeof(uint32_t);
    int64_t tiles = (p->m + R - 1) / R, blocks = (p->n + N - 1) / N;

    if (p->m <= FEW_ROWS && p->tb && !p->ta) {
        run_range(p->n, p->m * p->k, run_rows, &k, alone);
        return 0;
    }
    k.tiles = mxl_alloc(bytes);
    if (k.tiles == NULL)
        return -1;
    k.part = blocks >= 8 ? tiles * R : (tiles + 1) / 2 * R;
    k.parts = (p->m + k.part - 1) / k.part;
    run_range(tiles, R * k.pairs, pack_tiles, &k, alone);
    run_range(blocks * k.parts, k.part * k.pairs * N, run_blocks, &k, alone);
    mxl_free(k.tiles, bytes);
    return k.failed ? mxl_error_memory((size_t)(k.pairs * N) * sizeof(uint32_t)) : 0;
}

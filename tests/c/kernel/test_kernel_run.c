/* The innermost loops of copies, at every vector level: runs, pieces, blocks, and transposed
 * blocks, around the sizes of vectors; no byte outside the output is written. */
#include <stdlib.h>

#include "harness.h"
#include "kernel/copy/copy_loops.h"
#include "kernel/target.h"

enum { ROOM = 1 << 16, GUARD = 0xee };

static unsigned char in[ROOM], got[ROOM], want[ROOM];
static const size_t widths[] = {1, 2, 4, 8};

static void begin(uint64_t *seed)
{
    for (size_t i = 0; i < ROOM; i++)
        in[i] = (unsigned char)harness_random(seed);
    memset(got, GUARD, ROOM);
    memset(want, GUARD, ROOM);
}

static bool as_wanted(void)
{
    return memcmp(got, want, ROOM) == 0;
}

/* One run from and to the middle, at elements that are not aligned to vectors. */
static void one_run(size_t width, int64_t to, int64_t from, int64_t n)
{
    size_t middle = ROOM / 2 + 3 * width;

    memset(got, GUARD, ROOM);
    memset(want, GUARD, ROOM);
    for (int64_t i = 0; i < n; i++)
        memcpy(want + middle + i * to * (int64_t)width, in + middle + i * from * (int64_t)width,
               width);
    mxl_copy_run(width, got + middle, to, in + middle, from, n);
    CHECK(as_wanted());
}

TEST(runs)
{
    uint64_t seed = 1;

    begin(&seed);
    for (int level = 0; level < MXL_LEVELS; level++) {
        if (mxl_level_set(level) != 0)
            continue;
        for (int w = 0; w < 4; w++) {
            for (int64_t from = -3; from <= 6; from++) {
                for (int64_t n = 0; n < 150; n += n < 20 ? 1 : 13) {
                    one_run(widths[w], 1, from, n);
                    one_run(widths[w], from == 0 ? -1 : from, 2, n);
                }
            }
        }
    }
}

TEST(pieces)
{
    uint64_t seed = 2;

    begin(&seed);
    for (int level = 0; level < MXL_LEVELS; level++) {
        if (mxl_level_set(level) != 0)
            continue;
        for (int64_t bytes = 1; bytes < 330; bytes += bytes < 140 ? 1 : 37) {
            int64_t at[] = {7, 0, 7, 30, 2},
                    out_step = bytes + (int64_t)(harness_random(&seed) % 9);
            int64_t in_step = bytes % 3 == 0 ? 0 : bytes + (int64_t)(harness_random(&seed) % 5);

            memset(got, GUARD, ROOM);
            memset(want, GUARD, ROOM);
            for (int64_t j = 0; j < 5; j++) {
                memcpy(want + 5 + j * out_step, in + 11 + j * in_step, (size_t)bytes);
                memcpy(want + ROOM / 2 + j * bytes, in + 1 + at[j] * bytes, (size_t)bytes);
            }
            mxl_copy_pieces(bytes, 5, got + 5, out_step, in + 11, in_step);
            mxl_copy_pieces_at(bytes, 5, got + ROOM / 2, in + 1, at);
            CHECK(as_wanted());
        }
    }
}

TEST(runs_of_nothing_read_nothing)
{
    begin(&(uint64_t){5});
    for (size_t w = 0; w < 4; w++)
        for (int64_t stride = -1; stride < 6; stride++)
            mxl_copy_run(widths[w], got, 1, NULL, stride, 0);
    CHECK(as_wanted());
}

TEST(blocks)
{
    static void (*const copies[])(void *, const void *, size_t) = {mxl_copy_block, mxl_copy_stream};
    uint64_t seed = 3;

    begin(&seed);
    for (int level = 0; level < MXL_LEVELS; level++) {
        if (mxl_level_set(level) != 0)
            continue;
        for (size_t bytes = 0; bytes < 400; bytes++) {
            for (int k = 0; k < 2; k++) {
                size_t to = harness_random(&seed) % 200, from = harness_random(&seed) % 200;

                memset(got, GUARD, ROOM);
                memset(want, GUARD, ROOM);
                memcpy(want + to, in + from, bytes);
                copies[k](got + to, in + from, bytes);
                CHECK(as_wanted());
            }
        }
    }
}

TEST(turned)
{
    uint64_t seed = 4;

    begin(&seed);
    for (int round = 0; round < 1200; round++) {
        size_t width = widths[round % 4];
        int64_t nj = (int64_t)(harness_random(&seed) % 75),
                ni = (int64_t)(harness_random(&seed) % 75);
        int64_t dst_step = ni + (int64_t)(harness_random(&seed) % 4);
        int64_t src_step = nj + (int64_t)(harness_random(&seed) % 4);

        memset(got, GUARD, ROOM);
        memset(want, GUARD, ROOM);
        for (int64_t j = 0; j < nj; j++) {
            for (int64_t i = 0; i < ni; i++)
                memcpy(want + (size_t)(3 + j * dst_step + i) * width,
                       in + (size_t)(1 + j + i * src_step) * width, width);
        }
        mxl_transpose_kernel(width, got + 3 * width, dst_step, in + width, src_step, nj, ni);
        CHECK(as_wanted());
    }
}

HARNESS_MAIN(ENTRY(runs), ENTRY(pieces), ENTRY(runs_of_nothing_read_nothing), ENTRY(blocks),
             ENTRY(turned))

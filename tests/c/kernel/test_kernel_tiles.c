/* Reductions that take tiles have the bits of mxl_reduce: rows, columns and all elements, for any
 * cuts that they allow, in parts, from memory or from a window of what was there last. Softmax, by
 * whole rows, has those of mxl_softmax. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "harness.h"
#include "kernel/reduce/reduce.h"
#include "kernel/reduce/reduce_tiles.h"
#include "kernel/reduce/softmax.h"

enum { ROOM = 1 << 20 };

static const int kinds[] = {MXL_REDUCE_SUM, MXL_REDUCE_MEAN,  MXL_REDUCE_MAX,
                            MXL_REDUCE_MIN, MXL_REDUCE_NORM1, MXL_REDUCE_NORM2};

typedef struct problem {
    int64_t shape[2];
    bool reduced[2];
    bool fits; /* it can take tiles */
} problem;

static const problem problems[] = {
    {{1, 5}, {true, true}, true},         {{1, 600}, {true, true}, true},
    {{1, 40000}, {true, true}, true},     {{1, 16384 * 3 + 7}, {true, true}, true},
    {{1024, 1000}, {true, true}, true},   {{9, 3}, {false, true}, true},
    {{300, 17}, {false, true}, true},     {{7, 512}, {false, true}, true},
    {{50, 1000}, {false, true}, true},    {{2, 65536}, {false, true}, true},
    {{3, 50000}, {false, true}, false},   {{300, 128}, {true, false}, true},
    {{1000, 700}, {true, false}, true},   {{131, 5000}, {true, false}, true},
    {{3, 200}, {true, false}, true},      {{2000, 100}, {true, false}, false},
    {{10, 100000}, {true, false}, false},
};

static void fill(int dtype, char *data, int64_t n, int round)
{
    for (int64_t i = 0; i < n; i++) {
        double v = (double)(i * 7919 % 1013) / 506.5 - 1;

        if (round == 1)
            v *= dtype == MXL_F32 ? 3e38 : 1.7e308;
        if (round == 2 && i == n / 3)
            v = (double)NAN;
        if (dtype == MXL_F32)
            ((float *)data)[i] = (float)v;
        else
            ((double *)data)[i] = v;
    }
}

/* The size of a tile that ends at none of the places where it must not. */
static int64_t tile_at(const mxl_reduce_tiles *t, int64_t pos, int64_t end, int64_t cut)
{
    int64_t n = 512 < end - pos ? 512 : end - pos;

    n = n < t->cut - pos % t->cut ? n : t->cut - pos % t->cut;
    return n < cut - pos % cut ? n : cut - pos % cut;
}

/* Gives all elements, part by part, from memory or through a window. `out` is for whole rows. */
static void give(const mxl_reduce_tiles *t, const char *in, int64_t n, int64_t cut, bool through,
                 void *out)
{
    static char window[ROOM * 8];
    int64_t size = (int64_t)mxl_dtype_size(t->dtype), last = (n - 1) / t->part;

    for (int64_t part = last; part >= 0; part--) {
        int64_t begin = part * t->part, end = part == last ? n : begin + t->part, tile;
        mxl_reduce_lanes lanes = {.used = false};

        for (int64_t pos = begin; pos < end; pos += tile) {
            const char *x = in + pos * size;

            tile = tile_at(t, pos, end, cut);
            if (through) {
                int64_t at = t->window == 0 ? 0 : (pos - begin) % t->window;

                memcpy(window + at * size, x, (size_t)(tile * size));
                x = window + at * size;
            }
            mxl_reduce_tiles_take(t, &lanes, x, pos, tile, out);
        }
    }
}

static void check(const problem *p, int kind, int dtype, const char *in)
{
    static char wanted[ROOM], got[ROOM], room[ROOM * 4];
    static const int64_t cuts[] = {INT64_MAX / 2, 192, 320, 1000, 2048};
    int64_t n = p->shape[0] * p->shape[1], strides[2] = {p->shape[1], 1};
    bool has_columns = p->reduced[0] && !p->reduced[1];
    mxl_reduce_tiles t;
    size_t bytes = mxl_reduce_tiles_init(&t, kind, dtype, 2, p->shape, p->reduced), size;

    CHECK((bytes > 0) ==
          (p->fits && (!has_columns || kind == MXL_REDUCE_SUM || kind == MXL_REDUCE_MEAN)));
    if (bytes == 0)
        return;
    REQUIRE(bytes <= sizeof room);
    mxl_reduce_tiles_place(&t, room);
    size = (size_t)t.outputs * mxl_dtype_size(dtype);
    REQUIRE(mxl_reduce(kind, dtype, 2, p->shape, strides, p->reduced, in, wanted) == 0);
    for (size_t i = 0; i < 2 * sizeof(cuts) / sizeof(*cuts); i++) {
        int64_t cut = cuts[i / 2];

        if (i >= 2 && !mxl_reduce_tiles_may_cut(&t, cut))
            continue;
        memset(got, 1, sizeof got);
        memset(room, 1, bytes);
        give(&t, in, n, cut, i % 2 == 1, NULL);
        if (!mxl_reduce_tiles_end(&t, got))
            mxl_reduce_tiles_again(&t, in, got);
        CHECK(memcmp(got, wanted, size) == 0);
    }
}

TEST(bits_of_reduce)
{
    char *in = malloc((size_t)ROOM * 2 * 8);

    REQUIRE(in != NULL);
    for (size_t i = 0; i < sizeof(problems) / sizeof(*problems); i++) {
        const problem *p = &problems[i];

        for (int round = 0; round < 6; round++) {
            int dtype = round < 3 ? MXL_F32 : MXL_F64;

            fill(dtype, in, p->shape[0] * p->shape[1], round % 3);
            for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
                check(p, kinds[k], dtype, in);
        }
    }
    free(in);
}

static void check_rows(int64_t rows, int64_t count, int dtype, const char *in)
{
    static char wanted[ROOM], got[ROOM];
    static const int64_t cuts[] = {INT64_MAX / 2, 192, 7};
    size_t size = (size_t)(rows * count) * mxl_dtype_size(dtype);
    mxl_softmax_rows context = {count % 2 == 1, dtype, count, .5};
    mxl_reduce_tiles t;

    REQUIRE(size <= ROOM);
    REQUIRE(mxl_reduce_tiles_init_rows(&t, mxl_softmax_take, dtype, rows, count));
    t.context = &context;
    REQUIRE(mxl_softmax(context.take_log, dtype, rows, count, 1, .5, NULL, in, wanted) == 0);
    for (size_t i = 0; i < 2 * sizeof(cuts) / sizeof(*cuts); i++) {
        CHECK(mxl_reduce_tiles_may_cut(&t, cuts[i / 2]));
        memset(got, 1, size);
        give(&t, in, rows * count, cuts[i / 2], i % 2 == 1, got);
        CHECK(mxl_reduce_tiles_end(&t, got));
        CHECK(memcmp(got, wanted, size) == 0);
    }
}

TEST(whole_rows)
{
    static const int64_t shapes[][2] = {{1, 1},     {700, 1},  {300, 17},  {5, 511},
                                        {100, 512}, {50, 999}, {13, 8192}, {3, 8191}};
    char *in = malloc((size_t)ROOM * 8);
    mxl_reduce_tiles t;

    REQUIRE(in != NULL);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        for (int round = 0; round < 6; round++) {
            int dtype = round < 3 ? MXL_F32 : MXL_F64;

            fill(dtype, in, shapes[i][0] * shapes[i][1], round % 3);
            check_rows(shapes[i][0], shapes[i][1], dtype, in);
        }
    }
    CHECK(!mxl_reduce_tiles_init_rows(&t, mxl_softmax_take, MXL_F32, 3, 8193));
    free(in);
}

TEST(what_takes_no_tiles)
{
    static const int64_t shape[3] = {40, 30, 200};
    static const bool middle[3] = {false, true, false}, last[3] = {false, false, true};
    mxl_reduce_tiles t;

    CHECK(mxl_reduce_tiles_init(&t, MXL_REDUCE_SUM, MXL_F32, 3, shape, last) > 0);
    CHECK(mxl_reduce_tiles_init(&t, MXL_REDUCE_SUM, MXL_F32, 3, shape, middle) == 0);
    CHECK(mxl_reduce_tiles_init(&t, MXL_REDUCE_SUM, MXL_F16, 3, shape, last) == 0);
    CHECK(mxl_reduce_tiles_init(&t, MXL_REDUCE_SUM, MXL_I32, 3, shape, last) == 0);
    CHECK(mxl_reduce_tiles_init(&t, MXL_REDUCE_PROD, MXL_F32, 3, shape, last) == 0);
}

static mxl_reduce_tiles tiles_of(int64_t rows, int64_t columns, bool down, bool along)
{
    const int64_t shape[2] = {rows, columns};
    const bool reduced[2] = {down, along};
    mxl_reduce_tiles t = {.kind = MXL_REDUCE_SUM};

    CHECK(mxl_reduce_tiles_init(&t, MXL_REDUCE_SUM, MXL_F32, 2, shape, reduced) > 0);
    return t;
}

TEST(which_agree)
{
    mxl_reduce_tiles all = tiles_of(1024, 1024, true, true);
    mxl_reduce_tiles rows = tiles_of(1024, 1024, false, true);
    mxl_reduce_tiles columns = tiles_of(1024, 1024, true, false);
    mxl_reduce_tiles others = tiles_of(1048, 1000, false, true);
    mxl_reduce_tiles whole;

    CHECK(mxl_reduce_tiles_agree(&all, &rows) && mxl_reduce_tiles_agree(&rows, &all));
    CHECK(mxl_reduce_tiles_agree(&all, &columns) && mxl_reduce_tiles_agree(&columns, &rows));
    CHECK(!mxl_reduce_tiles_agree(&others, &rows) && !mxl_reduce_tiles_agree(&all, &others));
    CHECK(mxl_reduce_tiles_agree(&others, &others));
    CHECK(mxl_reduce_tiles_init_rows(&whole, mxl_softmax_take, MXL_F32, 1048, 1000));
    CHECK(mxl_reduce_tiles_agree(&others, &whole) && mxl_reduce_tiles_agree(&whole, &whole));
    CHECK(!mxl_reduce_tiles_agree(&columns, &whole) && !mxl_reduce_tiles_agree(&whole, &rows));
}

HARNESS_MAIN(ENTRY(bits_of_reduce), ENTRY(whole_rows), ENTRY(what_takes_no_tiles),
             ENTRY(which_agree))

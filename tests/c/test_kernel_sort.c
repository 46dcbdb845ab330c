/* Sorting against insertion by comparison, for every dtype, both directions and all kinds of
 * results; and moving along an axis. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/half.h"
#include "base/mem.h"
#include "base/thread.h"
#include "kernel/sort.h"
#include "kernel/target.h"
#include "ops_kit.h"

enum { ROOM = 1 << 15 };

static unsigned char in[ROOM * 8], values[ROOM * 8], mask[ROOM * 8];
static int64_t positions[ROOM];

static double value_at(int dtype, const void *data, int64_t i)
{
    switch (dtype) {
    case MXL_F32:
        return (double)((const float *)data)[i];
    case MXL_F64:
        return ((const double *)data)[i];
    case MXL_F16:
        return (double)mxl_half_to_float(((const mxl_half *)data)[i]);
    case MXL_I8:
        return ((const int8_t *)data)[i];
    case MXL_I32:
        return ((const int32_t *)data)[i];
    case MXL_I64:
        return (double)((const int64_t *)data)[i];
    default:
        return ((const uint8_t *)data)[i];
    }
}

static void set_value(int dtype, void *data, int64_t i, double v)
{
    switch (dtype) {
    case MXL_F32:
        ((float *)data)[i] = (float)v;
        break;
    case MXL_F64:
        ((double *)data)[i] = v;
        break;
    case MXL_F16:
        ((mxl_half *)data)[i] = mxl_half_from_float((float)v);
        break;
    case MXL_I8:
        ((int8_t *)data)[i] = (int8_t)v;
        break;
    case MXL_I32:
        ((int32_t *)data)[i] = (int32_t)v;
        break;
    case MXL_I64:
        ((int64_t *)data)[i] = (int64_t)v;
        break;
    default:
        ((uint8_t *)data)[i] = (uint8_t)v;
    }
}

/* What each dtype holds: ties, both signs where there are two, and what floats have besides. */
static double draw(int dtype, uint64_t *seed)
{
    uint64_t r = harness_random(seed);
    double v = (double)((int64_t)(r % 241) - 120);

    if (dtype == MXL_BOOL)
        return (double)(r & 1);
    if (dtype == MXL_U8)
        return v + 120;
    if (dtype == MXL_I8)
        return v;
    if (!mxl_dtype_is_float(dtype))
        return v * (dtype == MXL_I32 ? 1e7 : 1e15);
    switch (r >> 32 & 31) {
    case 0:
        return NAN;
    case 1:
        return -NAN;
    case 2:
        return INFINITY;
    case 3:
        return -INFINITY;
    case 4:
        return -0.0;
    case 5:
        return 0.0;
    default:
        return v / 8 * (dtype == MXL_F64 ? 1e-300 : 1);
    }
}

static bool larger(double a, double b)
{
    return isnan(a) ? !isnan(b) : a > b;
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
}

/* The order of a row, by insertion. */
static void order(const mxl_sort_job *job, int64_t base, int64_t *found)
{
    for (int64_t i = 0; i < job->n; i++) {
        double v = value_at(job->dtype, in, base + i * job->inner);
        int64_t k = i;

        for (; k > 0; k--) {
            double u = value_at(job->dtype, in, base + found[k - 1] * job->inner);

            if (job->descending ? !larger(v, u) : !larger(u, v))
                break;
            found[k] = found[k - 1];
        }
        found[k] = i;
    }
}

static int64_t wrong_results(const mxl_sort_job *job)
{
    static int64_t found[ROOM];
    int64_t wrong = 0;

    for (int64_t r = 0; r < job->outer * job->inner; r++) {
        int64_t o = r / job->inner, i = r % job->inner, base = o * job->n * job->inner + i;
        int64_t out = o * job->k * job->inner + i;

        order(job, base, found);
        for (int64_t j = 0; j < job->n; j++) {
            int64_t at = base + found[j] * job->inner;

            if (job->mask != NULL)
                wrong += value_at(job->dtype, mask, at) != (j < job->k);
            if (j >= job->k)
                continue;
            if (job->values != NULL)
                wrong += !same(value_at(job->dtype, values, out + j * job->inner),
                               value_at(job->dtype, in, at));
            if (job->positions != NULL)
                wrong += positions[out + j * job->inner] != found[j];
        }
    }
    return wrong;
}

/* All kinds of results of one problem. */
static void check(mxl_sort_job job)
{
    for (int kind = 0; kind < 4; kind++) {
        job.values = kind == 0 || kind == 3 ? values : NULL;
        job.positions = kind == 1 || kind == 3 ? positions : NULL;
        job.mask = kind == 2 ? mask : NULL;
        memset(mask, 0xFF, sizeof(mask));
        CHECK_INT(mxl_sort(&job), 0);
        if (!CHECK_INT(wrong_results(&job), 0))
            printf("    %s, n %lld, k %lld, inner %lld, kind %d, descending %d\n",
                   mxl_dtype_name(job.dtype), (long long)job.n, (long long)job.k,
                   (long long)job.inner, kind, job.descending);
    }
}

static void fill(int dtype, int64_t n, uint64_t *seed)
{
    for (int64_t i = 0; i < n; i++)
        set_value(dtype, in, i, draw(dtype, seed));
}

TEST(every_dtype_and_length)
{
    static const int64_t lengths[] = {1,  2,  3,  15, 16,  17,  31,  32,
                                      33, 63, 64, 65, 255, 256, 257, 700};
    uint64_t seed = 5;

    for (int dtype = 0; dtype < MXL_DTYPE_COUNT; dtype++) {
        for (size_t l = 0; l < sizeof(lengths) / sizeof(*lengths); l++) {
            int64_t n = lengths[l];
            mxl_sort_job job = {.dtype = dtype,
                                .descending = l % 2 == 1,
                                .outer = 2,
                                .n = n,
                                .inner = 1 + (int64_t)l % 3,
                                .in = in,
                                .position_dtype = MXL_I64};

            fill(dtype, job.outer * n * job.inner, &seed);
            job.k = n;
            check(job);
            job.k = n / 2;
            check(job);
            job.k = n / 20; /* a heap; 0 for short rows */
            check(job);
            job.descending = !job.descending;
            check(job);
        }
    }
}

/* More rows and fewer than are sorted at once, at every vector level. */
TEST(columns)
{
    static const int64_t lengths[] = {2, 5, 16, 33, 100, 300}, rows[] = {2, 3, 8, 15, 17, 65};
    uint64_t seed = 6;

    for (int level = 0; level < MXL_LEVELS; level++) {
        if (mxl_level_set(level) != 0)
            continue;
        for (int dtype = 0; dtype < MXL_DTYPE_COUNT; dtype++) {
            for (int l = 0; l < 6; l++) {
                mxl_sort_job job = {.dtype = dtype,
                                    .descending = l % 2 == 0,
                                    .outer = rows[(l + dtype) % 6],
                                    .n = lengths[l],
                                    .inner = 1,
                                    .in = in,
                                    .position_dtype = MXL_I64};

                fill(dtype, job.outer * job.n, &seed);
                job.k = job.n;
                check(job);
                job.k = job.n / 3 + 1;
                check(job);
                job.k = job.n / 20;
                check(job);
            }
        }
    }
}

/* Rows that several threads sort together: in order, and the same for every number of threads. */
TEST(large_rows)
{
    enum { N = 70001 };
    static const int dtypes[] = {MXL_F32, MXL_F64, MXL_U8, MXL_I64};
    double *data = malloc(N * 8), *found = malloc(N * 8), *first = malloc(N * 8);
    int64_t *at = malloc(N * 8), *first_at = malloc(N * 8), wrong = 0;
    uint64_t seed = 8;
    int before = mxl_thread_count();

    REQUIRE(data != NULL && found != NULL && first != NULL && at != NULL && first_at != NULL);
    for (int round = 0; round < 12; round++) {
        static const int64_t counts[] = {N, N / 20, N / 3};
        int dtype = dtypes[round % 4];
        mxl_sort_job job = {.dtype = dtype,
                            .descending = round % 2 == 1,
                            .outer = 1,
                            .n = N,
                            .inner = 1,
                            .k = counts[round / 4],
                            .in = data,
                            .values = first,
                            .positions = first_at,
                            .position_dtype = MXL_I64};
        size_t width = mxl_dtype_size(dtype);

        for (int64_t i = 0; i < N; i++)
            set_value(dtype, data, i, draw(dtype, &seed));
        mxl_thread_set_count(1);
        CHECK_INT(mxl_sort(&job), 0);
        for (int64_t i = 0; i < job.k; i++) {
            double v = value_at(dtype, first, i), u = i == 0 ? v : value_at(dtype, first, i - 1);

            wrong += job.descending ? larger(v, u) : larger(u, v);
            wrong += i > 0 && same(u, v) && first_at[i] <= first_at[i - 1];
            wrong += !same(v, value_at(dtype, data, first_at[i]));
        }
        CHECK_INT(wrong, 0);
        job.values = found;
        job.positions = at;
        for (int threads = 2; threads < 12; threads += 3) {
            mxl_thread_set_count(threads);
            CHECK_INT(mxl_sort(&job), 0);
            CHECK(memcmp(found, first, (size_t)job.k * width) == 0);
            CHECK(memcmp(at, first_at, (size_t)job.k * 8) == 0);
        }
        if (job.k < N)
            continue;
        job.positions = NULL; /* keys alone */
        CHECK_INT(mxl_sort(&job), 0);
        for (int64_t i = 0; i < N; i++)
            wrong += !same(value_at(dtype, found, i), value_at(dtype, first, i));
        CHECK_INT(wrong, 0);
    }
    mxl_thread_set_count(before);
    free(data), free(found), free(first), free(at), free(first_at);
}

/* Rows over several threads, each with room of its own. */
TEST(threads)
{
    uint64_t seed = 9;
    int threads = mxl_thread_set_count(2);
    mxl_sort_job job = {
        .outer = 31, .n = 113, .inner = 7, .k = 113, .in = in, .position_dtype = MXL_I64};

    for (int dtype = 0; dtype < MXL_DTYPE_COUNT; dtype++) {
        job.dtype = dtype;
        fill(dtype, job.outer * job.n * job.inner, &seed);
        check(job);
    }
    mxl_thread_set_count(threads);
}

/* Rows that are in order already, in reverse, or all equal: a heap of them is worked hardest. */
TEST(ordered_rows)
{
    for (int way = -1; way <= 1; way++) {
        mxl_sort_job job = {.dtype = MXL_F32,
                            .outer = 1,
                            .n = 3000,
                            .inner = 1,
                            .k = 100,
                            .in = in,
                            .position_dtype = MXL_I64};

        for (int64_t i = 0; i < job.n; i++)
            set_value(MXL_F32, in, i, (double)(way * i));
        check(job);
        job.k = job.n;
        check(job);
        job.descending = true;
        check(job);
    }
}

TEST(nothing)
{
    mxl_sort_job job = {.outer = 2, .n = 0, .inner = 3, .in = in, .values = values};
    mxl_sort_job none = {.outer = 0, .n = 5, .inner = 3, .k = 5, .in = in, .values = values};

    CHECK_INT(mxl_sort(&job), 0);
    CHECK_INT(mxl_sort(&none), 0);
}

/* ---- along an axis ---- */

static mxl_array *of_i64(int64_t rows, int64_t columns, const int64_t *from)
{
    mxl_array *a = mxl_array_new(MXL_I64, 2, (int64_t[]){rows, columns});

    memcpy(mxl_array_write(a), from, (size_t)(rows * columns) * sizeof(*from));
    return a;
}

enum { FENCE = 64 };

static void *fenced_alloc(void *most, size_t bytes, size_t align)
{
    char *block = aligned_alloc(align, (bytes + FENCE + align - 1) / align * align);

    if (block == NULL)
        return NULL;
    if (bytes > *(size_t *)most)
        *(size_t *)most = bytes;
    memset(block + bytes, 0xA5, FENCE);
    return block;
}

static void fenced_free(void *most, void *block, size_t bytes)
{
    (void)most;
    for (size_t i = 0; i < FENCE; i++)
        CHECK_INT(((unsigned char *)block)[bytes + i], 0xA5);
    free(block);
}

/* Of a size that nothing is rounded up for, with keys to its very end. */
TEST(room_is_not_left)
{
    static const int dtypes[] = {MXL_U8, MXL_F16, MXL_F32};
    uint64_t seed = 12;
    size_t most = 0;
    mxl_sort_job job = {
        .outer = 1, .n = 1024, .inner = 1, .k = 128, .in = in, .position_dtype = MXL_I64};

    REQUIRE(mxl_mem_set_allocator(fenced_alloc, fenced_free, &most, false) == 0);
    for (int d = 0; d < 3; d++) {
        job.dtype = dtypes[d];
        fill(job.dtype, job.n, &seed);
        check(job);
    }
    CHECK_INT(most, 2 * 8 * 128 * 8 + 1024 * 4); /* twice 8 rows of 128 entries, and the keys */
    CHECK_INT(mxl_mem_set_allocator(NULL, NULL, NULL, true), 0);
}

TEST(moves_along)
{
    static const int64_t where[] = {2, 0, 1, 1, 0, 2};
    static const int dtypes[] = {MXL_U8, MXL_F16, MXL_F32, MXL_F64};
    mxl_array *at = of_i64(3, 2, where);

    for (int d = 0; d < 4; d++) {
        int dtype = dtypes[d];
        mxl_array *x = mxl_array_new(dtype, 2, (int64_t[]){4, 2}), *taken, *put;

        for (int64_t i = 0; i < 8; i++)
            set_value(dtype, mxl_array_write(x), i, (double)(i + 1));
        taken = run("_mxl_take_along", "axis=0", mode_of(false, false), 2, x, at);
        put = run("_mxl_put_along", "axis=-2 extent=5", mode_of(false, false), 2, taken, at);
        REQUIRE(taken != NULL && put != NULL && put->shape[0] == 5 && put->shape[1] == 2);
        for (int64_t i = 0; i < 3; i++) {
            for (int64_t c = 0; c < 2; c++) {
                int64_t row = where[i * 2 + c];
                double want = (double)(row * 2 + c + 1);

                CHECK_NEAR(value_at(dtype, mxl_array_read(taken), i * 2 + c), want, 0);
                CHECK_NEAR(value_at(dtype, mxl_array_read(put), row * 2 + c), want, 0);
            }
        }
        for (int64_t i = 6; i < 10; i++)
            CHECK_NEAR(value_at(dtype, mxl_array_read(put), i), 0, 0);
        mxl_array_drop(taken);
        mxl_array_drop(put);
        mxl_array_drop(x);
    }
    mxl_array_drop(at);
}

/* Elements at one index are added, in every dtype; of bool that is `or`. Whatever the number of
 * threads, in order: the sum of float32 depends on it. */
TEST(adds_what_is_put_at_one_index)
{
    static const int64_t where[] = {1, 0, 1, 0, 1, 2};
    static const double from[] = {1, 2, 3, 4, 5, 6}, want[] = {0, 6, 9, 0, 0, 6};
    mxl_array *at = of_i64(3, 2, where);

    for (int dtype = 0; dtype < MXL_DTYPE_COUNT; dtype++) {
        mxl_array *x = mxl_array_new(dtype, 2, (int64_t[]){3, 2}), *put;

        for (int64_t i = 0; i < 6; i++)
            set_value(dtype, mxl_array_write(x), i, dtype == MXL_BOOL ? 1 : from[i]);
        put = run("_mxl_put_along", "axis=0 extent=3", mode_of(false, false), 2, x, at);
        REQUIRE(put != NULL);
        for (int64_t i = 0; i < 6; i++)
            CHECK_NEAR(value_at(dtype, mxl_array_read(put), i),
                       dtype == MXL_BOOL ? want[i] != 0 : want[i], 0);
        mxl_array_drop(put);
        mxl_array_drop(x);
    }
    mxl_array_drop(at);
}

TEST(puts_in_order_on_any_number_of_threads)
{
    enum { OUTER = 3, COUNT = 500, INNER = 301, EXTENT = 7, SIZE = OUTER * COUNT * INNER };
    mxl_array *x = mxl_array_new(MXL_F32, 3, (int64_t[]){OUTER, COUNT, INNER});
    mxl_array *at = mxl_array_new(MXL_I64, 3, x->shape), *put;
    static float want[OUTER * EXTENT * INNER];
    uint64_t seed = 5;
    int before = mxl_thread_set_count(1);

    for (int64_t i = 0; i < SIZE; i++) {
        int64_t o = i / (COUNT * INNER), c = i % INNER,
                to = (int64_t)(harness_random(&seed) % EXTENT);

        ((int64_t *)mxl_array_write(at))[i] = to;
        ((float *)mxl_array_write(x))[i] = (float)(harness_random(&seed) % 1000) / 7;
        want[(o * EXTENT + to) * INNER + c] += ((const float *)mxl_array_read(x))[i];
    }
    for (int t = 0; t < 2; t++) {
        mxl_thread_set_count(t == 0 ? 1 : 5);
        put = run("_mxl_put_along", "axis=1 extent=7", mode_of(false, false), 2, x, at);
        REQUIRE(put != NULL);
        CHECK_INT(memcmp(mxl_array_read(put), want, sizeof(want)), 0);
        mxl_array_drop(put);
    }
    mxl_thread_set_count(before);
    mxl_array_drop(x);
    mxl_array_drop(at);
}

TEST(bad_indices)
{
    static const int64_t high[] = {0, 1, 2, 3}, low[] = {0, 1, -1, 0};
    mxl_array *a = of_i64(2, 2, high), *b = of_i64(2, 2, low), *x = of_i64(2, 3, (int64_t[6]){0});
    mxl_array *f = mxl_array_new(MXL_F32, 2, (int64_t[]){2, 2});

    fails("index 3 is not in an axis of 3", "_mxl_take_along", "axis=1", 2, x, a);
    fails("index -1 is not in an axis of 3", "_mxl_take_along", "axis=1", 2, x, b);
    fails("index 3 is not in an axis of 3", "_mxl_put_along", "axis=1 extent=3", 2, a, a);
    fails("differ in axis 0 alone", "_mxl_take_along", "axis=0", 2, x, a);
    fails("must be int64, got float32", "_mxl_take_along", "axis=1", 2, x, f);
    fails("3 elements for 2 indices", "_mxl_put_along", "axis=1 extent=3", 2, x, a);
    fails("out of range", "_mxl_put_along", "axis=2 extent=3", 2, a, a);
    fails("extent", "_mxl_put_along", "axis=1 extent=-1", 2, a, a);
    fails("too large", "_mxl_put_along", "axis=1 extent=9223372036854775807", 2, a, a);
    mxl_array_drop(a);
    mxl_array_drop(b);
    mxl_array_drop(x);
    mxl_array_drop(f);
}

HARNESS_MAIN(ENTRY(every_dtype_and_length), ENTRY(columns), ENTRY(large_rows), ENTRY(threads),
             ENTRY(ordered_rows), ENTRY(nothing), ENTRY(room_is_not_left), ENTRY(moves_along),
             ENTRY(adds_what_is_put_at_one_index), ENTRY(puts_in_order_on_any_number_of_threads),
             ENTRY(bad_indices))

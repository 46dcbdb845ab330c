/* Sorting against insertion by comparison, for every dtype, both directions and all kinds of
 * results. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/half.h"
#include "base/memory/mem.h"
#include "base/memory/mem_pool.h"
#include "base/thread.h"
#include "kernel/sort/sort.h"
#include "kernel/target.h"
#include "ops_kit.h"

enum { ROOM = 1 << 15 };

static unsigned char in[ROOM * 8], values[ROOM * 8], mask[ROOM * 8];
static int64_t positions[ROOM];

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

    for (int dtype = 0; dtype < MXL_DTYPE_LOOPS; dtype++) {
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
        for (int dtype = 0; dtype < MXL_DTYPE_LOOPS; dtype++) {
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
        if (dtype == MXL_U8)
            set_value(dtype, data, N - 1, 0); /* the smallest, at the end of the last part */
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

/* Several rows that all threads sort together, one after the other. */
TEST(many_large_rows)
{
    enum { N = 70001, ROWS = 2 };
    float *data = malloc(ROWS * N * 4);
    int64_t *at = malloc(ROWS * N * 8), wrong = 0;
    uint64_t seed = 14;
    int before = mxl_thread_set_count(3);

    REQUIRE(data != NULL && at != NULL);
    for (int64_t i = 0; i < ROWS * N; i++)
        set_value(MXL_F32, data, i, draw(MXL_F32, &seed));
    for (int round = 0; round < 2; round++) {
        mxl_sort_job job = {.dtype = MXL_F32,
                            .outer = ROWS,
                            .n = N,
                            .inner = 1,
                            .k = round == 0 ? N : N / 20,
                            .in = data,
                            .positions = at,
                            .position_dtype = MXL_I64};

        CHECK_INT(mxl_sort(&job), 0);
        for (int64_t i = 0; i < ROWS * job.k; i++) {
            const float *row = data + i / job.k * N;

            if (i % job.k == 0)
                continue;
            wrong += larger((double)row[at[i - 1]], (double)row[at[i]]);
            wrong += same((double)row[at[i - 1]], (double)row[at[i]]) && at[i] <= at[i - 1];
        }
        CHECK_INT(wrong, 0);
    }
    mxl_thread_set_count(before);
    free(data), free(at);
}

/* Rows over several threads, each with room of its own. */
TEST(threads)
{
    uint64_t seed = 9;
    int threads = mxl_thread_set_count(2);
    mxl_sort_job job = {
        .outer = 31, .n = 113, .inner = 7, .k = 113, .in = in, .position_dtype = MXL_I64};

    for (int dtype = 0; dtype < MXL_DTYPE_LOOPS; dtype++) {
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

TEST(one_element)
{
    mxl_sort_job job = {.dtype = MXL_F32,
                        .outer = 1,
                        .n = 1,
                        .inner = 1,
                        .k = 1,
                        .in = in,
                        .position_dtype = MXL_I64};

    set_value(MXL_F32, in, 0, 5);
    memset(values, 0xFF, sizeof(float));
    positions[0] = 7;
    check(job);
}

/* ---- room ---- */

enum { FENCE = 64 };

static void *fenced_alloc(void *most, size_t bytes, size_t align)
{
    char *block = kit_alloc(bytes + FENCE, align);

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
    kit_free(block);
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

/* One block, of what the shares need: none for threads or for ways that are not taken. */
TEST(room_is_not_wasted)
{
    static const struct {
        int dtype, threads;
        int64_t outer, n, k;
        size_t bytes;
    } rows[] = {
        {MXL_F32, 8, 8, 20000, 100, 2 * 8 * 100 * 8},     /* a group of eight rows, by heaps */
        {MXL_F32, 8, 2, 20000, 20000, 2 * 2 * 20000 * 8}, /* two rows, two shares */
        {MXL_F32, 2, 5, 20000, 20000, 2 * 2 * 20000 * 8}, /* two threads, two shares */
        {MXL_F64, 2, 1, 1024, 1, 2 * 64},                 /* one entry: no columns of it */
        {MXL_F32, 2, 1, 1 << 16, 100, 2 * 2 * 100 * 8},   /* two threads on a row, by heaps */
        {MXL_F32, 2, 2, 1 << 16, 100, 2 * 8 * 100 * 8},   /* a thread for each row */
    };
    enum { MOST = 1 << 18 };
    size_t most = 0, rounded;
    int before = mxl_thread_count();
    void *data = calloc(MOST, 4), *found = calloc(MOST, 8);

    REQUIRE(data != NULL && found != NULL);
    REQUIRE(mxl_mem_set_allocator(fenced_alloc, fenced_free, &most, false) == 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        mxl_sort_job job = {.dtype = rows[i].dtype,
                            .outer = rows[i].outer,
                            .n = rows[i].n,
                            .inner = 1,
                            .k = rows[i].k,
                            .in = data,
                            .positions = found,
                            .position_dtype = MXL_I64};

        mxl_thread_set_count(rows[i].threads);
        most = 0;
        CHECK_INT(mxl_sort(&job), 0);
        mxl_pool_class(rows[i].bytes, &rounded);
        CHECK_INT(most, rounded);
    }
    CHECK_INT(mxl_mem_set_allocator(NULL, NULL, NULL, true), 0);
    mxl_thread_set_count(before);
    free(data), free(found);
}

HARNESS_MAIN(ENTRY(every_dtype_and_length), ENTRY(columns), ENTRY(large_rows),
             ENTRY(many_large_rows), ENTRY(threads), ENTRY(ordered_rows), ENTRY(nothing),
             ENTRY(one_element), ENTRY(room_is_not_left), ENTRY(room_is_not_wasted))

/* The saved tensors of topk; and _mxl_gather and _mxl_put_along, which move elements along an axis:
 * bounds, order on several threads. Values and gradients are in tests/python/cases. */
#include "base/dtype.h"
#include "base/thread.h"
#include "engine/tape/tape.h"
#include "ops_kit.h"

/* ---- in order ---- */

/* Rules read the input anew where values are asked for, and nothing else does. */
TEST(saves)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(3), 3, 1, 2), *y;

    make_variable(x);
    y = run("topk", "ret_typ=mask", mode_of(true, true), 1, x);
    CHECK_INT(((mxl_node *)atomic_load(&y->target))->saves_any, false);
    mxl_array_release(y);
    y = run("topk", "ret_typ=value", mode_of(true, true), 1, x);
    CHECK_INT(((mxl_node *)atomic_load(&y->target))->saves_any, true);
    mxl_array_release(y);
    mxl_array_release(x);
}

/* ---- along an axis ---- */

static mxl_array *of_i64(int64_t rows, int64_t columns, const int64_t *from)
{
    mxl_array *a = mxl_array_new(MXL_I64, 2, (int64_t[]){rows, columns});

    memcpy(mxl_array_write(a), from, (size_t)(rows * columns) * sizeof(*from));
    return a;
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
        taken = run("_mxl_gather", "axis=0", mode_of(false, false), 2, x, at);
        put = run("_mxl_put_along", "axis=-2 shape=(5,2)", mode_of(false, false), 2, taken, at);
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
        mxl_array_release(taken);
        mxl_array_release(put);
        mxl_array_release(x);
    }
    mxl_array_release(at);
}

/* Elements at one index are added, in every dtype; of bool that is `or`. Whatever the number of
 * threads, in order: the sum of float32 depends on it. */
TEST(adds_what_is_put_at_one_index)
{
    static const int64_t where[] = {1, 0, 1, 0, 1, 2};
    static const double from[] = {1, 2, 3, 4, 5, 6}, want[] = {0, 6, 9, 0, 0, 6};
    mxl_array *at = of_i64(3, 2, where);

    for (int dtype = 0; dtype < MXL_DTYPE_LOOPS; dtype++) {
        mxl_array *x = mxl_array_new(dtype, 2, (int64_t[]){3, 2}), *put;

        for (int64_t i = 0; i < 6; i++)
            set_value(dtype, mxl_array_write(x), i, dtype == MXL_BOOL ? 1 : from[i]);
        put = run("_mxl_put_along", "axis=0 shape=(3,2)", mode_of(false, false), 2, x, at);
        REQUIRE(put != NULL);
        for (int64_t i = 0; i < 6; i++)
            CHECK_NEAR(value_at(dtype, mxl_array_read(put), i),
                       dtype == MXL_BOOL ? want[i] != 0 : want[i], 0);
        mxl_array_release(put);
        mxl_array_release(x);
    }
    mxl_array_release(at);
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
        put = run("_mxl_put_along", "axis=1 shape=(3,7,301)", mode_of(false, false), 2, x, at);
        REQUIRE(put != NULL);
        CHECK_INT(memcmp(mxl_array_read(put), want, sizeof(want)), 0);
        mxl_array_release(put);
    }
    mxl_thread_set_count(before);
    mxl_array_release(x);
    mxl_array_release(at);
}

TEST(bad_indices)
{
    static const int64_t high[] = {0, 1, 2, 3}, low[] = {0, 1, -1, 0};
    mxl_array *a = of_i64(2, 2, high), *b = of_i64(2, 2, low), *x = of_i64(2, 3, (int64_t[6]){0});
    mxl_array *f = mxl_array_new(MXL_F32, 2, (int64_t[]){2, 2});
    mxl_array *one = of_i64(1, 1, (int64_t[]){3}), *three = of_i64(3, 2, (int64_t[6]){0});

    fails("index 3 is not in an axis of 1", "_mxl_gather", "axis=0", 2, one, one);
    fails("shape (3,2) do not fit an array of shape (2,3)", "_mxl_gather", "axis=1", 2, x, three);
    fails("index 3 is not in an axis of 3", "_mxl_gather", "axis=1", 2, x, a);
    fails("index -1 is not in an axis of 3", "_mxl_gather", "axis=1", 2, x, b);
    fails("index 3 is not in an axis of 3", "_mxl_put_along", "axis=1 shape=(2,3)", 2, a, a);
    fails("index 2 is not in an axis of 2", "_mxl_gather", "axis=0", 2, x, a);
    fails("must be int64, got float32", "_mxl_gather", "axis=1", 2, x, f);
    fails("shape (2,3) do not fit an array of shape (2,2)", "_mxl_put_along", "axis=1 shape=(2,3)",
          2, a, x);
    fails("out of range", "_mxl_put_along", "axis=2 shape=(2,3)", 2, a, a);
    fails("extent", "_mxl_put_along", "axis=1 shape=(2,-1)", 2, a, a);
    fails("too many", "_mxl_put_along", "axis=1 shape=(2,9223372036854775807)", 2, a, a);
    mxl_array_release(a);
    mxl_array_release(b);
    mxl_array_release(x);
    mxl_array_release(f);
    mxl_array_release(one);
    mxl_array_release(three);
}

HARNESS_MAIN(ENTRY(saves), ENTRY(moves_along), ENTRY(adds_what_is_put_at_one_index),
             ENTRY(puts_in_order_on_any_number_of_threads), ENTRY(bad_indices))

/* softmax, Dropout and random arrays: values, edges, gradients. The full table of cases is in
 * tests/python. */
#include <stdio.h>

#include "base/thread.h"
#include "ops_kit.h"

/* ---- softmax ---- */

TEST(softmax_values)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 3), 1, 2, 3, 4, 4, 5),
              *ints = ARRAY(MXL_I32, SHAPE(1), 1);
    mxl_array *length = ARRAY(MXL_I32, SHAPE(2), 2, 0), *far = ARRAY(MXL_I64, SHAPE(2), 2, 4);
    mxl_array *low = ARRAY(MXL_I64, SHAPE(2), -1, 2), *three = ARRAY(MXL_I64, SHAPE(3), 2, 1, 0);
    mxl_array *real = ARRAY(MXL_F32, SHAPE(2), 2, 1), *one = ARRAY(MXL_F64, SCALAR, 3);
    const double e = exp(1), s = 1 + e + e * e;

    IS(run("softmax", "", PLAIN, 1, x), MXL_F32, SHAPE(2, 3), 1 / s, e / s, e * e / s, 1 / (2 + e),
       1 / (2 + e), e / (2 + e));
    IS(run("softmax", "temperature=-1 dtype=float64", PLAIN, 1, x), MXL_F64, SHAPE(2, 3), e * e / s,
       e / s, 1 / s, e / (1 + 2 * e), e / (1 + 2 * e), 1 / (1 + 2 * e));
    IS(run("softmax", "use_length=1", PLAIN, 2, x, length), MXL_F32, SHAPE(2, 3), 1 / (1 + e),
       e / (1 + e), 0, 0, 0, 0);
    IS(run("softmax", "use_length=1 axis=0", PLAIN, 2, x, three), MXL_F32, SHAPE(2, 3),
       1 / (1 + e * e * e), 1, 0, 1 / (1 + exp(-3)), 0, 0);
    IS(run("softmax", "", PLAIN, 1, one), MXL_F64, SCALAR, 1);
    IS(run("log_softmax", "axis=0", PLAIN, 1, x), MXL_F32, SHAPE(2, 3), -log(1 + e * e * e),
       -log(1 + e * e), -log(1 + e * e), -log(1 + exp(-3)), -log(1 + exp(-2)), -log(1 + exp(-2)));
    fails("out of range", "softmax", "axis=2", 1, x);
    fails("floating-point", "log_softmax", "", 1, ints);
    fails("not in [0, 3]", "softmax", "use_length=1", 2, x, far);
    fails("not in [0, 3]", "softmax", "use_length=1", 2, x, low);
    fails("shape (2,)", "softmax", "use_length=1", 2, x, three);
    fails("int32 or int64", "softmax", "use_length=1", 2, x, real);
    fails("takes 2 inputs", "softmax", "use_length=1", 1, x);
    fails("shape (2,)", "_mxl_keep_first", "", 2, x, three);
    fails("out of range", "_mxl_keep_first", "axis=2", 2, x, three);
    fails("use_length", "softmax", "use_length=None", 1, x);
    fails("use_length", "log_softmax", "use_length=1", 1, x);
    mxl_array_release(x);
    mxl_array_release(ints);
    mxl_array_release(length);
    mxl_array_release(far);
    mxl_array_release(low);
    mxl_array_release(three);
    mxl_array_release(real);
    mxl_array_release(one);
}

TEST(softmax_gradients)
{
    mxl_array *length = ARRAY(MXL_I32, SHAPE(2, 2), 3, 1, 0, 2);

    check_gradients("softmax", "", NULL, 1, SHAPE(2, 3), NULL, NULL);
    check_gradients("softmax", "axis=0 temperature=0.7", NULL, 1, SHAPE(3, 2), NULL, NULL);
    check_gradients("softmax", "axis=1 use_length=1", length, 1, SHAPE(2, 3, 2), NULL, NULL);
    check_gradients("softmax", "", NULL, 1, SCALAR, NULL, NULL);
    check_gradients("log_softmax", "", NULL, 1, SHAPE(2, 3), NULL, NULL);
    check_gradients("log_softmax", "axis=1 temperature=2", NULL, 1, SHAPE(2, 3, 2), NULL, NULL);
    mxl_array_release(length);
}

/* What stands behind the length of a row is not looked at, in the array or the head; and a gradient
 * has the dtype of the input. */
TEST(softmax_ignores)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(1, 3), 1, 2, NAN), *n = ARRAY(MXL_I64, SHAPE(1), 2);
    mxl_array *head = ARRAY(MXL_F64, SHAPE(1, 3), 1, 2, NAN);
    const double d = exp(1) / (1 + exp(1)) / (1 + exp(1));

    IS(gradient("softmax", "use_length=1 dtype=float64", false, x, n, head), MXL_F32, SHAPE(1, 3),
       -d, d, 0);
    IS(run("_mxl_keep_first", "", PLAIN, 2, x, n), MXL_F32, SHAPE(1, 3), 1, 2, 0);
    fails("int32 or int64", "_mxl_keep_first", "", 2, x, head);
    mxl_array_release(x);
    mxl_array_release(n);
    mxl_array_release(head);
}

/* ---- Dropout ---- */

static mxl_array *ones(int dtype, int64_t rows, int64_t columns)
{
    const int64_t shape[2] = {rows, columns};
    mxl_array *x = mxl_array_new(dtype, 2, shape);

    for (int64_t i = 0; i < x->size; i++)
        set_item(x, i, 1);
    return x;
}

TEST(dropout_shares)
{
    const int dtypes[] = {MXL_F32, MXL_F64, MXL_F16};

    for (int k = 0; k < 3; k++) {
        mxl_array *x = ones(dtypes[k], 200, 200);
        mxl_array *y = run("Dropout", "p=0.25", mode_of(false, true), 1, x);
        int64_t dropped = 0;

        REQUIRE(y != NULL);
        for (int64_t i = 0; i < y->size; i++) {
            dropped += item(y, i) == 0;
            CHECK(item(y, i) == 0 || fabs(item(y, i) - 4.0 / 3) < 1e-3);
        }
        /* 10000 are expected, with a deviation of 87. */
        CHECK(dropped > 9600 && dropped < 10400);
        mxl_array_release(x);
        mxl_array_release(y);
    }
}

TEST(dropout_modes)
{
    mxl_array *x = ones(MXL_F32, 40, 6), *ints = ones(MXL_I32, 1, 1), *y;
    int kept = 0;

    y = run("Dropout", "p=0.5 axes=(1,)", mode_of(false, true), 1, x);
    for (int64_t i = 0; i < 240; i++)
        CHECK(item(y, i) == item(y, i / 6 * 6));
    for (int64_t i = 0; i < 40; i++)
        kept += item(y, 6 * i) == 2;
    CHECK(kept > 5 && kept < 35);
    mxl_array_release(y);
    for (int k = 0; k < 3; k++) {
        y = run("Dropout", k == 2 ? "p=0" : "", mode_of(k == 1, k == 2), 1, x);
        for (int64_t i = 0; i < 240; i++)
            CHECK(item(y, i) == 1);
        mxl_array_release(y);
    }
    y = run("Dropout", "mode=always p=1", mode_of(false, false), 1, x);
    for (int64_t i = 0; i < 240; i++)
        CHECK(item(y, i) == 0);
    mxl_array_release(y);
    fails("in [0, 1]", "Dropout", "p=1.1", 1, x);
    fails("in [0, 1]", "Dropout", "p=-0.1", 1, x);
    fails("axis 2", "Dropout", "axes=(2,)", 1, x);
    fails("axis -1", "Dropout", "axes=(-1,)", 1, x);
    fails("floating-point", "Dropout", "", 1, ints);
    mxl_array_release(x);
    mxl_array_release(ints);
}

/* The mask, for a caller that gives two outputs. */
TEST(dropout_mask)
{
    mxl_array *x = ones(MXL_F32, 3, 5), *out[2] = {NULL, ones(MXL_F32, 3, 5)};
    const mxl_op *op = mxl_op_find("Dropout");
    _Alignas(16) char params[256];
    mxl_arena arena;

    mxl_arena_init(&arena);
    CHECK_INT(mxl_params_parse(op, 0, NULL, NULL, params, &arena), 0);
    for (int training = 1; training >= 0; training--) {
        CHECK_INT(mxl_invoke(op, params, 1, &x, 2, out, mode_of(false, training == 1)), 0);
        for (int64_t i = 0; i < 15; i++) {
            CHECK(item(out[0], i) == item(out[1], i));
            CHECK(item(out[1], i) == 1 || training == 1);
        }
    }
    mxl_array_release(out[0]);
    mxl_array_release(out[1]);
    mxl_array_release(x);
    mxl_arena_clear(&arena);
}

/* The gradient of ones is the result itself: both are the mask. */
TEST(dropout_gradients)
{
    mxl_array *x = ones(MXL_F32, 20, 20), *head = ones(MXL_F32, 20, 20), *y, *grad;

    mxl_random_seed(3);
    y = run("Dropout", "", mode_of(false, true), 1, x);
    mxl_random_seed(3);
    grad = gradient("Dropout", "", true, x, NULL, head);
    for (int64_t i = 0; i < 400; i++)
        CHECK(item(grad, i) == item(y, i));
    mxl_array_release(grad);
    grad = gradient("Dropout", "", false, x, NULL, head);
    for (int64_t i = 0; i < 400; i++)
        CHECK(item(grad, i) == 1);
    mxl_array_release(grad);
    mxl_array_release(y);
    mxl_array_release(x);
    mxl_array_release(head);
    check_gradients("Dropout", "", NULL, 1, SHAPE(3, 4), NULL, NULL);
    check_gradients("Dropout", "p=0.3 axes=(0,)", NULL, 1, SHAPE(3, 4), NULL, NULL);
    check_gradients("Dropout", "p=0", NULL, 1, SHAPE(3, 4), NULL, NULL);
}

/* ---- random arrays ---- */

static void moments(const mxl_array *a, double *mean, double *deviation)
{
    double sum = 0, squares = 0;

    for (int64_t i = 0; i < a->size; i++)
        sum += item(a, i);
    *mean = sum / (double)a->size;
    for (int64_t i = 0; i < a->size; i++)
        squares += (item(a, i) - *mean) * (item(a, i) - *mean);
    *deviation = sqrt(squares / (double)a->size);
}

TEST(random_moments)
{
    const char *dtypes[] = {"float32", "float64", "float16"};

    for (int k = 0; k < 3; k++) {
        char params[96];
        double mean, deviation;
        mxl_array *a;

        snprintf(params, sizeof(params), "low=-1 high=3 shape=(200,300) dtype=%s", dtypes[k]);
        a = run("_random_uniform", params, PLAIN, 0);
        CHECK_STR(mxl_dtype_name(a->dtype), dtypes[k]);
        moments(a, &mean, &deviation);
        CHECK_NEAR(mean, 1, 0.03);
        CHECK_NEAR(deviation, 4 / sqrt(12), 0.03);
        mxl_array_release(a);
        snprintf(params, sizeof(params), "loc=2 scale=0.5 shape=(60000,) dtype=%s", dtypes[k]);
        a = run("_random_normal", params, PLAIN, 0);
        moments(a, &mean, &deviation);
        CHECK_NEAR(mean, 2, 0.01);
        CHECK_NEAR(deviation, 0.5, 0.01);
        mxl_array_release(a);
    }
}

/* The seed decides, the number of threads does not; two calls never give the same. */
TEST(random_repeats)
{
    const char *ops[] = {"_random_uniform", "_random_normal"};
    int before = mxl_thread_set_count(1);

    for (int k = 0; k < 2; k++) {
        mxl_array *made[3];

        for (int i = 0; i < 3; i++) {
            mxl_thread_set_count(i == 1 ? 4 : 1);
            if (i < 2)
                mxl_random_seed(42);
            made[i] = run(ops[k], "shape=(300000,)", PLAIN, 0);
        }
        CHECK(memcmp(mxl_array_read(made[0]), mxl_array_read(made[1]), 1200000) == 0);
        CHECK(memcmp(mxl_array_read(made[0]), mxl_array_read(made[2]), 4000) != 0);
        for (int i = 0; i < 3; i++)
            mxl_array_release(made[i]);
    }
    mxl_thread_set_count(before);
}

TEST(random_shapes)
{
    mxl_array *out = mxl_array_new(MXL_F64, 1, SHAPE(3)),
              *ints = mxl_array_new(MXL_I32, 1, SHAPE(3));

    CHECK_INT(run_into("_random_uniform", "low=2 high=2", PLAIN, 0, NULL, &out), 0);
    mxl_array_retain(out);
    IS(out, MXL_F64, SHAPE(3), 2, 2, 2);
    is(run("_random_normal", "shape=(2,0)", PLAIN, 0), MXL_F32, SHAPE(2, 0), EMPTY);
    CHECK_INT(run_into("_random_uniform", "shape=(2,)", PLAIN, 0, NULL, &out), -1);
    CHECK_INT(run_into("_random_uniform", "dtype=float32", PLAIN, 0, NULL, &out), -1);
    CHECK_INT(run_into("_random_uniform", "", PLAIN, 0, NULL, &ints), -1);
    fails("low must not be above high", "_random_uniform", "low=3 high=1 shape=(2,)", 0);
    fails("scale must be above 0", "_random_normal", "scale=0 shape=(2,)", 0);
    fails("negative extent", "_random_normal", "shape=(-2,)", 0);
    fails("open", "_random_normal", "shape=(-1,)", 0);
    fails("ctx", "_random_normal", "shape=(1,) ctx=bad", 0);
    fails("ctx", "_random_normal", "shape=(1,) ctx=cpu(0", 0);
    fails("ctx", "_random_normal", "shape=(1,) ctx=gpu(0)", 0);
    is(run("_random_normal", "shape=(0,) ctx=cpu_pinned(-1)", PLAIN, 0), MXL_F32, SHAPE(0), EMPTY);
    mxl_array_release(out);
    mxl_array_release(ints);
}

/* In legacy mode 0 and () mean unknown; an array given as output says what they are. */
TEST(random_legacy_shapes)
{
    mxl_mode legacy = {.legacy_shape = true, .dialect = &mxl_dialect_mxnet};
    mxl_array *given = mxl_array_new(MXL_F32, 2, SHAPE(2, 3)), *out = NULL;
    const char *params[] = {"", "shape=()", "shape=None", "shape=(0,3)", "shape=(-1,3)"};

    for (int i = 0; i < 5; i++) {
        CHECK_INT(run_into("_random_uniform", params[i], legacy, 0, NULL, &out), -1);
        CHECK_INT(run_into("_zeros", i == 2 ? "" : params[i], legacy, 0, NULL, &out), -1);
        CHECK(out == NULL);
        CHECK_INT(run_into("_random_uniform", params[i], legacy, 0, NULL, &given), 0);
        CHECK(item(given, 5) != 0);
    }
    mxl_array_release(given);
    is(run("_random_uniform", "shape=() low=3 high=3", PLAIN, 0), MXL_F32, SCALAR,
       (const double[]){3});
}

HARNESS_MAIN(ENTRY(softmax_values), ENTRY(softmax_gradients), ENTRY(softmax_ignores),
             ENTRY(dropout_shares), ENTRY(dropout_modes), ENTRY(dropout_gradients),
             ENTRY(random_moments), ENTRY(random_repeats), ENTRY(random_shapes),
             ENTRY(dropout_mask), ENTRY(random_legacy_shapes))

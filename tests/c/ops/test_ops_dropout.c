/* softmax beyond the length of a row, the mask of Dropout for a caller of two outputs, and shapes
 * of random arrays outside numpy-shape mode. Values and gradients are in tests/python/cases. */
#include <stdio.h>

#include "base/thread.h"
#include "ops_kit.h"

/* ---- softmax ---- */

/* Values behind the length of a row are not read, in the array or the head; and a gradient
 * has the dtype of the input. */
TEST(softmax_ignores)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(1, 3), 1, 2, NAN), *n = ARRAY(MXL_I64, SHAPE(1), 2);
    mxl_array *head = ARRAY(MXL_F64, SHAPE(1, 3), 1, 2, NAN);
    const double d = exp(1) / (1 + exp(1)) / (1 + exp(1));

    IS(gradient("softmax", "use_length=1 dtype=float64", false, x, n, head), MXL_F32, SHAPE(1, 3),
       -d, d, 0);
    fails("int32 or int64", "softmax", "use_length=1", 2, x, head);
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

/* ---- random arrays ---- */

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

HARNESS_MAIN(ENTRY(softmax_ignores), ENTRY(dropout_mask), ENTRY(random_legacy_shapes))

/* The shared rules of shape, dtype and saved values. */
#include "harness.h"

#include "base/error.h"
#include "op/op.h"

static const mxl_op fake = {.name = "fake"};

enum { MOST = 3 };

static mxl_array *in[MOST];
static mxl_shape shapes[MOST];
static int dtypes[MOST];

/* Makes input `i`; the shape is given as extents that end with -1. */
static void input(int i, int dtype, const int64_t *shape)
{
    int ndim = 0;

    while (shape[ndim] >= 0)
        ndim++;
    in[i] = mxl_array_new(dtype, ndim, shape);
}

#define INPUT(i, dtype, ...) input(i, dtype, (const int64_t[]){__VA_ARGS__})

static int run(int (*rule)(mxl_infer *), int inputs, int outputs)
{
    mxl_infer infer = {.op = &fake, .num_inputs = inputs, .num_outputs = outputs, .in = in};

    infer.out_shape = shapes;
    infer.out_dtype = dtypes;
    for (int i = 0; i < MOST; i++) {
        shapes[i].ndim = -1;
        dtypes[i] = MXL_DTYPE_UNKNOWN;
    }
    for (int i = 0; i < inputs; i++)
        if (!CHECK(in[i] != NULL))
            return -1;
    return rule(&infer);
}

static void drop(void)
{
    for (int i = 0; i < MOST; i++) {
        mxl_array_release(in[i]);
        in[i] = NULL;
    }
}

static void check_out(int i, int dtype, const char *shape)
{
    char text[128];

    CHECK_INT(dtypes[i], dtype);
    CHECK_STR(mxl_shape_text(text, sizeof text, shapes[i].ndim, shapes[i].dim), shape);
}

TEST(same)
{
    for (int i = 0; i < MOST; i++)
        INPUT(i, MXL_I32, 2, 3, -1);
    CHECK_INT(run(mxl_infer_same, 3, 2), 0);
    check_out(0, MXL_I32, "(2,3)");
    check_out(1, MXL_I32, "(2,3)");
    CHECK_INT(dtypes[2], MXL_DTYPE_UNKNOWN);
    CHECK_INT(run(mxl_infer_float_same, 1, 1), -1);
    CHECK_STR(mxl_error_text(), "fake: takes floating-point input, got int32");
    drop();

    INPUT(0, MXL_F32, 2, 3, -1);
    INPUT(1, MXL_F32, 2, 3, -1);
    INPUT(2, MXL_F32, 3, 2, -1);
    CHECK_INT(run(mxl_infer_same, 3, 1), -1);
    CHECK_STR(mxl_error_text(), "fake: inputs have shapes (2,3) and (3,2); they must be the same");
    CHECK_INT(run(mxl_infer_same, 2, 1), 0);
    CHECK_INT(run(mxl_infer_float_same, 2, 1), 0);
    check_out(0, MXL_F32, "(2,3)");
    CHECK_INT(run(mxl_infer_same, 0, 1), -1);
    CHECK_STR(mxl_error_text(), "fake: takes at least one input, got none");
    drop();

    INPUT(0, MXL_F32, -1);
    INPUT(1, MXL_F64, -1);
    CHECK_INT(run(mxl_infer_same, 2, 1), -1);
    CHECK_STR(mxl_error_text(),
              "fake: inputs have dtypes float32 and float64; they must be the same");
    CHECK_INT(run(mxl_infer_same, 1, 1), 0);
    check_out(0, MXL_F32, "()");
    drop();
}

TEST(like_first)
{
    INPUT(0, MXL_U8, 4, 0, -1);
    INPUT(1, MXL_F64, 7, -1);
    CHECK_INT(run(mxl_infer_like_first, 2, 2), 0);
    check_out(0, MXL_U8, "(4,0)");
    check_out(1, MXL_U8, "(4,0)");
    drop();
}

TEST(broadcast)
{
    INPUT(0, MXL_F64, 2, 1, 3, -1);
    INPUT(1, MXL_F64, 4, 1, -1);
    INPUT(2, MXL_F64, -1);
    CHECK_INT(run(mxl_infer_broadcast, 2, 1), 0);
    check_out(0, MXL_F64, "(2,4,3)");
    CHECK_INT(run(mxl_infer_broadcast, 3, 1), -1);
    CHECK_STR(mxl_error_text(), "fake: takes 2 inputs, got 3");
    mxl_array_release(in[1]);
    in[1] = in[2];
    in[2] = NULL;
    CHECK_INT(run(mxl_infer_broadcast, 2, 1), 0);
    check_out(0, MXL_F64, "(2,1,3)");
    drop();

    INPUT(0, MXL_F32, 2, 3, -1);
    INPUT(1, MXL_F32, 4, -1);
    CHECK_INT(run(mxl_infer_broadcast, 2, 1), -1);
    CHECK_STR(mxl_error_text(), "fake: shapes (2,3) and (4,) cannot be broadcast together");
    drop();

    INPUT(0, MXL_F32, 2, -1);
    INPUT(1, MXL_F16, 2, -1);
    CHECK_INT(run(mxl_infer_broadcast, 2, 1), -1);
    CHECK_STR(mxl_error_text(),
              "fake: inputs have dtypes float32 and float16; they must be the same");
    drop();
}

/* In a meta run sizes may be unknown: what is computed of them is. */
TEST(unknown_sizes)
{
    const int64_t some[] = {3, MXL_UNKNOWN_SIZE, 2}, others[] = {MXL_UNKNOWN_SIZE, 7, 1};
    const int64_t large[] = {MXL_UNKNOWN_SIZE, INT64_MAX / 2, 3};
    mxl_shape both;

    CHECK_INT(mxl_shape_size(3, some), MXL_UNKNOWN_SIZE);
    CHECK_INT(mxl_shape_size(2, (int64_t[]){MXL_UNKNOWN_SIZE, MXL_UNKNOWN_SIZE}), MXL_UNKNOWN_SIZE);
    CHECK_INT(mxl_shape_size(1, some), 3);
    CHECK_INT(mxl_shape_check(3, some), 0);
    CHECK_INT(mxl_shape_check(3, large), -1);
    CHECK(mxl_sizes_differ(2, 3) && !mxl_sizes_differ(2, MXL_UNKNOWN_SIZE));
    CHECK(mxl_size_below(2, 3) && !mxl_size_below(MXL_UNKNOWN_SIZE, 3));
    CHECK_INT(mxl_shape_broadcast(&both, 3, some, 3, others), 0);
    CHECK(both.dim[0] == 3 && both.dim[1] == 7 && both.dim[2] == 2);
    CHECK_INT(mxl_shape_broadcast(&both, 1, others, 1, (int64_t[]){1}), 0);
    CHECK_INT(both.dim[0], MXL_UNKNOWN_SIZE);

    for (int i = 0; i < 2; i++) {
        in[i] = mxl_array_new_meta(MXL_F32, 3, i == 0 ? some : others);
        CHECK(in[i]->size < 0);
    }
    CHECK_INT(run(mxl_infer_broadcast, 2, 1), 0);
    CHECK_INT(run(mxl_infer_same, 2, 1), -1);
    mxl_array_release(in[1]);
    in[1] = mxl_array_new_meta(MXL_F32, 3, (int64_t[]){3, 5, MXL_UNKNOWN_SIZE});
    CHECK_INT(run(mxl_infer_same, 2, 1), 0);
    drop();
}

TEST(saves)
{
    for (int bits = 0; bits < 4; bits++) {
        bool wants[2] = {bits & 1, bits >> 1 & 1}, saved[2] = {false, false}, out[1] = {false};
        mxl_saves s = {.op = &fake, .num_inputs = 2, .num_outputs = 1, .wants = wants};

        s.in = saved;
        s.out = out;
        mxl_saves_other(&s);
        CHECK_INT(saved[0], wants[1]);
        CHECK_INT(saved[1], wants[0]);
        CHECK(!out[0]);
        saved[0] = saved[1] = false;
        mxl_saves_input(&s);
        CHECK(saved[0] && !saved[1] && !out[0]);
        saved[0] = false;
        mxl_saves_output(&s);
        CHECK(!saved[0] && !saved[1] && out[0]);
    }
}

HARNESS_MAIN(ENTRY(same), ENTRY(like_first), ENTRY(broadcast), ENTRY(unknown_sizes), ENTRY(saves))

/* Losses: targets that _mxl_softmax_target computes from labels, refused arguments and their
 * messages. Values and gradients are in tests/python. */
#include "ops_kit.h"

/* Both outputs, new; -1 with the error set. */
static int target(const char *params_text, mxl_array *label, mxl_array **made)
{
    const mxl_op *op = mxl_op_find("_mxl_softmax_target");
    _Alignas(16) char params[512];
    char text[256];
    const char *keys[8], *values[8];
    mxl_arena arena;
    int count, status;

    made[0] = made[1] = NULL;
    strcpy(text, params_text);
    count = split(text, keys, values);
    mxl_arena_init(&arena);
    status = mxl_params_parse(op, count, keys, values, params, &arena);
    if (status == 0)
        status = mxl_invoke(op, params, 1, &label, 2, made, PLAIN);
    mxl_arena_clear(&arena);
    return status;
}

static void refuses(const char *words, const char *params, mxl_array *label)
{
    mxl_array *made[2];

    CHECK_INT(target(params, label, made), -1);
    CHECK_HAS(mxl_error_text(), words);
    CHECK(made[0] == NULL && made[1] == NULL);
}

TEST(targets)
{
    mxl_array *label = ARRAY(MXL_F32, SHAPE(3), 2, 0, -1), *made[2];
    mxl_array *outside = ARRAY(MXL_F32, SHAPE(3), 3, 2, 7);

    CHECK_INT(target("shape=(3,3) smooth_alpha=0.25 normalization=valid use_ignore=1 grad_scale=3",
                     label, made),
              0);
    IS(made[0], MXL_F32, SHAPE(3, 3), 0.125, 0.125, 0.75, 0.75, 0.125, 0.125, 0.125, 0.125, 0.125);
    IS(made[1], MXL_F32, SHAPE(3, 1), 1.5, 1.5, 0);
    CHECK_INT(target("shape=(3,2,1) clip=1 grad_scale=6 normalization=batch", label, made), 0);
    IS(made[0], MXL_F32, SHAPE(3, 2, 1), 0, 1, 1, 0, 1, 0);
    IS(made[1], MXL_F32, SHAPE(3, 1, 1), 2, 2, 2);
    CHECK_INT(target("shape=(1,2,3) multi_output=1 grad_scale=6", label, made), 0);
    IS(made[0], MXL_F32, SHAPE(1, 2, 3), 0, 1, 0, 0, 0, 0);
    IS(made[1], MXL_F32, SHAPE(1, 1, 3), 2, 2, 2);
    CHECK_INT(target("shape=(3,3)", outside, made), 0);
    IS(made[0], MXL_F32, SHAPE(3, 3), 0, 0, 0, 0, 0, 1, 0, 0, 0);
    IS(made[1], MXL_F32, SHAPE(3, 1), 1, 1, 1);
    mxl_array_release(outside);
    mxl_array_release(label);
}

TEST(target_shapes)
{
    mxl_array *label = ARRAY(MXL_F32, SHAPE(6), 0, 1, 2, 0, 1, 2);
    mxl_array *ints = ARRAY(MXL_I32, SHAPE(2), 0, 1);

    refuses("6 labels for 5 rows", "shape=(5,3)", label);
    refuses("6 labels for 2 rows", "shape=(2,3,4)", label);
    refuses("6 labels for 8 rows", "shape=(2,3,4) multi_output=1", label);
    refuses("has 0 axes", "shape=()", label);
    refuses("has 1 axes", "shape=(6,) multi_output=1", label);
    refuses("got int32", "shape=(2,3)", ints);
    refuses("", "shape=(6,4611686018427387904,4)", label);
    refuses("", "shape=(6,-1)", label);
    mxl_array_release(label);
    mxl_array_release(ints);
}

/* Where there are no classes none is the nearest. */
TEST(targets_of_no_classes)
{
    mxl_array *label = ARRAY(MXL_F32, SHAPE(3), -1, 0, NAN), *made[2];

    REQUIRE(target("shape=(3,0) clip=1", label, made) == 0);
    CHECK_INT(made[0]->size, 0);
    IS(made[1], MXL_F32, SHAPE(3, 1), 1, 1, 1);
    mxl_array_release(made[0]);
    mxl_array_release(label);
}

TEST(refusals)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 3), 1, 2, 3, 4, 5, 6);
    mxl_array *label = ARRAY(MXL_F32, SHAPE(2), 0, 1), *wide = ARRAY(MXL_F64, SHAPE(2), 0, 1);
    mxl_array *ints = ARRAY(MXL_I32, SHAPE(2), 0, 1), *vector = ARRAY(MXL_F32, SHAPE(3), 1, 2, 3);
    mxl_array *scalar = ARRAY(MXL_F32, SCALAR, 1);
    mxl_array *none = mxl_array_new(MXL_F32, 2, SHAPE(2, 0));

    fails("takes floating-point input, got int32", "SoftmaxOutput", "", 2, ints, label);
    fails("dtypes float32 and float64", "SoftmaxOutput", "", 2, x, wide);
    fails("must have 2 axes or more, got 1", "SoftmaxOutput", "multi_output=1", 2, vector, vector);
    fails("must have 1 axes or more, got 0", "SoftmaxOutput", "", 2, scalar, scalar);
    fails("label of shape (3,) does not fit data of shape (2,3)", "SoftmaxOutput", "", 2, x,
          vector);
    fails("from 0 to 1, got 1.5", "SoftmaxOutput", "smooth_alpha=1.5", 2, x, label);
    fails("from 0 to 1, got nan", "SoftmaxOutput", "smooth_alpha=nan", 2, x, label);

    fails("takes floating-point input, got int32", "softmax_cross_entropy", "", 2, ints, label);
    fails("dtypes float32 and float64", "softmax_cross_entropy", "", 2, x, wide);
    fails("data must have shape [N,C], got (3,)", "softmax_cross_entropy", "", 2, vector, label);
    fails("label must have shape [N], got (2,3)", "softmax_cross_entropy", "", 2, x, x);
    fails("axis 0 of label is 3; it must be 2, axis 0 of data", "softmax_cross_entropy", "", 2, x,
          vector);
    fails("no classes", "softmax_cross_entropy", "", 2, none, label);

    fails("takes floating-point input, got int32", "MAERegressionOutput", "", 2, ints, ints);
    fails("dtypes float32 and float64", "LinearRegressionOutput", "", 2, label, wide);
    fails("data has no axis", "LogisticRegressionOutput", "", 2, scalar, scalar);
    fails("the shape of data, (2,3), got (2,)", "LinearRegressionOutput", "", 2, x, label);
    fails("data has no axis", "MakeLoss", "", 1, scalar);

    fails("use_length is not supported", "softmin", "use_length=1", 1, x);
    mxl_array_release(x);
    mxl_array_release(label);
    mxl_array_release(wide);
    mxl_array_release(ints);
    mxl_array_release(vector);
    mxl_array_release(scalar);
    mxl_array_release(none);
}

HARNESS_MAIN(ENTRY(targets), ENTRY(target_shapes), ENTRY(targets_of_no_classes), ENTRY(refusals))

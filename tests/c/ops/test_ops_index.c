/* take, pick, one_hot: values, edges, gradients. The full table of cases is in tests/python. */
#include "ops_kit.h"

/* ---- take ---- */

TEST(take_modes)
{
    mxl_array *a = ARRAY(MXL_F32, SHAPE(3, 2), 1, 2, 3, 4, 5, 6);
    mxl_array *far = ARRAY(MXL_F32, SHAPE(4), -1, 5, 2.99, -0.5),
              *in = ARRAY(MXL_I64, SHAPE(2), 2, 0);
    mxl_array *odd = ARRAY(MXL_F64, SHAPE(3), NAN, 1e18, -1e18), *out = NULL, *inputs[2] = {a, far};

    IS(run("take", "", PLAIN, 2, a, far), MXL_F32, SHAPE(4, 2), 1, 2, 5, 6, 5, 6, 1, 2);
    IS(run("take", "mode=wrap", PLAIN, 2, a, far), MXL_F32, SHAPE(4, 2), 5, 6, 5, 6, 5, 6, 1, 2);
    IS(run("take", "mode=raise", PLAIN, 2, a, in), MXL_F32, SHAPE(2, 2), 5, 6, 1, 2);
    IS(run("take", "", PLAIN, 2, a, odd), MXL_F32, SHAPE(3, 2), 1, 2, 5, 6, 1, 2);
    fails("take: index -1 is out of bounds", "take", "mode=raise", 2, a, far);
    fails("mode", "take", "mode=foo", 2, a, in);
    /* Nothing is written before the indices are seen to be right. */
    out = ARRAY(MXL_F32, SHAPE(4, 2), 0, 1, 2, 3, 4, 5, 6, 7);
    CHECK_INT(run_into("take", "mode=raise", PLAIN, 2, inputs, &out), -1);
    IS(out, MXL_F32, SHAPE(4, 2), 0, 1, 2, 3, 4, 5, 6, 7);
    mxl_array_release(a);
    mxl_array_release(far);
    mxl_array_release(in);
    mxl_array_release(odd);
}

TEST(take_axes)
{
    mxl_array *a = ARRAY(MXL_U8, SHAPE(2, 3), 1, 2, 3, 4, 5, 6),
              *number = ARRAY(MXL_I32, SCALAR, 1);
    mxl_array *index = ARRAY(MXL_I32, SHAPE(2, 2), 0, 2, 1, 1), *none = ARRAY(MXL_F32, SHAPE(0), 0);
    mxl_array *empty = ARRAY(MXL_U8, SHAPE(0, 2), 0);

    IS(run("take", "axis=1", PLAIN, 2, a, index), MXL_U8, SHAPE(2, 2, 2), 1, 3, 2, 2, 4, 6, 5, 5);
    IS(run("take", "axis=-1", PLAIN, 2, a, number), MXL_U8, SHAPE(2), 2, 5);
    is(run("take", "", PLAIN, 2, a, none), MXL_U8, SHAPE(0, 3), EMPTY);
    is(run("take", "", PLAIN, 2, empty, none), MXL_U8, SHAPE(0, 2), EMPTY);
    fails("extent 0", "take", "", 2, empty, number);
    fails("out of range", "take", "axis=2", 2, a, index);
    fails("out of range", "take", "axis=-3", 2, a, index);
    fails("out of range", "take", "", 2, number, index);
    mxl_array_release(a);
    mxl_array_release(number);
    mxl_array_release(index);
    mxl_array_release(none);
    mxl_array_release(empty);
}

/* More indices than the operators keep without memory of their own. */
TEST(take_many)
{
    mxl_array *a = mxl_array_new(MXL_F32, 1, SHAPE(100)),
              *index = mxl_array_new(MXL_I32, 1, SHAPE(100));
    mxl_array *y, *grad, *head = mxl_array_new(MXL_F32, 1, SHAPE(100));

    for (int i = 0; i < 100; i++) {
        set_item(a, i, i * 10);
        set_item(index, i, 99 - i);
        set_item(head, i, i);
    }
    y = run("take", "", PLAIN, 2, a, index);
    grad = gradient("take", "mode=wrap", true, a, index, head);
    for (int i = 0; i < 100; i++) {
        CHECK_INT(item(y, i), (99 - i) * 10);
        CHECK_INT(item(grad, i), 99 - i);
    }
    mxl_array_release(a);
    mxl_array_release(index);
    mxl_array_release(y);
    mxl_array_release(grad);
    mxl_array_release(head);
}

/* Repeated indices add up; clipped and wrapped ones go where they were read. */
TEST(take_gradients)
{
    mxl_array *a = ARRAY(MXL_F32, SHAPE(3), 1, 2, 3), *index = ARRAY(MXL_F32, SHAPE(3), -1, 4, 1);
    mxl_array *head = ARRAY(MXL_F32, SHAPE(3), 1, 10, 100),
              *same = ARRAY(MXL_F32, SHAPE(3), 0, 0, 2);

    IS(gradient("take", "", true, a, same, head), MXL_F32, SHAPE(3), 11, 0, 100);
    IS(gradient("take", "", true, a, index, head), MXL_F32, SHAPE(3), 1, 100, 10);
    IS(gradient("take", "mode=wrap", true, a, index, head), MXL_F32, SHAPE(3), 0, 110, 1);
    mxl_array_release(a);
    mxl_array_release(index);
    mxl_array_release(head);
    mxl_array_release(same);
}

/* ---- pick ---- */

TEST(pick_values)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 3), 1, 2, 3, 4, 5, 6),
              *last = ARRAY(MXL_F32, SHAPE(2), -1, 5);
    mxl_array *kept = ARRAY(MXL_I32, SHAPE(2, 1), 0, 2), *first = ARRAY(MXL_U8, SHAPE(3), 0, 1, 1);
    mxl_array *vector = ARRAY(MXL_I64, SHAPE(3), 7, 8, 9), *one = ARRAY(MXL_F32, SHAPE(1), 1);
    mxl_array *number = ARRAY(MXL_F32, SCALAR, 2), *none = ARRAY(MXL_F32, SHAPE(0, 2), 0);
    mxl_array *nothing = ARRAY(MXL_F32, SHAPE(0), 0), *flat = ARRAY(MXL_F32, SHAPE(2, 0), 0);

    IS(run("pick", "", PLAIN, 2, x, last), MXL_F32, SHAPE(2), 1, 6);
    IS(run("pick", "mode=wrap", PLAIN, 2, x, last), MXL_F32, SHAPE(2), 3, 6);
    IS(run("pick", "", PLAIN, 2, x, kept), MXL_F32, SHAPE(2), 1, 6);
    IS(run("pick", "keepdims=1 axis=1", PLAIN, 2, x, last), MXL_F32, SHAPE(2, 1), 1, 6);
    IS(run("pick", "axis=-2", PLAIN, 2, x, first), MXL_F32, SHAPE(3), 1, 5, 6);
    IS(run("pick", "axis=0", PLAIN, 2, vector, one), MXL_I64, SHAPE(1), 8);
    IS(run("pick", "axis=0", PLAIN, 2, vector, number), MXL_I64, SHAPE(1), 9);
    is(run("pick", "", PLAIN, 2, none, nothing), MXL_F32, SHAPE(0), EMPTY);
    fails("extent 0", "pick", "", 2, flat, last);
    fails("index must have the shape (2,), got (3,)", "pick", "", 2, x, first);
    fails("out of range", "pick", "axis=2", 2, x, last);
    fails("None", "pick", "axis=None", 2, x, last);
    fails("mode", "pick", "mode=raise", 2, x, last);
    mxl_array_release(x);
    mxl_array_release(last);
    mxl_array_release(kept);
    mxl_array_release(first);
    mxl_array_release(vector);
    mxl_array_release(one);
    mxl_array_release(number);
    mxl_array_release(none);
    mxl_array_release(nothing);
    mxl_array_release(flat);
}

/* ---- one_hot ---- */

TEST(one_hot_values)
{
    mxl_array *index = ARRAY(MXL_F32, SHAPE(4), 0, 1.9, -1, NAN),
              *near = ARRAY(MXL_F64, SHAPE(1), -0.5);
    mxl_array *matrix = ARRAY(MXL_I64, SHAPE(1, 2), 2, 0), *number = ARRAY(MXL_U8, SCALAR, 1);

    IS(run("one_hot", "depth=2", PLAIN, 1, index), MXL_F32, SHAPE(4, 2), 1, 0, 0, 1, 0, 0, 0, 0);
    IS(run("one_hot", "depth=2 on_value=-1 off_value=300 dtype=uint8", PLAIN, 1, near), MXL_U8,
       SHAPE(1, 2), 255, 44);
    IS(run("one_hot", "depth=3 dtype=float64 on_value=0.25", PLAIN, 1, matrix), MXL_F64,
       SHAPE(1, 2, 3), 0, 0, 0.25, 0.25, 0, 0);
    IS(run("one_hot", "depth=2 dtype=int32", PLAIN, 1, number), MXL_I32, SHAPE(2), 0, 1);
    is(run("one_hot", "depth=0", PLAIN, 1, index), MXL_F32, SHAPE(4, 0), EMPTY);
    fails("depth", "one_hot", "depth=-1", 1, index);
    fails("depth", "one_hot", "", 1, index);
    fails("bool", "one_hot", "depth=2 dtype=bool", 1, index);
    mxl_array_release(index);
    mxl_array_release(near);
    mxl_array_release(matrix);
    mxl_array_release(number);
}

/* ---- gradients ---- */

/* An index that wants a gradient gets zeros, and disturbs nobody else's. */
static void index_gradient(const char *op, mxl_array *data, mxl_array *index,
                           const double *expected)
{
    mxl_array *inputs[2] = {data, index}, *y = NULL, *grads[2] = {NULL, NULL};
    mxl_backward_args args = {.num_heads = 1,
                              .heads = &y,
                              .num_variables = 2,
                              .variables = inputs,
                              .grads = grads,
                              .training = true,
                              .dialect = &mxl_dialect_mxnet};

    make_variable(data);
    make_variable(index);
    REQUIRE(CHECK(run_into(op, "", mode_of(true, true), 2, inputs, &y) == 0));
    CHECK_INT(mxl_backward(&args), 0);
    is(grads[0], MXL_F32, SHAPE(2, 2), expected);
    IS(grads[1], MXL_F32, SHAPE(2), 0, 0);
    mxl_array_release(y);
}

TEST(index_gradients)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 2), 1, 2, 3, 4), *index = ARRAY(MXL_F32, SHAPE(2), 1, 1);
    mxl_array *depth = ARRAY(MXL_F32, SHAPE(2), 0, 1),
              *head = ARRAY(MXL_F32, SHAPE(2, 3), 1, 2, 3, 4, 5, 6);

    index_gradient("take", x, index, (const double[]){0, 0, 2, 2});
    index_gradient("pick", x, index, (const double[]){0, 1, 0, 1});
    IS(gradient("one_hot", "depth=3", true, depth, NULL, head), MXL_F32, SHAPE(2), 0, 0);
    mxl_array_release(x);
    mxl_array_release(index);
    mxl_array_release(depth);
    mxl_array_release(head);
}

TEST(gradients)
{
    mxl_array *index = ARRAY(MXL_I32, SHAPE(2, 2), 1, 1, 0, 5),
              *row = ARRAY(MXL_F32, SHAPE(2), 2, -1);
    mxl_array *column = ARRAY(MXL_F32, SHAPE(3), 1, 0, 1), *one = ARRAY(MXL_F32, SHAPE(1), 1);

    check_gradients("take", "", index, 1, SHAPE(3, 2), NULL, NULL);
    check_gradients("take", "axis=1 mode=wrap", index, 1, SHAPE(2, 3, 2), NULL, NULL);
    check_gradients("take", "axis=-1", row, 1, SHAPE(3), NULL, NULL);
    check_gradients("pick", "", row, 1, SHAPE(2, 3), NULL, NULL);
    check_gradients("pick", "mode=wrap keepdims=1", row, 1, SHAPE(2, 3), NULL, NULL);
    check_gradients("pick", "axis=0", column, 1, SHAPE(2, 3), NULL, NULL);
    check_gradients("pick", "axis=0", one, 1, SHAPE(3), NULL, NULL);
    mxl_array_release(index);
    mxl_array_release(row);
    mxl_array_release(column);
    mxl_array_release(one);
}

HARNESS_MAIN(ENTRY(take_modes), ENTRY(take_axes), ENTRY(take_many), ENTRY(take_gradients),
             ENTRY(pick_values), ENTRY(one_hot_values), ENTRY(index_gradients), ENTRY(gradients))

/* Reshape, transpose, slices, SliceChannel, Concat, add_n: values, edges, gradients. The full table
 * of cases is in tests/python. */
#include "ops_kit.h"

#include "base/thread.h"

#define COUNT_6 1, 2, 3, 4, 5, 6
#define COUNT_24                                                                                   \
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24

/* ---- Reshape ---- */

TEST(reshape_codes)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 3, 4), COUNT_24);

    IS(run("Reshape", "shape=(4,0,2)", PLAIN, 1, x), MXL_F32, SHAPE(4, 3, 2), COUNT_24);
    IS(run("Reshape", "shape=-1", PLAIN, 1, x), MXL_F32, SHAPE(24), COUNT_24);
    IS(run("Reshape", "shape=(-3,-2)", PLAIN, 1, x), MXL_F32, SHAPE(6, 4), COUNT_24);
    IS(run("Reshape", "shape=(-1,0)", PLAIN, 1, x), MXL_F32, SHAPE(8, 3), COUNT_24);
    IS(run("Reshape", "shape=(-1,0) reverse=1", PLAIN, 1, x), MXL_F32, SHAPE(6, 4), COUNT_24);
    IS(run("Reshape", "shape=(2,-4,-1,3,-2)", PLAIN, 1, x), MXL_F32, SHAPE(2, 1, 3, 4), COUNT_24);
    IS(run("Reshape", "shape=(0,1,3,-4,0) reverse=1", PLAIN, 1, x), MXL_F32, SHAPE(2, 1, 3, 4),
       COUNT_24);
    /* 1.9.1 mistakes the place of -1 here. */
    IS(run("Reshape", "shape=(-2,-1)", PLAIN, 1, x), MXL_F32, SHAPE(2, 3, 4, 1), COUNT_24);
    IS(run("Reshape", "shape=(-4,1,2,12,-1)", PLAIN, 1, x), MXL_F32, SHAPE(1, 2, 12, 1), COUNT_24);
    fails("cannot have the shape (2,3)", "Reshape", "shape=(2,3)", 1, x);
    fails("cannot have the shape (5,-1)", "Reshape", "shape=(5,-1)", 1, x);
    fails("no axis left", "Reshape", "shape=(0,0,0,0)", 1, x);
    fails("-5", "Reshape", "shape=(-5,)", 1, x);
    fails("cannot have the shape ()", "Reshape", "", 1, x);
    mxl_array_release(x);
}

TEST(reshape_target)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 3, 4), COUNT_24), *one = ARRAY(MXL_F32, SHAPE(1), 7);

    IS(run("Reshape", "target_shape=(6,4)", PLAIN, 1, x), MXL_F32, SHAPE(6, 4), COUNT_24);
    IS(run("Reshape", "target_shape=(0,12)", PLAIN, 1, x), MXL_F32, SHAPE(2, 12), COUNT_24);
    IS(run("Reshape", "target_shape=(3,0) keep_highest=1", PLAIN, 1, x), MXL_F32, SHAPE(2, 12),
       COUNT_24);
    IS(run("Reshape", "shape=(4,6) target_shape=(6,4)", PLAIN, 1, x), MXL_F32, SHAPE(4, 6),
       COUNT_24);
    IS(run("Reshape", "shape=()", PLAIN, 1, one), MXL_F32, SCALAR, 7);
    fails("more than one", "Reshape", "target_shape=(0,0)", 1, x);
    fails("negative", "Reshape", "target_shape=(-1,12)", 1, x);
    fails("cannot have", "Reshape", "target_shape=(5,0)", 1, x);
    mxl_array_release(x);
    mxl_array_release(one);
}

/* ---- transpose ---- */

TEST(transpose_values)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 3), COUNT_6), *bytes = ARRAY(MXL_U8, SHAPE(1, 2), 8, 9);
    mxl_array *cube = ARRAY(MXL_F64, SHAPE(3, 1, 2), COUNT_6),
              *none = ARRAY(MXL_I32, SHAPE(0, 2), 0);
    mxl_array *number = ARRAY(MXL_F32, SCALAR, 5);

    IS(run("transpose", "", PLAIN, 1, x), MXL_F32, SHAPE(3, 2), 1, 4, 2, 5, 3, 6);
    IS(run("transpose", "axes=(0,1)", PLAIN, 1, x), MXL_F32, SHAPE(2, 3), COUNT_6);
    IS(run("transpose", "axes=(2,0,1)", PLAIN, 1, cube), MXL_F64, SHAPE(2, 3, 1), 1, 3, 5, 2, 4, 6);
    IS(run("transpose", "", PLAIN, 1, bytes), MXL_U8, SHAPE(2, 1), 8, 9);
    is(run("transpose", "", PLAIN, 1, none), MXL_I32, SHAPE(2, 0), EMPTY);
    IS(run("transpose", "", PLAIN, 1, number), MXL_F32, SCALAR, 5);
    fails("twice", "transpose", "axes=(0,0)", 1, x);
    fails("2 axes, the array has 3", "transpose", "axes=(1,0)", 1, cube);
    fails("axis 2", "transpose", "axes=(0,2)", 1, x);
    fails("axis -1", "transpose", "axes=(-1,0)", 1, x);
    mxl_array_release(x);
    mxl_array_release(bytes);
    mxl_array_release(cube);
    mxl_array_release(none);
    mxl_array_release(number);
}

/* ---- slices ---- */

TEST(slice_bounds)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(5), 0, 1, 2, 3, 4);

    IS(run("slice", "begin=1 end=3", PLAIN, 1, x), MXL_F32, SHAPE(2), 1, 2);
    IS(run("slice", "begin=(-3,) end=(-1,)", PLAIN, 1, x), MXL_F32, SHAPE(2), 2, 3);
    IS(run("slice", "begin=(-100,) end=(100,)", PLAIN, 1, x), MXL_F32, SHAPE(5), 0, 1, 2, 3, 4);
    IS(run("slice", "begin=(None,) end=(None,) step=(-2,)", PLAIN, 1, x), MXL_F32, SHAPE(3), 4, 2,
       0);
    IS(run("slice", "begin=(10,) end=(0,) step=(-1,)", PLAIN, 1, x), MXL_F32, SHAPE(4), 4, 3, 2, 1);
    IS(run("slice", "begin=(-1,) end=(-9,) step=(-1,)", PLAIN, 1, x), MXL_F32, SHAPE(5), 4, 3, 2, 1,
       0);
    IS(run("slice", "begin=(0,) end=(5,) step=(3,)", PLAIN, 1, x), MXL_F32, SHAPE(2), 0, 3);
    IS(run("slice", "begin=(1,) end=(5,) step=(9223372036854775807,)", PLAIN, 1, x), MXL_F32,
       SHAPE(1), 1);
    IS(run("slice", "begin=(4,) end=(0,) step=(-9223372036854775807,)", PLAIN, 1, x), MXL_F32,
       SHAPE(1), 4);
    IS(run("slice", "begin=(0,) end=(5,) step=(None,)", PLAIN, 1, x), MXL_F32, SHAPE(5), 0, 1, 2, 3,
       4);
    is(run("slice", "begin=(3,) end=(1,)", PLAIN, 1, x), MXL_F32, SHAPE(0), EMPTY);
    is(run("slice", "begin=(5,) end=(6,)", PLAIN, 1, x), MXL_F32, SHAPE(0), EMPTY);
    is(run("slice", "begin=(0,) end=(3,) step=(-1,)", PLAIN, 1, x), MXL_F32, SHAPE(0), EMPTY);
    fails("step along axis 0 is 0", "slice", "begin=(0,) end=(3,) step=(0,)", 1, x);
    fails("as many", "slice", "begin=(0,0) end=(3,)", 1, x);
    fails("as many", "slice", "begin=(0,) end=(3,) step=(1,1)", 1, x);
    fails("2 entries, the array 1 axes", "slice", "begin=(0,0) end=(3,1)", 1, x);
    fails("required", "slice", "begin=(0,)", 1, x);
    fails("begin", "slice", "begin=None end=None", 1, x);
    mxl_array_release(x);
}

TEST(slice_axes)
{
    mxl_array *x = ARRAY(MXL_I64, SHAPE(2, 3), COUNT_6);

    IS(run("slice", "begin=(None,1) end=(None,2)", PLAIN, 1, x), MXL_I64, SHAPE(2, 1), 2, 5);
    IS(run("slice", "begin=(0,None) end=(2,None) step=(1,-1)", PLAIN, 1, x), MXL_I64, SHAPE(2, 3),
       3, 2, 1, 6, 5, 4);
    IS(run("slice", "begin=1 end=2", PLAIN, 1, x), MXL_I64, SHAPE(1, 3), 4, 5, 6);
    IS(run("slice", "begin=() end=()", PLAIN, 1, x), MXL_I64, SHAPE(2, 3), COUNT_6);
    is(run("slice", "begin=(0,0) end=(0,0)", PLAIN, 1, x), MXL_I64, SHAPE(0, 0), EMPTY);
    mxl_array_release(x);
}

TEST(assign_values)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 3), COUNT_6), *v = ARRAY(MXL_F32, SHAPE(2, 1), 8, 9);
    mxl_array *none = ARRAY(MXL_F32, SHAPE(0, 3), 0), *row = ARRAY(MXL_F32, SHAPE(2), 8, 9);
    mxl_array *wide = ARRAY(MXL_F64, SHAPE(2, 1), 8, 9), *bytes = ARRAY(MXL_U8, SHAPE(3), 1, 2, 3);

    IS(run("_slice_assign", "begin=(None,1) end=(None,2)", PLAIN, 2, x, v), MXL_F32, SHAPE(2, 3), 1,
       8, 3, 4, 9, 6);
    IS(run("_slice_assign", "begin=(None,2) end=(None,3) step=(-1,1)", PLAIN, 2, x, v), MXL_F32,
       SHAPE(2, 3), 1, 2, 9, 4, 5, 8);
    IS(run("_slice_assign", "begin=1 end=1", PLAIN, 2, x, none), MXL_F32, SHAPE(2, 3), COUNT_6);
    IS(run("_slice_assign_scalar", "begin=(0,0) end=(2,3) step=(1,2) scalar=7", PLAIN, 1, x),
       MXL_F32, SHAPE(2, 3), 7, 2, 7, 7, 5, 7);
    IS(run("_slice_assign_scalar", "begin=1 end=9 scalar=-1.5", PLAIN, 1, bytes), MXL_U8, SHAPE(3),
       1, 255, 255);
    IS(run("_slice_assign_scalar", "begin=2 end=2 scalar=4", PLAIN, 1, bytes), MXL_U8, SHAPE(3), 1,
       2, 3);
    fails("the part has shape (2,1), the value (2,)", "_slice_assign",
          "begin=(None,1) end=(None,2)", 2, x, row);
    fails("float32 and float64", "_slice_assign", "begin=(None,1) end=(None,2)", 2, x, wide);
    for (int i = 0; i < 6; i++)
        CHECK_INT(item(x, i), i + 1);
    mxl_array_release(x);
    mxl_array_release(v);
    mxl_array_release(none);
    mxl_array_release(row);
    mxl_array_release(wide);
    mxl_array_release(bytes);
}

/* y[...] = value is the operator into its own first input. */
TEST(assign_in_place)
{
    mxl_array *y = ARRAY(MXL_F32, SHAPE(4), 1, 2, 3, 4),
              *other = ARRAY(MXL_F32, SHAPE(4), 5, 6, 7, 8);
    mxl_array *v = ARRAY(MXL_F32, SHAPE(2), 8, 9), *out = y, *inputs[2] = {y, v};
    const void *bytes = mxl_array_read(y);

    CHECK_INT(run_into("_slice_assign", "begin=1 end=3", PLAIN, 2, inputs, &out), 0);
    CHECK(out == y && mxl_array_read(y) == bytes);
    CHECK_INT(run_into("_slice_assign_scalar", "begin=0 end=1 scalar=7", PLAIN, 1, inputs, &out),
              0);
    mxl_array_retain(y);
    IS(y, MXL_F32, SHAPE(4), 7, 8, 9, 4);
    /* The value lies under the output. */
    inputs[1] = y;
    CHECK_INT(
        run_into("_slice_assign", "begin=(None,) end=(None,) step=(-1,)", PLAIN, 2, inputs, &out),
        0);
    mxl_array_retain(y);
    IS(y, MXL_F32, SHAPE(4), 4, 9, 8, 7);
    inputs[0] = other;
    CHECK_INT(run_into("_slice_assign", "begin=0 end=4", PLAIN, 2, inputs, &out), 0);
    mxl_array_retain(y);
    IS(y, MXL_F32, SHAPE(4), 4, 9, 8, 7);
    /* The value lies within the output. */
    inputs[0] = y;
    inputs[1] = mxl_array_view(y, 1, 1, SHAPE(2));
    CHECK_INT(run_into("_slice_assign", "begin=0 end=2", PLAIN, 2, inputs, &out), 0);
    mxl_array_release(inputs[1]);
    IS(y, MXL_F32, SHAPE(4), 9, 8, 8, 7);
    mxl_array_release(other);
    mxl_array_release(v);
}

/* ---- Concat and add_n ---- */

TEST(concat_values)
{
    mxl_array *a = ARRAY(MXL_U8, SHAPE(2, 3), COUNT_6), *b = ARRAY(MXL_U8, SHAPE(2, 1), 8, 9);
    mxl_array *row = ARRAY(MXL_U8, SHAPE(1, 3), 7, 8, 9),
              *wide = ARRAY(MXL_I32, SHAPE(2, 3), COUNT_6);
    mxl_array *none = ARRAY(MXL_U8, SHAPE(0, 3), 0), *number = ARRAY(MXL_U8, SCALAR, 5);

    IS(run("Concat", "num_args=2", PLAIN, 2, a, b), MXL_U8, SHAPE(2, 4), 1, 2, 3, 8, 4, 5, 6, 9);
    IS(run("Concat", "dim=-2", PLAIN, 2, row, a), MXL_U8, SHAPE(3, 3), 7, 8, 9, COUNT_6);
    IS(run("Concat", "dim=0", PLAIN, 2, none, row), MXL_U8, SHAPE(1, 3), 7, 8, 9);
    is(run("Concat", "", PLAIN, 2, none, none), MXL_U8, SHAPE(0, 6), EMPTY);
    IS(run("Concat", "num_args=1", PLAIN, 1, row), MXL_U8, SHAPE(1, 3), 7, 8, 9);
    fails("differ in axis 0", "Concat", "dim=0", 2, a, b);
    fails("uint8 and int32", "Concat", "", 2, a, wide);
    fails("out of range", "Concat", "dim=2", 2, a, b);
    fails("out of range", "Concat", "dim=0", 1, number);
    fails("takes 3 inputs, got 2", "Concat", "num_args=3", 2, a, b);
    fails("num_args", "Concat", "num_args=0", 2, a, b);
    fails("got 0", "Concat", "", 0);
    mxl_array_release(a);
    mxl_array_release(b);
    mxl_array_release(row);
    mxl_array_release(wide);
    mxl_array_release(none);
    mxl_array_release(number);
}

/* Many short blocks, in every width of element that they can be moved by. */
TEST(concat_widths)
{
    static const int dtypes[] = {MXL_U8, MXL_F16, MXL_F32, MXL_F64};

    for (int i = 0; i < 4; i++) {
        mxl_array *a = mxl_array_new(dtypes[i], 2, SHAPE(40, 3)), *y;
        mxl_array *b = mxl_array_new(dtypes[i], 2, SHAPE(40, 1));

        for (int k = 0; k < 120; k++)
            set_item(a, k, k);
        for (int k = 0; k < 40; k++)
            set_item(b, k, 200 + k);
        y = run("Concat", "", PLAIN, 3, b, a, b);
        REQUIRE(y != NULL);
        for (int k = 0; k < 40; k++) {
            CHECK_INT(item(y, k * 5), 200 + k);
            CHECK_INT(item(y, k * 5 + 1), k * 3);
            CHECK_INT(item(y, k * 5 + 3), k * 3 + 2);
            CHECK_INT(item(y, k * 5 + 4), 200 + k);
        }
        mxl_array_release(a);
        mxl_array_release(b);
        mxl_array_release(y);
    }
}

/* Long rows are joined row by row; one short one among them, or many inputs, and they are not. */
TEST(concat_long_rows)
{
    enum { ROWS = 301, MOST = 17 };
    static const struct {
        int count;
        int64_t columns[4]; /* of the inputs, again and again */
    } cases[] = {
        {3, {256, 300, 1001}},      {3, {256, 255, 1001}},      {1, {999}},
        {16, {256, 257, 258, 259}}, {17, {256, 257, 258, 259}},
    };
    int before = mxl_thread_set_count(1);

    for (int i = 0; i < 10; i++) {
        int count = cases[i / 2].count, period = count < 4 ? count : 4;
        mxl_array *in[MOST], *y = NULL;
        int64_t wrong = 0, at = 0;
        const int32_t *got;

        mxl_thread_set_count(1 + i % 2);
        for (int k = 0; k < count; k++) {
            in[k] = mxl_array_new(MXL_I32, 2, SHAPE(ROWS, cases[i / 2].columns[k % period]));
            for (int64_t j = 0; j < in[k]->size; j++)
                ((int32_t *)mxl_array_write(in[k]))[j] = (int32_t)(j + k * 1000003);
        }
        REQUIRE(run_into("Concat", "", PLAIN, count, in, &y) == 0);
        got = mxl_array_read(y);
        for (int64_t row = 0; row < ROWS; row++) {
            for (int k = 0; k < count; k++) {
                int64_t columns = in[k]->shape[1];

                for (int64_t j = 0; j < columns; j++)
                    wrong += got[at++] != (int32_t)(row * columns + j + k * 1000003);
            }
        }
        CHECK_INT(wrong, 0);
        CHECK_INT(at, y->size);
        for (int k = 0; k < count; k++)
            mxl_array_release(in[k]);
        mxl_array_release(y);
    }
    mxl_thread_set_count(before);
}

TEST(add_n_values)
{
    mxl_array *a = ARRAY(MXL_I32, SHAPE(2), 1, 2), *b = ARRAY(MXL_I32, SHAPE(2), 3, 4);
    mxl_array *c = ARRAY(MXL_I32, SHAPE(1), 3), *flag = ARRAY(MXL_F32, SHAPE(2), 3, 4);
    mxl_array *out = b, *inputs[3] = {a, b, b};

    IS(run("add_n", "", PLAIN, 3, a, b, a), MXL_I32, SHAPE(2), 5, 8);
    IS(run("add_n", "", PLAIN, 1, b), MXL_I32, SHAPE(2), 3, 4);
    fails("shapes", "add_n", "", 2, a, c);
    fails("int32 and float32", "add_n", "", 2, a, flag);
    fails("got 0", "add_n", "", 0);
    /* Into one that is added last. */
    CHECK_INT(run_into("add_n", "", PLAIN, 3, inputs, &out), 0);
    mxl_array_retain(b);
    IS(b, MXL_I32, SHAPE(2), 7, 10);
    mxl_array_release(a);
    mxl_array_release(b);
    mxl_array_release(c);
    mxl_array_release(flag);
}

/* ---- SliceChannel ---- */

/* The parts as new arrays; -1 with the error set. */
static int cut(const char *count, const char *axis, const char *squeeze, mxl_array *x,
               mxl_mode mode, int num_parts, mxl_array **parts)
{
    const char *keys[] = {"num_outputs", "axis", "squeeze_axis"};
    const char *values[] = {count, axis, squeeze};
    const mxl_op *op = mxl_op_find("SliceChannel");
    _Alignas(16) char room[64];
    mxl_arena arena;
    int status;

    for (int i = 0; i < num_parts; i++)
        parts[i] = NULL;
    mxl_arena_init(&arena);
    status = mxl_params_parse(op, 3, keys, values, room, &arena);
    if (status == 0)
        status = mxl_invoke(op, room, 1, &x, num_parts, parts, mode);
    mxl_arena_clear(&arena);
    return status;
}

TEST(split_values)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 3), COUNT_6), *two = ARRAY(MXL_F32, SHAPE(2), 8, 9);
    mxl_array *parts[6];

    CHECK_INT(cut("3", "1", "0", x, PLAIN, 3, parts), 0);
    IS(parts[0], MXL_F32, SHAPE(2, 1), 1, 4);
    IS(parts[1], MXL_F32, SHAPE(2, 1), 2, 5);
    IS(parts[2], MXL_F32, SHAPE(2, 1), 3, 6);
    CHECK_INT(cut("2", "-2", "1", x, PLAIN, 2, parts), 0);
    IS(parts[0], MXL_F32, SHAPE(3), 1, 2, 3);
    IS(parts[1], MXL_F32, SHAPE(3), 4, 5, 6);
    CHECK_INT(cut("2", "0", "1", two, PLAIN, 2, parts), 0);
    IS(parts[0], MXL_F32, SCALAR, 8);
    IS(parts[1], MXL_F32, SCALAR, 9);
    CHECK_INT(cut("1", "0", "0", two, PLAIN, 1, parts), 0);
    IS(parts[0], MXL_F32, SHAPE(2), 8, 9);
    CHECK_INT(cut("2", "1", "0", x, PLAIN, 2, parts), -1);
    CHECK_HAS(mxl_error_text(), "an axis of 3 cannot be cut into 2");
    CHECK_INT(cut("1", "1", "1", x, PLAIN, 1, parts), -1);
    CHECK_HAS(mxl_error_text(), "squeeze_axis");
    CHECK_INT(cut("1", "2", "0", x, PLAIN, 1, parts), -1);
    CHECK_HAS(mxl_error_text(), "out of range");
    CHECK_INT(cut("0", "1", "0", x, PLAIN, 1, parts), -1);
    CHECK_INT(cut("2147483647", "1", "0", x, PLAIN, 1, parts), -1);
    CHECK_HAS(mxl_error_text(), "makes 2147483647 parts");
    mxl_array_release(x);
    mxl_array_release(two);
}

/* The gradient with a head for part 1 alone: zeros come from the others. Of the sum of squares of
 * the squared part, twice: 4 x^3 and 12 x^2. */
static void split_gradient(const char *count, const char *axis, const char *squeeze, int num_parts,
                           const double *first, const double *second)
{
    mxl_array *x = ARRAY(MXL_F64, SHAPE(2, 3), COUNT_6), *parts[3], *y, *grad = NULL, *again = NULL;
    mxl_array *squared;
    mxl_backward_args args = {.num_heads = 1,
                              .heads = &y,
                              .num_variables = 1,
                              .variables = &x,
                              .grads = &grad,
                              .retain_graph = true,
                              .create_graph = true,
                              .training = true,
                              .dialect = &mxl_dialect_mxnet};

    make_variable(x);
    mxl_array_retain(x);
    squared = call1("square", x, mode_of(true, true));
    CHECK_INT(cut(count, axis, squeeze, squared, mode_of(true, true), num_parts, parts), 0);
    for (int i = 0; i < num_parts; i++) {
        if (i != 1)
            mxl_array_release(parts[i]);
    }
    y = call1("square", parts[1], mode_of(true, true));
    REQUIRE(y != NULL);
    CHECK_INT(mxl_backward(&args), 0);
    mxl_array_release(y);
    y = grad;
    args.grads = &again;
    args.create_graph = false;
    CHECK_INT(mxl_backward(&args), 0);
    is(grad, MXL_F64, SHAPE(2, 3), first);
    is(again, MXL_F64, SHAPE(2, 3), second);
    mxl_array_release(squared);
    mxl_array_release(x);
}

TEST(split_gradients)
{
    split_gradient("3", "1", "0", 3, (const double[]){0, 32, 0, 0, 500, 0},
                   (const double[]){0, 48, 0, 0, 300, 0});
    split_gradient("3", "-1", "1", 3, (const double[]){0, 32, 0, 0, 500, 0},
                   (const double[]){0, 48, 0, 0, 300, 0});
    split_gradient("2", "0", "1", 2, (const double[]){0, 0, 0, 256, 500, 864},
                   (const double[]){0, 0, 0, 192, 300, 432});
}

/* ---- gradients ---- */

TEST(gradients)
{
    check_gradients("Reshape", "shape=(-1,0)", NULL, 1, SHAPE(2, 3), NULL, NULL);
    check_gradients("Reshape", "target_shape=(0,2)", NULL, 1, SHAPE(2, 3), NULL, NULL);
    check_gradients("transpose", "", NULL, 1, SHAPE(2, 3), NULL, NULL);
    check_gradients("transpose", "axes=(2,0,1)", NULL, 1, SHAPE(2, 1, 3), NULL, NULL);
    check_gradients("slice", "begin=(None,1) end=(None,3)", NULL, 1, SHAPE(2, 4), NULL, NULL);
    check_gradients("slice", "begin=(1,None) end=(2,None) step=(1,-2)", NULL, 1, SHAPE(2, 4), NULL,
                    NULL);
    check_gradients("slice", "begin=(None,) end=(None,) step=(-1,)", NULL, 1, SHAPE(3), NULL, NULL);
    check_gradients("slice", "begin=() end=()", NULL, 1, SHAPE(3), NULL, NULL);
    check_gradients("slice", "begin=2 end=2", NULL, 1, SHAPE(3), NULL, NULL);
    check_gradients("_slice_assign", "begin=(0,None) end=(2,None) step=(1,-2)", NULL, 2,
                    SHAPE(2, 4), SHAPE(2, 2), NULL);
    check_gradients("_slice_assign_scalar", "begin=(0,1) end=(1,3) scalar=3", NULL, 1, SHAPE(2, 4),
                    NULL, NULL);
    check_gradients("Concat", "dim=0", NULL, 3, SHAPE(1, 2), SHAPE(2, 2), SHAPE(1, 2));
    check_gradients("Concat", "dim=-1", NULL, 2, SHAPE(2, 1), SHAPE(2, 3), NULL);
    check_gradients("add_n", "", NULL, 3, SHAPE(2, 2), SHAPE(2, 2), SHAPE(2, 2));
}

HARNESS_MAIN(ENTRY(reshape_codes), ENTRY(reshape_target), ENTRY(transpose_values),
             ENTRY(slice_bounds), ENTRY(slice_axes), ENTRY(assign_values), ENTRY(assign_in_place),
             ENTRY(concat_values), ENTRY(concat_widths), ENTRY(concat_long_rows),
             ENTRY(add_n_values), ENTRY(split_values), ENTRY(split_gradients), ENTRY(gradients))

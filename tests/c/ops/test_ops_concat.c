/* Joining and splitting arrays, and assignments into a part: long and many blocks on several
 * threads, outputs that are inputs, lists of outputs. Values and gradients are in
 * tests/python/cases. */
#include "ops_kit.h"

#include "base/thread.h"

#define COUNT_6 1, 2, 3, 4, 5, 6

/* ---- slices ---- */

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

HARNESS_MAIN(ENTRY(assign_in_place), ENTRY(concat_widths), ENTRY(concat_long_rows),
             ENTRY(add_n_values), ENTRY(split_values))

/* gather_nd, scatter_nd and _scatter_set_nd: bounds, writing in place, saved tensors. The table
 * of cases is in tests/python/cases. */
#include "engine/tape/tape.h"
#include "kernel/index/index_offsets.h"
#include "ops_kit.h"

/* ---- bounds ---- */

/* An index that is out of bounds is said, and nothing is written. */
TEST(bounds)
{
    const char *const names[] = {"scatter_nd", "_mxl_scatter_nd_add"};
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 3), 1, 2, 3, 4, 5, 6),
              *v = ARRAY(MXL_F32, SHAPE(2), 7, 8);
    mxl_array *above = ARRAY(MXL_I32, SHAPE(2, 2), 0, 1, 0, 3);
    mxl_array *below = ARRAY(MXL_F64, SHAPE(2, 2), 0, -3, 0, 0);
    mxl_array *nan = ARRAY(MXL_F32, SHAPE(2, 2), 0, NAN, 0, 0), *inputs[3] = {x, v, above}, *out;
    mxl_array *huge = ARRAY(MXL_F64, SHAPE(2, 2), 0, 1, 0, -1e300);

    fails("IndexError: gather_nd: index 3 is out of bounds for axis 1 of extent 3", "gather_nd", "",
          2, x, above);
    fails("index -3 is out of bounds for axis 0 of extent 2", "gather_nd", "", 2, x, below);
    fails("out of bounds for axis 0", "gather_nd", "", 2, x, nan);
    fails("out of bounds for axis 1", "gather_nd", "", 2, x, huge);
    fails("out of bounds for axis 1", "_mxl_gather_nd_last", "", 2, x, above);
    for (int i = 0; i < 2; i++) {
        fails("out of bounds for axis 1", names[i], "shape=(2,3)", 2, v, above);
        fails("out of bounds for axis 0", names[i], "shape=(2,3)", 2, v, below);
        fails("out of bounds for axis 0", names[i], "shape=(2,3)", 2, v, nan);
        fails("out of bounds for axis 1", names[i], "shape=(2,3)", 2, v, huge);
    }
    out = ARRAY(MXL_F32, SHAPE(2, 3), 1, 1, 1, 1, 1, 1);
    CHECK_INT(run_into("scatter_nd", "shape=(2,3)", PLAIN, 2, &inputs[1], &out), -1);
    CHECK_INT(run_into("_scatter_set_nd", "shape=(2,3)", PLAIN, 3, inputs, &out), -1);
    IS(out, MXL_F32, SHAPE(2, 3), 1, 1, 1, 1, 1, 1);
    CHECK_INT(run_into("_scatter_set_nd", "shape=(2,3)", PLAIN, 3, inputs, &x), -1);
    IS(x, MXL_F32, SHAPE(2, 3), 1, 2, 3, 4, 5, 6);
    mxl_array_release(v);
    mxl_array_release(above);
    mxl_array_release(below);
    mxl_array_release(nan);
    mxl_array_release(huge);
}

/* More axes than an array can have, and more elements than can be counted. */
TEST(limits)
{
    int64_t many[MXL_MAX_NDIM + 1], wide[MXL_MAX_NDIM + 1];
    mxl_array *x, *y, *index;
    mxl_array *v = ARRAY(MXL_F32, SHAPE(1), 1), *one = ARRAY(MXL_I32, SHAPE(1, 1), 0);
    mxl_array *none = mxl_array_new(MXL_I32, 3, SHAPE(0, 1 << 20, 1 << 20));
    mxl_array *wider = mxl_array_new(MXL_F32, 2, SHAPE(0, 1 << 20));

    for (int i = 0; i < MXL_MAX_NDIM; i++)
        many[i] = wide[i] = 1;
    many[MXL_MAX_NDIM] = wide[3] = -1;
    x = mxl_array_new(MXL_F32, MXL_MAX_NDIM, many);
    index = mxl_array_new(MXL_I32, 3, wide);
    set_item(index, 0, 0);
    set_item(x, 0, 5);
    y = run("gather_nd", "", PLAIN, 2, x, one); /* as many axes as there may be */
    CHECK_INT(y->ndim, MXL_MAX_NDIM);
    CHECK_INT(item(y, 0), 5);
    mxl_array_release(y);
    fails("more than 32 axes", "gather_nd", "", 2, x, index);
    fails("too many elements", "gather_nd", "", 2, wider, none);
    fails("too many elements", "scatter_nd", "shape=(4611686018427387904,4)", 2, v, one);
    fails("negative", "scatter_nd", "shape=(-1,)", 2, v, one);
    fails("not a tuple", "scatter_nd", "shape=None", 2, v, one);
    fails("at most 32", "scatter_nd",
          "shape=(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)", 2, v, one);
    mxl_array_release(x);
    mxl_array_release(index);
    mxl_array_release(v);
    mxl_array_release(one);
    mxl_array_release(none);
    mxl_array_release(wider);
}

/* More columns than are looked at together; every axis counts from its end too. */
TEST(many)
{
    mxl_array *x = mxl_array_new(MXL_F32, 2, SHAPE(7, 11));
    mxl_array *index = mxl_array_new(MXL_I64, 2, SHAPE(2, 600)), *y;

    for (int i = 0; i < 77; i++)
        set_item(x, i, i);
    for (int i = 0; i < 600; i++) {
        set_item(index, i, i % 7 - (i % 2 ? 7 : 0));
        set_item(index, 600 + i, i % 11 - (i % 3 ? 11 : 0));
    }
    y = run("gather_nd", "", PLAIN, 2, x, index);
    for (int i = 0; i < 600; i++)
        CHECK_INT(item(y, i), i % 7 * 11 + i % 11);
    mxl_array_release(x);
    mxl_array_release(index);
    mxl_array_release(y);
}

/* ---- writing ---- */

static void set_into(mxl_array *lhs, mxl_array *rhs, mxl_array *index, mxl_array *out,
                     const char *shape)
{
    mxl_array *inputs[3] = {lhs, rhs, index};

    CHECK_INT(run_into("_scatter_set_nd", shape, PLAIN, 3, inputs, &out), 0);
}

TEST(in_place)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(3), 1, 2, 3), *y = ARRAY(MXL_F32, SHAPE(3), 4, 5, 6);
    mxl_array *index = ARRAY(MXL_I32, SHAPE(1, 3), 1, 2, 0),
              *out = ARRAY(MXL_F32, SHAPE(3), 0, 0, 0);
    const int turned[] = {9, 1, 2}, over[] = {6, 4, 5};
    mxl_array *two = ARRAY(MXL_I32, SHAPE(1, 2), 2, 2), *v = ARRAY(MXL_F32, SHAPE(2), 8, 9);

    set_into(x, v, two, out, "shape=(3,)");
    for (int i = 0; i < 3; i++) {
        CHECK_INT(item(x, i), i + 1);
        CHECK_INT(item(out, i), i < 2 ? i + 1 : 9);
    }
    set_into(x, v, two, x, "shape=(3,)");   /* into lhs itself: 1 2 9 */
    set_into(x, x, index, x, "shape=(3,)"); /* all three are one: 9 1 2 */
    for (int i = 0; i < 3; i++)
        CHECK_INT(item(x, i), turned[i]);
    set_into(x, y, index, y, "shape=(3,)"); /* the output lies over rhs: 6 4 5 */
    for (int i = 0; i < 3; i++)
        CHECK_INT(item(y, i), over[i]);
    mxl_array_release(x);
    mxl_array_release(y);
    mxl_array_release(index);
    mxl_array_release(out);
    mxl_array_release(two);
    mxl_array_release(v);
}

TEST(values)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 2), 1, 2, 3, 4), *v = ARRAY(MXL_F32, SHAPE(3), 5, 6, 7);
    mxl_array *index = ARRAY(MXL_I32, SHAPE(1, 3), 1, -2, 1);
    mxl_array *flag = mxl_array_new(MXL_BOOL, 1, SHAPE(3)),
              *pair = ARRAY(MXL_I32, SHAPE(1, 2), -1, 1);
    mxl_array *whole = ARRAY(MXL_I32, SHAPE(2), 1, 3), *bytes = ARRAY(MXL_U8, SHAPE(2), 1, 3);

    memset(mxl_array_write(flag), 1, 3);
    IS(run("gather_nd", "", PLAIN, 2, x, index), MXL_F32, SHAPE(3, 2), 3, 4, 1, 2, 3, 4);
    IS(run("_mxl_gather_nd_last", "", PLAIN, 2, x, index), MXL_F32, SHAPE(3, 2), 0, 0, 1, 2, 3, 4);
    IS(run("_mxl_gather_nd_last", "", PLAIN, 2, whole, index), MXL_I32, SHAPE(3), 0, 1, 3);
    IS(run("_mxl_gather_nd_last", "", PLAIN, 2, bytes, index), MXL_U8, SHAPE(3), 0, 1, 3);
    mxl_index_offsets_put(0, NULL, INT64_C(1) << 50, NULL,
                          NULL); /* pieces of nothing: done at once */
    IS(run("scatter_nd", "shape=(2,)", PLAIN, 2, v, index), MXL_F32, SHAPE(2), 6, 7);
    IS(run("scatter_nd", "shape=(4,)", PLAIN, 2, whole, pair), MXL_I32, SHAPE(4), 0, 3, 0, 1);
    IS(run("_mxl_scatter_nd_add", "shape=(2,)", PLAIN, 2, v, index), MXL_F32, SHAPE(2), 6, 12);
    fails("scatter_nd_add: adding by index: dtype bool", "_mxl_scatter_nd_add", "shape=(2,)", 2,
          flag, index);
    IS(x, MXL_F32, SHAPE(2, 2), 1, 2, 3, 4);
    mxl_array_release(pair);
    mxl_array_release(whole);
    mxl_array_release(bytes);
    mxl_array_release(v);
    mxl_array_release(index);
    mxl_array_release(flag);
}

/* Rows of eight bytes that begin between two multiples of eight: for the sanitizers. */
TEST(odd_places)
{
    mxl_array *all = ARRAY(MXL_F32, SHAPE(5), 0, 1, 2, 3, 4),
              *index = ARRAY(MXL_I32, SHAPE(1, 2), 1, 0);
    mxl_array *x = mxl_array_view(all, 1, 2, SHAPE(2, 2)),
              *row = mxl_array_view(index, 0, 1, SHAPE(2));
    mxl_array *v = ARRAY(MXL_F32, SHAPE(2, 2), 6, 7, 8, 9);

    IS(run("gather_nd", "", PLAIN, 2, x, index), MXL_F32, SHAPE(2, 2), 3, 4, 1, 2);
    IS(run("take", "", PLAIN, 2, x, row), MXL_F32, SHAPE(2, 2), 3, 4, 1, 2);
    set_into(x, v, index, x, "shape=(2,2)");
    IS(all, MXL_F32, SHAPE(5), 0, 8, 9, 6, 7);
    mxl_array_release(x);
    mxl_array_release(row);
    mxl_array_release(index);
    mxl_array_release(v);
}

/* ---- gradients ---- */

static bool saves_any(const mxl_array *y)
{
    return ((const mxl_node *)atomic_load(&y->target))->saves_any;
}

/* Rules read the indices, and those alone need them whose input they are the gradient of. */
TEST(saves)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2), 1, 2), *v = ARRAY(MXL_F32, SHAPE(1), 3), *y;
    mxl_array *index = ARRAY(MXL_F32, SHAPE(1, 1), 1), *wanted = ARRAY(MXL_F32, SHAPE(1, 1), 1);
    mxl_array *inputs[3] = {x, v, index}, *grad = NULL;
    mxl_backward_args args = {.num_heads = 1,
                              .heads = &y,
                              .num_variables = 1,
                              .variables = &v,
                              .grads = &grad,
                              .dialect = &mxl_dialect_mxnet};

    make_variable(wanted);
    y = run("gather_nd", "", mode_of(true, true), 2, x, wanted);
    CHECK_INT(saves_any(y), false);
    mxl_array_release(y);
    y = run("_scatter_set_nd", "shape=(2,)", mode_of(true, true), 3, x, v, wanted);
    CHECK_INT(saves_any(y), false);
    mxl_array_release(y);
    make_variable(v);
    y = NULL;
    REQUIRE(run_into("_scatter_set_nd", "shape=(2,)", mode_of(true, true), 3, inputs, &y) == 0);
    CHECK_INT(saves_any(y), true);
    CHECK_INT(mxl_backward(&args), 0);
    IS(grad, MXL_F32, SHAPE(1), 1);
    mxl_array_release(x);
    mxl_array_release(v);
    mxl_array_release(y);
    mxl_array_release(index);
    mxl_array_release(wanted);
}

HARNESS_MAIN(ENTRY(bounds), NOT_WASM(limits), ENTRY(many), ENTRY(in_place), ENTRY(values),
             ENTRY(odd_places), ENTRY(saves))

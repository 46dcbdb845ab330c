/* _mxl_index, _mxl_index_put and _mxl_index_add: the rules of each front end, bounds, writing in
 * place, memory that is shared. The table of cases is in tests/python/cases. */
#include "array/copy.h"
#include "ops_kit.h"

static const mxl_mode torch_mode = {.training = true, .dialect = &mxl_dialect_torch};

/* ---- rules ---- */

/* Integers beside an index array that a slice separates from them: NumPy counts them as indices,
 * whose axes come first; PyTorch takes them away before. */
TEST(integers_beside_index_arrays)
{
    mxl_array *x = mxl_array_new(MXL_F32, 3, SHAPE(2, 3, 4)), *at = ARRAY(MXL_I64, SHAPE(2), 3, -4);
    mxl_array *y;

    for (int i = 0; i < 24; i++)
        set_item(x, i, i);
    y = run("_mxl_index", "key=(0,1,1,None,None,None,4) rules=numpy", PLAIN, 2, x, at);
    IS(y, MXL_F32, SHAPE(2, 3), 15, 19, 23, 12, 16, 20);
    y = run("_mxl_index", "key=(0,1,1,None,None,None,4) rules=torch", PLAIN, 2, x, at);
    IS(y, MXL_F32, SHAPE(3, 2), 15, 12, 19, 16, 23, 20);
    mxl_array_release(x);
    mxl_array_release(at);
}

/* Bool is a mask under all rules, uint8 in PyTorch's; numbers that are no integers are cut in
 * MXNet's, and refused by the others. */
TEST(dtypes_of_index_arrays)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(3), 5, 6, 7), *bits = ARRAY(MXL_U8, SHAPE(3), 1, 0, 1), *y;
    mxl_array *mask = ARRAY(MXL_BOOL, SHAPE(3), 1, 0, 1),
              *cut = ARRAY(MXL_F32, SHAPE(2), 1.9, -0.5);
    mxl_array *tiny = ARRAY(MXL_I8, SHAPE(1), -1), *nan = ARRAY(MXL_F64, SHAPE(2), 0, NAN);
    const char *const rules[] = {"key=(4,) rules=numpy", "key=(4,) rules=torch",
                                 "key=(4,) rules=mxnet"};

    for (int i = 0; i < 3; i++) {
        y = run("_mxl_index", rules[i], PLAIN, 2, x, mask);
        IS(y, MXL_F32, SHAPE(2), 5, 7);
        y = run("_mxl_index", rules[i], PLAIN, 2, x, bits);
        if (i == 1)
            IS(y, MXL_F32, SHAPE(2), 5, 7);
        else
            IS(y, MXL_F32, SHAPE(3), 6, 5, 6);
    }
    y = run("_mxl_index", rules[2], PLAIN, 2, x, cut);
    IS(y, MXL_F32, SHAPE(2), 6, 5);
    y = run("_mxl_index", rules[0], PLAIN, 2, x, tiny);
    IS(y, MXL_F32, SHAPE(1), 7);
    fails("IndexError: an index array is of whole numbers", "_mxl_index", rules[0], 2, x, cut);
    fails("whole numbers (int64, int32), or a mask (bool, uint8), got int8", "_mxl_index", rules[1],
          2, x, tiny);
    fails("IndexError: an index is not finite", "_mxl_index", rules[2], 2, x, nan);
    mxl_array_release(x);
    mxl_array_release(bits);
    mxl_array_release(mask);
    mxl_array_release(cut);
    mxl_array_release(tiny);
    mxl_array_release(nan);
}

/* Steps below 1 and a second `...`: who takes them. */
TEST(steps_and_dots)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(3), 5, 6, 7), *y;

    y = run("_mxl_index", "key=(1,None,None,-2)", PLAIN, 1, x);
    IS(y, MXL_F32, SHAPE(2), 7, 5);
    fails("ValueError: a slice has a step of 1 or more, got -2", "_mxl_index",
          "key=(1,None,None,-2) rules=torch", 1, x);
    fails("ValueError: the step of a slice is 0", "_mxl_index", "key=(1,None,None,0)", 1, x);
    fails("IndexError: a key has at most one ...", "_mxl_index", "key=(3,3) rules=mxnet", 1, x);
    fails("IndexError: each ellipsis (...) expands to 1 dimensions", "_mxl_index",
          "key=(3,3,2) rules=torch", 1, x);
    y = run("_mxl_index", "key=(3,0,-1,3) rules=torch", PLAIN, 1, x);
    CHECK_INT(y->size, 1);
    CHECK_INT(item(y, 0), 7);
    mxl_array_release(y);
    mxl_array_release(x);
}

/* ---- bounds ---- */

/* An index that is out of bounds is said with axis and size, where the key has been counted past
 * new axes, integers and masks; and nothing is written. */
TEST(bounds)
{
    mxl_array *x = mxl_array_new(MXL_F32, 4, SHAPE(2, 2, 3, 2)), *before;
    mxl_array *mask = ARRAY(MXL_BOOL, SHAPE(2), 1, 0), *none = mxl_array_new(MXL_I64, 1, SHAPE(0));
    mxl_array *above = ARRAY(MXL_I32, SHAPE(2), 0, 3), *below = ARRAY(MXL_I64, SHAPE(2), -4, 0);
    mxl_array *inputs[3] = {x, mask, above}, *y;

    for (int i = 0; i < 24; i++)
        set_item(x, i, i);
    before = mxl_array_copy(x);
    fails("IndexError: index 3 is outside axis 2, which has size 3", "_mxl_index",
          "key=(0,0,2,4,4)", 3, x, mask, above);
    fails("IndexError: index -4 is outside dimension 2, which has size 3", "_mxl_index",
          "key=(3,4,1,None,None,None) rules=torch", 2, x, below);
    fails("IndexError: index 2 is outside axis 1, which has size 2", "_mxl_index",
          "key=(2,0,0,0,2)", 1, x);
    fails("a mask of shape (2,) does not fit the array: axis 0 of the mask is axis 2", "_mxl_index",
          "key=(0,0,0,1,4)", 2, x, mask);
    fails("ValueError: index arrays of the shapes (2,) and (0,) have no common shape", "_mxl_index",
          "key=(4,4)", 3, x, above, none);
    fails("too many indices: the key takes 5 axes, the array has 4", "_mxl_index",
          "key=(0,0,0,0,0,0,0,0,0,0)", 1, x);
    CHECK_INT(
        run_into("_mxl_index_put", "key=(0,0,2,4,4) fill=True scalar=9", PLAIN, 3, inputs, &x), -1);
    for (int i = 0; i < 24; i++)
        CHECK_INT(item(x, i), item(before, i));
    y = run("_mxl_index", "key=(4,)", PLAIN, 2, x, none);
    IS(y, MXL_F32, SHAPE(0, 2, 3, 2), 0);
    mxl_array_release(x);
    mxl_array_release(before);
    mxl_array_release(mask);
    mxl_array_release(none);
    mxl_array_release(above);
    mxl_array_release(below);
}

/* ---- memory ---- */

/* A key without index arrays is a view where there are views; writing by a key goes to the memory
 * of a strided view too. */
TEST(views_share_memory)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 3), 1, 2, 3, 4, 5, 6),
              *at = ARRAY(MXL_I64, SHAPE(1), -1);
    mxl_array *column = run("_mxl_index", "key=(3,0,1) rules=torch", torch_mode, 1, x);
    mxl_array *copy = run("_mxl_index", "key=(3,0,1)", PLAIN, 1, x), *inputs[2] = {column, at};

    CHECK(column->storage == x->storage && column->base == x && copy->storage != x->storage);
    IS(copy, MXL_F32, SHAPE(2), 2, 5);
    CHECK_INT(run_into("_mxl_index_put", "key=(4,) fill=True scalar=9 rules=torch", torch_mode, 2,
                       inputs, &column),
              0);
    mxl_array_release(column);
    IS(x, MXL_F32, SHAPE(2, 3), 1, 2, 3, 4, 9, 6);
    mxl_array_release(at);
}

/* A value that shares memory with the array is read before anything is written. */
TEST(a_value_may_share_memory)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(3), 1, 2, 3), *at = ARRAY(MXL_I64, SHAPE(3), 2, 0, 1);
    mxl_array *inputs[3] = {x, x, at};

    CHECK_INT(run_into("_mxl_index_put", "key=(4,)", PLAIN, 3, inputs, &x), 0);
    for (int i = 0; i < 3; i++)
        CHECK_INT(item(x, i), (i + 1) % 3 + 1);
    CHECK_INT(run_into("_mxl_index_put", "key=(1,None,None,-1)", PLAIN, 2, inputs, &x), 0);
    IS(x, MXL_F32, SHAPE(3), 1, 3, 2);
    mxl_array_release(at);
}

HARNESS_MAIN(ENTRY(integers_beside_index_arrays), ENTRY(dtypes_of_index_arrays),
             ENTRY(steps_and_dots), ENTRY(bounds), ENTRY(views_share_memory),
             ENTRY(a_value_may_share_memory))

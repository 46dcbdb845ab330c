/* Operators of indices, lengths and flags: error messages, limits, outputs that are inputs or
 * given, more elements than one run of the loops. Values and gradients are in tests/python/cases.
 */
#include "ops_kit.h"

/* ---- errors ---- */

TEST(names_in_errors)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 2), 1, 2, 3, 4), *v = ARRAY(MXL_F32, SHAPE(2), 5, 6);
    mxl_array *far = ARRAY(MXL_F32, SHAPE(2), 0, 2), *zero = ARRAY(MXL_F64, SHAPE(2), 1, 0);
    mxl_array *none = ARRAY(MXL_F32, SHAPE(2, 0), 0), *three = ARRAY(MXL_F32, SHAPE(3), 0, 1, 1);
    mxl_array *above = ARRAY(MXL_I32, SHAPE(2), 2, 3),
              *cube = ARRAY(MXL_F32, SHAPE(2, 1, 2), 0, 0, 0, 0);

    fails("IndexError: fill_element_0index: ", "fill_element_0index", "", 3, x, v, far);
    fails("index 2 is out of bounds for axis 1 of extent 2", "fill_element_0index", "", 3, x, v,
          far);
    fails("lhs must have shape [N,M], got (2,1,2)", "fill_element_0index", "", 3, cube, v, far);
    fails("mhs must have shape [N], got (2,2)", "fill_element_0index", "", 3, x, x, far);
    fails("rhs must have shape [N], got (2,2)", "fill_element_0index", "", 3, x, v, x);
    fails("IndexError: index_copy: ", "_contrib_index_copy", "", 3, x, far, x);
    fails("IndexError: batch_take: the rows have no elements", "batch_take", "", 2, none, v);
    fails("batch_take: 3 indices for 2 rows", "batch_take", "", 2, x, three);
    fails("ValueError: SequenceLast: sequence 1 has length 0, it must be from 1 to 2",
          "SequenceLast", "use_sequence_length=1", 2, x, zero);
    fails("ValueError: SequenceReverse: sequence 1 has length 3, it must be from 0 to 2",
          "SequenceReverse", "use_sequence_length=1", 2, x, above);
    fails("axis 0 of sequence_length is 3; it must be 2, axis 1 of data", "SequenceMask",
          "use_sequence_length=1", 2, x, three);
    fails("takes 1 input, got 2", "SequenceLast", "", 2, x, v);
    fails("boolean_mask: index must have shape (2,), got (3,)", "_contrib_boolean_mask", "axis=-1",
          2, x, three);
    fails("unravel_index: shape (3,0) has no elements", "_unravel_index", "shape=(3,0)", 1, v);
    mxl_array_release(x);
    mxl_array_release(v);
    mxl_array_release(far);
    mxl_array_release(zero);
    mxl_array_release(none);
    mxl_array_release(three);
    mxl_array_release(above);
    mxl_array_release(cube);
}

/* More axes than an array can have. */
TEST(limits)
{
    int64_t many[MXL_MAX_NDIM + 1];
    char shape[MXL_MAX_NDIM * 2 + 16] = "shape=(";
    mxl_array *x, *index = ARRAY(MXL_F32, SHAPE(1), 0), *weight = ARRAY(MXL_F32, SHAPE(1, 1), 0);
    mxl_array *positions;

    for (int i = 0; i < MXL_MAX_NDIM; i++) {
        many[i] = 1;
        strcat(shape, "1,");
    }
    many[MXL_MAX_NDIM] = -1;
    strcat(shape, ")");
    x = mxl_array_new(MXL_F32, MXL_MAX_NDIM, many);
    set_item(x, 0, 0);
    fails("more than 32 axes", "Embedding", "input_dim=1 output_dim=1", 2, x, weight);
    fails("more than 32 axes", "_contrib_index_array", "", 1, x);
    fails("more than 32 axes", "_unravel_index", "shape=(3,)", 1, x);
    positions = run("_unravel_index", shape, PLAIN, 1, index); /* a shape, but of no array */
    CHECK_INT(positions->shape[0], MXL_MAX_NDIM);
    CHECK_INT(positions->size, MXL_MAX_NDIM);
    mxl_array_release(positions);
    mxl_array_release(x);
    mxl_array_release(index);
    mxl_array_release(weight);
}

/* ---- values ---- */

/* The output may lie over an input: SequenceMask writes into it, others make way. */
TEST(in_place)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(3, 2), 1, 2, 3, 4, 5, 6), *inputs[3] = {x};
    mxl_array *length = ARRAY(MXL_I32, SHAPE(2), 1, 2), *row = ARRAY(MXL_F32, SHAPE(1, 2), 8, 9);
    mxl_array *index = ARRAY(MXL_I32, SHAPE(1), 2);
    const int turned[] = {3, 2, 1, 4, 5, 6};

    inputs[1] = ARRAY(MXL_I32, SHAPE(2), 2, 1);
    CHECK_INT(run_into("SequenceReverse", "use_sequence_length=1", PLAIN, 2, inputs, &x), 0);
    for (int i = 0; i < 6; i++)
        CHECK_INT(item(x, i), turned[i]);
    mxl_array_release(inputs[1]);
    inputs[1] = length;
    CHECK_INT(run_into("SequenceMask", "use_sequence_length=1 value=7", PLAIN, 2, inputs, &x), 0);
    inputs[1] = index;
    inputs[2] = row;
    CHECK_INT(run_into("_contrib_index_copy", "", PLAIN, 3, inputs, &x), 0);
    IS(x, MXL_F32, SHAPE(3, 2), 3, 2, 7, 4, 8, 9);
    mxl_array_release(length);
    mxl_array_release(row);
    mxl_array_release(index);
}

/* A composed operator holds an array that is given against what it says its result is. */
TEST(given_outputs)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 2), 1, 2, 3, 4), *index = ARRAY(MXL_I32, SHAPE(2), 1, 0);
    mxl_array *inputs[2] = {x, index}, *out = ARRAY(MXL_F32, SHAPE(2), 7, 7);
    mxl_array *wide = ARRAY(MXL_F64, SHAPE(2), 7, 7), *row = ARRAY(MXL_F32, SHAPE(1, 2), 7, 7);

    CHECK_INT(run_into("batch_take", "", PLAIN, 2, inputs, &wide), -1);
    CHECK_HAS(mxl_error_text(), "batch_take: the output given is float64, the result is float32");
    CHECK_INT(run_into("batch_take", "", PLAIN, 2, inputs, &row), -1);
    CHECK_HAS(mxl_error_text(), "the output given has shape (1,2), the result has (2,)");
    CHECK_INT(run_into("batch_take", "", PLAIN, 2, inputs, &out), 0);
    IS(out, MXL_F32, SHAPE(2), 2, 3);
    IS(wide, MXL_F64, SHAPE(2), 7, 7);
    IS(row, MXL_F32, SHAPE(1, 2), 7, 7);
    mxl_array_release(x);
    mxl_array_release(index);
}

/* Lengths and sequences without elements need no memory for them. */
TEST(huge_and_empty)
{
    const int64_t many = (int64_t)1 << 40;
    mxl_array *x = mxl_array_new(MXL_F32, 3, SHAPE(many, 2, 0)), *y;

    y = run("SequenceReverse", "", PLAIN, 1, x);
    CHECK_INT(y->size, 0);
    mxl_array_release(y);
    y = run("SequenceMask", "", PLAIN, 1, x);
    CHECK_INT(y->shape[0], many);
    mxl_array_release(y);
    y = run("SequenceLast", "", PLAIN, 1, x);
    CHECK_INT(y->ndim, 2);
    mxl_array_release(y);
    mxl_array_release(x);
}

/* Numbers beyond one run of the loops. */
TEST(many)
{
    mxl_array *places = mxl_array_new(MXL_I32, 1, SHAPE(700)), *rows, *back;

    for (int i = 0; i < 700; i++)
        set_item(places, i, 700 - i);
    rows = run("_unravel_index", "shape=(9,8,11)", PLAIN, 1, places);
    back = run("_ravel_multi_index", "shape=(9,8,11)", PLAIN, 1, rows);
    for (int i = 0; i < 700; i++) {
        CHECK_INT(item(rows, i), (700 - i) / 88);
        CHECK_INT(item(rows, 700 + i), (700 - i) / 11 % 8);
        CHECK_INT(item(rows, 1400 + i), (700 - i) % 11);
        CHECK_INT(item(back, i), 700 - i);
    }
    set_item(back, 650, 0);
    IS(run("_contrib_allclose", "", PLAIN, 2, places, places), MXL_U8, SCALAR, 1);
    IS(run("_contrib_allclose", "", PLAIN, 2, places, back), MXL_U8, SCALAR, 0);
    mxl_array_release(places);
    mxl_array_release(rows);
    mxl_array_release(back);
}

HARNESS_MAIN(ENTRY(names_in_errors), ENTRY(limits), ENTRY(in_place), ENTRY(given_outputs),
             NOT_WASM(huge_and_empty), ENTRY(many))

/* Searches, sets and scatter_reduce: errors, and that nothing is written then; keys of elements and
 * what is found among them. The table of cases is in tests/python/cases/own_ranks.py. */
#include "kernel/sort/ranks.h"
#include "ops_kit.h"

TEST(errors)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 2), 1, 2, 3, 4), *y = ARRAY(MXL_F64, SHAPE(2), 7, 8);
    mxl_array *row = ARRAY(MXL_F32, SHAPE(2), 7, 8), *pivots = ARRAY(MXL_I32, SHAPE(2), 0, 3);

    fails("float64", "_mxl_searchsorted", "", 2, x, y);
    fails("are not those of values", "_mxl_searchsorted", "", 2, x, row);
    fails("float64", "_mxl_isin", "", 2, x, y);
    fails("axis", "_mxl_mode", "axis=2", 1, x);
    fails("axis", "_mxl_running_place", "axis=-3", 1, x);
    fails("pivot 0 is not among 2 rows", "_mxl_pivot_order", "rows=2", 1, pivots);
    mxl_array_release(x);
    mxl_array_release(y);
    mxl_array_release(row);
    mxl_array_release(pivots);
}

/* An index that is out of bounds is found before the first write. */
TEST(bounds)
{
    const char *params = "axis=0 reduce=prod";
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2), 2, 3), *index = ARRAY(MXL_I64, SHAPE(2), 0, 2);
    mxl_array *source = ARRAY(MXL_F32, SHAPE(2), 5, 7), *inputs[3] = {x, index, source};
    mxl_array *out = ARRAY(MXL_F32, SHAPE(2), 1, 1);

    CHECK_INT(run_into("_mxl_scatter_reduce", params, PLAIN, 3, inputs, &out), -1);
    CHECK_HAS(mxl_error_text(), "index 2 is not in an axis of 2");
    set_item(index, 1, 0);
    CHECK_INT(run_into("_mxl_scatter_reduce", params, PLAIN, 3, inputs, &out), 0);
    IS(out, MXL_F32, SHAPE(2), 70, 3);
    mxl_array_release(x);
    mxl_array_release(index);
    mxl_array_release(source);
}

/* ---- keys ---- */

/* Keys have the order of the numbers; zeros are equal, and NaN is last. */
TEST(order)
{
    static const double x[] = {-INFINITY, -1e300, -1, -5e-324, 0, 5e-324, 2, 1e300, INFINITY, NAN};
    static const double zero[] = {-0.0, -NAN};
    static const int64_t wide[] = {INT64_MIN, -1, 0, INT64_MAX};
    int64_t keys[10];

    mxl_keys(MXL_F64, 10, x, keys);
    for (int i = 1; i < 10; i++)
        CHECK(keys[i] > keys[i - 1]);
    CHECK(keys[9] == MXL_KEY_NAN && keys[4] == 0);
    mxl_keys(MXL_F64, 2, zero, keys);
    CHECK(keys[0] == 0 && keys[1] == MXL_KEY_NAN);
    mxl_keys(MXL_I64, 4, wide, keys);
    for (int i = 0; i < 4; i++)
        CHECK(keys[i] == wide[i]);
    mxl_keys(MXL_F32, 0, NULL, keys);
}

TEST(below)
{
    static const int64_t row[] = {INT64_MIN, 1, 1, 3, INT64_MAX};

    CHECK_INT(mxl_keys_below(5, row, INT64_MIN, false), 0);
    CHECK_INT(mxl_keys_below(5, row, INT64_MIN, true), 1);
    CHECK_INT(mxl_keys_below(5, row, 1, false), 1);
    CHECK_INT(mxl_keys_below(5, row, 1, true), 3);
    CHECK_INT(mxl_keys_below(5, row, 2, true), 3);
    CHECK_INT(mxl_keys_below(5, row, INT64_MAX, false), 4);
    CHECK_INT(mxl_keys_below(5, row, INT64_MAX, true), 5);
    CHECK_INT(mxl_keys_below(0, row, 1, true), 0);
}

TEST(frequent)
{
    static const int64_t row[] = {7, MXL_KEY_NAN, 3, 7, MXL_KEY_NAN, 3, MXL_KEY_NAN};
    static const int64_t order[] = {2, 5, 0, 3, 1, 4, 6}, one[] = {0};

    CHECK_INT(mxl_most_frequent(7, row, 1, order, true), 5);
    CHECK_INT(mxl_most_frequent(7, row, 1, order, false), 6); /* an integer */
    CHECK_INT(mxl_most_frequent(1, row, 1, one, true), 0);
}

TEST(running)
{
    /* Two rows, whose elements lie beside each other. */
    static const int64_t rows[] = {4, 1, 4, MXL_KEY_NAN, 2, 5, 9, MXL_KEY_NAN};
    int64_t places[8];

    mxl_running_place(4, rows, 2, true, true, places);
    mxl_running_place(4, rows + 1, 2, true, true, places + 1);
    CHECK(places[0] == 0 && places[2] == 1 && places[4] == 1 && places[6] == 3);
    CHECK(places[1] == 0 && places[3] == 1 && places[5] == 1 && places[7] == 3);
    mxl_running_place(4, rows, 2, false, true, places);
    CHECK(places[0] == 0 && places[2] == 1 && places[4] == 2 && places[6] == 2);
    mxl_running_place(4, rows + 1, 2, false, false, places + 1);
    CHECK(places[3] == 0 && places[7] == 0);
}

HARNESS_MAIN(ENTRY(errors), ENTRY(bounds), ENTRY(order), ENTRY(below), ENTRY(frequent),
             ENTRY(running))

/* Arrays of the most dimensions, of no elements and of huge sizes; FullyConnected recorded and not;
 * an update of a recorded array. Other limits are tested in tests/python. */
#include <stdio.h>

#include "array/copy.h"
#include "ops_kit.h"

/* ---- products ---- */

/* What is recorded (its parts) and what is not (one product with the bias added in place) agree to
 * the last bit, also into an array that is given. */
TEST(fully_connected_agrees)
{
    uint64_t seed = 5;
    mxl_array *x = random_array(&seed, SHAPE(7, 2, 9)), *w = random_array(&seed, SHAPE(5, 18));
    mxl_array *b = random_array(&seed, SHAPE(5)), *plain, *recorded, *in[3] = {x, w, b};
    mxl_array *given = mxl_array_new(MXL_F64, 2, SHAPE(7, 5));

    plain = run("FullyConnected", "num_hidden=5", PLAIN, 3, x, w, b);
    CHECK_INT(run_into("FullyConnected", "num_hidden=5", PLAIN, 3, in, &given), 0);
    make_variable(w);
    recorded = run("FullyConnected", "num_hidden=5", mode_of(true, true), 3, x, w, b);
    CHECK(mxl_array_has_target(recorded));
    for (int64_t i = 0; i < plain->size; i++) {
        CHECK(item(plain, i) == item(recorded, i));
        CHECK(item(plain, i) == item(given, i));
    }
    mxl_array_release(x);
    mxl_array_release(w);
    mxl_array_release(b);
    mxl_array_release(plain);
    mxl_array_release(recorded);
    mxl_array_release(given);
}

/* ---- optimizers ---- */

/* The momentum may not be part of a recorded graph: it is written to. */
TEST(sgd_recorded)
{
    mxl_array *w = ARRAY(MXL_F32, SHAPE(1), 1), *g = ARRAY(MXL_F32, SHAPE(1), 1);
    mxl_array *m = ARRAY(MXL_F32, SHAPE(1), 3), *in[3] = {w, g, m}, *out = NULL;

    make_variable(m);
    CHECK_INT(run_into("sgd_mom_update", "lr=1", mode_of(true, true), 3, in, &out), -1);
    CHECK_HAS(mxl_error_text(), "updates input 2, which is recorded");
    IS(m, MXL_F32, SHAPE(1), 3);
    mxl_array_release(w);
    mxl_array_release(g);
}

#define ONES_8  1, 1, 1, 1, 1, 1, 1, 1
#define ONES_32 ONES_8, ONES_8, ONES_8, ONES_8

/* As many axes as there can be, each one in turn and counted from either end. */
TEST(every_axis_of_the_most)
{
    int64_t shape[MXL_MAX_NDIM];
    mxl_array *x;

    for (int i = 0; i < MXL_MAX_NDIM; i++)
        shape[i] = i % 8 == 0 ? 2 : 1;
    x = mxl_array_new(MXL_F32, MXL_MAX_NDIM, shape);
    REQUIRE(x != NULL);
    for (int64_t i = 0; i < x->size; i++)
        set_item(x, i, (double)(i * 7 % 16)); /* axis 24 is the last of extent 2 */
    for (int axis = -MXL_MAX_NDIM; axis < MXL_MAX_NDIM; axis++) {
        int at = axis < 0 ? axis + MXL_MAX_NDIM : axis;
        int64_t inner = mxl_shape_size(MXL_MAX_NDIM - at - 1, shape + at + 1), n = shape[at];
        char params[32];
        mxl_array *most, *sum;

        (void)snprintf(params, sizeof(params), "axis=%d", axis);
        most = run("argmax", params, PLAIN, 1, x);
        sum = run("sum", params, PLAIN, 1, x);
        REQUIRE(most != NULL && sum != NULL);
        CHECK_INT(most->ndim, MXL_MAX_NDIM - 1);
        CHECK_INT(most->size, x->size / n);
        for (int64_t i = 0; i < most->size; i++) {
            int64_t first = i / inner * inner * n + i % inner;
            double a = item(x, first), b = n == 1 ? -1 : item(x, first + inner);

            CHECK_INT(item(most, i), b > a);
            CHECK_NEAR(item(sum, i), n == 1 ? a : a + b, 0);
        }
        mxl_array_release(most);
        mxl_array_release(sum);
    }
    IS(run("argmin", "axis=None keepdims=1", PLAIN, 1, x), MXL_F32, SHAPE(ONES_32), 0);
    fails("axis 32 is out of range", "argmax", "axis=32", 1, x);
    fails("axis -33 is out of range", "argmin", "axis=-33", 1, x);
    mxl_array_release(x);
}

/* A vector of two to 32 axes; a sanitizer sees whether more of them are looked at. */
TEST(broadcasts_to_the_most_axes)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2), 5, 7), *y;

    y = run("_mxl_broadcast_to",
            "shape=(2,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,3,2)", PLAIN, 1, x);
    REQUIRE(y != NULL);
    CHECK_INT(y->ndim, MXL_MAX_NDIM);
    CHECK_INT(y->size, 12);
    for (int64_t i = 0; i < y->size; i++)
        CHECK_INT(item(y, i), i % 2 == 0 ? 5 : 7);
    mxl_array_release(y);
    mxl_array_release(x);
}

/* What has no elements takes no time and no memory, however many pieces without any there are. */
TEST(no_elements_are_soon_done)
{
    mxl_array *steps = mxl_array_new(MXL_F32, 3, SHAPE(4, INT64_C(1) << 50, 0));
    mxl_array *a = mxl_array_new(MXL_F64, 3, SHAPE(INT64_C(1) << 50, 0, 2));
    mxl_array *b = mxl_array_new(MXL_F64, 3, SHAPE(INT64_C(1) << 50, 2, 0));
    mxl_array *square = mxl_array_new(MXL_F64, 3, SHAPE(INT64_C(1) << 50, 0, 0));
    static const struct {
        const char *name;
        int inputs;
    } ops[] = {{"batch_dot", 2},     {"_linalg_gemm2", 2}, {"_linalg_trsm", 2},
               {"_linalg_potri", 1}, {"_linalg_potrf", 1}, {"_linalg_inverse", 1},
               {"_mxl_cofactors", 1}};

    REQUIRE(steps != NULL && a != NULL && b != NULL && square != NULL);
    for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
        mxl_array *y = i < 2 ? run(ops[i].name, "", PLAIN, 2, a, b)
                             : run(ops[i].name, "", PLAIN, ops[i].inputs, square, square);

        REQUIRE(y != NULL);
        CHECK_INT(y->size, 0);
        CHECK_INT(y->shape[0], INT64_C(1) << 50);
        mxl_array_release(y);
    }
    IS(run("SequenceLast", "", PLAIN, 1, steps), MXL_F32, SHAPE(INT64_C(1) << 50, 0), 0);
    IS(run("SequenceReverse", "", PLAIN, 1, steps), MXL_F32, SHAPE(4, INT64_C(1) << 50, 0), 0);
    mxl_array_release(steps);
    mxl_array_release(a);
    mxl_array_release(b);
    mxl_array_release(square);
}

/* The sum of shifts is one of positions, however large they are: here 1 + 4 of 6. */
TEST(roll_sums_large_shifts)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 3), 0, 1, 2, 3, 4, 5);

    IS(run("_np_roll", "shift=(9223372036854775807,4)", PLAIN, 1, x), MXL_F32, SHAPE(2, 3), 1, 2, 3,
       4, 5, 0);
    mxl_array_release(x);
}

/* Values of the most axes: with those of the mask they would be more. */
TEST(mask_assign_axes)
{
    int64_t ones[MXL_MAX_NDIM];
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 2), 1, 2, 3, 4), *values;
    mxl_array *mask = ARRAY(MXL_BOOL, SHAPE(2, 2), 1, 0, 0, 1);

    for (int i = 0; i < MXL_MAX_NDIM; i++)
        ones[i] = 1;
    values = mxl_array_new(MXL_F32, MXL_MAX_NDIM, ones);
    fails("have more axes than the elements of the mask, 1", "_npi_boolean_mask_assign_tensor",
          "start_axis=0", 3, x, mask, values);
    mxl_array_release(values);
    mxl_array_release(mask);
    mxl_array_release(x);
}

/* One array is both inputs: it stays as it is, and the result is that of two. */
TEST(one_array_twice)
{
    static const char *const twice[][2] = {{"dot", ""},          {"_npi_matmul", ""},
                                           {"_npi_solve", ""},   {"_linalg_gemm2", ""},
                                           {"_linalg_trsm", ""}, {"_linalg_trmm", "rightside=1"},
                                           {"elemwise_mul", ""}, {"_npi_tensorsolve", ""}};

    for (int i = 0; i < (int)(sizeof(twice) / sizeof(*twice)); i++) {
        bool solves = i == 7; /* as many unknowns as a has rows */
        mxl_array *a =
            solves ? ARRAY(MXL_F32, SHAPE(1), 2) : ARRAY(MXL_F32, SHAPE(2, 2), 2, 1, 1, 3);
        mxl_array *other = mxl_array_copy(a), *two, *one;

        two = run(twice[i][0], twice[i][1], PLAIN, 2, a, other);
        one = run(twice[i][0], twice[i][1], PLAIN, 2, a, a);
        REQUIRE(one != NULL && two != NULL);
        for (int64_t k = 0; k < a->size; k++) {
            if (!CHECK(item(a, k) == item(other, k) && item(one, k) == item(two, k)))
                printf("    operator %s\n", twice[i][0]);
        }
        mxl_array_release(a);
        mxl_array_release(other);
        mxl_array_release(one);
        mxl_array_release(two);
    }
}

HARNESS_MAIN(ENTRY(mask_assign_axes), ENTRY(roll_sums_large_shifts),
             ENTRY(broadcasts_to_the_most_axes), NOT_WASM(no_elements_are_soon_done),
             ENTRY(every_axis_of_the_most), ENTRY(fully_connected_agrees), ENTRY(sgd_recorded),
             ENTRY(one_array_twice))

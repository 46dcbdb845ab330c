/* Reductions, products and the optimizer step: values, edges, gradients. The full table of cases is
 * in tests/python. */
#include <stdio.h>

#include "ops_kit.h"

/* ---- reductions ---- */

TEST(reduce_values)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 3), 1, 5, 2, 4, 3, 6);

    IS(run("sum", "", PLAIN, 1, x), MXL_F32, SHAPE(1), 21);
    IS(run("sum", "axis=() exclude=1", PLAIN, 1, x), MXL_F32, SHAPE(1), 21);
    IS(run("sum", "axis=0", PLAIN, 1, x), MXL_F32, SHAPE(3), 5, 8, 8);
    IS(run("sum", "axis=(-1,)", PLAIN, 1, x), MXL_F32, SHAPE(2), 8, 13);
    IS(run("sum", "axis=0 exclude=1", PLAIN, 1, x), MXL_F32, SHAPE(2), 8, 13);
    IS(run("sum", "axis=(1,0) exclude=1", PLAIN, 1, x), MXL_F32, SHAPE(2, 3), 1, 5, 2, 4, 3, 6);
    IS(run("sum", "keepdims=1", PLAIN, 1, x), MXL_F32, SHAPE(1, 1), 21);
    IS(run("mean", "axis=1 keepdims=1", PLAIN, 1, x), MXL_F32, SHAPE(2, 1), 8.0 / 3, 13.0 / 3);
    IS(run("max", "axis=0", PLAIN, 1, x), MXL_F32, SHAPE(3), 4, 5, 6);
    IS(run("argmax", "", PLAIN, 1, x), MXL_F32, SHAPE(1), 5);
    IS(run("argmax", "axis=0", PLAIN, 1, x), MXL_F32, SHAPE(3), 1, 0, 1);
    IS(run("argmax", "axis=-1 keepdims=1", PLAIN, 1, x), MXL_F32, SHAPE(2, 1), 1, 2);
    mxl_array_release(x);
}

TEST(reduce_dtypes)
{
    mxl_array *bytes = ARRAY(MXL_U8, SHAPE(2), 200, 101), *ints = ARRAY(MXL_I32, SHAPE(2), -3, 0);
    mxl_array *nan = ARRAY(MXL_F64, SHAPE(3), 1, NAN, 2);

    IS(run("sum", "", PLAIN, 1, bytes), MXL_U8, SHAPE(1), 45);
    IS(run("mean", "", PLAIN, 1, bytes), MXL_U8, SHAPE(1), 22);
    IS(run("mean", "", PLAIN, 1, ints), MXL_I32, SHAPE(1), -1);
    IS(run("argmax", "axis=0", PLAIN, 1, ints), MXL_I32, SHAPE(1), 1);
    IS(run("max", "", PLAIN, 1, nan), MXL_F64, SHAPE(1), NAN);
    IS(run("argmax", "", PLAIN, 1, nan), MXL_F64, SHAPE(1), 1);
    mxl_array_release(bytes);
    mxl_array_release(ints);
    mxl_array_release(nan);
}

TEST(reduce_edges)
{
    mxl_array *none = ARRAY(MXL_F32, SHAPE(0, 3), 0), *one = ARRAY(MXL_F32, SCALAR, 5);
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 2), 1, 2, 3, 4);

    IS(run("sum", "", PLAIN, 1, none), MXL_F32, SHAPE(1), 0);
    IS(run("sum", "axis=0", PLAIN, 1, none), MXL_F32, SHAPE(3), 0, 0, 0);
    IS(run("mean", "axis=0", PLAIN, 1, none), MXL_F32, SHAPE(3), NAN, NAN, NAN);
    is(run("argmax", "axis=1", PLAIN, 1, none), MXL_F32, SHAPE(0), EMPTY);
    IS(run("sum", "", PLAIN, 1, one), MXL_F32, SHAPE(1), 5);
    IS(run("max", "keepdims=1", PLAIN, 1, one), MXL_F32, SCALAR, 5);
    IS(run("argmax", "", PLAIN, 1, one), MXL_F32, SHAPE(1), 0);
    is(run("max", "axis=1", PLAIN, 1, none), MXL_F32, SHAPE(0), EMPTY);
    fails("no elements", "max", "axis=0", 1, none);
    fails("nothing to search", "argmax", "axis=0", 1, none);
    fails("out of range", "sum", "axis=2", 1, x);
    fails("out of range", "sum", "axis=-3", 1, x);
    fails("out of range", "argmax", "axis=2", 1, x);
    fails("out of range", "sum", "axis=0", 1, one);
    fails("twice", "mean", "axis=(0,-2)", 1, x);
    fails("twice", "mean", "axis=(0,0) exclude=1", 1, x);
    mxl_array_release(none);
    mxl_array_release(one);
    mxl_array_release(x);
}

TEST(reduce_gradients)
{
    const char *params[] = {"",       "keepdims=1",       "axis=1",           "axis=(0,2)",
                            "axis=0", "axis=1 exclude=1", "axis=1 keepdims=1"};

    for (size_t i = 0; i < sizeof(params) / sizeof(*params); i++) {
        check_gradients("sum", params[i], NULL, 1, SHAPE(2, 3, 2), NULL, NULL);
        check_gradients("mean", params[i], NULL, 1, SHAPE(2, 3, 2), NULL, NULL);
        check_gradients("max", params[i], NULL, 1, SHAPE(2, 3, 2), NULL, NULL);
    }
    check_gradients("sum", "", NULL, 1, SCALAR, NULL, NULL);
}

TEST(max_ties)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(4), 1, 3, 3, 2), *head = ARRAY(MXL_F32, SHAPE(1), 5);
    mxl_array *nan = ARRAY(MXL_F32, SHAPE(3), 1, NAN, 3);
    mxl_array *ints = ARRAY(MXL_I32, SHAPE(3), 1, 3, 3), *six = ARRAY(MXL_I32, SHAPE(1), 6);

    IS(gradient("max", "", false, x, NULL, head), MXL_F32, SHAPE(4), 0, 5, 5, 0);
    IS(gradient("max", "", false, nan, NULL, head), MXL_F32, SHAPE(3), 0, 0, 0);
    IS(gradient("max", "", false, ints, NULL, six), MXL_I32, SHAPE(3), 0, 6, 6);
    IS(gradient("mean", "", false, ints, NULL, six), MXL_I32, SHAPE(3), 2, 2, 2);
    IS(gradient("argmax", "", false, x, NULL, head), MXL_F32, SHAPE(4), 0, 0, 0, 0);
    mxl_array_release(x);
    mxl_array_release(head);
    mxl_array_release(nan);
    mxl_array_release(ints);
    mxl_array_release(six);
}

/* ---- products ---- */

TEST(dot_values)
{
    mxl_array *a = ARRAY(MXL_F32, SHAPE(2, 3), 1, 2, 3, 4, 5, 6);
    mxl_array *v = ARRAY(MXL_F32, SHAPE(3), 1, 0, -1), *w = ARRAY(MXL_F32, SHAPE(2), 1, 2);
    mxl_array *deep = ARRAY(MXL_F32, SHAPE(3, 2, 1), 1, 2, 3, 4, 5, 6);
    mxl_array *f64 = ARRAY(MXL_F64, SHAPE(3), 1, 2, 3), *ints = ARRAY(MXL_I32, SHAPE(1), 1);

    IS(run("dot", "", PLAIN, 2, v, v), MXL_F32, SHAPE(1), 2);
    IS(run("dot", "", PLAIN, 2, a, v), MXL_F32, SHAPE(2), -2, -2);
    IS(run("dot", "transpose_b=1", PLAIN, 2, a, v), MXL_F32, SHAPE(2), -2, -2);
    IS(run("dot", "", PLAIN, 2, w, a), MXL_F32, SHAPE(3), 9, 12, 15);
    IS(run("dot", "transpose_a=1", PLAIN, 2, w, a), MXL_F32, SHAPE(3), 9, 12, 15);
    IS(run("dot", "transpose_a=1", PLAIN, 2, a, w), MXL_F32, SHAPE(3), 9, 12, 15);
    IS(run("dot", "transpose_b=1", PLAIN, 2, a, a), MXL_F32, SHAPE(2, 2), 14, 32, 32, 77);
    IS(run("dot", "", PLAIN, 2, a, deep), MXL_F32, SHAPE(2, 2, 1), 22, 28, 49, 64);
    IS(run("dot", "transpose_a=1", PLAIN, 2, deep, v), MXL_F32, SHAPE(2, 1), -4, -4);
    fails("vectors", "dot", "transpose_a=1", 2, v, v);
    fails("3 and 2 differ", "dot", "", 2, a, a);
    fails("dtypes", "dot", "", 2, v, f64);
    fails("float32 or float64", "dot", "", 2, ints, ints);
    mxl_array_release(a);
    mxl_array_release(v);
    mxl_array_release(w);
    mxl_array_release(deep);
    mxl_array_release(f64);
    mxl_array_release(ints);
}

TEST(dot_empty)
{
    mxl_array *wide = ARRAY(MXL_F64, SHAPE(2, 0), 0), *tall = ARRAY(MXL_F64, SHAPE(0, 3), 0);
    mxl_array *v = ARRAY(MXL_F64, SHAPE(0), 0), *b = ARRAY(MXL_F64, SHAPE(3, 1), 1, 2, 3);

    IS(run("dot", "", PLAIN, 2, wide, tall), MXL_F64, SHAPE(2, 3), 0, 0, 0, 0, 0, 0);
    IS(run("dot", "", PLAIN, 2, v, v), MXL_F64, SHAPE(1), 0);
    is(run("dot", "", PLAIN, 2, tall, b), MXL_F64, SHAPE(0, 1), EMPTY);
    mxl_array_release(wide);
    mxl_array_release(tall);
    mxl_array_release(v);
    mxl_array_release(b);
}

TEST(dot_gradients)
{
    check_gradients("dot", "", NULL, 2, SHAPE(3), SHAPE(3), NULL);
    check_gradients("dot", "", NULL, 2, SHAPE(2, 3), SHAPE(3), NULL);
    check_gradients("dot", "transpose_a=1", NULL, 2, SHAPE(3, 2), SHAPE(3), NULL);
    check_gradients("dot", "", NULL, 2, SHAPE(3), SHAPE(3, 2), NULL);
    check_gradients("dot", "transpose_b=1", NULL, 2, SHAPE(3), SHAPE(2, 3), NULL);
    check_gradients("dot", "", NULL, 2, SHAPE(2, 3), SHAPE(3, 4), NULL);
    check_gradients("dot", "transpose_a=1", NULL, 2, SHAPE(3, 2), SHAPE(3, 4), NULL);
    check_gradients("dot", "transpose_b=1", NULL, 2, SHAPE(2, 3), SHAPE(4, 3), NULL);
    check_gradients("dot", "transpose_a=1 transpose_b=1", NULL, 2, SHAPE(3, 2), SHAPE(4, 3), NULL);
    check_gradients("dot", "", NULL, 2, SHAPE(2, 1, 3), SHAPE(3, 2, 2), NULL);
    check_gradients("dot", "transpose_a=1 transpose_b=1", NULL, 2, SHAPE(3, 2, 2), SHAPE(2, 1, 3),
                    NULL);
}

TEST(fully_connected_values)
{
    mxl_array *x = ARRAY(MXL_F32, SHAPE(2, 1, 2), 1, 2, 3, 4),
              *b = ARRAY(MXL_F32, SHAPE(2), 10, 20);
    mxl_array *w = ARRAY(MXL_F32, SHAPE(2, 2), 1, 0, 1, 1), *v = ARRAY(MXL_F32, SHAPE(2), 1, 2);
    mxl_array *tall = ARRAY(MXL_F32, SHAPE(2, 1), 1, 2);

    IS(run("FullyConnected", "num_hidden=2", PLAIN, 3, x, w, b), MXL_F32, SHAPE(2, 2), 11, 23, 13,
       27);
    IS(run("FullyConnected", "num_hidden=2 no_bias=1 flatten=0", PLAIN, 2, x, w), MXL_F32,
       SHAPE(2, 1, 2), 1, 3, 3, 7);
    IS(run("FullyConnected", "num_hidden=2 flatten=0", PLAIN, 3, v, w, b), MXL_F32, SHAPE(2), 11,
       23);
    IS(run("FullyConnected", "num_hidden=2 no_bias=1", PLAIN, 2, v, tall), MXL_F32, SHAPE(2, 2), 1,
       2, 2, 4);
    fails("weight must have shape (3,2)", "FullyConnected", "num_hidden=3", 3, x, w, b);
    fails("bias must have shape (2,)", "FullyConnected", "num_hidden=2", 3, x, w, tall);
    fails("takes 3 inputs", "FullyConnected", "num_hidden=2", 2, x, w);
    fails("takes 2 inputs", "FullyConnected", "num_hidden=2 no_bias=1", 3, x, w, b);
    fails("num_hidden", "FullyConnected", "num_hidden=0", 3, x, w, b);
    mxl_array_release(x);
    mxl_array_release(b);
    mxl_array_release(w);
    mxl_array_release(v);
    mxl_array_release(tall);
}

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

TEST(fully_connected_gradients)
{
    check_gradients("FullyConnected", "num_hidden=2", NULL, 3, SHAPE(3, 2, 2), SHAPE(2, 4),
                    SHAPE(2));
    check_gradients("FullyConnected", "num_hidden=2 flatten=0", NULL, 3, SHAPE(3, 2, 2),
                    SHAPE(2, 2), SHAPE(2));
    check_gradients("FullyConnected", "num_hidden=2 no_bias=1", NULL, 2, SHAPE(3), SHAPE(2, 1),
                    NULL);
}

/* ---- optimizers ---- */

TEST(sgd_step)
{
    mxl_array *w = ARRAY(MXL_F32, SHAPE(3), 1, 2, -3), *g = ARRAY(MXL_F32, SHAPE(3), 0.5, -10, 2);
    mxl_array *m = ARRAY(MXL_F32, SHAPE(3), 0.1, 0.2, 0.3), *in[3] = {w, g, m}, *out = w;
    mxl_array *f64 = ARRAY(MXL_F64, SHAPE(3), 1, 2, 3), *i32 = ARRAY(MXL_I32, SHAPE(3), 1, 2, 3);

    IS(run("sgd_mom_update", "lr=0.1", PLAIN, 3, w, g, m), MXL_F32, SHAPE(3), 0.95, 3, -3.2);
    mxl_array_retain(m);
    IS(m, MXL_F32, SHAPE(3), -0.05, 1, -0.2);
    CHECK_INT(run_into("sgd_mom_update",
                       "lr=0.1 momentum=0.9 wd=0.5 rescale_grad=0.5 clip_gradient=1", PLAIN, 3, in,
                       &out),
              0);
    mxl_array_retain(m);
    IS(m, MXL_F32, SHAPE(3), -0.12, 0.9, -0.13);
    mxl_array_retain(w);
    IS(w, MXL_F32, SHAPE(3), 0.88, 2.9, -3.13);
    fails("dtypes", "sgd_mom_update", "lr=1", 3, w, g, f64);
    fails("floating-point", "sgd_mom_update", "lr=1", 3, i32, i32, i32);
    fails("lr", "sgd_mom_update", "", 3, w, g, m);
    mxl_array_release(w);
    mxl_array_release(g);
    mxl_array_release(m);
    mxl_array_release(f64);
    mxl_array_release(i32);
}

/* The momentum may not stand in a graph that is being recorded: it is written to. */
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

HARNESS_MAIN(ENTRY(broadcasts_to_the_most_axes), ENTRY(no_elements_are_soon_done),
             ENTRY(every_axis_of_the_most), ENTRY(reduce_values), ENTRY(reduce_dtypes),
             ENTRY(reduce_edges), ENTRY(reduce_gradients), ENTRY(max_ties), ENTRY(dot_values),
             ENTRY(dot_empty), ENTRY(dot_gradients), ENTRY(fully_connected_values),
             ENTRY(fully_connected_agrees), ENTRY(fully_connected_gradients), ENTRY(sgd_step),
             ENTRY(sgd_recorded))

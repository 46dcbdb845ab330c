/* Parts, reductions and rows of sparse arrays. */
#include "sparse_kit.h"

static void parts_of(int dtype)
{
    static const char *const cuts[] = {"begin=[0] end=[2]",      "begin=[1] end=[1]",
                                       "begin=[0,1] end=[7,4]",  "begin=[-3] end=[99]",
                                       "begin=[2,-4] end=[5,8]", "begin=[None,3] end=[None,None]"};
    uint64_t seed = 30;
    mxl_array *a = scattered(&seed, dtype, SHAPE(7, 9), 3);
    mxl_array *b = scattered(&seed, dtype, SHAPE(2, 9), 3);
    mxl_array *none = scattered(&seed, dtype, SHAPE(0, 9), 3);
    mxl_array *at = ARRAY(MXL_F32, SHAPE(5), 0, 6, 3, 99, -1);

    for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
        agree("slice", cuts[i], "c", 'c', a, NULL);
        agree("slice", cuts[i], "r", 'd', a, NULL);
    }
    agree("slice", "begin=[0] end=[4] step=[2]", "c", 'd', a, NULL);
    agree("take", "", "cd", 'c', a, at);
    agree("take", "mode=wrap", "cd", 'c', a, at);
    agree("take", "axis=1", "cd", 'd', a, at);
    agree("take", "", "rd", 'd', a, at);
    agree("Concat", "num_args=2 dim=0", "cc", 'c', a, b);
    agree("Concat", "num_args=2 dim=0", "cc", 'c', none, b);
    agree("Concat", "num_args=1 dim=0", "c", 'c', a, NULL);
    agree("Concat", "num_args=2 dim=1", "cc", 'd', a, a);
    agree("Concat", "num_args=2 dim=0", "cd", 'd', a, b);
    agree("_identity_with_attr_like_rhs", "", "dc", 'c', a, a);
    agree("_identity_with_attr_like_rhs", "", "rd", 'd', a, a);
    mxl_array_release(a);
    mxl_array_release(b);
    mxl_array_release(none);
    mxl_array_release(at);
}

TEST(parts)
{
    static const int dtypes[] = {MXL_F32, MXL_F64, MXL_F16, MXL_U8, MXL_I64};

    for (size_t i = 0; i < sizeof(dtypes) / sizeof(*dtypes); i++)
        parts_of(dtypes[i]);
}

TEST(reductions)
{
    static const char *const params[] = {"",
                                         "axis=0",
                                         "axis=1",
                                         "axis=-1",
                                         "axis=-2",
                                         "axis=[0,1]",
                                         "axis=0 keepdims=1",
                                         "keepdims=1",
                                         "axis=1 keepdims=1"};
    static const int dtypes[] = {MXL_F32, MXL_F64, MXL_F16, MXL_I32};
    uint64_t seed = 31;

    for (size_t d = 0; d < sizeof(dtypes) / sizeof(*dtypes); d++) {
        mxl_array *a = scattered(&seed, dtypes[d], SHAPE(7, 9), 3);

        for (size_t i = 0; i < sizeof(params) / sizeof(*params); i++) {
            agree("sum", params[i], "c", 'd', a, NULL);
            agree("sum", params[i], "r", 'd', a, NULL);
            agree("mean", params[i], "c", 'd', a, NULL);
            if (dtypes[d] < MXL_F16)
                agree("norm", params[i], "c", 'd', a, NULL);
            if (dtypes[d] < MXL_F16)
                agree("norm", params[i], "r", 'd', a, NULL);
        }
        agree("sum", "axis=0 exclude=1", "c", 'd', a, NULL);
        mxl_array_release(a);
    }
}

TEST(sums_of_squares)
{
    uint64_t seed = 32;
    mxl_array *a = scattered(&seed, MXL_F64, SHAPE(7, 3), 4);

    agree("_square_sum", "axis=0", "r", 'd', a, NULL);
    agree("_square_sum", "axis=0 keepdims=1", "r", 'd', a, NULL);
    agree("_square_sum", "axis=1", "r", 'd', a, NULL);
    agree("_square_sum", "axis=1 keepdims=1", "r", 'r', a, NULL);
    agree("_square_sum", "axis=0 exclude=1", "r", 'd', a, NULL);
    agree("_square_sum", "axis=-1", "c", 'd', a, NULL);
    gradients_agree("_square_sum", "axis=0", "r", "r", a, NULL, ' ');
    gradients_agree("_square_sum", "axis=1", "r", "r", a, NULL, ' ');
    gradients_agree("_square_sum", "axis=1 keepdims=1", "r", "r", a, NULL, ' ');
    gradients_agree("_square_sum", "axis=1 keepdims=1", "r", "r", a, NULL, 'r');
    mxl_array_release(a);
}

TEST(retained_rows)
{
    mxl_array *a = ARRAY(MXL_F32, SHAPE(4, 2), 0, 1, 0, 0, 2, 3, 0, 0), *r = as_stored(a, 'r');
    mxl_array *at = ARRAY(MXL_F32, SHAPE(3), 2, 1, 2), *far = ARRAY(MXL_I64, SHAPE(1), 4);
    mxl_array *empty = mxl_array_sparse_zeros(MXL_ROW_SPARSE, MXL_F32, 2, SHAPE(4, 2));
    mxl_array *y = run("_sparse_retain", "", PLAIN, 2, r, at), *grads[1];
    mxl_parts *parts = mxl_array_parts(y);

    mxl_array_retain(parts->indices);
    mxl_array_retain(parts->data);
    is(parts->indices, MXL_I64, SHAPE(3), (const double[]){2, 1, 2});
    IS(parts->data, MXL_F32, SHAPE(3, 2), 2, 3, 0, 0, 2, 3);
    mxl_parts_release(parts);
    mxl_array_release(y);
    y = run("_sparse_retain", "", PLAIN, 2, empty, at);
    parts = mxl_array_parts(y);
    CHECK_INT(mxl_parts_stored(parts), 0);
    mxl_parts_release(parts);
    mxl_array_release(y);
    fails("out of", "_sparse_retain", "", 2, r, far);
    make_variable(r);
    y = run("_sparse_retain", "", mode_of(true, true), 2, r, at);
    grads[0] = NULL;
    CHECK_INT(mxl_backward(&(mxl_backward_args){.num_heads = 1,
                                                .heads = &y,
                                                .num_variables = 1,
                                                .variables = &r,
                                                .grads = grads,
                                                .training = true,
                                                .dialect = &mxl_dialect_mxnet}),
              0);
    REQUIRE(grads[0] != NULL);
    CHECK_INT(grads[0]->stype, MXL_ROW_SPARSE);
    IS(as_stored(grads[0], 'd'), MXL_F32, SHAPE(4, 2), 0, 0, 1, 1, 1, 1, 0, 0);
    mxl_array_release(grads[0]);
    mxl_array_release(y);
    mxl_array_release(a);
    mxl_array_release(r);
    mxl_array_release(at);
    mxl_array_release(far);
    mxl_array_release(empty);
}

TEST(numbers_of_elements)
{
    mxl_array *a = ARRAY(MXL_F32, SHAPE(2, 3), 0, 1, 0, 2, 3, 0), *c = as_stored(a, 'c');

    IS(run("_contrib_getnnz", "", PLAIN, 1, c), MXL_I64, SHAPE(1), 3);
    IS(run("_contrib_getnnz", "axis=1", PLAIN, 1, c), MXL_I64, SHAPE(2), 1, 2);
    IS(run("_contrib_getnnz", "axis=0", PLAIN, 1, c), MXL_I64, SHAPE(3), 1, 2, 0);
    fails("csr", "_contrib_getnnz", "", 1, a);
    fails("axis", "_contrib_getnnz", "axis=2", 1, c);
    mxl_array_release(a);
    mxl_array_release(c);
}

TEST(only_what_is_stored)
{
    mxl_array *a = ARRAY(MXL_F32, SHAPE(3, 2), 0, 1, 0, 0, 2, 3), *r = as_stored(a, 'r');
    mxl_array *b = ARRAY(MXL_F32, SHAPE(3, 2), 2, 2, 2, 2, 4, 4), *c = as_stored(a, 'c'), *y;
    mxl_array *s = as_stored(b, 'r');

    y = run("_scatter_plus_scalar", "scalar=2", PLAIN, 1, r);
    CHECK_INT(y->stype, MXL_ROW_SPARSE);
    IS(as_stored(y, 'd'), MXL_F32, SHAPE(3, 2), 2, 3, 0, 0, 4, 5);
    mxl_array_release(y);
    y = run("_scatter_minus_scalar", "scalar=2", PLAIN, 1, c);
    CHECK_INT(y->stype, MXL_CSR);
    IS(as_stored(y, 'd'), MXL_F32, SHAPE(3, 2), 0, -1, 0, 0, 0, 1);
    mxl_array_release(y);
    for (int i = 0; i < 2; i++) {
        y = run("_scatter_elemwise_div", "", PLAIN, 2, r, i == 0 ? b : s);
        CHECK_INT(y->stype, MXL_ROW_SPARSE);
        IS(as_stored(y, 'd'), MXL_F32, SHAPE(3, 2), 0, 0.5, 0, 0, 0.5, 0.75);
        mxl_array_release(y);
    }
    agree("_scatter_elemwise_div", "", "cd", 'd', a, b);
    mxl_array_release(a);
    mxl_array_release(b);
    mxl_array_release(c);
    mxl_array_release(r);
    mxl_array_release(s);
}

TEST(gradients_of_parts)
{
    uint64_t seed = 33;
    mxl_array *a = scattered(&seed, MXL_F64, SHAPE(5, 4), 3);
    mxl_array *b = scattered(&seed, MXL_F64, SHAPE(2, 4), 3);

    gradients_agree("slice", "begin=[1,1] end=[3,3]", "c", "d", a, NULL, ' ');
    gradients_agree("Concat", "num_args=2 dim=0", "cc", "dd", a, b, ' ');
    gradients_agree("sum", "axis=0", "c", "d", a, NULL, ' ');
    gradients_agree("mean", "axis=1", "c", "d", a, NULL, ' ');
    gradients_agree("norm", "", "c", "d", a, NULL, ' ');
    gradients_agree("norm", "ord=1", "r", "d", a, NULL, ' ');
    gradients_agree("clip", "a_min=0 a_max=0.5", "c", "d", a, NULL, ' ');
    mxl_array_release(a);
    mxl_array_release(b);
}

/* An array to write to that has no shape is what the operator makes, on dense copies too. */
TEST(outputs_without_a_shape)
{
    mxl_array *dense = ARRAY(MXL_F32, SHAPE(3, 2), 1, 2, 0, 0, 3, 4),
              *rows = ARRAY(MXL_F32, SHAPE(2), 0, 1);
    mxl_array *csr = as_stored(dense, 'c'), *out = mxl_array_new_none(), *in[2] = {csr, rows};

    CHECK_INT(run_into("_sparse_retain", "", PLAIN, 2, in, &out), 0);
    CHECK_INT(letter_of(out), 'r');
    IS(as_stored(out, 'd'), MXL_F32, SHAPE(3, 2), 1, 2, 0, 0, 0, 0);
    mxl_array_release(dense);
    mxl_array_release(rows);
    mxl_array_release(csr);
    mxl_array_release(out);
}

HARNESS_MAIN(ENTRY(parts), ENTRY(reductions), ENTRY(sums_of_squares), ENTRY(retained_rows),
             ENTRY(numbers_of_elements), ENTRY(only_what_is_stored), ENTRY(gradients_of_parts),
             ENTRY(outputs_without_a_shape))

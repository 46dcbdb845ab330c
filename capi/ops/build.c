/* Operators as expressions, and functions that several families share. */
#include "ops/build.h"

#include "array/batch/batched.h"

#include <string.h>

#include "array/expression.h"

const mxl_input mxl_inputs_lhs_rhs[] = {
    MXL_INPUT(lhs, "First array."),
    MXL_INPUT(rhs, "Second array, of the same dtype."),
    {0},
};
const mxl_input mxl_inputs_none[] = {{0}};
const mxl_input mxl_inputs_np[] = {MXL_INPUT(a, "Input array, of any shape."), {0}};
const char *const mxl_storage_types[] = {"None", "csr", "default", "row_sparse", NULL};

mxl_array *mxl_apply(mxl_scope *s, const mxl_op *op, mxl_array *a)
{
    return mxl_scope_call(s, op, NULL, 1, &a);
}

mxl_array *mxl_apply2(mxl_scope *s, const mxl_op *op, mxl_array *a, mxl_array *b)
{
    mxl_array *inputs[2] = {a, b};

    return mxl_scope_call(s, op, NULL, 2, inputs);
}

mxl_array *mxl_apply_scalar(mxl_scope *s, const mxl_op *op, mxl_array *a, double b)
{
    mxl_scalar_params params = {.scalar = b, .is_int = 1};

    return mxl_scope_call(s, op, &params, 1, &a);
}

static mxl_array *shaped(mxl_scope *s, const mxl_op *op, mxl_array *a, int ndim,
                         const int64_t *shape)
{
    mxl_tuple to = {ndim, shape};

    if (a != NULL && mxl_shape_same(a->ndim, a->shape, ndim, shape))
        return a;
    return mxl_scope_call(s, op, &to, 1, &a);
}

mxl_array *mxl_add(mxl_scope *s, mxl_array *a, mxl_array *b)
{
    return mxl_apply2(s, &mxl_op_broadcast_add, a, b);
}

mxl_array *mxl_sub(mxl_scope *s, mxl_array *a, mxl_array *b)
{
    return mxl_apply2(s, &mxl_op_broadcast_sub, a, b);
}

mxl_array *mxl_mul(mxl_scope *s, mxl_array *a, mxl_array *b)
{
    /* Of two alike sparse arrays the product is stored as they are, which the operator that
     * broadcasts does not do. */
    bool alike = a != NULL && b != NULL && mxl_array_is_sparse(a) && !mxl_array_is_batched(a) &&
                 a->stype == b->stype;

    return mxl_apply2(s, alike ? mxl_op_mul_alike : &mxl_op_broadcast_mul, a, b);
}

mxl_array *mxl_div(mxl_scope *s, mxl_array *a, mxl_array *b)
{
    return mxl_apply2(s, &mxl_op_broadcast_div, a, b);
}

mxl_array *mxl_equal(mxl_scope *s, mxl_array *a, mxl_array *b)
{
    return mxl_apply2(s, &mxl_op_equal, a, b);
}

mxl_array *mxl_add_scalar(mxl_scope *s, mxl_array *a, double b)
{
    return mxl_apply_scalar(s, &mxl_op_plus_scalar, a, b);
}

mxl_array *mxl_mul_scalar(mxl_scope *s, mxl_array *a, double b)
{
    return mxl_apply_scalar(s, &mxl_op_mul_scalar, a, b);
}

mxl_array *mxl_div_scalar(mxl_scope *s, mxl_array *a, double b)
{
    return mxl_apply_scalar(s, &mxl_op_div_scalar, a, b);
}

mxl_array *mxl_rdiv_scalar(mxl_scope *s, mxl_array *a, double b)
{
    return mxl_apply_scalar(s, &mxl_op_rdiv_scalar, a, b);
}

mxl_array *mxl_pow_scalar(mxl_scope *s, mxl_array *a, double b)
{
    return mxl_apply_scalar(s, &mxl_op_power_scalar, a, b);
}

mxl_array *mxl_one_minus(mxl_scope *s, mxl_array *a)
{
    return mxl_apply_scalar(s, &mxl_op_rminus_scalar, a, 1);
}

mxl_array *mxl_negative(mxl_scope *s, mxl_array *a)
{
    return mxl_apply(s, &mxl_op_negative, a);
}

mxl_array *mxl_square(mxl_scope *s, mxl_array *a)
{
    return mxl_apply(s, &mxl_op_square, a);
}

mxl_array *mxl_exp(mxl_scope *s, mxl_array *a)
{
    return mxl_apply(s, &mxl_op_exp, a);
}

mxl_array *mxl_positive(mxl_scope *s, mxl_array *a)
{
    return mxl_apply(s, &mxl_op_positive, a);
}

mxl_array *mxl_sign(mxl_scope *s, mxl_array *a)
{
    return mxl_apply(s, &mxl_op_sign, a);
}

mxl_array *mxl_zeros_like(mxl_scope *s, mxl_array *a)
{
    return mxl_apply(s, &mxl_op_zeros_like, a);
}

mxl_array *mxl_cast(mxl_scope *s, mxl_array *a, int dtype)
{
    if (a != NULL && a->dtype == dtype)
        return a;
    return mxl_scope_call(s, &mxl_op_cast, &dtype, 1, &a);
}

mxl_array *mxl_real(mxl_scope *s, mxl_array *a)
{
    return a == NULL || mxl_dtype_is_float(a->dtype) ? a : mxl_cast(s, a, MXL_F64);
}

mxl_array *mxl_sum_to(mxl_scope *s, mxl_array *a, int ndim, const int64_t *shape)
{
    return shaped(s, &mxl_op_sum_to, a, ndim, shape);
}

mxl_array *mxl_broadcast_to(mxl_scope *s, mxl_array *a, int ndim, const int64_t *shape)
{
    return shaped(s, &mxl_op_broadcast_to, a, ndim, shape);
}

mxl_array *mxl_reshape(mxl_scope *s, mxl_array *a, int ndim, const int64_t *shape)
{
    return shaped(s, &mxl_op_reshape_to, a, ndim, shape);
}

mxl_array *mxl_sum_axis(mxl_scope *s, mxl_array *a, int axis)
{
    const int64_t axes[1] = {axis};
    mxl_reduce_params params = {.axis = {1, axes}, .keepdims = 1};

    return mxl_scope_call(s, &mxl_op_sum, &params, 1, &a);
}

mxl_array *mxl_dot(mxl_scope *s, mxl_array *a, mxl_array *b, bool transpose_a, bool transpose_b)
{
    mxl_dot_params params = {.transpose_a = transpose_a, .transpose_b = transpose_b};
    mxl_array *inputs[2] = {a, b};

    return mxl_scope_call(s, &mxl_op_dot, &params, 2, inputs);
}

int mxl_infer_fresh(mxl_infer *infer, mxl_tuple shape, const char *ctx)
{
    mxl_shape *out = &infer->out_shape[0], want;
    bool given = out->ndim >= 0;

    if (mxl_device_parse(ctx, &infer->device) != 0)
        return mxl_error_prefix(infer->op->name);
    if (shape.n <= 0 && given)
        return 0;
    if (shape.n > MXL_MAX_NDIM)
        return mxl_error("%s: shape has %d axes; at most %d are possible", infer->op->name, shape.n,
                         MXL_MAX_NDIM);
    mxl_shape_set(&want, shape.n < 0 ? 0 : shape.n, shape.v);
    for (int i = 0; i < want.ndim; i++) {
        if (want.dim[i] < -1)
            return mxl_error("%s: shape has the negative extent %lld", infer->op->name,
                             (long long)want.dim[i]);
        if (want.dim[i] > 0 || (want.dim[i] == 0 && !infer->legacy_shape))
            continue;
        if (!given || out->ndim != want.ndim)
            return mxl_error(
                "%s: shape %s has unknown sizes (in legacy mode 0 is unknown; set_np_shape "
                "makes it a size)",
                infer->op->name, MXL_SHAPE_TEXT(want.ndim, want.dim));
        want.dim[i] = out->dim[i];
    }
    if (want.ndim == 0 && infer->legacy_shape)
        return mxl_error(
            "%s: shape is missing (in legacy mode () means unknown; set_np_shape makes "
            "it real)",
            infer->op->name);
    *out = want;
    return 0;
}

int mxl_grad_pass(mxl_grad *g)
{
    return mxl_grad_set(g, 0, g->grad_output[0]);
}

mxl_array *mxl_grad_loop(mxl_grad *g, const mxl_kernels *kernels, mxl_array *a)
{
    mxl_array *grad_output = g->grad_output[0], *in[2] = {a, grad_output}, *out = grad_output;
    mxl_call call = {.op = g->op, .params = g->params};

    if (a == NULL)
        return NULL;
    if (mxl_defers(grad_output->size) || !g->spends || !mxl_array_is_unique(grad_output) ||
        !grad_output->contiguous || mxl_array_leaf(grad_output) != NULL)
        out = mxl_scope_own(
            g->s, mxl_array_new_later(grad_output->dtype, grad_output->ndim, grad_output->shape));
    call.is_new = out != grad_output;
    if (out == NULL || mxl_run_kernels(&call, kernels, 2, in, out) != 0) {
        g->s->failed = true;
        return NULL;
    }
    return out;
}

int mxl_grad_times(mxl_grad *g, int i, mxl_array *derivative)
{
    return mxl_grad_set(g, i, mxl_mul(g->s, g->grad_output[0], derivative));
}

int mxl_grad_times_both(mxl_grad *g, mxl_array *of_a, mxl_array *of_b)
{
    if (mxl_grad_wants(g, 0) && mxl_grad_times(g, 0, of_a) != 0)
        return -1;
    return mxl_grad_wants(g, 1) ? mxl_grad_times(g, 1, of_b) : 0;
}

static mxl_array *factor(mxl_grad *g, const mxl_op *op, mxl_array *a, mxl_array *b, bool ta,
                         bool tb)
{
    mxl_array *inputs[2] = {a, b};
    struct {
        _Alignas(16) int transpose[16];
    } params;

    memcpy(&params, g->params, op->params_size);
    params.transpose[0] = ta;
    params.transpose[1] = tb;
    return mxl_scope_call(g->s, op, &params, 2, inputs);
}

/* With A and B after transposition: dA = dY B', dB = A' dY; a transposed operand gets the
 * transposed gradient, B dY' or dY' A. */
int mxl_grad_factors(mxl_grad *g, const mxl_op *op, int first, mxl_array *dy)
{
    const int *transpose = g->params;
    bool ta = transpose[0] != 0, tb = transpose[1] != 0;

    if (mxl_grad_wants(g, first)) {
        mxl_array *b = mxl_grad_in(g, first + 1);

        if (mxl_grad_set(g, first,
                         ta ? factor(g, op, b, dy, tb, true) : factor(g, op, dy, b, false, !tb)) !=
            0)
            return -1;
    }
    if (mxl_grad_wants(g, first + 1)) {
        mxl_array *a = mxl_grad_in(g, first);

        return mxl_grad_set(g, first + 1,
                            tb ? factor(g, op, dy, a, true, ta) : factor(g, op, a, dy, !ta, false));
    }
    return 0;
}

int mxl_grad_factors_of_op(mxl_grad *g)
{
    return mxl_grad_factors(g, g->op, 0, g->grad_output[0]);
}

int mxl_grad_loops(mxl_grad *g, const mxl_kernels *kernels, mxl_array *saved)
{
    if (saved == NULL)
        return -1;
    if (mxl_dtype_is_carried(saved->dtype) || kernels->row[saved->dtype] == NULL ||
        g->grad_output[0]->dtype != saved->dtype)
        return g->op->grad(g);
    return mxl_grad_set(g, 0, mxl_grad_loop(g, kernels, saved));
}

int mxl_infer_made(mxl_infer *infer, const char *ctx, int dtype, int ndim, const int64_t *shape)
{
    const int64_t one[1] = {1};

    if (mxl_infer_fresh(infer, (mxl_tuple){1, one}, ctx) != 0)
        return -1;
    if (mxl_shape_count(ndim, shape) < 0)
        return mxl_error_prefix(infer->op->name);
    mxl_shape_set(&infer->out_shape[0], ndim, shape);
    infer->out_dtype[0] = dtype;
    return 0;
}

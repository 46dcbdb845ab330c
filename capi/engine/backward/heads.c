/* The roots of a backward: their edges, and the gradients that are given for them. */
#include "engine/backward/heads.h"

#include "array/failure.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "engine/backward/grad.h"
#include "engine/run/builtin_ops.h"

/* dtype and shape of the gradients that flow to an edge. */
static mxl_meta edge_meta(mxl_edge edge)
{
    const mxl_node *node = mxl_edge_node(edge);

    return node != NULL ? node->out_meta[edge.output] : mxl_array_meta(mxl_edge_variable(edge));
}

bool mxl_head_ignores(mxl_edge edge)
{
    const mxl_node *node = edge.target != NULL ? mxl_edge_node(edge) : NULL;

    return node != NULL && (node->op->grad == mxl_grad_zero ||
                            (node->op->is_loss != NULL && node->op->is_loss(node->params)));
}

/* Whether the root's dialect takes another shape and dtype, and this gradient has enough elements
 * or is not read. */
static bool fits_leniently(const mxl_array *grad, mxl_edge edge, int64_t size)
{
    return grad->size >= size || mxl_head_ignores(edge);
}

static int check_head(const mxl_visit *walk, const mxl_backward_args *args, int i)
{
    mxl_array *grad = args->head_grads == NULL ? NULL : args->head_grads[i];
    bool lenient = args->dialect->lenient_heads;
    mxl_meta meta;

    if (walk->heads[i].target == NULL &&
        (args->allow_constants ||
         (lenient && args->heads != NULL && mxl_array_frozen(args->heads[i]))))
        return 0;
    if (walk->heads[i].target == NULL)
        return mxl_error("backward: head %d is not in a recorded graph: compute it inside "
                         "autograd.record() from an array with a gradient attached",
                         i);
    if (grad == NULL)
        return 0;
    meta = edge_meta(walk->heads[i]);
    if (grad->storage == NULL ||
        !(mxl_shape_same(grad->ndim, grad->shape, meta.ndim, meta.shape) ||
          (lenient && fits_leniently(grad, walk->heads[i], mxl_shape_size(meta.ndim, meta.shape)))))
        return mxl_error("backward: head gradient %d has shape %s, head %d has %s", i,
                         MXL_SHAPE_OF(grad), i, MXL_SHAPE_TEXT(meta.ndim, meta.shape));
    if (grad->dtype != meta.dtype && !lenient)
        return mxl_error("backward: head gradient %d is %s, head %d is %s", i,
                         mxl_dtype_name(grad->dtype), i, mxl_dtype_name(meta.dtype));
    return 0;
}

int mxl_heads_begin(mxl_visit *walk, const mxl_backward_args *args)
{
    walk->heads = mxl_alloc((size_t)args->num_heads * sizeof(*walk->heads));
    if (walk->heads == NULL)
        return -1;
    walk->num_heads = (size_t)args->num_heads;
    for (int i = 0; i < args->num_heads; i++) {
        if (args->heads != NULL) {
            walk->heads[i] = mxl_array_edge(args->heads[i]);
            continue;
        }
        walk->heads[i] = args->roots[i];
        if (walk->heads[i].target != NULL)
            mxl_ref_retain(walk->heads[i].target);
    }
    for (int i = 0; i < args->num_heads; i++) {
        if (check_head(walk, args, i) != 0)
            return -1;
    }
    return 0;
}

/* Ones for a root without a gradient; new. */
static mxl_array *ones_for(const mxl_visit *walk, const mxl_backward_args *args, int i,
                           mxl_mode mode)
{
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();
    bool made =
        args->heads == NULL || mxl_failures_exist(); /* ones are none of the root's values */
    mxl_array *like = made ? NULL : args->heads[i], *ones = NULL;

    if (made) {
        mxl_meta meta = edge_meta(walk->heads[i]);

        like = mxl_meta_new(&meta);
    }
    mode.record = false;
    if (builtin != NULL && like != NULL)
        (void)mxl_invoke(builtin->ones_like, NULL, 1, &like, 1, &ones, mode);
    if (made)
        mxl_array_release(like);
    return ones;
}

/* Replaces an array (the caller's reference) by the operator's result, NULL on failure. */
static mxl_array *replaced(const mxl_op *op, const void *params, mxl_array *array, mxl_mode mode)
{
    mxl_array *result = NULL;

    (void)mxl_invoke(op, params, 1, &array, 1, &result, mode);
    mxl_array_release(array);
    return result;
}

/* The first elements of `grad` in the shape and dtype of `meta`; new. */
static mxl_array *in_form(mxl_array *grad, mxl_meta meta, mxl_mode mode)
{
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();
    int64_t size = mxl_shape_size(meta.ndim, meta.shape), one = 1;
    mxl_strided_params first = {.shape = {1, &size}, .strides = {1, &one}};
    mxl_tuple to = {meta.ndim, meta.shape}, flat = {1, &grad->size};

    if (builtin == NULL)
        return NULL;
    mxl_array_retain(grad);
    if (grad->size != size) {
        grad = replaced(builtin->reshape_to, &flat, grad, mode);
        grad = grad != NULL ? replaced(builtin->as_strided, &first, grad, mode) : NULL;
    }
    if (grad != NULL && !mxl_shape_same(grad->ndim, grad->shape, meta.ndim, meta.shape))
        grad = replaced(builtin->reshape_to, &to, grad, mode);
    if (grad != NULL && grad->dtype != meta.dtype)
        grad = replaced(builtin->cast, &meta.dtype, grad, mode);
    return grad;
}

mxl_array *mxl_head_gradient(const mxl_visit *walk, const mxl_backward_args *args, int i,
                             mxl_mode mode)
{
    mxl_array *grad = args->head_grads != NULL ? args->head_grads[i] : NULL;
    mxl_meta meta;

    if (grad == NULL)
        return ones_for(walk, args, i, mode);
    meta = edge_meta(walk->heads[i]);
    if (grad->size < mxl_shape_size(meta.ndim, meta.shape))
        return ones_for(walk, args, i, mode); /* it is not read */
    return in_form(grad, meta, mode);
}

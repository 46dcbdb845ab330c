/* _mxl_nonzero: the indices of the elements that are not 0; and _contrib_boolean_mask, which takes
 * the positions of an axis whose flag is not 0. */
#include <stddef.h>

#include "array/copy.h"
#include "base/memory/mem.h"
#include "kernel/index/flags.h"
#include "kernel/index/gather.h"
#include "ops/index/take.h"

typedef struct nonzero_params {
    int by_axis;
} nonzero_params;

/* The elements as contiguous bytes, 0 and 1: the array itself (retained), or a copy. */
static mxl_array *flags_of(mxl_array *x)
{
    mxl_array *flags;

    if (x->dtype == MXL_BOOL)
        return mxl_array_contiguous(x);
    flags = mxl_array_new(MXL_BOOL, x->ndim, x->shape);
    if (flags != NULL && mxl_array_copy_into(flags, x) != 0) {
        mxl_array_release(flags);
        flags = NULL;
    }
    return flags;
}

/* The number of elements that are not 0; -1 with the error set. */
static int64_t count_set(const mxl_op *op, mxl_array *x)
{
    mxl_array *flags = flags_of(x);
    int64_t count;

    if (flags == NULL)
        return mxl_error_prefix(op->name);
    count = mxl_flags_count(mxl_array_read(flags), flags->size);
    mxl_array_release(flags);
    return count;
}

/* The output's size depends on the values, so they are read here. */
static int nonzero_infer(mxl_infer *infer)
{
    bool by_axis = ((const nonzero_params *)infer->params)->by_axis != 0;
    int64_t count = count_set(infer->op, infer->in[0]);

    infer->out_shape[0].ndim = 2;
    infer->out_shape[0].dim[by_axis ? 1 : 0] = count;
    infer->out_shape[0].dim[by_axis ? 0 : 1] = infer->in[0]->ndim;
    infer->out_dtype[0] = MXL_I64;
    return count < 0 ? -1 : 0;
}

/* The strides of the output: index `axis` of found element `k` is out[k * element + axis * next].
 */
typedef struct writer {
    int64_t *out;
    int64_t found, count, element, next;
} writer;

/* Writes the set flags of a row of n, whose other indices are `at`; none beyond those counted. */
static void write_row(writer *w, const uint8_t *flag, int64_t n, int ndim, const int64_t *at)
{
    int64_t *out = w->out + w->found * w->element, found;

    found =
        mxl_flags_positions(flag, n, out + (ndim - 1) * w->next, w->element, w->count - w->found);
    for (int i = 0; i < ndim - 1; i++) {
        for (int64_t k = 0; k < found; k++)
            out[k * w->element + i * w->next] = at[i];
    }
    w->found += found;
}

static int nonzero_compute(const mxl_call *call)
{
    bool by_axis = ((const nonzero_params *)call->params)->by_axis != 0;
    mxl_array *out = call->out[0], *flags = flags_of(call->in[0]);
    int64_t count = out->shape[by_axis ? 1 : 0], at[MXL_MAX_NDIM] = {0};
    int ndim = call->in[0]->ndim;
    writer w = {mxl_array_write(out), 0, count, by_axis ? 1 : ndim, by_axis ? count : 1};
    const uint8_t *flag;
    int64_t n;

    if (flags == NULL)
        return -1;
    flag = mxl_array_read(flags);
    n = ndim > 0 ? flags->shape[ndim - 1] : 1;
    w.found = ndim == 0 ? count : 0; /* there is no index to write */
    for (int64_t i = 0; ndim > 0 && i < flags->size; i += n) {
        write_row(&w, flag + i, n, ndim, at);
        for (int axis = ndim - 2; axis >= 0 && ++at[axis] == flags->shape[axis]; axis--)
            at[axis] = 0;
    }
    mxl_array_release(flags);
    if (w.found != count)
        return mxl_error("%s: the array changed while it was read", call->op->name);
    return 0;
}

static const mxl_op op_nonzero = {
    .name = "_mxl_nonzero",
    .doc = "The indices of all elements but zeros, in their order, as int64.",
    MXL_PARAMS_OF(
        nonzero_params,
        MXL_PARAM(nonzero_params, by_axis, MXL_P_BOOL, "0",
                  "Whether the result has a row for each axis, else one for each element found.")),
    .infer = nonzero_infer,
    .by_values = 1,
    .compute = nonzero_compute,
    .u64 = MXL_U64_WRAPS,
    .grad = mxl_grad_zero,
};

mxl_array *mxl_nonzero(mxl_scope *s, mxl_array *a, bool by_axis)
{
    return mxl_scope_call(s, &op_nonzero, &(nonzero_params){by_axis}, 1, &a);
}

/* ---- _contrib_boolean_mask ---- */

typedef struct mask_params {
    int64_t axis;
} mask_params;

static int mask_infer(mxl_infer *infer)
{
    const mask_params *p = infer->params;
    const mxl_array *data = infer->in[0], *index = infer->in[1];
    int axis = mxl_shape_axis(p->axis, data->ndim);

    if (axis < 0)
        return mxl_error_prefix(infer->op->name);
    if (!mxl_shape_same(index->ndim, index->shape, 1, data->shape + axis))
        return mxl_error("%s: index must have shape (%lld,), got %s", infer->op->name,
                         (long long)data->shape[axis], MXL_SHAPE_OF(index));
    mxl_shape_set(&infer->out_shape[0], data->ndim, data->shape);
    infer->out_shape[0].dim[axis] = count_set(infer->op, infer->in[1]);
    infer->out_dtype[0] = data->dtype;
    return infer->out_shape[0].dim[axis] < 0 ? -1 : 0;
}

/* There must be as many set flags as infer counted; another thread may have changed them since. */
static int mask_compute(const mxl_call *call)
{
    const mask_params *p = call->params;
    const mxl_array *data = call->in[0];
    mxl_array *out = call->out[0], *flags = flags_of(call->in[1]);
    mxl_split v = mxl_shape_split(p->axis, data->ndim, data->shape);
    int64_t n = out->shape[v.axis], found = -1;
    size_t bytes = (size_t)n * sizeof(int64_t);
    int64_t *at = flags == NULL ? NULL : mxl_alloc(bytes);

    if (at != NULL) {
        found = mxl_flags_positions(mxl_array_read(flags), flags->size, at, 1, n);
        if (found == n)
            mxl_take(v.outer, v.n, v.inner * (int64_t)mxl_dtype_size(data->dtype),
                     mxl_array_read(data), n, at, mxl_array_write(out));
        else
            mxl_error("%s: the flags changed while they were read", call->op->name);
        mxl_free(at, bytes);
    }
    mxl_array_release(flags);
    return found == n ? 0 : -1;
}

/* dx = dy where the flags are set, zeros elsewhere */
static int mask_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    mxl_array *at, *flags;

    if (!mxl_grad_wants(g, 0))
        return 0;
    flags = mxl_grad_in(g, 1);
    at = mxl_nonzero(g->s, flags, true);
    if (at != NULL)
        at = mxl_reshape(g->s, at, 1, &at->size);
    return mxl_grad_set(g, 0,
                        mxl_take_back(g->s, g->grad_output[0], at,
                                      ((const mask_params *)g->params)->axis, x->ndim, x->shape));
}

static const mxl_op op_mask = {
    .name = "_contrib_boolean_mask",
    .aliases = MXL_ALIASES("_npi_boolean_mask"),
    .doc = "The positions of an axis whose flag is set, in their order.",
    MXL_INPUTS(
        MXL_INPUT(data, "The array to take from."),
        MXL_INPUT(index, "One flag for each position of the axis, of any dtype; 0 is not set.")),
    MXL_PARAMS_OF(mask_params, MXL_PARAM(mask_params, axis, MXL_P_INT, "0", "The axis.")),
    .infer = mask_infer,
    .dtypes = "A>A",
    .by_values = 2,
    .compute = mask_compute,
    .u64 = MXL_U64_WRAPS,
    .grad = mask_grad,
    .saves = mxl_saves_index,
};

const mxl_op *const mxl_ops_nonzero[] = {&op_nonzero, &op_mask, NULL};

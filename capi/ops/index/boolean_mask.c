/* _contrib_boolean_mask: selects the positions of an axis whose flag is set; and _mxl_mask_put, its
 * gradient, which puts them into zeros. */
#include <stddef.h>

#include "array/copy.h"
#include "base/memory/mem.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/index/gather.h"
#include "kernel/index/index_offsets.h"
#include "ops/build.h"

typedef struct mask_params {
    int64_t axis;
    int64_t extent; /* _mxl_mask_put */
} mask_params;

static const mxl_input mask_inputs[] = {
    MXL_INPUT(data, "The array to take from."),
    MXL_INPUT(index, "One flag for each position of the axis, of any dtype; 0 is not set."),
    {0},
};

#define MASK_AXIS MXL_PARAM(mask_params, axis, MXL_P_INT, "0", "The axis.")

/* ---- the flags ---- */

/* The flags as contiguous bytes 0 and 1: the array itself (retained), or a copy. */
static mxl_array *flags_of(mxl_array *index)
{
    mxl_array *flags;

    if (index->dtype == MXL_BOOL)
        return mxl_array_contiguous(index);
    flags = mxl_array_new(MXL_BOOL, index->ndim, index->shape);
    if (flags != NULL && mxl_array_copy_into(flags, index) != 0) {
        mxl_array_release(flags);
        flags = NULL;
    }
    return flags;
}

/* The number of set flags; -1 with the error set. */
static int64_t count_set(mxl_array *index)
{
    mxl_array *flags = flags_of(index);
    const uint8_t *flag;
    int64_t n = 0;

    if (flags == NULL)
        return -1;
    flag = mxl_array_read(flags);
    for (int64_t i = 0; i < flags->size; i++)
        n += flag[i] != 0;
    mxl_array_release(flags);
    return n;
}

/* The positions of set flags. There must be n, the number that infer counted; another thread may
 * have changed the flags since. Freed by the caller; NULL with the error set. */
static int64_t *set_positions(const mxl_call *call, int64_t n)
{
    int64_t *at = mxl_alloc((size_t)n * sizeof(*at)), found = 0;
    mxl_array *flags = at == NULL ? NULL : flags_of(call->in[1]);

    if (flags != NULL) {
        const uint8_t *flag = mxl_array_read(flags);

        for (int64_t i = 0; i < flags->size; i++) {
            if (flag[i] != 0 && found++ < n)
                at[found - 1] = i;
        }
        mxl_array_release(flags);
        if (found == n)
            return at;
        mxl_error("%s: the flags changed while they were read", call->op->name);
    }
    mxl_free(at, (size_t)n * sizeof(*at));
    return NULL;
}

/* ---- _contrib_boolean_mask ---- */

static const mxl_param mask_table[] = {MASK_AXIS, {0}};

/* The output's size depends on the values of the flags, so they are read here. */
static int mask_infer(mxl_infer *infer)
{
    const mask_params *p = infer->params;
    const mxl_array *data = infer->in[0];
    mxl_array *index = infer->in[1];
    int axis = mxl_shape_axis(p->axis, data->ndim);
    int64_t n;
    char text[128];

    if (axis < 0)
        return mxl_error_prefix(infer->op->name);
    if (!mxl_shape_same(index->ndim, index->shape, 1, data->shape + axis))
        return mxl_error("%s: index must have shape (%lld,), got %s", infer->op->name,
                         (long long)data->shape[axis],
                         mxl_shape_text(text, sizeof(text), index->ndim, index->shape));
    n = count_set(index);
    if (n < 0)
        return mxl_error_prefix(infer->op->name);
    mxl_shape_set(&infer->out_shape[0], data->ndim, data->shape);
    infer->out_shape[0].dim[axis] = n;
    infer->out_dtype[0] = data->dtype;
    return 0;
}

/* Bytes of one position of the axis, within one outer one. */
static int64_t piece_bytes(const mxl_array *array, int axis)
{
    return mxl_shape_size(array->ndim - axis - 1, array->shape + axis + 1) *
           (int64_t)mxl_dtype_size(array->dtype);
}

static int mask_compute(const mxl_call *call)
{
    const mask_params *p = call->params;
    const mxl_array *data = call->in[0];
    mxl_array *out = call->out[0];
    int axis = mxl_shape_axis(p->axis, data->ndim);
    int64_t n = out->shape[axis], *at = set_positions(call, n);

    if (at == NULL)
        return -1;
    mxl_take(mxl_shape_size(axis, data->shape), data->shape[axis], piece_bytes(data, axis),
             mxl_array_read(data), n, at, mxl_array_write(out));
    mxl_free(at, (size_t)n * sizeof(*at));
    return 0;
}

/* Applies the operator to grad_output and the flags. */
static mxl_array *flagged(mxl_grad *g, const mxl_op *op, int64_t extent)
{
    mask_params p = {((const mask_params *)g->params)->axis, extent};
    mxl_array *inputs[2] = {g->grad_output[0], mxl_grad_in(g, 1)};

    return mxl_scope_call(g->s, op, &p, 2, inputs);
}

static const mxl_op op_mask, op_mask_put;

/* dx = dy where the flags are set, zeros elsewhere */
static int mask_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    int axis = mxl_shape_axis(((const mask_params *)g->params)->axis, x->ndim);

    return mxl_grad_wants(g, 0) ? mxl_grad_set(g, 0, flagged(g, &op_mask_put, x->shape[axis])) : 0;
}

static const mxl_op op_mask = {
    .name = "_contrib_boolean_mask",
    .aliases = MXL_ALIASES("_npi_boolean_mask"),
    .doc = "The positions of an axis whose flag is set, in their order.",
    .inputs = mask_inputs,
    MXL_PARAMS(mask_params, mask_table),
    .infer = mask_infer,
    .compute = mask_compute,
    .grad = mask_grad,
    .saves = mxl_saves_index,
};

/* ---- _mxl_mask_put ---- */

static const mxl_param put_table[] = {
    MASK_AXIS,
    MXL_PARAM(mask_params, extent, MXL_P_INT, MXL_REQUIRED,
              "Extent of the axis: the number of flags."),
    {0},
};

static int put_infer(mxl_infer *infer)
{
    const mask_params *p = infer->params;
    const mxl_array *data = infer->in[0];
    int axis = mxl_shape_axis(p->axis, data->ndim);
    int64_t n;

    if (axis < 0)
        return mxl_error_prefix(infer->op->name);
    n = count_set(infer->in[1]);
    if (n < 0)
        return mxl_error_prefix(infer->op->name);
    if (infer->in[1]->size != p->extent || n != data->shape[axis])
        return mxl_error("%s: %lld of %lld flags are set, for %lld positions of %lld",
                         infer->op->name, (long long)n, (long long)infer->in[1]->size,
                         (long long)data->shape[axis], (long long)p->extent);
    mxl_shape_set(&infer->out_shape[0], data->ndim, data->shape);
    infer->out_shape[0].dim[axis] = p->extent;
    infer->out_dtype[0] = data->dtype;
    return 0;
}

static int put_compute(const mxl_call *call)
{
    const mask_params *p = call->params;
    const mxl_array *data = call->in[0];
    mxl_array *out = call->out[0];
    int axis = mxl_shape_axis(p->axis, data->ndim);
    int64_t n = data->shape[axis], bytes = piece_bytes(data, axis), *at = set_positions(call, n);
    const char *from = mxl_array_read(data);
    char *to = mxl_array_write(out);
    uint64_t zero = 0;

    if (at == NULL)
        return -1;
    mxl_fill(mxl_dtype_size(out->dtype), to, &zero, out->size);
    for (int64_t o = 0; data->size > 0 && o < mxl_shape_size(axis, data->shape); o++)
        mxl_index_offsets_put(bytes, to + o * p->extent * bytes, n, at, from + o * n * bytes);
    mxl_free(at, (size_t)n * sizeof(*at));
    return 0;
}

/* dx = dy where the flags are set */
static int put_grad(mxl_grad *g)
{
    return mxl_grad_wants(g, 0) ? mxl_grad_set(g, 0, flagged(g, &op_mask, 0)) : 0;
}

static const mxl_op op_mask_put = {
    .name = "_mxl_mask_put",
    .doc = "Zeros with data at the positions of an axis whose flag is set.",
    .inputs = mask_inputs,
    MXL_PARAMS(mask_params, put_table),
    .infer = put_infer,
    .compute = put_compute,
    .grad = put_grad,
    .saves = mxl_saves_index,
};

const mxl_op *const mxl_ops_mask[] = {&op_mask, &op_mask_put, NULL};

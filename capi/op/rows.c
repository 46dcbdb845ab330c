/* Element-wise compute: runs loops over arrays. The fast paths come first, because small contiguous
 * arrays spend most of their time here. */
#include "op/op.h"

#include <stdbool.h>
#include <string.h>

#include "array/copy.h"
#include "array/expression.h"

static inline mxl_loop call_loop(const mxl_call *call, int dtype)
{
    const mxl_kernels *kernels = call->op->kernels;
    mxl_loop row = (unsigned)dtype < MXL_DTYPE_LOOPS ? kernels->row[dtype]
                   : dtype == MXL_U64                ? call->op->u64_loop
                                                     : NULL;

    if (row == NULL)
        mxl_error("%s: dtype %s is not supported", call->op->name, mxl_dtype_name(dtype));
    return row;
}

/* True if a write to `out` could change an element of `in` before it is read: they share bytes, but
 * not element by element. */
static inline bool operand_clashes(const mxl_array *in, const mxl_array *out)
{
    int64_t size = (int64_t)mxl_dtype_size(in->dtype);

    if (in->storage != out->storage)
        return false;
    if (!in->contiguous || !out->contiguous)
        return true;
    if (in->offset == out->offset && in->size == out->size && in->dtype == out->dtype)
        return false;
    return in->offset < out->offset + out->size * (int64_t)mxl_dtype_size(out->dtype) &&
           out->offset < in->offset + in->size * size;
}

/* Sets the steps of contiguous operands whose only broadcasting is that of single elements. False:
 * the general walk is needed. */
static inline bool call_steps(const mxl_call *call, const mxl_array *out, const void **data,
                              int64_t *step)
{
    int64_t moving = 0;

    if (!out->contiguous)
        return false;
    for (int i = 0; i < call->num_inputs; i++) {
        const mxl_array *in = call->in[i];

        if (in->size == out->size && in->contiguous)
            step[i] = 1;
        else if (in->size == 1)
            step[i] = 0;
        else
            return false;
        if (operand_clashes(in, out))
            return false;
        moving |= step[i];
        data[i] = mxl_array_read(in);
    }
    return moving != 0;
}

/* Strides of `in` along the dimensions of `out`; 0 where it is broadcast. */
static int broadcast_strides(const mxl_call *call, const mxl_array *in, const mxl_array *out,
                             int64_t *strides)
{
    int lead = out->ndim - in->ndim;

    for (int axis = 0; axis < out->ndim; axis++) {
        int from = axis - lead;

        if (from < 0 || in->shape[from] == 1)
            strides[axis] = 0;
        else
            strides[axis] = in->strides[from];
    }
    for (int axis = 0; axis < in->ndim; axis++) {
        int64_t extent = in->shape[axis];

        if (axis + lead < 0 ? extent != 1 : extent != 1 && extent != out->shape[axis + lead]) {
            return mxl_error("%s: an input of shape %s does not broadcast to %s", call->op->name,
                             MXL_SHAPE_OF(in), MXL_SHAPE_OF(out));
        }
    }
    return 0;
}

/* The axes of `out`, those with the longest strides first. */
static void sort_axes(const mxl_array *out, int *axes)
{
    for (int i = 0; i < out->ndim; i++) {
        int at = i;

        for (; at > 0 && out->strides[axes[at - 1]] < out->strides[i]; at--)
            axes[at] = axes[at - 1];
        axes[at] = i;
    }
}

static void take_axes(int64_t *numbers, const int *axes, int ndim)
{
    int64_t before[MXL_MAX_NDIM];

    memcpy(before, numbers, sizeof(*numbers) * (size_t)ndim);
    for (int i = 0; i < ndim; i++)
        numbers[i] = before[axes[i]];
}

static int walk_rows(const mxl_call *call, mxl_loop row, mxl_array *const *in)
{
    mxl_array *out = call->out[0];
    int64_t strides[MXL_LOOP_INPUTS][MXL_MAX_NDIM], shape[MXL_MAX_NDIM], steps[MXL_MAX_NDIM];
    int axes[MXL_MAX_NDIM];
    const int64_t *in_strides[MXL_LOOP_INPUTS];
    const void *data[MXL_LOOP_INPUTS];
    size_t size[MXL_LOOP_INPUTS];

    for (int i = 0; i < call->num_inputs; i++) {
        if (broadcast_strides(call, in[i], out, strides[i]) != 0)
            return -1;
        in_strides[i] = strides[i];
        data[i] = mxl_array_read(in[i]);
        size[i] = mxl_dtype_size(in[i]->dtype);
    }
    memcpy(shape, out->shape, sizeof(*shape) * (size_t)out->ndim);
    memcpy(steps, out->strides, sizeof(*steps) * (size_t)out->ndim);
    if (!out->contiguous) { /* an output that lies as the inputs do is one run */
        sort_axes(out, axes);
        take_axes(shape, axes, out->ndim);
        take_axes(steps, axes, out->ndim);
        for (int i = 0; i < call->num_inputs; i++)
            take_axes(strides[i], axes, out->ndim);
    }
    return mxl_loops(row, call->op->kernels->weight, out->ndim, shape, mxl_array_write(out), steps,
                     mxl_dtype_size(out->dtype), call->num_inputs, data, in_strides, size,
                     call->params);
}

/* Copies inputs that overlap the output or have another dtype than `dtype` first. */
static int copy_and_walk(const mxl_call *call, mxl_loop row, int dtype)
{
    mxl_array *in[MXL_LOOP_INPUTS], *made[MXL_LOOP_INPUTS] = {NULL};
    int status = -1;

    for (int i = 0; i < call->num_inputs; i++) {
        in[i] = call->in[i];
        if (in[i]->dtype == dtype && !operand_clashes(in[i], call->out[0]))
            continue;
        made[i] = mxl_array_new(dtype, in[i]->ndim, in[i]->shape);
        if (made[i] == NULL || mxl_array_copy_into(made[i], in[i]) != 0)
            goto done;
        in[i] = made[i];
    }
    status = walk_rows(call, row, in);
done:
    for (int i = 0; i < call->num_inputs; i++)
        mxl_array_release(made[i]);
    return status;
}

/* Whether a contiguous output can be computed from the input without a look at strides: element by
 * element, also if one lies exactly over the other. */
static inline bool lies_alike(const mxl_array *in, const mxl_array *out)
{
    return in->size == out->size && in->contiguous &&
           (in->storage != out->storage || (in->offset == out->offset && in->dtype == out->dtype));
}

/* Runs the loop directly if operands are small, contiguous and of one size, and the output overlaps
 * none of them in part. */
static inline bool run_at_once(const mxl_call *call, mxl_loop row)
{
    static const int64_t steps[2] = {1, 1};
    mxl_array *out = call->out[0], *a = call->in[0], *b = a;
    const void *data[2];

    if (call->num_inputs == 2)
        b = call->in[1];
    else if (call->num_inputs != 1)
        return false;
    if (!out->contiguous || out->size > MXL_LOOP_SMALL || mxl_defers(out->size) ||
        !lies_alike(a, out) || !lies_alike(b, out) || a->dtype != b->dtype)
        return false;
    data[0] = mxl_array_read(a);
    data[1] = mxl_array_read(b);
    row(mxl_array_write(out), data, steps, out->size, call->params);
    return true;
}

static void copy_params(const void *op, void *to, const void *params)
{
    mxl_params_copy(op, to, params);
}

/* Defers the loop of a large call (array/expression.h). False: it runs now. */
__attribute__((noinline)) static bool run_later(const mxl_call *call, mxl_loop row)
{
    mxl_array *out = call->out[0];
    mxl_deferral later = {.row = row,
                          .opcode = mxl_kernels_opcode(call->op->kernels, call->in[0]->dtype),
                          .name = call->op->name,
                          .weight = call->op->kernels->weight,
                          .num_in = call->num_inputs,
                          .in = call->in,
                          .out = out,
                          .is_new = call->is_new,
                          .params = call->params,
                          .copy_params = copy_params,
                          .op = call->op};
    bool moves = false;

    for (int i = 0; i < call->num_inputs; i++) {
        const mxl_array *in = call->in[i];

        if (in->dtype != call->in[0]->dtype)
            return false;
        moves = moves || in->size != 1;
    }
    if (call->op->params_size > 0)
        later.params_bytes = mxl_params_bytes(call->op, call->params);
    return moves && mxl_defer(&later);
}

/* The same for all other operands. Not inlined: small calls need no room for its lists. */
__attribute__((noinline)) static int run_any_loops(const mxl_call *call, mxl_loop row)
{
    mxl_array *out = call->out[0];
    int dtype = call->in[0]->dtype;
    const void *data[MXL_LOOP_INPUTS];
    int64_t step[MXL_LOOP_INPUTS];
    size_t size[MXL_LOOP_INPUTS];

    if (call->num_inputs > MXL_LOOP_INPUTS)
        return mxl_error("%s: %d inputs are more than %d", call->op->name, call->num_inputs,
                         (int)MXL_LOOP_INPUTS);
    if (mxl_defers(out->size) && run_later(call, row))
        return 0;
    mxl_storage_limit_left(); /* the output came from mxl_array_new_later */
    if (!call_steps(call, out, data, step))
        return copy_and_walk(call, row, dtype);
    for (int i = 0; i < call->num_inputs; i++)
        size[i] = mxl_dtype_size(dtype);
    mxl_loop_run(row, call->op->kernels->weight, out->size, mxl_array_write(out),
                 mxl_dtype_size(out->dtype), call->num_inputs, data, step, size, call->params);
    return 0;
}

int mxl_run_loops(const mxl_call *call)
{
    mxl_loop row = call_loop(call, call->in[0]->dtype);

    if (row == NULL)
        return -1;
    return run_at_once(call, row) ? 0 : run_any_loops(call, row);
}

int mxl_run_kernels(const mxl_call *call, const mxl_kernels *kernels, int count, mxl_array **in,
                    mxl_array *out)
{
    mxl_op op = {.name = call->op->name,
                 .kernels = kernels,
                 .params = call->op->params,
                 .params_size = call->op->params_size};
    mxl_call loops = {.op = &op,
                      .params = call->params,
                      .num_inputs = count,
                      .num_outputs = 1,
                      .in = in,
                      .out = &out,
                      .is_new = call->is_new};

    return mxl_run_loops(&loops);
}

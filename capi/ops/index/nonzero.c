/* _mxl_nonzero: the indices of the elements that are not 0. */
#include <stddef.h>
#include <string.h>

#include "array/copy.h"
#include "ops/build.h"

typedef struct nonzero_params {
    int by_axis;
} nonzero_params;

static const mxl_param nonzero_table[] = {
    MXL_PARAM(nonzero_params, by_axis, MXL_P_BOOL, "0",
              "Whether the result has a row for each axis, else one for each element found."),
    {0},
};

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

/* The output's size depends on the values, so they are read here. */
static int nonzero_infer(mxl_infer *infer)
{
    bool by_axis = ((const nonzero_params *)infer->params)->by_axis != 0;
    mxl_array *x = infer->in[0], *flags = flags_of(x);
    const uint8_t *flag;
    int64_t count = 0;

    if (flags == NULL)
        return mxl_error_prefix(infer->op->name);
    flag = mxl_array_read(flags);
    for (int64_t i = 0; i < flags->size;) {
        /* A counter as wide as the flags, which must not overflow. */
        int64_t end = flags->size - i < 128 ? flags->size : i + 128;
        uint8_t some = 0;

        for (; i < end; i++)
            some = (uint8_t)(some + (flag[i] != 0));
        count += some;
    }
    mxl_array_release(flags);
    infer->out_shape[0].ndim = 2;
    infer->out_shape[0].dim[by_axis ? 1 : 0] = count;
    infer->out_shape[0].dim[by_axis ? 0 : 1] = x->ndim;
    infer->out_dtype[0] = MXL_I64;
    return 0;
}

/* The strides of the output: index `axis` of found element `k` is out[k * element + axis * next].
 */
typedef struct writer {
    int64_t *out;
    int64_t found, count, element, next;
} writer;

/* Writes the positions of set flags, `step` apart and at most `room`; returns their number. Without
 * branches: each position is written, and the next one over it unless its flag is set. */
static int64_t write_set(const uint8_t *flag, int64_t n, int64_t *out, int64_t step, int64_t room)
{
    int64_t *to = out, *const end = out + room * step, j = 0;
    uint64_t eight;

    for (; j + 8 <= n && end - to >= 8 * step; j += 8) {
        memcpy(&eight, flag + j, sizeof(eight));
        if (eight == 0)
            continue;
        for (int i = 0; i < 8; i++) {
            *to = j + i;
            to += step & -(int64_t)(flag[j + i] != 0);
        }
    }
    for (; j < n && to < end; j++) {
        *to = j;
        to += step & -(int64_t)(flag[j] != 0);
    }
    return (to - out) / step;
}

/* Writes the set flags of a row of n, whose other indices are `at`; none beyond those counted. */
static void write_row(writer *w, const uint8_t *flag, int64_t n, int ndim, const int64_t *at)
{
    int64_t *out = w->out + w->found * w->element, found;

    found = write_set(flag, n, out + (ndim - 1) * w->next, w->element, w->count - w->found);
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
    .doc = "The indices of the elements that are not 0, in their order, as int64.",
    .inputs = mxl_inputs_data,
    MXL_PARAMS(nonzero_params, nonzero_table),
    .infer = nonzero_infer,
    .compute = nonzero_compute,
};

const mxl_op *const mxl_ops_nonzero[] = {&op_nonzero, NULL};

/* What a recorded view stands for: rows of the first axis, one row, another shape; and rows put
 * among zeros, which is how a gradient comes back. Also the rule for Reshape's codes. */
#include "ops/view.h"

#include <stddef.h>
#include <string.h>

#include "array/copy.h"
#include "ops/build.h"

/* ---- _mxl_slice_rows ---- */

static const mxl_param slice_rows_params[] = {
    {.name = "begin",
     .type = MXL_P_INT,
     .offset = offsetof(mxl_slice_rows_params, begin),
     .doc = "First row."},
    {.name = "end",
     .type = MXL_P_INT,
     .offset = offsetof(mxl_slice_rows_params, end),
     .doc = "The row behind the last."},
    {0},
};

/* Bytes of one row of the first axis. */
static size_t row_bytes(const mxl_array *array)
{
    return (size_t)mxl_shape_size(array->ndim - 1, array->shape + 1) * mxl_dtype_size(array->dtype);
}

/* Copies rows [begin, begin + count) of `from` to rows [at, ...) of `to`; both contiguous. */
static void copy_rows(mxl_array *to, int64_t at, const mxl_array *from, int64_t begin,
                      int64_t count, size_t bytes)
{
    const char *in = mxl_array_read(from);
    char *out = mxl_array_write(to);

    memcpy(out + (size_t)at * bytes, in + (size_t)begin * bytes, (size_t)count * bytes);
}

static int slice_rows_infer(mxl_infer *infer)
{
    const mxl_slice_rows_params *p = infer->params;
    const mxl_array *in = infer->in[0];

    if (in->ndim == 0 || p->begin < 0 || p->begin > p->end || p->end > in->shape[0])
        return mxl_error("%s: rows [%lld,%lld) of an array with %lld", infer->op->name,
                         (long long)p->begin, (long long)p->end,
                         (long long)(in->ndim == 0 ? 0 : in->shape[0]));
    mxl_shape_set(&infer->out_shape[0], in->ndim, in->shape);
    infer->out_shape[0].dim[0] = p->end - p->begin;
    infer->out_dtype[0] = in->dtype;
    return 0;
}

static int slice_rows_compute(const mxl_call *call)
{
    const mxl_slice_rows_params *p = call->params;

    copy_rows(call->out[0], 0, call->in[0], p->begin, p->end - p->begin, row_bytes(call->in[0]));
    return 0;
}

static mxl_array *pad_rows(mxl_scope *s, mxl_array *a, int64_t begin, int64_t rows)
{
    mxl_pad_rows_params params = {begin, rows};

    return mxl_scope_call(s, &mxl_op_pad_rows, &params, 1, &a);
}

/* dx = dy at its rows, zeros elsewhere */
static int slice_rows_grad(mxl_grad *g)
{
    const mxl_slice_rows_params *p = g->params;

    return mxl_grad_set(g, 0,
                        pad_rows(g->s, g->head[0], p->begin, mxl_grad_in_meta(g, 0)->shape[0]));
}

const mxl_op mxl_op_slice_rows = {
    .name = "_mxl_slice_rows",
    .doc = "Rows [begin, end) of the first axis.",
    .inputs = mxl_inputs_data,
    .params = slice_rows_params,
    .params_size = sizeof(mxl_slice_rows_params),
    .infer = slice_rows_infer,
    .compute = slice_rows_compute,
    .grad = slice_rows_grad,
};

/* ---- _mxl_at ---- */

static const mxl_param at_params[] = {
    {.name = "index",
     .type = MXL_P_INT,
     .offset = offsetof(mxl_at_params, index),
     .doc = "The row."},
    {0},
};

static int at_infer(mxl_infer *infer)
{
    const mxl_at_params *p = infer->params;
    const mxl_array *in = infer->in[0];

    if (in->ndim == 0 || p->index < 0 || p->index >= in->shape[0])
        return mxl_error("%s: row %lld of an array with %lld", infer->op->name, (long long)p->index,
                         (long long)(in->ndim == 0 ? 0 : in->shape[0]));
    mxl_shape_set(&infer->out_shape[0], in->ndim - 1, in->shape + 1);
    infer->out_dtype[0] = in->dtype;
    return 0;
}

static int at_compute(const mxl_call *call)
{
    const mxl_at_params *p = call->params;

    copy_rows(call->out[0], 0, call->in[0], p->index, 1, row_bytes(call->in[0]));
    return 0;
}

/* dx = dy as the only row that is not zero */
static int at_grad(mxl_grad *g)
{
    const mxl_at_params *p = g->params;
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    mxl_shape row;

    mxl_shape_set(&row, x->ndim, x->shape);
    row.dim[0] = 1;
    return mxl_grad_set(
        g, 0,
        pad_rows(g->s, mxl_reshape(g->s, g->head[0], row.ndim, row.dim), p->index, x->shape[0]));
}

const mxl_op mxl_op_row_at = {
    .name = "_mxl_at",
    .doc = "One row of the first axis, without that axis.",
    .inputs = mxl_inputs_data,
    .params = at_params,
    .params_size = sizeof(mxl_at_params),
    .infer = at_infer,
    .compute = at_compute,
    .grad = at_grad,
};

/* ---- _mxl_pad_rows ---- */

static const mxl_param pad_rows_params[] = {
    {.name = "begin",
     .type = MXL_P_INT,
     .offset = offsetof(mxl_pad_rows_params, begin),
     .doc = "Where the array's first row goes."},
    {.name = "rows",
     .type = MXL_P_INT,
     .offset = offsetof(mxl_pad_rows_params, rows),
     .doc = "Rows of the result."},
    {0},
};

static int pad_rows_infer(mxl_infer *infer)
{
    const mxl_pad_rows_params *p = infer->params;
    const mxl_array *in = infer->in[0];

    if (in->ndim == 0 || p->begin < 0 || p->begin > p->rows || in->shape[0] > p->rows - p->begin)
        return mxl_error("%s: %lld rows at %lld do not lie within %lld", infer->op->name,
                         (long long)(in->ndim == 0 ? 0 : in->shape[0]), (long long)p->begin,
                         (long long)p->rows);
    mxl_shape_set(&infer->out_shape[0], in->ndim, in->shape);
    infer->out_shape[0].dim[0] = p->rows;
    infer->out_dtype[0] = in->dtype;
    return 0;
}

static int pad_rows_compute(const mxl_call *call)
{
    const mxl_pad_rows_params *p = call->params;
    const mxl_array *in = call->in[0];
    mxl_array *out = call->out[0];
    size_t bytes = row_bytes(in);
    size_t before = (size_t)p->begin * bytes, inside = (size_t)in->shape[0] * bytes;
    char *data = mxl_array_write(out);

    memset(data, 0, before);
    copy_rows(out, p->begin, in, 0, in->shape[0], bytes);
    memset(data + before + inside, 0, (size_t)p->rows * bytes - before - inside);
    return 0;
}

/* dx = the rows of dy where x was put */
static int pad_rows_grad(mxl_grad *g)
{
    const mxl_pad_rows_params *p = g->params;
    mxl_slice_rows_params slice = {p->begin, p->begin + mxl_grad_in_meta(g, 0)->shape[0]};

    return mxl_grad_set(g, 0, mxl_scope_call(g->s, &mxl_op_slice_rows, &slice, 1, &g->head[0]));
}

const mxl_op mxl_op_pad_rows = {
    .name = "_mxl_pad_rows",
    .doc = "The array's rows among rows of zeros.",
    .inputs = mxl_inputs_data,
    .params = pad_rows_params,
    .params_size = sizeof(mxl_pad_rows_params),
    .infer = pad_rows_infer,
    .compute = pad_rows_compute,
    .grad = pad_rows_grad,
};

/* ---- _mxl_reshape_to ---- */

static const mxl_param reshape_to_params[] = {
    {.name = "shape",
     .type = MXL_P_SHAPE,
     .offset = offsetof(mxl_sum_to_params, shape),
     .doc = "Shape of the result, of as many elements."},
    {0},
};

static int reshape_to_infer(mxl_infer *infer)
{
    const mxl_sum_to_params *p = infer->params;
    int64_t size;

    if (mxl_infer_to(infer, p->shape) != 0)
        return -1;
    size = mxl_shape_size(p->shape.n, p->shape.v);
    if (size != infer->in[0]->size)
        return mxl_error("%s: %lld elements in a shape of %lld", infer->op->name,
                         (long long)infer->in[0]->size, (long long)size);
    return 0;
}

static int reshape_to_compute(const mxl_call *call)
{
    return mxl_array_copy_into(call->out[0], call->in[0]);
}

/* dx = dy in the shape of x */
static int reshape_to_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);

    return mxl_grad_set(g, 0, mxl_reshape(g->s, g->head[0], x->ndim, x->shape));
}

const mxl_op mxl_op_reshape_to = {
    .name = "_mxl_reshape_to",
    .doc = "The same elements in another shape.",
    .inputs = mxl_inputs_data,
    .params = reshape_to_params,
    .params_size = sizeof(mxl_sum_to_params),
    .infer = reshape_to_infer,
    .view = mxl_view_reshaped,
    .compute = reshape_to_compute,
    .grad = reshape_to_grad,
};

static const mxl_op op_reshape_own = {
    .name = "_mxl_reshape_own",
    .doc = "The same for a temporary copy, which is not seen as what is shown: _unsafe_view.",
    .inputs = mxl_inputs_data,
    .params = reshape_to_params,
    .params_size = sizeof(mxl_sum_to_params),
    .infer = reshape_to_infer,
    .view = mxl_view_reshaped,
    .forgets_base = true,
    .compute = reshape_to_compute,
    .grad = reshape_to_grad,
};

const mxl_op *const mxl_ops_view[] = {
    &mxl_op_slice_rows, &mxl_op_row_at, &mxl_op_pad_rows, &mxl_op_reshape_to, &op_reshape_own, NULL,
};

/* ---- Reshape's codes ---- */

/* A reading of the codes: the input's extents, the codes, and what has been made of them. */
typedef struct reading {
    int count;
    const int64_t *codes;
    bool reverse; /* read from the last code to the first */
    int ndim, at; /* of the input: its axes, the next one to be used */
    int64_t dim[MXL_MAX_NDIM];
    int infer; /* the result's axis of code -1, or -1 */
    mxl_shape *out;
} reading;

static int64_t code_at(const reading *r, int i)
{
    return r->codes[r->reverse ? r->count - 1 - i : i];
}

static int add_axis(reading *r, int64_t extent)
{
    if (r->out->ndim == MXL_MAX_NDIM)
        return mxl_error("reshape: more than %d axes", MXL_MAX_NDIM);
    r->out->dim[r->out->ndim++] = extent;
    return 0;
}

static int take_axis(reading *r, int64_t code, int64_t *extent)
{
    if (r->at >= r->ndim)
        return mxl_error("reshape: code %lld has no axis left to stand for: the array has %d",
                         (long long)code, r->ndim);
    *extent = r->dim[r->at++];
    return 0;
}

/* Code -4 with the two numbers behind it. */
static int split_axis(reading *r, int64_t first, int64_t second)
{
    int64_t whole = 0, product;

    if (take_axis(r, -4, &whole) != 0)
        return -1;
    if (first == -1 && second > 0)
        first = whole / second;
    else if (second == -1 && first > 0)
        second = whole / first;
    if (first < 0 || second < 0 || __builtin_mul_overflow(first, second, &product) ||
        product != whole)
        return mxl_error("reshape: code -4 cannot split an extent of %lld into %lld and %lld",
                         (long long)whole, (long long)first, (long long)second);
    return add_axis(r, first) != 0 ? -1 : add_axis(r, second);
}

static int read_code(reading *r, int64_t code)
{
    int64_t extent = code, other = 0;

    switch (code) {
    case 0:
        return take_axis(r, code, &extent) != 0 ? -1 : add_axis(r, extent);
    case -1:
        if (r->infer >= 0)
            return mxl_error("reshape: more than one extent is -1");
        r->infer = r->out->ndim;
        r->at++;
        return add_axis(r, 1);
    case -2:
        while (r->at < r->ndim) {
            if (add_axis(r, r->dim[r->at++]) != 0)
                return -1;
        }
        return 0;
    case -3:
        if (take_axis(r, code, &extent) != 0 || take_axis(r, code, &other) != 0)
            return -1;
        if (__builtin_mul_overflow(extent, other, &extent))
            return mxl_error("reshape: code -3 makes an extent that is too large");
        return add_axis(r, extent);
    default:
        if (code < 0)
            return mxl_error(
                "reshape: extent %lld; an extent is a number above 0, or a code 0 to -4",
                (long long)code);
        r->at++;
        return add_axis(r, code);
    }
}

static void reverse_list(int n, int64_t *list)
{
    for (int i = 0; i < n / 2; i++) {
        int64_t other = list[n - 1 - i];

        list[n - 1 - i] = list[i];
        list[i] = other;
    }
}

/* Fills in the axis of code -1 and compares the sizes. */
static int finish_codes(reading *r, int64_t size, int ndim, const int64_t *dim)
{
    int64_t others = mxl_shape_count(r->out->ndim, r->out->dim);
    char have[128], want[128];

    if (others < 0)
        return mxl_error_prefix("reshape");
    if (r->infer >= 0) {
        r->out->dim[r->infer] = others == 0 ? 0 : size / others;
        others *= r->out->dim[r->infer];
    }
    if (others == size)
        return 0;
    if (r->infer >= 0)
        r->out->dim[r->infer] = -1;
    return mxl_error("ValueError: reshape: an array of shape %s cannot have the shape %s",
                     mxl_shape_text(have, sizeof(have), ndim, dim),
                     mxl_shape_text(want, sizeof(want), r->out->ndim, r->out->dim));
}

int mxl_reshape_codes(mxl_shape *out, int ndim, const int64_t *dim, int count, const int64_t *codes,
                      bool reverse)
{
    reading r = {
        .count = count, .codes = codes, .reverse = reverse, .ndim = ndim, .infer = -1, .out = out};

    out->ndim = 0;
    memcpy(r.dim, dim, (size_t)ndim * sizeof(*dim));
    if (reverse)
        reverse_list(ndim, r.dim);
    for (int i = 0; i < count; i++) {
        if (code_at(&r, i) == -4 && i + 2 >= count)
            return mxl_error("reshape: code -4 is followed by the two extents to split into");
        if (code_at(&r, i) == -4) {
            if (split_axis(&r, code_at(&r, i + 1), code_at(&r, i + 2)) != 0)
                return -1;
            i += 2;
        } else if (read_code(&r, code_at(&r, i)) != 0) {
            return -1;
        }
    }
    if (reverse) {
        reverse_list(out->ndim, out->dim);
        r.infer = r.infer < 0 ? -1 : out->ndim - 1 - r.infer;
    }
    return finish_codes(&r, mxl_shape_size(ndim, dim), ndim, dim);
}

/* The windows of a convolution as columns: im2col and col2im, each of which is the other's vjp. */
#include <stddef.h>

#include "kernel/spatial/columns.h"
#include "ops/nn/images.h"
#include "ops/nn/wide.h"

/* The fields of im2col's parameters, then that of col2im's. */
typedef struct column_params {
    mxl_tuple kernel, stride, dilate, pad;
    mxl_tuple output_size;
} column_params;

#define FIELD(field, text, meaning) MXL_PARAM(column_params, field, MXL_P_SHAPE, text, meaning)
#define COLUMN_PARAMS                                                                              \
    FIELD(kernel, MXL_REQUIRED, "Size of the windows along each spatial axis."),                   \
        FIELD(stride, "[]", "Step from a window to the next; 1 if not given."),                    \
        FIELD(dilate, "[]", "Step from an element of a window to the next; 1 if not given."),      \
        FIELD(pad, "[]",                                                                           \
              "Zeros at both ends of each axis; negative: positions that are left out. 0 if not "  \
              "given.")

/* The axes of images whose spatial sizes are given; -1 with the error set. */
static int find_axes(const char *name, const column_params *p, int spatial, const int64_t *size,
                     mxl_columns *c)
{
    if (p->kernel.n < 1 || p->kernel.n > 3 || p->kernel.n != spatial)
        return mxl_error("%s: kernel must have an entry for each of 1 to 3 spatial axes, got %d "
                         "for %d",
                         name, p->kernel.n, spatial);
    if (mxl_check_list(name, "kernel", p->kernel, spatial, 1) != 0 ||
        mxl_check_list(name, "stride", p->stride, spatial, 1) != 0 ||
        mxl_check_list(name, "dilate", p->dilate, spatial, 1) != 0 ||
        mxl_check_list(name, "pad", p->pad, spatial, -INT32_MAX) != 0)
        return -1;
    for (int i = 0; i < 3; i++) {
        int at = i - (3 - spatial);
        mxl_column_axis *a = &c->axis[i];
        int64_t room;

        *a = (mxl_column_axis){.in = 1, .out = 1, .kernel = 1, .stride = 1, .dilate = 1};
        if (at < 0)
            continue;
        a->in = size[at];
        a->kernel = p->kernel.v[at];
        a->stride = mxl_tuple_entry(p->stride, at, 1);
        a->dilate = mxl_tuple_entry(p->dilate, at, 1);
        a->pad = mxl_tuple_entry(p->pad, at, 0);
        room = a->in + 2 * a->pad - ((a->kernel - 1) * a->dilate + 1);
        if (a->in >= 0 && room < 0)
            return mxl_error("%s: a window of %lld exceeds an axis of %lld with padding %lld", name,
                             (long long)((a->kernel - 1) * a->dilate + 1), (long long)a->in,
                             (long long)a->pad);
        a->out = room / a->stride + 1;
    }
    return 0;
}

/* Elements of a window, windows; -1 with the error set if they are too many. */
static int count_columns(const char *name, const mxl_columns *c, int64_t *elements,
                         int64_t *windows)
{
    const int64_t kernel[3] = {c->axis[0].kernel, c->axis[1].kernel, c->axis[2].kernel};
    const int64_t out[3] = {c->axis[0].out, c->axis[1].out, c->axis[2].out};

    *elements = mxl_shape_count(3, kernel);
    *windows = mxl_shape_size(3, out);
    return *elements < 0 || mxl_shape_check(3, out) != 0 ? mxl_error_prefix(name) : 0;
}

/* ---- im2col ---- */

static int im2col_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];
    int64_t elements, windows;
    mxl_columns c;

    if (mxl_check_float(infer->op, x) != 0)
        return -1;
    if (x->ndim < 3)
        return mxl_error("im2col: data must have 3 to 5 axes, got %d", x->ndim);
    if (find_axes("im2col", infer->params, x->ndim - 2, x->shape + 2, &c) != 0 ||
        count_columns("im2col", &c, &elements, &windows) != 0)
        return -1;
    if (mxl_shape_check(2, (int64_t[]){x->shape[1], elements}) != 0)
        return mxl_error_prefix("im2col");
    return mxl_infer_set(infer, x->dtype, 3,
                         (int64_t[]){x->shape[0], x->shape[1] * elements, windows});
}

static int im2col_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    mxl_columns c;
    mxl_wide wide;

    if (mxl_wide_begin(&wide, call) != 0)
        return -1;
    (void)find_axes("im2col", call->params, x->ndim - 2, x->shape + 2, &c);
    c.planes = x->shape[0] * x->shape[1];
    c.dtype = wide.dtype;
    mxl_columns_take(&c, mxl_array_read(wide.in[0]), mxl_array_write(wide.out));
    return mxl_wide_end(&wide, 0);
}

static const mxl_op op_im2col, op_col2im;

/* dx = the columns back in an image of the size of x */
static int im2col_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    column_params p = *(const column_params *)g->params;

    p.output_size = (mxl_tuple){x->ndim - 2, x->shape + 2};
    return mxl_grad_set(g, 0, mxl_scope_call(g->s, &op_col2im, &p, 1, g->grad_output));
}

static const mxl_op op_im2col = {
    .name = "im2col",
    .doc = "The windows of a convolution as columns of a matrix: (batch, channels * elements of a "
           "window, windows).",
    MXL_INPUTS(MXL_INPUT(data, "Images (batch, channels, ...) of a floating dtype, with one to "
                               "three spatial axes.")),
    MXL_PARAMS_OF(column_params, COLUMN_PARAMS),
    .infer = im2col_infer,
    .compute = im2col_compute,
    .grad = im2col_grad,
};

/* ---- col2im ---- */

static int col2im_infer(mxl_infer *infer)
{
    const column_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    int64_t elements, windows, shape[5];
    mxl_columns c;

    if (mxl_check_float(infer->op, x) != 0)
        return -1;
    if (x->ndim != 3)
        return mxl_error("col2im: data must have 3 axes, got %d", x->ndim);
    if (mxl_check_list("col2im", "output_size", p->output_size, p->kernel.n, 0) != 0 ||
        find_axes("col2im", p, p->output_size.n, p->output_size.v, &c) != 0 ||
        count_columns("col2im", &c, &elements, &windows) != 0)
        return -1;
    if ((x->shape[1] > 0 && x->shape[1] % elements != 0) || mxl_sizes_differ(x->shape[2], windows))
        return mxl_error("col2im: data must have a multiple of %lld rows and %lld columns, got "
                         "%lld and %lld",
                         (long long)elements, (long long)windows, (long long)x->shape[1],
                         (long long)x->shape[2]);
    shape[0] = x->shape[0];
    shape[1] = x->shape[1] / elements;
    for (int i = 0; i < p->output_size.n; i++)
        shape[2 + i] = p->output_size.v[i];
    return mxl_infer_set(infer, x->dtype, 2 + p->output_size.n, shape);
}

static int col2im_compute(const mxl_call *call)
{
    const column_params *p = call->params;
    const mxl_array *out = call->out[0];
    mxl_columns c;
    mxl_wide wide;

    if (mxl_wide_begin(&wide, call) != 0)
        return -1;
    (void)find_axes("col2im", p, p->output_size.n, p->output_size.v, &c);
    c.planes = out->shape[0] * out->shape[1];
    c.dtype = wide.dtype;
    mxl_columns_put(&c, mxl_array_read(wide.in[0]), mxl_array_write(wide.out));
    return mxl_wide_end(&wide, 0);
}

/* dx = the windows of dy as columns */
static int col2im_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, mxl_scope_call(g->s, &op_im2col, g->params, 1, g->grad_output));
}

static const mxl_op op_col2im = {
    .name = "col2im",
    .doc = "Images from the windows of a convolution as columns: each position is the sum of the "
           "elements that windows have of it. The vjp of im2col.",
    MXL_INPUTS(MXL_INPUT(data, "Columns (batch, channels * elements of a window, windows).")),
    MXL_PARAMS_OF(column_params,
                  FIELD(output_size, MXL_REQUIRED, "The spatial sizes of the images."),
                  COLUMN_PARAMS),
    .infer = col2im_infer,
    .compute = col2im_compute,
    .grad = col2im_grad,
};

mxl_array *mxl_col2im(mxl_scope *s, mxl_array *a, int64_t kernel, int64_t stride, int64_t pad,
                      const int64_t *size)
{
    const int64_t all[3][2] = {{kernel, kernel}, {stride, stride}, {pad, pad}};
    column_params p = {
        .kernel = {2, all[0]}, .stride = {2, all[1]}, .pad = {2, all[2]}, .output_size = {2, size}};

    return mxl_scope_call(s, &op_col2im, &p, 1, &a);
}

const mxl_op *const mxl_ops_im2col[] = {&op_im2col, &op_col2im, NULL};

/* Convolution and its derivatives. The convolution y of x with w is linear in both, and so are the
 * derivatives of the sum of dy * y by x (_mxl_conv_x) and by w (_mxl_conv_w): each of the three
 * products has the other two as its derivatives. */
#include "ops/batch/rules.h"
#include "ops/conv/conv_ops.h"

#include <stddef.h>

#include "op/kept.h"

static const char *const v1_layouts[] = {"None", "NCDHW", "NCHW", "NDHWC", "NHWC", NULL};

/* ---- y from x and w ---- */

static int y_check(void *params)
{
    return mxl_conv_check("Convolution", params);
}

static int y_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0], *w = call->in[1];
    mxl_conv v =
        mxl_conv_of(call->params, x->dtype, x->ndim, x->shape, w->shape, call->out[0]->shape);
    const void *weights = mxl_array_read(w);
    mxl_conv_form *form;
    mxl_kept *kept;
    int status;

    if (!mxl_conv_takes(&v))
        return 1;
    kept = mxl_kept_of(call->kept, 1, &call->in[1]);
    form = kept != NULL ? kept->form : NULL;
    if (kept != NULL)
        v.form = &form;
    status = mxl_conv_forward(&v, mxl_array_read(x), weights,
                              call->num_inputs > 2 ? mxl_array_read(call->in[2]) : NULL,
                              mxl_array_write(call->out[0]));
    if (kept != NULL) {
        kept->form = form;
        kept->free = mxl_conv_form_free;
    }
    return status;
}

/* The spatial size of an array that had `meta`, as a list. */
static mxl_tuple size_of(const mxl_meta *meta)
{
    return (mxl_tuple){meta->ndim - 2, meta->shape + 2};
}

/* dx = conv_x(dy, w), dw = conv_w(x, dy) */
static int y_grad(mxl_grad *g)
{
    mxl_conv_params p = *(const mxl_conv_params *)g->params;
    mxl_array *dy = g->grad_output[0];

    p.size = size_of(mxl_grad_in_meta(g, 0));
    if (mxl_grad_wants(g, 0) &&
        mxl_grad_set(g, 0, mxl_conv_x(g->s, &p, dy, mxl_grad_in(g, 1))) != 0)
        return -1;
    if (mxl_grad_wants(g, 1) &&
        mxl_grad_set(g, 1, mxl_conv_w(g->s, &p, mxl_grad_in(g, 0), dy)) != 0)
        return -1;
    return p.no_bias || !mxl_grad_wants(g, 2) ? 0 : mxl_conv_grad_bias(g);
}

#define CONVOLUTION                                                                                \
    MXL_INPUTS(MXL_INPUT(data, "Images: batch, channels, then one to three spatial axes."),        \
               MXL_INPUT(weight, "Kernels: num_filter, channels of a group, kernel."),             \
               MXL_INPUT(bias, "Vector of num_filter numbers; absent with no_bias.")),             \
        .arity = mxl_conv_arity, .check = y_check, .infer = mxl_conv_infer,                        \
        MXL_SHAPES_TABLE("data[N,C,*S:kernel] weight[num_filter,C/num_group,*kernel] "             \
                         "bias[num_filter] -> [N,num_filter,*window(S)]"),                         \
        .size_functions = mxl_conv_sizes, .dtypes = "F*>F", .compute = y_compute, .grad = y_grad,  \
        .saves = mxl_saves_other, .keeps_form = true, .low = true, MXL_BATCH(mxl_vmap_conv)

const mxl_op mxl_op_convolution = {
    .name = "Convolution",
    .output_names = "output",
    .aliases = MXL_ALIASES("_npx_convolution"),
    .doc = "Convolution (as in networks: a correlation) over one to three spatial axes: y[n,k,o] = "
           "bias[k] + the sum over c and t of data[n,c,o * stride + t * dilate - pad] * "
           "weight[k,c,t].",
    MXL_PARAMS_OF(mxl_conv_params, MXL_CONV_WINDOW, MXL_CONV_CHANNELS("1024", "0"),
                  MXL_CONV_LAYOUT(mxl_conv_layouts)),
    CONVOLUTION,
};

static const mxl_op op_convolution_v1 = {
    .name = "Convolution_v1",
    .output_names = "output",
    .doc = "The same as Convolution, under the name of an older version.",
    MXL_PARAMS_OF(mxl_conv_params, MXL_CONV_WINDOW, MXL_CONV_CHANNELS("1024", "0"),
                  MXL_CONV_LAYOUT(v1_layouts)),
    CONVOLUTION,
};

/* ---- x from y and w ---- */

static int x_check(void *params)
{
    return mxl_conv_check_x("_mxl_conv_x", params);
}

static int x_compute(const mxl_call *call)
{
    const mxl_array *y = call->in[0], *w = call->in[1], *x = call->out[0];
    mxl_conv v = mxl_conv_of(call->params, y->dtype, y->ndim, x->shape, w->shape, y->shape);

    return mxl_conv_data(&v, mxl_array_read(y), mxl_array_read(w), NULL,
                         mxl_array_write(call->out[0]));
}

/* dy = conv_y(dx, w), dw = conv_w(dx, y) */
static int x_grad(mxl_grad *g)
{
    mxl_array *dx = g->grad_output[0];

    if (mxl_grad_wants(g, 0) &&
        mxl_grad_set(g, 0, mxl_conv_y(g->s, g->params, dx, mxl_grad_in(g, 1))) != 0)
        return -1;
    return !mxl_grad_wants(g, 1)
               ? 0
               : mxl_grad_set(g, 1, mxl_conv_w(g->s, g->params, dx, mxl_grad_in(g, 0)));
}

static const mxl_op op_conv_x = {
    .name = "_mxl_conv_x",
    .doc = "The derivative of a convolution by its data, times y.",
    MXL_INPUTS(MXL_INPUT(y, "Of the shape of the convolution's result."),
               MXL_INPUT(weight, "Its kernels.")),
    MXL_PARAMS_OF(mxl_conv_params, MXL_CONV_PRODUCT, MXL_CONV_SIZE),
    .check = x_check,
    MXL_SHAPES(MXL_CONV_X_SHAPES),
    .size_functions = mxl_conv_sizes,
    .dtypes = "F*>F",
    .compute = x_compute,
    .grad = x_grad,
    .saves = mxl_saves_other,
    MXL_BATCH(mxl_vmap_conv_x),
};

/* ---- w from x and y ---- */

static int w_check(void *params)
{
    return mxl_conv_check("_mxl_conv_w", params);
}

static int w_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0], *y = call->in[1], *w = call->out[0];
    mxl_conv v = mxl_conv_of(call->params, x->dtype, x->ndim, x->shape, w->shape, y->shape);

    return mxl_conv_weight(&v, mxl_array_read(x), mxl_array_read(y), mxl_array_write(call->out[0]));
}

/* dx = conv_x(y, dw), dy = conv_y(x, dw) */
static int w_grad(mxl_grad *g)
{
    mxl_conv_params p = *(const mxl_conv_params *)g->params;
    mxl_array *dw = g->grad_output[0];

    p.size = size_of(mxl_grad_in_meta(g, 0));
    if (mxl_grad_wants(g, 0) &&
        mxl_grad_set(g, 0, mxl_conv_x(g->s, &p, mxl_grad_in(g, 1), dw)) != 0)
        return -1;
    return !mxl_grad_wants(g, 1) ? 0
                                 : mxl_grad_set(g, 1, mxl_conv_y(g->s, &p, mxl_grad_in(g, 0), dw));
}

static const mxl_op op_conv_w = {
    .name = "_mxl_conv_w",
    .doc = "The derivative of a convolution by its kernels, times y.",
    MXL_INPUTS(MXL_INPUT(data, "Its data."),
               MXL_INPUT(y, "Of the shape of the convolution's result.")),
    MXL_PARAMS_OF(mxl_conv_params, MXL_CONV_PRODUCT),
    .check = w_check,
    MXL_SHAPES(MXL_CONV_W_SHAPES),
    .size_functions = mxl_conv_sizes,
    .dtypes = "F*>F",
    .compute = w_compute,
    .grad = w_grad,
    .saves = mxl_saves_other,
    MXL_BATCH(mxl_vmap_conv_w),
};

/* ---- as calls ---- */

mxl_array *mxl_conv_y(mxl_scope *s, const mxl_conv_params *p, mxl_array *x, mxl_array *w)
{
    mxl_conv_params plain = {.kernel = p->kernel,
                             .stride = p->stride,
                             .dilate = p->dilate,
                             .pad = p->pad,
                             .num_filter = w != NULL ? w->shape[0] : 0,
                             .num_group = p->num_group,
                             .no_bias = 1};

    return mxl_scope_call(s, &mxl_op_convolution, &plain, 2, (mxl_array *[]){x, w});
}

mxl_array *mxl_conv_x(mxl_scope *s, const mxl_conv_params *p, mxl_array *y, mxl_array *w)
{
    return mxl_scope_call(s, &op_conv_x, p, 2, (mxl_array *[]){y, w});
}

mxl_array *mxl_conv_w(mxl_scope *s, const mxl_conv_params *p, mxl_array *x, mxl_array *y)
{
    return mxl_scope_call(s, &op_conv_w, p, 2, (mxl_array *[]){x, y});
}

const mxl_op *const mxl_ops_convolution[] = {&mxl_op_convolution, &op_convolution_v1, &op_conv_x,
                                             &op_conv_w, NULL};

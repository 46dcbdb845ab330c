/* A convolution for training that is asked for speed rather than bits: by tiles of 6 x 6
 * (kernel/winograd/six.h) where these cost less, otherwise as Convolution. Its derivatives by the
 * data and the kernels are such operators too, and each of the three has the other two as its
 * derivatives, as in convolution.c. */
#include "ops/conv/fast_convolution.h"

#include <stddef.h>

#include "kernel/winograd/six.h"

static const mxl_op op_fast_x, op_fast_w;

static mxl_array *product(mxl_scope *s, const mxl_op *op, const mxl_conv_params *p, mxl_array *a,
                          mxl_array *b)
{
    return mxl_scope_call(s, op, p, 2, (mxl_array *[]){a, b});
}

/* The convolution of two arrays, which has no bias. */
static mxl_array *fast_y(mxl_scope *s, const mxl_conv_params *p, mxl_array *x, mxl_array *w)
{
    mxl_conv_params plain = *p;

    plain.num_filter = w != NULL ? w->shape[0] : 0;
    plain.no_bias = 1;
    plain.size = (mxl_tuple){0, NULL};
    return product(s, &mxl_op_fast_convolution, &plain, x, w);
}

/* ---- y from x and w ---- */

static int y_check(void *params)
{
    return mxl_conv_check("_mxl_fast_convolution", params);
}

static int y_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0], *w = call->in[1];
    mxl_conv v =
        mxl_conv_of(call->params, x->dtype, x->ndim, x->shape, w->shape, call->out[0]->shape);
    const void *bias = call->num_inputs > 2 ? mxl_array_read(call->in[2]) : NULL;
    mxl_winograd_status status = MXL_WINOGRAD_NOT;

    if (!mxl_conv_is_empty(&v))
        status = mxl_six_forward(&v, mxl_array_read(x), mxl_array_read(w), bias,
                                 mxl_array_write(call->out[0]));
    if (status != MXL_WINOGRAD_NOT)
        return status;
    return mxl_conv_forward(&v, mxl_array_read(x), mxl_array_read(w), bias,
                            mxl_array_write(call->out[0]));
}

/* dx = x(dy, w), dw = w(x, dy) */
static int y_grad(mxl_grad *g)
{
    mxl_conv_params p = *(const mxl_conv_params *)g->params;
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    mxl_array *dy = g->grad_output[0];

    p.size = (mxl_tuple){x->ndim - 2, x->shape + 2};
    if (mxl_grad_wants(g, 0) &&
        mxl_grad_set(g, 0, product(g->s, &op_fast_x, &p, dy, mxl_grad_in(g, 1))) != 0)
        return -1;
    if (mxl_grad_wants(g, 1) &&
        mxl_grad_set(g, 1, product(g->s, &op_fast_w, &p, mxl_grad_in(g, 0), dy)) != 0)
        return -1;
    return p.no_bias || !mxl_grad_wants(g, 2) ? 0 : mxl_conv_grad_bias(g);
}

const mxl_op mxl_op_fast_convolution = {
    .name = "_mxl_fast_convolution",
    .output_names = "output",
    .doc = "Convolution with other roundings, where that is faster.",
    MXL_INPUTS(MXL_INPUT(data, "Images: batch, channels, then one to three spatial axes."),
               MXL_INPUT(weight, "Kernels: num_filter, channels of a group, kernel."),
               MXL_INPUT(bias, "Vector of num_filter numbers; absent with no_bias.")),
    MXL_PARAMS_OF(mxl_conv_params, MXL_CONV_WINDOW, MXL_CONV_CHANNELS("1024", "0"),
                  MXL_CONV_LAYOUT(mxl_conv_layouts)),
    .arity = mxl_conv_arity,
    .check = y_check,
    .infer = mxl_conv_infer,
    MXL_SHAPES_TABLE("data[N,C,*S:kernel] weight[num_filter,C/num_group,*kernel] "
                     "bias[num_filter] -> [N,num_filter,*window(S)]"),
    .size_functions = mxl_conv_sizes,
    .dtypes = "F*>F",
    .compute = y_compute,
    .grad = y_grad,
    .saves = mxl_saves_other,
};

/* ---- x from y and w ---- */

static int x_check(void *params)
{
    return mxl_conv_check_x("_mxl_fast_conv_x", params);
}

static int x_compute(const mxl_call *call)
{
    const mxl_array *y = call->in[0], *w = call->in[1], *x = call->out[0];
    mxl_conv v = mxl_conv_of(call->params, y->dtype, y->ndim, x->shape, w->shape, y->shape);
    mxl_winograd_status status = MXL_WINOGRAD_NOT;

    if (!mxl_conv_is_empty(&v))
        status =
            mxl_six_data(&v, mxl_array_read(y), mxl_array_read(w), mxl_array_write(call->out[0]));
    if (status != MXL_WINOGRAD_NOT)
        return status;
    return mxl_conv_data(&v, mxl_array_read(y), mxl_array_read(w), NULL,
                         mxl_array_write(call->out[0]));
}

/* dy = y(dx, w), dw = w(dx, y) */
static int x_grad(mxl_grad *g)
{
    mxl_array *dx = g->grad_output[0];

    if (mxl_grad_wants(g, 0) &&
        mxl_grad_set(g, 0, fast_y(g->s, g->params, dx, mxl_grad_in(g, 1))) != 0)
        return -1;
    if (!mxl_grad_wants(g, 1))
        return 0;
    return mxl_grad_set(g, 1, product(g->s, &op_fast_w, g->params, dx, mxl_grad_in(g, 0)));
}

static const mxl_op op_fast_x = {
    .name = "_mxl_fast_conv_x",
    .doc = "The derivative of _mxl_fast_convolution by its data, times y.",
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
};

/* ---- w from x and y ---- */

static int w_check(void *params)
{
    return mxl_conv_check("_mxl_fast_conv_w", params);
}

static int w_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0], *y = call->in[1], *w = call->out[0];
    mxl_conv v = mxl_conv_of(call->params, x->dtype, x->ndim, x->shape, w->shape, y->shape);
    mxl_winograd_status status = MXL_WINOGRAD_NOT;

    if (!mxl_conv_is_empty(&v))
        status =
            mxl_six_weight(&v, mxl_array_read(x), mxl_array_read(y), mxl_array_write(call->out[0]));
    if (status != MXL_WINOGRAD_NOT)
        return status;
    return mxl_conv_weight(&v, mxl_array_read(x), mxl_array_read(y), mxl_array_write(call->out[0]));
}

/* dx = x(y, dw), dy = y(x, dw) */
static int w_grad(mxl_grad *g)
{
    mxl_conv_params p = *(const mxl_conv_params *)g->params;
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    mxl_array *dw = g->grad_output[0];

    p.size = (mxl_tuple){x->ndim - 2, x->shape + 2};
    if (mxl_grad_wants(g, 0) &&
        mxl_grad_set(g, 0, product(g->s, &op_fast_x, &p, mxl_grad_in(g, 1), dw)) != 0)
        return -1;
    if (!mxl_grad_wants(g, 1))
        return 0;
    return mxl_grad_set(g, 1, fast_y(g->s, &p, mxl_grad_in(g, 0), dw));
}

static const mxl_op op_fast_w = {
    .name = "_mxl_fast_conv_w",
    .doc = "The derivative of _mxl_fast_convolution by its kernels, times y.",
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
};

const mxl_op *const mxl_ops_fast_convolution[] = {&mxl_op_fast_convolution, &op_fast_x, &op_fast_w,
                                                  NULL};

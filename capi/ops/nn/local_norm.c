/* L2Normalization, LRN and SoftmaxActivation, which are written with other operators. */
#include <stddef.h>

#include "kernel/norm/window.h"
#include "ops/build.h"

/* ---- L2Normalization ---- */

enum { L2_CHANNEL, L2_INSTANCE, L2_SPATIAL };

typedef struct l2_params {
    double eps;
    int mode;
} l2_params;

static const char *const l2_modes[] = {"channel", "instance", "spatial", NULL};

static const char *l2_shapes(const void *params)
{
    return ((const l2_params *)params)->mode == L2_INSTANCE ? "data[N,*S] -> [N,*S]" : NULL;
}

/* float16 is computed in float32. */
static mxl_array *wide_of(mxl_scope *s, mxl_array *x)
{
    return x->dtype == MXL_F16 ? mxl_cast(s, x, MXL_F32) : x;
}

/* y = x / sqrt(sum(x^2) + eps) */
static mxl_array *l2_compose(mxl_scope *s, const mxl_call *call)
{
    const l2_params *p = call->params;
    mxl_array *x = wide_of(s, call->in[0]), *sum;
    mxl_shape kept;

    mxl_shape_set(&kept, call->in[0]->ndim, call->in[0]->shape);
    for (int i = 1; i < kept.ndim; i++) {
        if (p->mode == L2_INSTANCE || (i == 1) == (p->mode == L2_CHANNEL))
            kept.dim[i] = 1;
    }
    sum = x == NULL ? NULL : mxl_sum_to(s, mxl_square(s, x), kept.ndim, kept.dim);
    sum = mxl_pow_scalar(s, mxl_add_scalar(s, sum, p->eps), 0.5);
    return mxl_cast(s, mxl_div(s, x, sum), call->in[0]->dtype);
}

static const mxl_op op_l2_normalization = {
    .name = "L2Normalization",
    .inputs = mxl_inputs_data,
    .doc = "Each element divided by sqrt(sum of squares + eps), of a part of the array that "
           "contains it.",
    MXL_PARAMS_OF(l2_params,
                  MXL_PARAM(l2_params, eps, MXL_P_FLOAT, "1.00000001e-10",
                            "Added to the sum of squares, below the root."),
                  MXL_PARAM(l2_params, mode, MXL_P_ENUM, "instance",
                            "The part: instance, all axes but the first; channel, axis 1; spatial, "
                            "all axes behind it.",
                            .values = l2_modes)),
    .output_names = "output norm",
    .total_outputs = 2,
    MXL_SHAPES("data[N,C,L,*S] -> [N,C,L,*S]"),
    .shapes_of = l2_shapes,
    .dtypes = "F*>F*",
    .compose = l2_compose,
};

/* ---- LRN ---- */

/* The sum over a window of channels; it is its own transpose. */
static int window_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    mxl_split r = mxl_shape_split(1, x->ndim, x->shape);

    mxl_window_sum(x->dtype, r.outer, r.n, r.inner, *(const int64_t *)call->params,
                   mxl_array_read(x), mxl_array_write(call->out[0]));
    return 0;
}

static const mxl_op op_channel_window;

/* dx = the same sum of dy */
MXL_DX(window, mxl_scope_call(s, &op_channel_window, g->params, 1, &dy))

static const mxl_op op_channel_window = {
    .name = "_mxl_channel_window",
    .doc = "The sum of elements at most `half` positions away along axis 1.",
    MXL_ONLY_PARAM(int64_t, half, MXL_P_INT, MXL_REQUIRED, "How far the window reaches.",
                   MXL_AT_LEAST(0)),
    MXL_SHAPES("data[N,C,*S] -> [N,C,*S]"),
    .dtypes = "W>W",
    .compute = window_compute,
    .grad = window_grad,
};

typedef struct lrn_params {
    double alpha, beta, knorm;
    int64_t nsize;
} lrn_params;

/* y = x * (knorm + alpha / nsize * window(x^2))^-beta */
static mxl_array *lrn_compose(mxl_scope *s, const mxl_call *call)
{
    const lrn_params *p = call->params;
    int64_t half = (p->nsize - 1) / 2;
    mxl_array *x = wide_of(s, call->in[0]), *square = x == NULL ? NULL : mxl_square(s, x), *sum;

    sum = mxl_scope_call(s, &op_channel_window, &half, 1, &square);
    sum = mxl_add_scalar(s, mxl_mul_scalar(s, sum, p->alpha / (double)p->nsize), p->knorm);
    return mxl_cast(s, mxl_mul(s, x, mxl_pow_scalar(s, sum, -p->beta)), call->in[0]->dtype);
}

static const mxl_op op_lrn = {
    .name = "LRN",
    .inputs = mxl_inputs_data,
    .doc = "Each element divided by a power of the squares of its neighbours along axis 1: by "
           "(knorm + alpha / nsize * sum of squares)^beta.",
    MXL_PARAMS_OF(lrn_params,
                  MXL_PARAM(lrn_params, alpha, MXL_P_FLOAT, "9.99999975e-05",
                            "Factor of the mean of squares."),
                  MXL_PARAM(lrn_params, beta, MXL_P_FLOAT, "0.75", "The power."),
                  MXL_PARAM(lrn_params, knorm, MXL_P_FLOAT, "2", "Added to the sum."),
                  MXL_PARAM(lrn_params, nsize, MXL_P_INT, MXL_REQUIRED,
                            "How many channels the window has; one less if it is even.",
                            .type_name = "int (non-negative)", MXL_AT_LEAST(1))),
    .output_names = "output tmp_norm",
    .total_outputs = 2,
    MXL_SHAPES("data[N,C,*S] -> [N,C,*S]"),
    .dtypes = "F*>F*",
    .compose = lrn_compose,
};

/* ---- SoftmaxActivation ---- */

enum { SOFTMAX_CHANNEL, SOFTMAX_INSTANCE };

static const char *const activation_modes[] = {"channel", "instance", NULL};

static const char *activation_shapes(const void *params)
{
    return *(const int *)params == SOFTMAX_CHANNEL ? "data[N,C,L,*S] -> [N,C,L,*S]" : NULL;
}

static mxl_array *softmax_compose(mxl_scope *s, const mxl_call *call)
{
    int last = call->in[0]->ndim - 1;

    return mxl_softmax_axis(s, call->in[0],
                            *(const int *)call->params == SOFTMAX_CHANNEL ? 1 : last);
}

static const mxl_op op_softmax_activation = {
    .name = "SoftmaxActivation",
    .output_names = "output",
    .doc = "softmax along the last axis, or along that of the channels.",
    MXL_ONLY_PARAM(int, mode, MXL_P_ENUM, "instance",
                   "instance: along the last axis; channel: along axis 1.",
                   .values = activation_modes),
    MXL_SHAPES("data[*S] -> [*S]"),
    .shapes_of = activation_shapes,
    .dtypes = "F*>F*",
    .compose = softmax_compose,
};

const mxl_op *const mxl_ops_local_norm[] = {&op_l2_normalization, &op_channel_window, &op_lrn,
                                            &op_softmax_activation, NULL};

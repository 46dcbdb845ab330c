/* Deconvolution: the transposed convolution, which is the derivative of a convolution by its data.
 * So its data are the convolution's y, and its result the convolution's x. */
#include "ops/batch/rules.h"
#include "ops/conv/conv_ops.h"

#include <stddef.h>

/* The pad and the size of the result, per spatial axis. With target_shape the pad follows from it,
 * and `pad` and `adj` have no meaning. */
typedef struct result {
    int64_t pad[3], size[3];
} result;

static bool has_target(const mxl_conv_params *p)
{
    for (int i = 0; i < p->target_shape.n; i++)
        if (p->target_shape.v[i] != 0)
            return true;
    return false;
}

/* The result along axis i, of data with `size` there; -1 with the error set. */
static int find_axis(const mxl_op *op, const mxl_conv_params *p, int i, int64_t size, result *r)
{
    int64_t stride = mxl_tuple_entry(p->stride, i, 1);
    int64_t whole = stride * (size - 1) + mxl_conv_reach(p, i);
    int64_t adj = mxl_tuple_entry(p->adj, i, 0);

    if (size < 1)
        return mxl_error("%s: axis %d of data must have 1 element or more, got 0", op->name, i + 2);
    r->pad[i] = mxl_tuple_entry(p->pad, i, 0);
    if (has_target(p)) {
        int64_t cut = whole - p->target_shape.v[i];

        if (cut < 0 || p->target_shape.v[i] < 1)
            return mxl_error("%s: target_shape %lld of axis %d; 1 to %lld are possible", op->name,
                             (long long)p->target_shape.v[i], i + 2, (long long)whole);
        adj = cut % 2;
        r->pad[i] = (cut + 1) / 2;
    }
    if (adj < 0 || adj >= stride)
        return mxl_error("%s: adj of axis %d must be 0 to %lld, got %lld", op->name, i + 2,
                         (long long)stride - 1, (long long)adj);
    r->size[i] = whole - 2 * r->pad[i] + adj;
    if (r->size[i] < 1)
        return mxl_error("%s: a pad of %lld leaves nothing of axis %d, which would have %lld "
                         "elements",
                         op->name, (long long)r->pad[i], i + 2, (long long)whole);
    return 0;
}

static int grown(const mxl_size_ask *ask, int64_t *size)
{
    result r;
    int status = find_axis(ask->op, ask->params, ask->i, ask->arg[0], &r);

    *size = status == 0 ? r.size[ask->i] : -1;
    return status;
}

static int deconvolution_check(void *params)
{
    const mxl_conv_params *p = params;
    const char *name = "Deconvolution";

    return mxl_conv_check(name, p) != 0 || mxl_check_list(name, "adj", p->adj, p->kernel.n, 0) != 0
               ? -1
               : mxl_check_list(name, "target_shape", p->target_shape, p->kernel.n, 0);
}

/* The parameters of the convolution whose derivative the call is; r holds their lists. */
static mxl_conv_params convolution_of(const mxl_op *op, const mxl_conv_params *p, const int64_t *y,
                                      result *r)
{
    mxl_conv_params of = *p;

    for (int i = 0; i < p->kernel.n; i++)
        (void)find_axis(op, p, i, y[i + 2], r); /* infer has succeeded with it */
    of.pad = (mxl_tuple){p->kernel.n, r->pad};
    of.size = (mxl_tuple){p->kernel.n, r->size};
    return of;
}

static int deconvolution_compute(const mxl_call *call)
{
    const mxl_array *y = call->in[0], *w = call->in[1], *x = call->out[0];
    result r;
    mxl_conv_params p = convolution_of(call->op, call->params, y->shape, &r);
    mxl_conv v = mxl_conv_of(&p, y->dtype, y->ndim, x->shape, w->shape, y->shape);

    return mxl_conv_data(&v, mxl_array_read(y), mxl_array_read(w),
                         call->num_inputs > 2 ? mxl_array_read(call->in[2]) : NULL,
                         mxl_array_write(call->out[0]));
}

/* With x the result: dy = conv_y(dx, w), dw = conv_w(dx, y) */
static int deconvolution_grad(mxl_grad *g)
{
    result r;
    mxl_conv_params p = convolution_of(g->op, g->params, mxl_grad_in_meta(g, 0)->shape, &r);
    mxl_array *dx = g->grad_output[0];

    if (mxl_grad_wants(g, 0) &&
        mxl_grad_set(g, 0, mxl_conv_y(g->s, &p, dx, mxl_grad_in(g, 1))) != 0)
        return -1;
    if (mxl_grad_wants(g, 1) &&
        mxl_grad_set(g, 1, mxl_conv_w(g->s, &p, dx, mxl_grad_in(g, 0))) != 0)
        return -1;
    return p.no_bias || !mxl_grad_wants(g, 2) ? 0 : mxl_conv_grad_bias(g);
}

static const mxl_op op_deconvolution = {
    .name = "Deconvolution",
    .output_names = "output",
    .aliases = MXL_ALIASES("_npx_deconvolution"),
    .doc = "Transposed convolution: each element of data adds its multiple of the kernel to the "
           "result. The size of the result is stride * (size - 1) + dilate * (kernel - 1) + 1 - 2 "
           "* pad + adj.",
    MXL_INPUTS(MXL_INPUT(data, "Images: batch, channels, then one to three spatial axes."),
               MXL_INPUT(weight, "Kernels: channels of data, num_filter / num_group, kernel."),
               MXL_INPUT(bias, "Vector of num_filter numbers; absent with no_bias.")),
    MXL_PARAMS_OF(mxl_conv_params, MXL_CONV_WINDOW,
                  MXL_CONV_FIELD(adj, MXL_P_SHAPE, "[]",
                                 "Elements more at the end of each axis of the result, fewer than "
                                 "stride; empty: 0."),
                  MXL_CONV_FIELD(target_shape, MXL_P_SHAPE, "[]",
                                 "Spatial sizes of the result; pad and adj then follow from it."),
                  MXL_CONV_CHANNELS("512", "1"), MXL_CONV_LAYOUT(mxl_conv_layouts)),
    .arity = mxl_conv_arity,
    .check = deconvolution_check,
    .infer = mxl_conv_infer,
    MXL_SHAPES_TABLE("data[N,num_group*I,*S:kernel] "
                     "weight[num_group*I,num_filter/num_group,*kernel] "
                     "bias[num_filter] -> [N,num_filter,*grown(S)]"),
    .size_functions = (const mxl_size_function[]){{"grown", grown, NULL}, {0}},
    .dtypes = "F*>F",
    .compute = deconvolution_compute,
    .grad = deconvolution_grad,
    .saves = mxl_saves_other,
    MXL_BATCH(mxl_vmap_conv_x),
};

const mxl_op *const mxl_ops_deconvolution[] = {&op_deconvolution, NULL};

/* Checks and shapes of convolutions, and the gradient of a bias. */
#include "ops/nn/conv_ops.h"

#include <stddef.h>

const char *const mxl_conv_tunes[] = {"None", "fastest", "limited_workspace", "off", NULL};
const char *const mxl_conv_layouts[] = {"None", "NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", NULL};

int mxl_conv_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = ((const mxl_conv_params *)params)->no_bias ? 2 : 3;
    return 0;
}

/* ---- checks ---- */

static int check_layout(const mxl_infer *infer, int count)
{
    static const char *const first[] = {"NCW", "NCHW", "NCDHW"};
    const char *layout = mxl_conv_layouts[((const mxl_conv_params *)infer->params)->layout];

    if (strcmp(layout, "None") == 0 || strcmp(layout, first[count - 1]) == 0)
        return 0;
    return mxl_error("%s: layout %s with %d spatial axes is not supported; %s is", infer->op->name,
                     layout, count, first[count - 1]);
}

int mxl_conv_check(const mxl_infer *infer)
{
    const mxl_conv_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    int count = p->kernel.n;

    if (count < 1 || count > 3)
        return mxl_error("%s: kernel has %d entries; one to three are possible", infer->op->name,
                         count);
    if (mxl_check_list(infer->op->name, "kernel", p->kernel, count, 1) != 0 ||
        mxl_check_list(infer->op->name, "stride", p->stride, count, 1) != 0 ||
        mxl_check_list(infer->op->name, "dilate", p->dilate, count, 1) != 0 ||
        mxl_check_list(infer->op->name, "pad", p->pad, count, 0) != 0 ||
        check_layout(infer, count) != 0)
        return -1;
    for (int i = 1; i < infer->num_inputs; i++)
        if (mxl_check_dtypes(infer->op, x, infer->in[i]) != 0)
            return -1;
    if (mxl_check_float(infer->op, x) != 0)
        return -1;
    if (x->ndim != count + 2)
        return mxl_error("%s: a kernel of %d entries takes data of %d axes, got %s",
                         infer->op->name, count, count + 2, MXL_SHAPE_OF(x));
    if (x->shape[1] % p->num_group != 0)
        return mxl_error("%s: %lld channels cannot be divided into %lld groups", infer->op->name,
                         (long long)x->shape[1], (long long)p->num_group);
    return 0;
}

int mxl_conv_check_filters(const mxl_infer *infer)
{
    const mxl_conv_params *p = infer->params;

    if (p->num_filter % p->num_group != 0)
        return mxl_error("%s: num_filter %lld cannot be divided into %lld groups", infer->op->name,
                         (long long)p->num_filter, (long long)p->num_group);
    if (infer->num_inputs > 2 &&
        (infer->in[2]->ndim != 1 || infer->in[2]->shape[0] != p->num_filter))
        return mxl_error("%s: bias must have shape (%lld,), got %s", infer->op->name,
                         (long long)p->num_filter, MXL_SHAPE_OF(infer->in[2]));
    return 0;
}

int mxl_conv_check_weight(const mxl_infer *infer, int64_t first, int64_t second)
{
    const mxl_conv_params *p = infer->params;
    const mxl_array *w = infer->in[1];
    int64_t shape[5] = {first, second};

    for (int i = 0; i < p->kernel.n; i++)
        shape[i + 2] = p->kernel.v[i];
    if (!mxl_shape_same(w->ndim, w->shape, p->kernel.n + 2, shape))
        return mxl_error("%s: weight must have shape %s, got %s", infer->op->name,
                         MXL_SHAPE_TEXT(p->kernel.n + 2, shape), MXL_SHAPE_OF(w));
    return 0;
}

int mxl_conv_complete_weight(mxl_rule *rule, int input, bool transposed)
{
    const mxl_conv_params *p = rule->params;
    const mxl_shape *data = mxl_rule_in(rule, 0);
    int64_t channels = data->ndim > 1 ? data->dim[1] : -1, dims[MXL_MAX_NDIM];

    if (data->ndim < 0 || p->kernel.n < 1 || p->kernel.n + 2 > MXL_MAX_NDIM || p->num_group < 1)
        return 0;
    dims[0] = transposed ? channels : p->num_filter;
    dims[1] = transposed     ? p->num_filter / p->num_group
              : channels < 0 ? -1
                             : channels / p->num_group;
    for (int i = 0; i < p->kernel.n; i++)
        dims[2 + i] = p->kernel.v[i];
    return mxl_rule_say(rule, input, p->kernel.n + 2, dims) != 0
               ? -1
               : mxl_rule_say(rule, input + 1, 1, &p->num_filter);
}

int mxl_conv_size(const mxl_infer *infer, int i, int64_t size, int64_t *out)
{
    const mxl_conv_params *p = infer->params;
    int64_t padded = size + 2 * mxl_tuple_entry(p->pad, i, 0), reach = mxl_conv_reach(p, i);

    if (reach > padded)
        return mxl_error("%s: the kernel reaches over %lld elements of axis %d, which has %lld "
                         "with its pad",
                         infer->op->name, (long long)reach, i + 2, (long long)padded);
    *out = (padded - reach) / mxl_tuple_entry(p->stride, i, 1) + 1;
    return 0;
}

/* ---- sizes ---- */

/* Whether a kernel looks at single positions of dimension i, all of them. */
static bool conv_is_pointwise(const mxl_conv *v, int i)
{
    return v->kernel[i] == 1 && v->stride[i] == 1 && v->pad[i] == 0;
}

/* Neighbouring dimensions along which the convolution is pointwise count as one: long rows cost
 * less than many short ones. */
static void conv_join_dimensions(mxl_conv *v)
{
    for (int i = 1; i < 3; i++) {
        if (!conv_is_pointwise(v, i - 1) || !conv_is_pointwise(v, i))
            continue;
        v->x_size[i] *= v->x_size[i - 1];
        v->y_size[i] *= v->y_size[i - 1];
        v->x_size[i - 1] = v->y_size[i - 1] = 1;
    }
}

mxl_conv mxl_conv_of(const mxl_conv_params *p, int dtype, int ndim, const int64_t *x,
                     const int64_t *w, const int64_t *y)
{
    mxl_conv v = {.dtype = dtype,
                  .batch = x[0],
                  .groups = p->num_group,
                  .in = w[1],
                  .out = w[0] / p->num_group};
    int spatial = ndim - 2;

    for (int i = 0; i < 3; i++) {
        int k = i - (3 - spatial);

        v.x_size[i] = k < 0 ? 1 : x[k + 2];
        v.y_size[i] = k < 0 ? 1 : y[k + 2];
        v.kernel[i] = k < 0 ? 1 : w[k + 2];
        v.stride[i] = k < 0 ? 1 : mxl_tuple_entry(p->stride, k, 1);
        v.dilate[i] = k < 0 ? 1 : mxl_tuple_entry(p->dilate, k, 1);
        v.pad[i] = k < 0 ? 0 : mxl_tuple_entry(p->pad, k, 0);
    }
    conv_join_dimensions(&v);
    return v;
}

int mxl_conv_grad_bias(mxl_grad *g)
{
    const mxl_meta *bias = mxl_grad_in_meta(g, 2);
    mxl_array *dy = g->grad_output[0];
    int64_t shape[5] = {1, bias->shape[0], 1, 1, 1};

    return mxl_grad_set(g, 2,
                        mxl_reshape(g->s, mxl_sum_to(g->s, dy, dy->ndim, shape), 1, bias->shape));
}

/* Checks and shapes of convolutions, and the gradient of a bias. */
#include "ops/conv/conv_ops.h"

#include <stddef.h>

const char *const mxl_conv_tunes[] = {"None", "fastest", "limited_workspace", "off", NULL};
const char *const mxl_conv_layouts[] = {"None", "NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", NULL};

int mxl_conv_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = ((const mxl_conv_params *)params)->no_bias ? 2 : 3;
    return 0;
}

/* ---- checks and shapes ---- */

int mxl_conv_check(const char *name, const mxl_conv_params *p)
{
    int count = p->kernel.n;

    if (count < 1 || count > 3)
        return mxl_error("%s: kernel has %d entries; one to three are possible", name, count);
    return mxl_check_list(name, "kernel", p->kernel, count, 1) != 0 ||
                   mxl_check_list(name, "stride", p->stride, count, 1) != 0 ||
                   mxl_check_list(name, "dilate", p->dilate, count, 1) != 0 ||
                   mxl_check_list(name, "pad", p->pad, count, 0) != 0
               ? -1
               : 0;
}

int mxl_conv_check_x(const char *name, const mxl_conv_params *p)
{
    if (mxl_conv_check(name, p) != 0)
        return -1;
    if (p->size.n != p->kernel.n)
        return mxl_error("%s: size has %d entries, the kernel %d", name, p->size.n, p->kernel.n);
    return mxl_shape_count(p->size.n, p->size.v) < 0 ? mxl_error_prefix(name) : 0;
}

int mxl_conv_infer(mxl_infer *infer)
{
    static const char *const first[] = {"NCW", "NCHW", "NCDHW"};
    const mxl_conv_params *p = infer->params;
    const char *layout = mxl_conv_layouts[p->layout];

    if (mxl_infer_said(infer) != 0)
        return -1;
    if (p->num_filter % p->num_group != 0)
        return mxl_error("%s: num_filter %lld cannot be divided into %lld groups", infer->op->name,
                         (long long)p->num_filter, (long long)p->num_group);
    if (strcmp(layout, "None") == 0 || strcmp(layout, first[p->kernel.n - 1]) == 0)
        return 0;
    return mxl_error("%s: layout %s with %d spatial axes is not supported; %s is", infer->op->name,
                     layout, p->kernel.n, first[p->kernel.n - 1]);
}

static int window(const mxl_size_ask *ask, int64_t *size)
{
    const mxl_conv_params *p = ask->params;
    int64_t padded = ask->arg[0] + 2 * mxl_tuple_entry(p->pad, ask->i, 0);
    int64_t reach = mxl_conv_reach(p, ask->i);

    if (reach > padded)
        return mxl_error("%s: the kernel reaches over %lld elements of axis %d, which has %lld "
                         "with its pad",
                         ask->op->name, (long long)reach, ask->i + 2, (long long)padded);
    *size = (padded - reach) / mxl_tuple_entry(p->stride, ask->i, 1) + 1;
    return 0;
}

/* With stride 1 alone the data's size follows. */
static int64_t window_of(const mxl_size_ask *ask, int64_t size)
{
    const mxl_conv_params *p = ask->params;
    int64_t data = size - 1 + mxl_conv_reach(p, ask->i) - 2 * mxl_tuple_entry(p->pad, ask->i, 0);

    return mxl_tuple_entry(p->stride, ask->i, 1) == 1 && size > 0 && data > 0 ? data : -1;
}

const mxl_size_function mxl_conv_sizes[] = {{"window", window, window_of}, {0}};

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

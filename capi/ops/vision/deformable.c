/* _contrib_DeformableConvolution: a convolution whose windows read the data at places that move.
 * The samples are columns, as im2col makes them, and their product with the weight is a convolution
 * of kernel 1; both are operators with derivatives of every order. */
#include <stddef.h>

#include "ops/nn/conv_ops.h"
#include "ops/nn/images.h"

typedef struct deform_params {
    mxl_conv_params conv; /* first: the rows of its table count from its start */
    int64_t groups;
} deform_params;

static int deform_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = ((const deform_params *)params)->conv.no_bias ? 3 : 4;
    return 0;
}

static int check_offset(const mxl_infer *infer, const int64_t *y)
{
    const deform_params *p = infer->params;
    const mxl_array *x = infer->in[0], *offset = infer->in[1];
    int64_t shape[4] = {x->shape[0], 2, y[2], y[3]};

    if (p->groups < 1 || x->shape[1] % p->groups != 0)
        return mxl_error("%s: %lld channels cannot be divided into %lld deformable groups",
                         infer->op->name, (long long)x->shape[1], (long long)p->groups);
    shape[1] =
        mxl_shape_count(4, (int64_t[]){2, p->groups, p->conv.kernel.v[0], p->conv.kernel.v[1]});
    if (shape[1] < 0)
        return mxl_error_prefix(infer->op->name);
    if (!mxl_shape_same(offset->ndim, offset->shape, 4, shape))
        return mxl_error("%s: offset must have shape %s, got %s", infer->op->name,
                         MXL_SHAPE_TEXT(4, shape), MXL_SHAPE_OF(offset));
    return mxl_check_dtypes(infer->op, x, offset);
}

/* The shape is that of a convolution of the inputs but the offsets. */
static int deform_infer(mxl_infer *infer)
{
    const mxl_conv_params *p = infer->params;
    mxl_array *in[3] = {infer->in[0], infer->in[2], infer->num_inputs > 3 ? infer->in[3] : NULL};
    mxl_infer plain = *infer;
    int64_t y[4] = {in[0]->ndim > 0 ? in[0]->shape[0] : 0, p->num_filter};

    plain.in = in;
    plain.num_inputs--;
    if (p->kernel.n != 2)
        return mxl_error("%s: kernel must have two entries, got %d", infer->op->name, p->kernel.n);
    if (mxl_conv_check(&plain) != 0 || mxl_conv_check_filters(&plain) != 0 ||
        mxl_conv_check_weight(&plain, p->num_filter, in[0]->shape[1] / p->num_group) != 0)
        return -1;
    for (int i = 0; i < 2; i++)
        if (mxl_conv_size(&plain, i, in[0]->shape[i + 2], &y[i + 2]) != 0)
            return -1;
    return check_offset(infer, y) != 0 ? -1 : mxl_infer_set(infer, in[0]->dtype, 4, y);
}

/* Where the windows are without offsets, row before column: (1, kernel, 2, windows). */
static mxl_array *find_places(mxl_scope *s, const mxl_conv_params *p, int dtype, const int64_t *y)
{
    int64_t kernel = p->kernel.v[0] * p->kernel.v[1], windows = y[2] * y[3];
    mxl_array *made =
        mxl_scope_own(s, mxl_array_new(MXL_F64, 4, (int64_t[]){1, kernel, 2, windows}));
    double *at = made == NULL ? NULL : mxl_array_write(made);

    for (int64_t i = 0; at != NULL && i < kernel * 2 * windows; i++) {
        int axis = (int)(i / windows % 2);
        int64_t k = i / windows / 2, o = i % windows;

        k = axis == 0 ? k / p->kernel.v[1] : k % p->kernel.v[1];
        o = axis == 0 ? o / y[3] : o % y[3];
        at[i] =
            (double)(o * mxl_tuple_entry(p->stride, axis, 1) +
                     k * mxl_tuple_entry(p->dilate, axis, 1) - mxl_tuple_entry(p->pad, axis, 0));
    }
    return made == NULL || dtype == MXL_F64 ? made : mxl_cast(s, made, dtype);
}

static mxl_array *deform_compose(mxl_scope *s, const mxl_call *call)
{
    const deform_params *p = call->params;
    mxl_array *x = call->in[0], *w = call->in[2], *grid, *columns, *y;
    const int64_t *to = call->in[1]->shape, out[4] = {x->shape[0], w->shape[0], to[2], to[3]};
    int64_t kernel = p->conv.kernel.v[0] * p->conv.kernel.v[1], windows = out[2] * out[3];
    int64_t batch = x->shape[0] * p->groups, channels = x->shape[1] / p->groups;
    mxl_conv_params one = {.kernel = {1, (int64_t[]){1}}, .num_group = p->conv.num_group};

    grid = mxl_reshape(s, call->in[1], 4, (int64_t[]){batch, kernel, 2, windows});
    grid = mxl_add(s, grid, find_places(s, &p->conv, x->dtype, out));
    grid = mxl_reverse(s, mxl_swap_axes(s, grid, 1, 2), 1);
    x = mxl_reshape(s, x, 4, (int64_t[]){batch, channels, x->shape[2], x->shape[3]});
    columns =
        mxl_reshape(s, mxl_sample_pixels(s, x, grid), 3,
                    (int64_t[]){call->in[0]->shape[0], call->in[0]->shape[1] * kernel, windows});
    w = mxl_reshape(s, w, 3, (int64_t[]){w->shape[0], w->shape[1] * kernel, 1});
    y = mxl_reshape(s, mxl_conv_y(s, &one, columns, w), 4, out);
    if (call->num_inputs < 4)
        return y;
    return mxl_add(s, y, mxl_reshape(s, call->in[3], 4, (int64_t[]){1, out[1], 1, 1}));
}

static const char *const layouts[] = {"None", "NCDHW", "NCHW", "NCW", NULL};

static const mxl_op op_deformable = {
    .name = "_contrib_DeformableConvolution",
    .doc =
        "Convolution over two spatial axes whose windows read the data at moved places, bilinear "
        "between the four nearest pixels; pixels outside are zeros.",
    MXL_INPUTS(MXL_INPUT(data, "Images (batch, channels, rows, columns)."),
               MXL_INPUT(offset, "(batch, num_deformable_group * kernel * 2, rows, columns of the "
                                 "result): how far each element of each window moves, in rows, "
                                 "then in columns."),
               MXL_INPUT(weight, "Kernels: num_filter, channels of a group, kernel."),
               MXL_INPUT(bias, "Vector of num_filter numbers; absent with no_bias.")),
    MXL_PARAMS_OF(
        deform_params, MXL_CONV_WINDOW,
        MXL_CONV_FIELD(num_filter, MXL_P_INT, MXL_REQUIRED, "Channels of the result."),
        MXL_CONV_FIELD(num_group, MXL_P_INT, "1",
                       "Groups of channels; each is convolved by itself."),
        MXL_PARAM_AS("num_deformable_group", deform_params, groups, MXL_P_INT, "1",
                     "Groups of channels that have offsets of their own."),
        MXL_CONV_COUNT(workspace, "long (non-negative)", "1024", "Of no meaning here."),
        MXL_CONV_FIELD(no_bias, MXL_P_BOOL, "0", "Whether there is no bias."),
        MXL_CONV_FIELD(layout, MXL_P_ENUM, "None", "Order of the axes: NCHW.", .values = layouts)),
    .arity = deform_arity,
    .infer = deform_infer,
    .compose = deform_compose,
};

const mxl_op *const mxl_ops_deformable[] = {&op_deformable, NULL};

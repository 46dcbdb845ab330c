/* _contrib_DeformableConvolution: a convolution whose windows read the data at places that move;
 * and _contrib_ModulatedDeformableConvolution, which also multiplies what they read by a mask. The
 * samples are columns, as im2col makes them, and their product with the weight is a convolution of
 * kernel 1; both are operators with derivatives of every order. */
#include <stddef.h>

#include "ops/conv/conv_ops.h"
#include "ops/nn/images.h"
#include "ops/shape/movement.h"

typedef struct deform_params {
    mxl_conv_params conv; /* first: the rows of its table count from its start */
    int64_t groups, step;
} deform_params;

static const mxl_op op_modulated;

static int deform_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = ((const deform_params *)params)->conv.no_bias ? 3 : 4;
    return 0;
}

static int modulated_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = ((const deform_params *)params)->conv.no_bias ? 4 : 5;
    return 0;
}

/* The number of the weight among the inputs. */
static int weight_at(const mxl_op *op)
{
    return op == &op_modulated ? 3 : 2;
}

static int deform_check(void *params)
{
    const deform_params *p = params;
    const char *name = "DeformableConvolution";

    if (p->conv.kernel.n != 2)
        return mxl_error("%s: kernel must have two entries, got %d", name, p->conv.kernel.n);
    return mxl_conv_check(name, &p->conv);
}

/* 1.9.1 takes so many images at a time, and all of them must be whole steps. */
static int check_step(const mxl_infer *infer)
{
    int64_t step = ((const deform_params *)infer->params)->step, batch = infer->in[0]->shape[0];

    if (step < 1 || (batch > step && batch % step != 0))
        return mxl_error("%s: im2col_step must divide the batch of %lld or exceed it, got %lld",
                         infer->op->name, (long long)batch, (long long)step);
    return 0;
}

static int deform_infer(mxl_infer *infer)
{
    const deform_params *p = infer->params;
    int64_t channels;

    if (mxl_conv_infer(infer) != 0)
        return -1;
    channels = infer->in[0]->shape[1];
    if (p->groups < 1 || channels % p->groups != 0)
        return mxl_error("%s: %lld channels cannot be divided into %lld deformable groups",
                         infer->op->name, (long long)channels, (long long)p->groups);
    return infer->op == &op_modulated ? check_step(infer) : 0;
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

/* The images within a border of one pixel of zeros. */
static mxl_array *bordered(mxl_scope *s, mxl_array *x)
{
    const int64_t *in = x->shape, rows = in[2] + 2, columns = in[3] + 2;
    const mxl_strided_params p = {
        .shape = {4, in},
        .strides = {4, (int64_t[]){in[1] * rows * columns, rows * columns, columns, 1}},
        .zeros = {4, (int64_t[]){in[0], in[1], rows, columns}},
        .skip = columns + 1};

    return mxl_zeros_put(s, x, &p);
}

/* What the windows read: (batch, channels * kernel, windows). DeformableConvolution reads zeros
 * outside of the images, the other one is bilinear between those and the rim. */
static mxl_array *read_columns(mxl_scope *s, const mxl_call *call, const int64_t *out)
{
    const deform_params *p = call->params;
    const int64_t *in = call->in[0]->shape;
    int64_t kernel = p->conv.kernel.v[0] * p->conv.kernel.v[1], windows = out[2] * out[3];
    int64_t batch = in[0] * p->groups, channels = in[1] / p->groups;
    mxl_array *x, *grid, *columns;

    grid = mxl_reshape(s, call->in[1], 4, (int64_t[]){batch, kernel, 2, windows});
    grid = mxl_add(s, grid, find_places(s, &p->conv, call->in[0]->dtype, out));
    grid = mxl_reverse(s, mxl_swap_axes(s, grid, 1, 2), 1);
    x = mxl_reshape(s, call->in[0], 4, (int64_t[]){batch, channels, in[2], in[3]});
    if (call->op == &op_modulated && x != NULL) {
        x = bordered(s, x);
        grid = mxl_add_scalar(s, grid, 1);
    }
    columns = mxl_sample_pixels(s, x, grid);
    if (call->op == &op_modulated)
        columns = mxl_mul(s, columns,
                          mxl_reshape(s, call->in[2], 4, (int64_t[]){batch, 1, kernel, windows}));
    return mxl_reshape(s, columns, 3, (int64_t[]){in[0], in[1] * kernel, windows});
}

static mxl_array *deform_compose(mxl_scope *s, const mxl_call *call)
{
    const deform_params *p = call->params;
    int at = weight_at(call->op);
    mxl_array *w = call->in[at], *y;
    const int64_t *to = call->in[1]->shape;
    const int64_t out[4] = {call->in[0]->shape[0], w->shape[0], to[2], to[3]};
    mxl_conv_params one = {.kernel = {1, (int64_t[]){1}}, .num_group = p->conv.num_group};

    w = mxl_reshape(
        s, w, 3,
        (int64_t[]){w->shape[0], w->shape[1] * p->conv.kernel.v[0] * p->conv.kernel.v[1], 1});
    y = mxl_reshape(s, mxl_conv_y(s, &one, read_columns(s, call, out), w), 4, out);
    if (call->num_inputs < at + 2)
        return y;
    return mxl_add(s, y, mxl_reshape(s, call->in[at + 1], 4, (int64_t[]){1, out[1], 1, 1}));
}

static const char *const layouts[] = {"None", "NCDHW", "NCHW", "NCW", NULL};

/* The offset has two numbers for each element of each window, the mask one. */
#define PLANES(numbers) "[N," numbers "num_deformable_group*prod(kernel),*window(S)] "
#define SHAPES(mask)                                                                               \
    .check = deform_check, .infer = deform_infer,                                                  \
    MXL_SHAPES_TABLE("data[N,C,*S:kernel] offset" PLANES("2*") mask                                \
                     "weight[num_filter,C/num_group,*kernel] bias[num_filter] -> "                 \
                     "[N,num_filter,*window(S)]"),                                                 \
    .size_functions = mxl_conv_sizes, .dtypes = "F*>F"

#define MOVED_INPUTS                                                                               \
    MXL_INPUT(data, "Images (batch, channels, rows, columns)."),                                   \
        MXL_INPUT(offset, "(batch, num_deformable_group * kernel * 2, rows, columns of the "       \
                          "result): how far each element of each window moves, in rows, then in "  \
                          "columns.")
#define WEIGHTS                                                                                    \
    MXL_INPUT(weight, "Kernels: num_filter, channels of a group, kernel."),                        \
        MXL_INPUT(bias, "Vector of num_filter numbers; absent with no_bias.")

static const mxl_op op_deformable = {
    .name = "_contrib_DeformableConvolution",
    .doc =
        "Convolution over two spatial axes whose windows read the data at moved places, bilinear "
        "between the four nearest pixels; pixels outside are zeros.",
    MXL_INPUTS(MOVED_INPUTS, WEIGHTS),
    MXL_PARAMS_OF(
        deform_params, MXL_CONV_WINDOW,
        MXL_CONV_FIELD(num_filter, MXL_P_INT, MXL_REQUIRED, "Channels of the result.",
                       MXL_AT_LEAST(1)),
        MXL_CONV_FIELD(num_group, MXL_P_INT, "1",
                       "Groups of channels; each is convolved by itself.", MXL_AT_LEAST(1)),
        MXL_PARAM_AS("num_deformable_group", deform_params, groups, MXL_P_INT, "1",
                     "Groups of channels that have offsets of their own."),
        MXL_CONV_COUNT(workspace, "long (non-negative)", "1024", 0, "Of no meaning here."),
        MXL_CONV_FIELD(no_bias, MXL_P_BOOL, "0", "Whether there is no bias."),
        MXL_CONV_FIELD(layout, MXL_P_ENUM, "None", "Order of the axes: NCHW.", .values = layouts)),
    .arity = deform_arity,
    SHAPES(""),
    .compose = deform_compose,
};

static const mxl_op op_modulated = {
    .name = "_contrib_ModulatedDeformableConvolution",
    .doc = "DeformableConvolution of which a mask weighs each element of each window; places "
           "outside of an image are bilinear between zeros and its rim.",
    MXL_INPUTS(MOVED_INPUTS,
               MXL_INPUT(mask, "(batch, num_deformable_group * kernel, rows, columns of the "
                               "result): what each element of each window is multiplied by."),
               WEIGHTS),
    MXL_PARAMS_OF(
        deform_params, MXL_CONV_WINDOW,
        MXL_CONV_COUNT(num_filter, "int (non-negative)", MXL_REQUIRED, 1,
                       "Channels of the result."),
        MXL_CONV_COUNT(num_group, "int (non-negative)", "1", 1,
                       "Groups of channels; each is convolved by itself."),
        MXL_PARAM_AS("num_deformable_group", deform_params, groups, MXL_P_INT, "1",
                     "Groups of channels that have offsets and masks of their own.",
                     .type_name = "int (non-negative)", MXL_AT_LEAST(0)),
        MXL_CONV_COUNT(workspace, "long (non-negative)", "1024", 0, "Of no meaning here."),
        MXL_CONV_FIELD(no_bias, MXL_P_BOOL, "0", "Whether there is no bias."),
        MXL_PARAM_AS("im2col_step", deform_params, step, MXL_P_INT, "64",
                     "A divisor of the batch, or more than it; of no meaning otherwise.",
                     .type_name = "int (non-negative)", MXL_AT_LEAST(0)),
        MXL_CONV_FIELD(layout, MXL_P_ENUM, "None", "Order of the axes: NCHW.", .values = layouts)),
    .arity = modulated_arity,
    SHAPES("mask" PLANES("")),
    .compose = deform_compose,
};

const mxl_op *const mxl_ops_deformable[] = {&op_deformable, &op_modulated, NULL};

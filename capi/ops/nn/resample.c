/* Images in another size: _contrib_BilinearResize2D, _contrib_AdaptiveAvgPooling2D, and the nearest
 * pixels of UpSampling. All are _mxl_resample, a linear map that is its own vjp, transposed. */
#include "kernel/spatial/resample.h"

#include <math.h>
#include <stddef.h>

#include "kernel/copy/strided_copy.h"
#include "ops/nn/images.h"
#include "ops/nn/wide.h"

typedef struct resample_params {
    int kind;
    mxl_tuple size;
    int adjoint;
} resample_params;

/* ---- _mxl_resample ---- */

static const char *const resample_kinds[] = {"bilinear", "corners", "mean", "nearest", NULL};

int mxl_check_images(const char *name, const mxl_array *x)
{
    if (x->ndim != 4)
        return mxl_error("%s: data must have 4 axes (batch, channels, rows, columns), got %d", name,
                         x->ndim);
    return 0;
}

/* The shape of images like `x` with other rows and columns. */
static int set_size(mxl_infer *infer, const mxl_array *x, int64_t rows, int64_t columns)
{
    if ((rows < 0 || columns < 0) && x->size >= 0 && infer->in[infer->num_inputs - 1]->size >= 0)
        return mxl_error("%s: the size must not be negative, got %lld x %lld", infer->op->name,
                         (long long)rows, (long long)columns);
    return mxl_infer_set(infer, x->dtype, 4, (int64_t[]){x->shape[0], x->shape[1], rows, columns});
}

static int resample_infer(mxl_infer *infer)
{
    const resample_params *p = infer->params;
    const mxl_array *x = infer->in[0];

    if (mxl_check_images(infer->op->name, x) != 0 || mxl_check_float(infer->op, x) != 0)
        return -1;
    if (p->size.n != 2)
        return mxl_error("%s: size must have two entries, got %d", infer->op->name, p->size.n);
    return set_size(infer, x, p->size.v[0], p->size.v[1]);
}

static int resample_compute(const mxl_call *call)
{
    const resample_params *p = call->params;
    const mxl_array *x = call->in[0], *y = call->out[0];
    mxl_taps rows, columns;
    mxl_wide wide;
    uint64_t zero = 0;

    if (x->size == 0 || y->size == 0) {
        mxl_fill(mxl_dtype_size(y->dtype), mxl_array_write(call->out[0]), &zero, y->size);
        return 0;
    }
    if (mxl_taps_make(&rows, (mxl_resample_kind)p->kind, x->shape[2], y->shape[2], p->adjoint) != 0)
        return mxl_error_prefix(call->op->name);
    if (mxl_taps_make(&columns, (mxl_resample_kind)p->kind, x->shape[3], y->shape[3], p->adjoint) !=
        0) {
        mxl_taps_free(&rows);
        return mxl_error_prefix(call->op->name);
    }
    if (mxl_wide_begin(&wide, call) != 0) {
        mxl_taps_free(&rows);
        mxl_taps_free(&columns);
        return -1;
    }
    mxl_resample(wide.dtype, x->shape[0] * x->shape[1], &rows, &columns, mxl_array_read(wide.in[0]),
                 mxl_array_write(wide.out));
    mxl_taps_free(&rows);
    mxl_taps_free(&columns);
    return mxl_wide_end(&wide, 0);
}

/* dx = dy by the adjoint map, to the size of x */
static int resample_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    resample_params p = *(const resample_params *)g->params;

    p.size = (mxl_tuple){2, x->shape + 2};
    p.adjoint = !p.adjoint;
    return mxl_grad_set(g, 0, mxl_scope_call(g->s, g->op, &p, 1, g->grad_output));
}

static const mxl_op op_resample = {
    .name = "_mxl_resample",
    .by_rows = true,
    .doc = "Images in another size, or the adjoint of that map.",
    MXL_PARAMS_OF(resample_params,
                  MXL_PARAM(resample_params, kind, MXL_P_ENUM, MXL_REQUIRED,
                            "How pixels are joined.", .values = resample_kinds),
                  MXL_PARAM(resample_params, size, MXL_P_SHAPE, MXL_REQUIRED, "Rows and columns."),
                  MXL_PARAM(resample_params, adjoint, MXL_P_BOOL, "0",
                            "Whether to apply the adjoint of the map from `size`.")),
    .infer = resample_infer,
    .compute = resample_compute,
    .grad = resample_grad,
};

static mxl_array *resample(mxl_scope *s, mxl_array *x, mxl_resample_kind kind, int64_t rows,
                           int64_t columns)
{
    int64_t size[2] = {rows, columns};
    resample_params p = {.kind = (int)kind, .size = {2, size}};

    return mxl_scope_call(s, &op_resample, &p, 1, &x);
}

mxl_array *mxl_resample_nearest(mxl_scope *s, mxl_array *x, int64_t rows, int64_t columns)
{
    return resample(s, x, MXL_RESAMPLE_NEAREST, rows, columns);
}

/* ---- _contrib_AdaptiveAvgPooling2D ---- */

typedef struct adaptive_params {
    mxl_tuple output_size;
} adaptive_params;

/* Entry i of the size; one entry counts for both axes. */
static int64_t adaptive_size(const adaptive_params *p, int i)
{
    return p->output_size.n == 0 ? 1 : p->output_size.v[p->output_size.n > 1 ? i : 0];
}

static int adaptive_infer(mxl_infer *infer)
{
    const adaptive_params *p = infer->params;
    const mxl_array *x = infer->in[0];

    if (mxl_check_images(infer->op->name, x) != 0 || mxl_check_float(infer->op, x) != 0)
        return -1;
    if (p->output_size.n > 2)
        return mxl_error("%s: output_size must have up to two entries, got %d", infer->op->name,
                         p->output_size.n);
    return set_size(infer, x, adaptive_size(p, 0), adaptive_size(p, 1));
}

static mxl_array *adaptive_compose(mxl_scope *s, const mxl_call *call)
{
    const adaptive_params *p = call->params;

    return resample(s, call->in[0], MXL_RESAMPLE_MEAN, adaptive_size(p, 0), adaptive_size(p, 1));
}

static const mxl_op op_adaptive = {
    .name = "_contrib_AdaptiveAvgPooling2D",
    .numbers_inputs = true,
    .doc = "Means of a given number of rectangles that cover each image evenly.",
    MXL_INPUTS(MXL_INPUT(data, "Images (batch, channels, rows, columns) of a floating dtype.")),
    MXL_ONLY_PARAM(adaptive_params, output_size, MXL_P_SHAPE, "[]",
                   "Rows and columns of the result, or one number for both; 1 if not given."),
    .infer = adaptive_infer,
    .compose = adaptive_compose,
};

/* ---- _contrib_BilinearResize2D ---- */

enum { TO_LIKE, TO_ODD_SCALE, TO_SIZE, TO_EVEN_DOWN, TO_EVEN_UP, TO_ODD_DOWN, TO_ODD_UP };

typedef struct resize_params {
    int64_t height, width;
    double scale_height, scale_width; /* NaN: None */
    int mode;
    int align_corners;
} resize_params;

static const char *const resize_modes[] = {"like",       "odd_scale",   "size",      "to_even_down",
                                           "to_even_up", "to_odd_down", "to_odd_up", NULL};

static int resize_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = ((const resize_params *)params)->mode == TO_LIKE ? 2 : 1;
    return 0;
}

static int resize_check(void *params)
{
    const resize_params *p = params;
    bool scales = p->mode == TO_ODD_SCALE || (p->mode == TO_SIZE && !isnan(p->scale_height));

    if (scales && !(p->scale_height >= 0 && p->scale_width >= 0))
        return mxl_error("_contrib_BilinearResize2D: needs scale_height and scale_width, which are "
                         "not negative");
    return 0;
}

/* The product of a size and a factor, rounded to float32 and towards 0; -1 if it is too large. */
static int64_t scaled(int64_t size, double factor)
{
    float product = (float)size * (float)factor;

    return product < (float)INT32_MAX ? (int64_t)product : -1;
}

/* The new size of an axis. */
static int64_t resized(const resize_params *p, int64_t size, int64_t given, double factor)
{
    bool is_odd = size % 2 != 0;

    if (size < 0 && (p->mode != TO_SIZE || !isnan(p->scale_height)))
        return size;
    switch (p->mode) {
    case TO_ODD_SCALE:
        return is_odd ? scaled(size - 1, factor) + 1 : scaled(size, factor);
    case TO_SIZE:
        return isnan(p->scale_height) ? given : scaled(size, factor);
    case TO_EVEN_DOWN:
        return is_odd ? size - 1 : size;
    case TO_EVEN_UP:
        return is_odd ? size + 1 : size;
    case TO_ODD_DOWN:
        return is_odd ? size : size - 1;
    default:
        return is_odd ? size : size + 1;
    }
}

static int resize_infer(mxl_infer *infer)
{
    const resize_params *p = infer->params;
    const mxl_array *x = infer->in[0];

    if (mxl_check_images(infer->op->name, x) != 0 || mxl_check_float(infer->op, x) != 0)
        return -1;
    if (p->mode == TO_LIKE) {
        if (mxl_check_images(infer->op->name, infer->in[1]) != 0)
            return -1;
        return set_size(infer, x, infer->in[1]->shape[2], infer->in[1]->shape[3]);
    }
    return set_size(infer, x, resized(p, x->shape[2], p->height, p->scale_height),
                    resized(p, x->shape[3], p->width, p->scale_width));
}

static mxl_array *resize_compose(mxl_scope *s, const mxl_call *call)
{
    const resize_params *p = call->params;
    const mxl_array *x = call->in[0];
    mxl_resample_kind kind = p->align_corners ? MXL_RESAMPLE_CORNERS : MXL_RESAMPLE_BILINEAR;

    if (p->mode == TO_LIKE)
        return resample(s, call->in[0], kind, call->in[1]->shape[2], call->in[1]->shape[3]);
    return resample(s, call->in[0], kind, resized(p, x->shape[2], p->height, p->scale_height),
                    resized(p, x->shape[3], p->width, p->scale_width));
}

#define RESIZE(field, kind, text, ...) MXL_PARAM(resize_params, field, kind, text, __VA_ARGS__)

static const mxl_op op_resize = {
    .name = "_contrib_BilinearResize2D",
    .doc = "Images in another size, bilinear between the nearest pixels.",
    MXL_INPUTS(MXL_INPUT(data, "Images (batch, channels, rows, columns) of a floating dtype."),
               MXL_INPUT(like, "Only with mode='like': images of the size that the result gets. "
                               "Its gradient is zero.")),
    MXL_PARAMS_OF(
        resize_params, RESIZE(height, MXL_P_INT, "1", "Rows of the result.", MXL_AT_LEAST(1)),
        RESIZE(width, MXL_P_INT, "1", "Columns of the result.", MXL_AT_LEAST(1)),
        RESIZE(scale_height, MXL_P_OPT_FLOAT, "None",
               "With the modes size (in place of height and width) and odd_scale: factor of the "
               "rows."),
        RESIZE(scale_width, MXL_P_OPT_FLOAT, "None", "The same for columns."),
        RESIZE(mode, MXL_P_ENUM, "size",
               "What the size is: the parameters' (size), that of `like`, the scaled one "
               "(odd_scale: an odd size stays odd), or the next even or odd number.",
               .values = resize_modes),
        RESIZE(align_corners, MXL_P_BOOL, "1",
               "Whether the centres of the corner pixels coincide, else the corners of images.")),
    .arity = resize_arity,
    .check = resize_check,
    .infer = resize_infer,
    .dtypes = "Ae>A",
    .compose = resize_compose,
};

const mxl_op *const mxl_ops_resample[] = {&op_resample, &op_adaptive, &op_resize, NULL};

/* _image_*: images to tensors, normalisation, cutting and flipping. image_random.c has the random
 * ones. */
#include <stddef.h>

#include "engine/run/generator.h"
#include "array/copy.h"
#include "kernel/random/draw.h"
#include "kernel/vision/pixels.h"
#include "ops/linalg/linalg.h"
#include "ops/shape/movement.h"
#include "ops/vision/image.h"

const mxl_input mxl_inputs_image[] = {
    MXL_INPUT(data, "An image, (height, width, channels), of 1 or 3 channels."),
    {0},
};

/* -1 with the error set unless there are 3 axes, or 4 of which the first counts images. */
static int check_axes(const char *name, int ndim)
{
    if (ndim == 3 || ndim == 4)
        return 0;
    return mxl_error("%s: an image has 3 axes, a batch of images 4, got %d", name, ndim);
}

int mxl_image_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];

    if (x->ndim != 3)
        return mxl_error("%s: an image has 3 axes, got %d", infer->op->name, x->ndim);
    if (mxl_sizes_differ(x->shape[2], 1) && mxl_sizes_differ(x->shape[2], 3))
        return mxl_error("%s: an image has 1 or 3 channels on its last axis, got shape %s",
                         infer->op->name, MXL_SHAPE_OF(x));
    if (x->dtype == MXL_BOOL)
        return mxl_error("%s: takes numbers, got bool", infer->op->name);
    for (int i = 0; i < infer->num_outputs; i++) {
        int64_t one = 1;

        infer->out_dtype[i] = i == 0 ? x->dtype : MXL_F64;
        mxl_shape_set(&infer->out_shape[i], i == 0 ? 3 : 1, i == 0 ? x->shape : &one);
    }
    return 0;
}

/* ---- to_tensor ---- */

static int tensor_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];
    int first = x->ndim - 3;
    int64_t shape[4];

    if (check_axes(infer->op->name, x->ndim) != 0)
        return -1;
    if (x->dtype == MXL_BOOL)
        return mxl_error("%s: takes numbers, got bool", infer->op->name);
    shape[0] = x->shape[0];
    shape[first] = x->shape[first + 2];
    shape[first + 1] = x->shape[first];
    shape[first + 2] = x->shape[first + 1];
    return mxl_infer_set(infer, MXL_F32, x->ndim, shape);
}

static int tensor_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    const int64_t *image = x->shape + x->ndim - 3;
    bool direct = x->dtype == MXL_U8 || x->dtype == MXL_F32;
    mxl_array *wide = NULL;

    if (x->size == 0)
        return 0;
    if (!direct) {
        wide = mxl_array_new(MXL_F32, x->ndim, x->shape);
        if (wide == NULL || mxl_array_copy_into(wide, x) != 0) {
            mxl_array_release(wide);
            return -1;
        }
    }
    mxl_pixels_to_planes(direct ? x->dtype : MXL_F32, x->ndim == 4 ? x->shape[0] : 1,
                         image[0] * image[1], image[2], mxl_array_read(direct ? x : wide),
                         mxl_array_write(call->out[0]));
    mxl_array_release(wide);
    return 0;
}

static mxl_array *tensor_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *x = call->in[0], *planes;
    const int64_t *image = x->shape + x->ndim - 3;
    int64_t images = x->ndim == 4 ? x->shape[0] : 1;
    int64_t shape[4] = {images, image[2], image[0], image[1]};

    planes = mxl_reshape(s, x, 3, (int64_t[]){images, image[0] * image[1], image[2]});
    planes = mxl_transposed(s, mxl_cast(s, planes, MXL_F32));
    planes = mxl_div_scalar(s, planes, 255);
    return mxl_reshape(s, planes, x->ndim, shape + 4 - x->ndim);
}

static const mxl_op op_to_tensor = {
    .name = "_image_to_tensor",
    .aliases = MXL_ALIASES("_npx__image_to_tensor"),
    .doc = "An image as a tensor of float32: channels first, and each number over 255.",
    MXL_INPUTS(MXL_INPUT(data, "An image, (height, width, channels), or a batch of images.")),
    .infer = tensor_infer,
    .dtypes = ">f",
    .compute = tensor_compute,
    .compose = tensor_compose,
};

/* ---- normalize ---- */

typedef struct normalize_params {
    mxl_floats mean, std;
} normalize_params;

static int normalize_infer(mxl_infer *infer)
{
    const normalize_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    int64_t channels;

    if (check_axes(infer->op->name, x->ndim) != 0)
        return -1;
    if (x->dtype == MXL_BOOL)
        return mxl_error("%s: takes numbers, got bool", infer->op->name);
    channels = x->shape[x->ndim - 3];
    if (mxl_sizes_differ(channels, 1) && mxl_sizes_differ(channels, 3))
        return mxl_error("%s: a tensor has 1 or 3 channels before its last two axes, got shape %s",
                         infer->op->name, MXL_SHAPE_OF(x));
    if ((p->mean.n != 1 && mxl_sizes_differ(p->mean.n, channels)) ||
        (p->std.n != 1 && mxl_sizes_differ(p->std.n, channels)))
        return mxl_error("%s: mean and std must have 1 number or one for each of %lld channels, "
                         "got %d and %d",
                         infer->op->name, (long long)channels, p->mean.n, p->std.n);
    return mxl_infer_same(infer);
}

static float number_of(mxl_floats list, int64_t channel)
{
    return (float)list.v[list.n == 1 ? 0 : channel];
}

static int normalize_compute(const mxl_call *call)
{
    const normalize_params *p = call->params;
    const mxl_array *x = call->in[0];
    const int64_t *tensor = x->shape + x->ndim - 3;
    float mean[3], deviation[3];

    for (int64_t c = 0; c < tensor[0]; c++) {
        mean[c] = number_of(p->mean, c);
        deviation[c] = number_of(p->std, c);
    }
    if (x->size > 0)
        mxl_planes_normalize(x->dtype, x->ndim == 4 ? x->shape[0] : 1, tensor[0],
                             tensor[1] * tensor[2], mean, deviation, mxl_array_read(x),
                             mxl_array_write(call->out[0]));
    return 0;
}

/* dx = dy / std: dy normalised with the mean 0 */
static int normalize_grad(mxl_grad *g)
{
    normalize_params p = *(const normalize_params *)g->params;
    const double zero = 0;

    p.mean = (mxl_floats){1, &zero};
    return mxl_grad_set(g, 0, mxl_scope_call(g->s, g->op, &p, 1, g->grad_output));
}

static const mxl_op op_normalize = {
    .name = "_image_normalize",
    .aliases = MXL_ALIASES("_npx__image_normalize"),
    .doc = "A tensor of an image, channels first, less the mean and over the standard deviation of "
           "its channel.",
    MXL_INPUTS(MXL_INPUT(data, "(channels, height, width), or a batch of these; 1 or 3 channels.")),
    MXL_PARAMS_OF(normalize_params,
                  MXL_PARAM(normalize_params, mean, MXL_P_FLOATS, "[0,0,0,0]",
                            "A number, or one for each channel."),
                  MXL_PARAM(normalize_params, std, MXL_P_FLOATS, "[1,1,1,1]",
                            "A number, or one for each channel.")),
    .infer = normalize_infer,
    .compute = normalize_compute,
    .grad = normalize_grad,
};

/* ---- crop ---- */

typedef struct crop_params {
    int64_t x, y, width, height;
} crop_params;

static int crop_plan(mxl_plan *p)
{
    const crop_params *c = p->params;
    const int64_t *image = p->shape.dim + p->shape.ndim - 3;

    if (check_axes(p->op->name, p->shape.ndim) != 0)
        return -1;
    if (mxl_sizes_differ(image[2], 1) && mxl_sizes_differ(image[2], 3))
        return mxl_error("%s: an image has 1 or 3 channels on its last axis, got %lld", p->op->name,
                         (long long)image[2]);
    if (c->x < 0 || c->y < 0 || c->width < 1 || c->height < 1 ||
        (image[1] >= 0 && c->width > image[1] - c->x) ||
        (image[0] >= 0 && c->height > image[0] - c->y))
        return mxl_error("%s: %lld x %lld pixels from (%lld, %lld) on are no part of %lld x %lld",
                         p->op->name, (long long)c->width, (long long)c->height, (long long)c->x,
                         (long long)c->y, (long long)image[1], (long long)image[0]);
    mxl_plan_cut(p, p->shape.ndim - 3, c->y, c->height, 1);
    mxl_plan_cut(p, p->shape.ndim - 2, c->x, c->width, 1);
    return 0;
}

#define CROP(field, meaning) MXL_PARAM(crop_params, field, MXL_P_INT, MXL_REQUIRED, meaning)

static const mxl_op op_crop = {
    .name = "_image_crop",
    .aliases = MXL_ALIASES("_npx__image_crop"),
    .numbers_inputs = true,
    .doc = "A rectangle of an image.",
    MXL_INPUTS(MXL_INPUT(data, "An image, (height, width, 1 or 3 channels), or a batch of "
                               "images.")),
    MXL_PARAMS_OF(crop_params, CROP(x, "The first column."), CROP(y, "The first row."),
                  CROP(width, "How many columns."), CROP(height, "How many rows.")),
    MXL_MOVEMENT(crop_plan),
};

/* ---- flips ---- */

/* Reverses columns (axis 1) or rows (axis 0) of an image. */
static int flip_plan(mxl_plan *p, int axis)
{
    if (p->shape.ndim != 3)
        return mxl_error("%s: an image has 3 axes, got %d", p->op->name, p->shape.ndim);
    if (mxl_sizes_differ(p->shape.dim[2], 1) && mxl_sizes_differ(p->shape.dim[2], 3))
        return mxl_error("%s: an image has 1 or 3 channels on its last axis, got %lld", p->op->name,
                         (long long)p->shape.dim[2]);
    mxl_plan_cut(p, axis, p->shape.dim[axis] - 1, p->shape.dim[axis], -1);
    return 0;
}

static int columns_plan(mxl_plan *p)
{
    return flip_plan(p, 1);
}

static int rows_plan(mxl_plan *p)
{
    return flip_plan(p, 0);
}

/* dx = dy, flipped back */
MXL_DX(flip, mxl_scope_call(s, g->op, g->params, 1, &dy))

static const mxl_op op_flip_columns = {
    .name = "_image_flip_left_right",
    .aliases = MXL_ALIASES("_npx__image_flip_left_right"),
    .numbers_inputs = true,
    .doc = "An image with its columns in reverse order.",
    .inputs = mxl_inputs_image,
    MXL_MOVEMENT_BACK(columns_plan, flip_grad),
};

static const mxl_op op_flip_rows = {
    .name = "_image_flip_top_bottom",
    .aliases = MXL_ALIASES("_npx__image_flip_top_bottom"),
    .numbers_inputs = true,
    .doc = "An image with its rows in reverse order.",
    .inputs = mxl_inputs_image,
    MXL_MOVEMENT_BACK(rows_plan, flip_grad),
};

/* ---- random flips; the second output, hidden, is 1 if the image was flipped ---- */

static const mxl_op op_maybe_columns, op_maybe_rows;

static int maybe_compute(const mxl_call *call)
{
    double *flipped = mxl_array_write(call->out[1]);
    mxl_call flip = *call;
    mxl_draws draws;

    mxl_draws_begin(&draws, mxl_random_stream(), 0);
    *flipped = (double)mxl_draw_below(&draws, 2);
    if (*flipped == 0)
        return mxl_array_copy_into(call->out[0], call->in[0]);
    flip.op = call->op == &op_maybe_rows ? &op_flip_rows : &op_flip_columns;
    flip.num_outputs = 1;
    return flip.op->compute(&flip);
}

/* dx = dy, flipped back if the image was flipped */
static int maybe_grad(mxl_grad *g)
{
    mxl_array *dy = g->grad_output[0], *flipped = mxl_grad_out(g, 1);

    if (dy == NULL || flipped == NULL)
        return dy == NULL ? 0 : -1;
    if (*(const double *)mxl_array_read(flipped) != 0)
        dy = mxl_reverse(g->s, dy, g->op == &op_maybe_rows ? 0 : 1);
    return mxl_grad_set(g, 0, dy);
}

static void maybe_saves(mxl_saves *saves)
{
    saves->out[1] = true;
}

#define MAYBE(symbol, text, ...)                                                                   \
    static const mxl_op symbol = {                                                                 \
        .name = "_image_random_flip_" text,                                                        \
        .aliases = MXL_ALIASES("_npx__image_random_flip_" text),                                   \
        .inputs = mxl_inputs_image,                                                                \
        .arity = mxl_arity_hidden,                                                                 \
        .infer = mxl_image_infer,                                                                  \
        .compute = maybe_compute,                                                                  \
        .draws = true,                                                                             \
        .grad = maybe_grad,                                                                        \
        .saves = maybe_saves,                                                                      \
        .output_names = "output",                                                                  \
        .numbers_inputs = true,                                                                    \
        .total_outputs = 1,                                                                        \
        .doc = __VA_ARGS__,                                                                        \
    }

MAYBE(op_maybe_columns, "left_right",
      "An image, or, with probability 1/2, the image with its columns in reverse order.");
MAYBE(op_maybe_rows, "top_bottom",
      "An image, or, with probability 1/2, the image with its rows in reverse order.");

const mxl_op *const mxl_ops_image[] = {&op_to_tensor,    &op_normalize, &op_crop,
                                       &op_flip_columns, &op_flip_rows, &op_maybe_columns,
                                       &op_maybe_rows,   NULL};

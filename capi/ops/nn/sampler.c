/* Images sampled at the points of a grid: BilinearSampler, GridGenerator, SpatialTransformer. The
 * samples are linear in the images: _mxl_sampler and _mxl_sampler_back are each other's vjp there,
 * and their derivatives with respect to the grid are the same operators with other weights. */
#include "kernel/spatial/sampler.h"

#include <stddef.h>

#include "array/copy.h"
#include "op/shapes/shapes.h"
#include "ops/nn/images.h"
#include "ops/nn/wide.h"
#include "ops/shape/movement.h"

typedef struct sampler_params {
    int by_column, by_row, pixels;
    mxl_tuple size; /* _mxl_sampler_back: rows and columns of the images */
} sampler_params;

static const mxl_op op_sampler, op_sampler_back;

/* ---- samples and their adjoint ---- */

static int check_grid(const mxl_infer *infer, const mxl_array *x, const mxl_array *grid)
{
    if (mxl_check_images(infer->op->name, x) != 0 || mxl_check_float(infer->op, x) != 0 ||
        mxl_check_dtypes(infer->op, x, grid) != 0)
        return -1;
    if (grid->ndim != 4 || grid->shape[0] != x->shape[0] || grid->shape[1] != 2)
        return mxl_error("%s: grid must have shape (%lld, 2, rows, columns), got %s",
                         infer->op->name, (long long)x->shape[0], MXL_SHAPE_OF(grid));
    return 0;
}

static int back_infer(mxl_infer *infer)
{
    const sampler_params *p = infer->params;
    const mxl_array *dy = infer->in[0], *grid = infer->in[1];

    if (check_grid(infer, dy, grid) != 0)
        return -1;
    if (dy->shape[2] != grid->shape[2] || dy->shape[3] != grid->shape[3])
        return mxl_error("%s: the samples and the grid differ: %s and %s", infer->op->name,
                         MXL_SHAPE_OF(dy), MXL_SHAPE_OF(grid));
    if (p->size.n != 2 || p->size.v[0] < 0 || p->size.v[1] < 0)
        return mxl_error("%s: size must have two entries, which are not negative", infer->op->name);
    return mxl_infer_set(infer, dy->dtype, 4,
                         (int64_t[]){dy->shape[0], dy->shape[1], p->size.v[0], p->size.v[1]});
}

static int sampler_compute(const mxl_call *call)
{
    const sampler_params *p = call->params;
    bool takes = call->op != &op_sampler_back;
    const mxl_array *images = takes ? call->in[0] : call->out[0], *grid = call->in[1];
    mxl_pixel_sampler s = {.batch = images->shape[0],
                           .channels = images->shape[1],
                           .height = images->shape[2],
                           .width = images->shape[3],
                           .points = grid->shape[2] * grid->shape[3],
                           .by_column = call->op->params != NULL && p->by_column,
                           .by_row = call->op->params != NULL && p->by_row,
                           .pixels = call->op->params != NULL && p->pixels};
    mxl_wide wide;
    int status;

    if (mxl_wide_begin(&wide, call) != 0)
        return -1;
    s.dtype = wide.dtype;
    status = (takes ? mxl_sampler_take : mxl_sampler_put)(
        &s, mxl_array_read(wide.in[1]), mxl_array_read(wide.in[0]), mxl_array_write(wide.out));
    return mxl_wide_end(&wide, status == 0 ? 0 : mxl_error_prefix(call->op->name));
}

/* The sum over channels of u times the samples of v by weights that are derived once more. */
static mxl_array *grid_part(mxl_scope *s, const sampler_params *p, bool column, mxl_array *u,
                            mxl_array *v, mxl_array *grid)
{
    sampler_params more = {
        .by_column = column || p->by_column, .by_row = !column || p->by_row, .pixels = p->pixels};
    mxl_array *inputs[2] = {v, grid}, *samples;

    samples = mxl_scope_call(s, &op_sampler, &more, 2, inputs);
    if (column ? p->by_column : p->by_row) /* weights are linear in each coordinate */
        samples = mxl_zeros_like(s, samples);
    return mxl_sum_axis(s, mxl_mul(s, u, samples), 1);
}

/* The gradient of the grid of sum(u * samples of v). */
static mxl_array *grid_of(mxl_scope *s, const sampler_params *p, mxl_array *u, mxl_array *v,
                          mxl_array *grid)
{
    mxl_array *parts[2] = {grid_part(s, p, true, u, v, grid), grid_part(s, p, false, u, v, grid)};

    return parts[0] == NULL || parts[1] == NULL ? NULL : mxl_concat(s, 2, parts, 1);
}

/* Of samples y of x: dx = dy put back, dgrid = dy times the samples' derivatives. */
static int sampler_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    sampler_params p = {.by_column = 0};
    mxl_array *inputs[2] = {g->grad_output[0], NULL};

    if (g->op->params != NULL)
        p = *(const sampler_params *)g->params;
    if (!mxl_grad_wants(g, 0) && !mxl_grad_wants(g, 1))
        return 0;
    inputs[1] = mxl_grad_in(g, 1);
    p.size = (mxl_tuple){2, x->shape + 2};
    if (mxl_grad_wants(g, 0) &&
        mxl_grad_set(g, 0, mxl_scope_call(g->s, &op_sampler_back, &p, 2, inputs)) != 0)
        return -1;
    if (!mxl_grad_wants(g, 1))
        return 0;
    return mxl_grad_set(g, 1, grid_of(g->s, &p, inputs[0], mxl_grad_in(g, 0), inputs[1]));
}

/* Of images x with samples y put back: dy = samples of dx, dgrid = y times those derivatives. */
static int back_grad(mxl_grad *g)
{
    sampler_params p = *(const sampler_params *)g->params;
    mxl_array *inputs[2] = {g->grad_output[0], NULL};

    p.size = (mxl_tuple){0, NULL};
    if (!mxl_grad_wants(g, 0) && !mxl_grad_wants(g, 1))
        return 0;
    inputs[1] = mxl_grad_in(g, 1);
    if (mxl_grad_wants(g, 0) &&
        mxl_grad_set(g, 0, mxl_scope_call(g->s, &op_sampler, &p, 2, inputs)) != 0)
        return -1;
    if (!mxl_grad_wants(g, 1))
        return 0;
    return mxl_grad_set(g, 1, grid_of(g->s, &p, mxl_grad_in(g, 0), inputs[0], inputs[1]));
}

static void sampler_saves(mxl_saves *saves)
{
    saves->in[0] = saves->wants[1];
    saves->in[1] = saves->wants[0] || saves->wants[1];
}

#define SAMPLER(field, kind, text, meaning) MXL_PARAM(sampler_params, field, kind, text, meaning)
#define SAMPLER_PARAMS                                                                             \
    SAMPLER(by_column, MXL_P_BOOL, "0", "Whether to derive by the grid's columns."),               \
        SAMPLER(by_row, MXL_P_BOOL, "0", "Whether to derive by the grid's rows."),                 \
        SAMPLER(pixels, MXL_P_BOOL, "0",                                                           \
                "Whether the grid counts pixels from 0, and the last one lasts a pixel's width.")
#define GRID                                                                                       \
    MXL_INPUT(grid, "(batch, 2, rows, columns), of the dtype of data: the column and the row of "  \
                    "each sample, from -1, the first pixel, to 1, the last.")

static const mxl_op op_sampler = {
    .name = "_mxl_sampler",
    .doc = "Samples of images at the points of a grid, or their derivatives by its coordinates.",
    MXL_INPUTS(MXL_INPUT(data, "Images."), GRID),
    MXL_PARAMS_OF(sampler_params, SAMPLER_PARAMS),
    MXL_SHAPES("data[N,C,H,W] grid[N,2,R,K] -> [N,C,R,K]"),
    .dtypes = "F*>F*",
    .compute = sampler_compute,
    .grad = sampler_grad,
    .saves = sampler_saves,
};

static const mxl_op op_sampler_back = {
    .name = "_mxl_sampler_back",
    .doc = "Images of zeros to which samples are added where _mxl_sampler takes them.",
    MXL_INPUTS(MXL_INPUT(data, "Samples."), GRID),
    MXL_PARAMS_OF(sampler_params, SAMPLER_PARAMS,
                  SAMPLER(size, MXL_P_SHAPE, MXL_REQUIRED, "Rows and columns of the images.")),
    .infer = back_infer,
    .compute = sampler_compute,
    .grad = back_grad,
    .saves = sampler_saves,
};

/* ---- BilinearSampler ---- */

static mxl_array *sample(mxl_scope *s, mxl_array *x, mxl_array *grid)
{
    const sampler_params p = {.by_column = 0};

    return mxl_scope_call(s, &op_sampler, &p, 2, (mxl_array *[]){x, grid});
}

mxl_array *mxl_sample_pixels(mxl_scope *s, mxl_array *x, mxl_array *grid)
{
    const sampler_params p = {.pixels = 1};

    return mxl_scope_call(s, &op_sampler, &p, 2, (mxl_array *[]){x, grid});
}

static mxl_array *bilinear_compose(mxl_scope *s, const mxl_call *call)
{
    return sample(s, call->in[0], call->in[1]);
}

#define CUDNN_OFF(struct_type)                                                                     \
    MXL_PARAM(struct_type, cudnn_off, MXL_P_OPT_BOOL, "None", "Of no effect here.")

typedef struct bilinear_params {
    int cudnn_off;
} bilinear_params;

static const mxl_op op_bilinear = {
    .name = "BilinearSampler",
    .doc = "Images sampled at the points of a grid, bilinear between the four nearest pixels; "
           "pixels outside are zeros.",
    MXL_INPUTS(MXL_INPUT(data, "Images (batch, channels, rows, columns) of a floating dtype."),
               GRID),
    MXL_PARAMS_OF(bilinear_params, CUDNN_OFF(bilinear_params)),
    .output_names = "output tmp",
    .total_outputs = 2,
    MXL_SHAPES("data[N,C,H,W] grid[N,2,R,K] -> [N,C,R,K]"),
    .dtypes = "F*>F*",
    .compose = bilinear_compose,
};

/* ---- GridGenerator ---- */

enum { TRANSFORM_AFFINE, TRANSFORM_WARP };

typedef struct grid_params {
    int transform_type;
    mxl_tuple target_shape;
} grid_params;

static const char *const transforms[] = {"affine", "warp", NULL};

/* Rows and columns of a grid. */
static int target(const mxl_size_ask *ask, int64_t *size)
{
    *size = ask->arg[0];
    return *size > 0 ? 0
                     : mxl_error("%s: target_shape must have two positive entries", ask->op->name);
}

static const mxl_size_function grid_sizes[] = {{"target", target, NULL}, {0}};

static int grid_check(void *params)
{
    const grid_params *p = params;

    return p->target_shape.n == 2
               ? 0
               : mxl_error("GridGenerator: target_shape must have two positive entries");
}

static const char *grid_shapes(const void *params)
{
    return ((const grid_params *)params)->transform_type == TRANSFORM_WARP
               ? "data[N,2,H,W] -> [N,2,H,W]"
               : NULL;
}

/* Numbers as a constant of a dtype; scoped. */
static mxl_array *constant(mxl_scope *s, int dtype, mxl_array *numbers)
{
    mxl_array *made = mxl_scope_own(s, numbers);

    return made == NULL || dtype == MXL_F64 ? made : mxl_cast(s, made, dtype);
}

/* Coordinates of the pixels in order: with `unit` (3, pixels) from -1 to 1 and ones, else (2,
 * pixels) the numbers of column and row. */
static mxl_array *coordinates(mxl_scope *s, int dtype, int64_t rows, int64_t columns, bool unit)
{
    int64_t n = rows * columns;
    mxl_array *made = mxl_array_new(MXL_F64, 2, (int64_t[]){unit ? 3 : 2, n});
    double *at = made == NULL ? NULL : mxl_array_write(made);

    for (int64_t i = 0; made != NULL && i < n; i++) {
        double column = (double)(i % columns), row = (double)(i / columns);

        at[i] = unit ? -1 + column * (2 / (double)(columns - 1)) : column;
        at[n + i] = unit ? -1 + row * (2 / (double)(rows - 1)) : row;
        if (unit)
            at[2 * n + i] = 1;
    }
    return constant(s, dtype, made);
}

/* Each point times the matrix (2, 3) of its image. */
static mxl_array *affine_grid(mxl_scope *s, mxl_array *theta, int64_t rows, int64_t columns)
{
    int64_t n = theta->shape[0], shape[4] = {n, 2, rows, columns};
    int dtype = theta->dtype, full = dtype == MXL_F16 ? MXL_F32 : dtype;
    mxl_array *points = coordinates(s, full, rows, columns, true), *grid;

    if (dtype != full)
        theta = mxl_cast(s, theta, full);
    grid = mxl_dot(s, mxl_reshape(s, theta, 2, (int64_t[]){2 * n, 3}), points, false, false);
    if (dtype != full)
        grid = mxl_cast(s, grid, dtype);
    return mxl_reshape(s, grid, 4, shape);
}

/* (flow + place) / ((size - 1) / 2) - 1 */
static mxl_array *warp_grid(mxl_scope *s, mxl_array *flow)
{
    int64_t rows = flow->shape[2], columns = flow->shape[3];
    mxl_array *made = mxl_array_new(MXL_F64, 4, (int64_t[]){1, 2, 1, 1}), *at, *half;
    double *size = made == NULL ? NULL : mxl_array_write(made);

    if (size != NULL) {
        size[0] = (double)(columns - 1) / 2;
        size[1] = (double)(rows - 1) / 2;
    }
    half = constant(s, flow->dtype, made);
    at = mxl_reshape(s, coordinates(s, flow->dtype, rows, columns, false), 4,
                     (int64_t[]){1, 2, rows, columns});
    return mxl_add_scalar(s, mxl_div(s, mxl_add(s, flow, at), half), -1);
}

static mxl_array *grid_compose(mxl_scope *s, const mxl_call *call)
{
    const grid_params *p = call->params;

    if (p->transform_type == TRANSFORM_WARP)
        return warp_grid(s, call->in[0]);
    return affine_grid(s, call->in[0], p->target_shape.v[0], p->target_shape.v[1]);
}

#define TARGET(struct_type, text)                                                                  \
    MXL_PARAM(struct_type, target_shape, MXL_P_SHAPE, "[0,0]", text,                               \
              .type_text = "Shape(tuple), optional, default=[0,0]")

static const mxl_op op_grid = {
    .name = "GridGenerator",
    .doc = "The grid of a BilinearSampler: from a matrix for each image (affine), or from how far "
           "each pixel moves (warp).",
    MXL_INPUTS(MXL_INPUT(data, "Matrices (batch, 6), rows of (2, 3) after each other; or for warp "
                               "a flow (batch, 2, rows, columns) in pixels.")),
    MXL_PARAMS_OF(grid_params,
                  MXL_PARAM(grid_params, transform_type, MXL_P_ENUM, MXL_REQUIRED,
                            "How the grid is made.", .values = transforms,
                            .type_text = "{'affine', 'warp'}, required"),
                  TARGET(grid_params, "Only for affine: rows and columns of the grid.")),
    .output_names = "output grid_dst",
    .total_outputs = 2,
    .check = grid_check,
    MXL_SHAPES("data[N,6] -> [N,2,*target(target_shape)]"),
    .shapes_of = grid_shapes,
    .size_functions = grid_sizes,
    .dtypes = "F>F*",
    .compose = grid_compose,
};

/* ---- SpatialTransformer ---- */

typedef struct transformer_params {
    mxl_tuple target_shape;
    int transform_type, sampler_type, cudnn_off;
} transformer_params;

static const char *const only_affine[] = {"affine", NULL};
static const char *const only_bilinear[] = {"bilinear", NULL};

static int transformer_check(void *params)
{
    const transformer_params *p = params;

    return p->target_shape.n == 2
               ? 0
               : mxl_error("SpatialTransformer: target_shape must have two positive entries");
}

static mxl_array *transformer_compose(mxl_scope *s, const mxl_call *call)
{
    const transformer_params *p = call->params;

    return sample(s, call->in[0],
                  affine_grid(s, call->in[1], p->target_shape.v[0], p->target_shape.v[1]));
}

static const mxl_op op_transformer = {
    .name = "SpatialTransformer",
    .doc = "Images moved by a matrix for each: samples at the points of an affine grid.",
    MXL_INPUTS(MXL_INPUT(data, "Images (batch, channels, rows, columns) of a floating dtype."),
               MXL_INPUT(loc, "Matrices (batch, 6) of the same dtype, as GridGenerator's.")),
    MXL_PARAMS_OF(transformer_params, TARGET(transformer_params, "Rows and columns of the result."),
                  MXL_PARAM(transformer_params, transform_type, MXL_P_ENUM, MXL_REQUIRED,
                            "How points are moved.", .values = only_affine,
                            .type_text = "{'affine'}, required"),
                  MXL_PARAM(transformer_params, sampler_type, MXL_P_ENUM, MXL_REQUIRED,
                            "How pixels are sampled.", .values = only_bilinear,
                            .type_text = "{'bilinear'}, required"),
                  CUDNN_OFF(transformer_params)),
    .output_names = "output grid_dst grid_src",
    .total_outputs = 3,
    .check = transformer_check,
    MXL_SHAPES("data[N,C,H,W] loc[N,6] -> [N,C,*target(target_shape)]"),
    .size_functions = grid_sizes,
    .dtypes = "F*>F*",
    .compose = transformer_compose,
};

const mxl_op *const mxl_ops_sampler[] = {&op_sampler, &op_sampler_back, &op_bilinear,
                                         &op_grid,    &op_transformer,  NULL};

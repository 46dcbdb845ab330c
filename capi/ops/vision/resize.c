/* _image_resize: an image in another size. */
#include <stddef.h>

#include "kernel/vision/image_resize.h"
#include "ops/linalg/linalg.h"
#include "ops/vision/image.h"

typedef struct resize_params {
    mxl_tuple size;
    int keep_ratio;
    int64_t interp;
} resize_params;

enum { LARGEST = INT32_MAX };

static int check_params(const resize_params *p)
{
    if (p->size.n != 1 && p->size.n != 2)
        return mxl_error(
            "_image_resize: size must be 1 number, or width and height, got %d numbers",
            p->size.n < 0 ? 0 : p->size.n);
    for (int i = 0; i < p->size.n; i++) {
        if (p->size.v[i] < 1 || p->size.v[i] > LARGEST)
            return mxl_error("_image_resize: size must be 1 or more, got %lld",
                             (long long)p->size.v[i]);
    }
    if (p->interp < MXL_NEAREST || p->interp > MXL_LINEAR_EXACT)
        return mxl_error("_image_resize: interp must be 0 (nearest), 1 or 5 (linear), 2 (cubic), 3 "
                         "(area) or 4 (Lanczos), got %lld",
                         (long long)p->interp);
    return 0;
}

static mxl_interpolation interpolation_of(const resize_params *p)
{
    return (mxl_interpolation)p->interp;
}

/* Rows and columns of the result. With keep_ratio one number is the shorter side. */
static void find_size(const resize_params *p, const int64_t in[2], int64_t out[2])
{
    out[1] = p->size.v[0];
    out[0] = p->size.v[p->size.n - 1];
    if (p->size.n == 2 || !p->keep_ratio || in[0] == 0 || in[1] == 0)
        return;
    if (in[0] < 0 || in[1] < 0)
        out[0] = out[1] = MXL_UNKNOWN_SIZE;
    else if (in[0] > in[1])
        out[0] = out[1] * in[0] / in[1];
    else
        out[1] = out[0] * in[1] / in[0];
}

static int resize_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];
    int64_t shape[4], *image = shape + x->ndim - 3;

    if (check_params(infer->params) != 0)
        return -1;
    if (x->ndim != 3 && x->ndim != 4)
        return mxl_error("%s: an image has 3 axes, a batch of images 4, got %d", infer->op->name,
                         x->ndim);
    if (x->dtype != MXL_U8 && x->dtype != MXL_F32 && x->dtype != MXL_F64)
        return mxl_error("%s: takes uint8, float32 or float64, got %s", infer->op->name,
                         mxl_dtype_name(x->dtype));
    for (int i = 0; i < x->ndim; i++)
        shape[i] = x->shape[i];
    if (image[0] > LARGEST || image[1] > LARGEST)
        return mxl_error("%s: an image of shape %s is too large", infer->op->name, MXL_SHAPE_OF(x));
    if ((image[0] == 0 || image[1] == 0) && image[2] > 0 && (x->ndim == 3 || x->shape[0] > 0))
        return mxl_error("%s: an image of shape %s has no pixels", infer->op->name,
                         MXL_SHAPE_OF(x));
    find_size(infer->params, x->shape + x->ndim - 3, image);
    if (mxl_shape_check(x->ndim, shape) != 0)
        return mxl_error_prefix(infer->op->name);
    return mxl_infer_set(infer, x->dtype, x->ndim, shape);
}

static int resize_compute(const mxl_call *call)
{
    const resize_params *p = call->params;
    const mxl_array *x = call->in[0];
    const int64_t *image = x->shape + x->ndim - 3;
    mxl_image_taps taps[2];
    int status;

    if (x->size == 0)
        return 0;
    if (mxl_image_taps_make(interpolation_of(p), image, call->out[0]->shape + x->ndim - 3, taps) !=
        0)
        return -1;
    status = mxl_image_resize(x->dtype, interpolation_of(p), taps, x->ndim == 4 ? x->shape[0] : 1,
                              image[2], mxl_array_read(x), mxl_array_write(call->out[0]));
    mxl_image_taps_free(taps);
    return status;
}

/* ---- the gradient ---- */

/* The matrix (out, in) of an axis's weights; scoped. */
static mxl_array *matrix_of(mxl_scope *s, int dtype, const mxl_image_taps *t)
{
    mxl_array *wide = mxl_scope_own(s, mxl_array_new(MXL_F64, 2, (int64_t[]){t->out, t->in}));
    double *weight;

    if (wide == NULL)
        return NULL;
    weight = mxl_array_write(wide);
    for (int64_t i = 0; i < t->out * t->in; i++)
        weight[i] = 0;
    for (int64_t i = 0; i < t->out * t->count; i++)
        weight[i / t->count * t->in + t->from[i]] += (double)t->weight[i];
    return mxl_cast(s, wide, dtype);
}

/* Array (outer, n, inner) times a matrix (n, m) along its middle axis; scoped. */
static mxl_array *times_middle(mxl_scope *s, mxl_array *a, int64_t outer, int64_t n, int64_t inner,
                               mxl_array *matrix)
{
    a = mxl_transposed(s, mxl_reshape(s, a, 3, (int64_t[]){outer, n, inner}));
    return mxl_transposed(s, mxl_dot(s, a, matrix, false, false));
}

/* dx = R' dy C, R and C the matrices of the weights of rows and columns */
static int resize_grad(mxl_grad *g)
{
    const resize_params *p = g->params;
    const mxl_meta *x = mxl_grad_in_meta(g, 0), *y = mxl_grad_out_meta(g, 0);
    const int64_t *in = x->shape + x->ndim - 3, *out = y->shape + y->ndim - 3;
    int64_t images = x->ndim == 4 ? x->shape[0] : 1;
    mxl_array *rows, *columns, *dx;
    mxl_image_taps taps[2];

    if (x->dtype == MXL_U8 || mxl_shape_size(x->ndim, x->shape) == 0)
        return mxl_grad_set_zeros(g, 0);
    if (mxl_image_taps_make(interpolation_of(p), in, out, taps) != 0)
        return -1;
    rows = matrix_of(g->s, x->dtype, &taps[0]);
    columns = matrix_of(g->s, x->dtype, &taps[1]);
    mxl_image_taps_free(taps);
    dx = times_middle(g->s, g->grad_output[0], images, out[0], out[1] * out[2], rows);
    dx = times_middle(g->s, dx, images * in[0], out[1], out[2], columns);
    return mxl_grad_set(g, 0, mxl_reshape(g->s, dx, x->ndim, x->shape));
}

static const mxl_op op_resize = {
    .name = "_image_resize",
    .aliases = MXL_ALIASES("_npx__image_resize"),
    .numbers_inputs = true,
    .doc = "An image in another size.",
    MXL_INPUTS(MXL_INPUT(data, "An image, (height, width, channels), or a batch of images, of "
                               "uint8, float32 or float64.")),
    MXL_PARAMS_OF(resize_params,
                  MXL_PARAM(resize_params, size, MXL_P_SHAPE, "[]",
                            "Width and height, or one number for both."),
                  MXL_PARAM(resize_params, keep_ratio, MXL_P_BOOL, "0",
                            "Whether one number is the size of the shorter side, and the other "
                            "side in proportion."),
                  MXL_PARAM(resize_params, interp, MXL_P_INT, "1",
                            "The method: 0 nearest, 1 and 5 linear, 2 cubic, 3 area, 4 Lanczos.")),
    .infer = resize_infer,
    .compute = resize_compute,
    .grad = resize_grad,
};

const mxl_op *const mxl_ops_resize[] = {&op_resize, NULL};

/* Dropout. Its second output, the mask, is read only by its vjp. */
#include "ops/build.h"

#include <stddef.h>

#include "array/copy.h"
#include "engine/run/generator.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/random/rng.h"

enum { MODE_ALWAYS, MODE_TRAINING };

typedef struct dropout_params {
    double p;
    int mode;
    mxl_tuple axes;
    int cudnn_off;
} dropout_params;

static const char *const dropout_modes[] = {"always", "training", NULL};

/* True if elements are dropped; otherwise the operator is the identity. */
static bool drops(const dropout_params *p, bool training)
{
    return (training || p->mode == MODE_ALWAYS) && p->p > 0;
}

static int dropout_infer(mxl_infer *infer)
{
    const dropout_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    mxl_shape *mask = &infer->out_shape[1];
    bool asked = mask->ndim >= 0;

    if (!(p->p >= 0 && p->p <= 1))
        return mxl_error("Dropout: p must be in [0, 1], got %g", p->p);
    if (mxl_check_float(infer->op, x) != 0)
        return -1;
    mxl_shape_set(&infer->out_shape[0], x->ndim, x->shape);
    mxl_shape_set(mask, x->ndim, x->shape);
    for (int i = 0; i < p->axes.n; i++) {
        if (p->axes.v[i] < 0 || p->axes.v[i] >= x->ndim)
            return mxl_error("Dropout: axis %lld is not in [0, %d)", (long long)p->axes.v[i],
                             x->ndim);
        mask->dim[p->axes.v[i]] = 1;
    }
    if (!drops(p, infer->training) && !asked) {
        mask->ndim = 1;
        mask->dim[0] = 0;
    }
    infer->out_dtype[0] = infer->out_dtype[1] = x->dtype;
    return 0;
}

/* From numbers in [0, 1): the factor of each element; s is the probability to keep one. Where none
 * is kept, factors are NaN, as in 1.9.1. */
MXL_FLOAT_KERNELS(mask, MXL_SCALAR_LOOP, x < s ? 1 / s : 0 / s);

static int fill_mask(const dropout_params *p, mxl_array *mask)
{
    mxl_rng rng = mxl_random_stream();
    mxl_scalar_params stays = {.scalar = 1 - p->p};
    const int64_t step[1] = {1};
    const size_t width[1] = {mxl_dtype_size(mask->dtype)};
    void *data = mxl_array_write(mask);
    const void *in[1] = {data};

    if (mxl_rng_uniform(rng, mask->dtype, 0, 1, mask->size, data) != 0)
        return -1;
    mxl_loop_run(mask_kernels.row[mask->dtype], 1, mask->size, data, width[0], 1, in, step, width,
                 &stays);
    return 0;
}

/* A float16 mask is computed in float32: halves are too coarse to compare with a probability. */
static int fill_half_mask(const dropout_params *p, mxl_array *mask)
{
    mxl_array *wide = mxl_array_new(MXL_F32, mask->ndim, mask->shape);
    int status = -1;

    if (wide != NULL && fill_mask(p, wide) == 0)
        status = mxl_array_copy_into(mask, wide);
    mxl_array_release(wide);
    return status;
}

/* Without dropping. The mask is filled only if the caller asked for it. */
static int copy_all(const mxl_call *call)
{
    mxl_array *mask = call->out[1];
    int64_t one = 0;

    mxl_cast_scalar(1, mask->dtype, &one);
    mxl_fill(mxl_dtype_size(mask->dtype), mxl_array_write(mask), &one, mask->size);
    return mxl_array_copy_into(call->out[0], call->in[0]);
}

static int dropout_compute(const mxl_call *call)
{
    const dropout_params *p = call->params;
    mxl_array *mask = call->out[1], *factors[2] = {call->in[0], mask};
    mxl_call multiply = {.op = &mxl_op_broadcast_mul,
                         .num_inputs = 2,
                         .num_outputs = 1,
                         .in = factors,
                         .out = call->out};

    if (!drops(p, call->training))
        return copy_all(call);
    if ((mask->dtype == MXL_F16 ? fill_half_mask(p, mask) : fill_mask(p, mask)) != 0)
        return -1;
    return mxl_run_loops(&multiply);
}

/* dx = dy * mask, or dy if nothing was dropped */
static int dropout_grad(mxl_grad *g)
{
    mxl_array *dy = g->grad_output[0];

    /* A gradient of a gradient reaches the mask, which does not depend on the input. */
    if (dy == NULL)
        return 0;
    if (drops(g->params, g->training))
        dy = mxl_mul(g->s, dy, mxl_grad_out(g, 1));
    return mxl_grad_set(g, 0, dy);
}

static void dropout_saves(mxl_saves *saves)
{
    saves->out[1] = drops(saves->params, saves->training);
}

static const mxl_op op_dropout = {
    .name = "Dropout",
    .aliases = MXL_ALIASES("_npx_dropout"),
    .inputs = mxl_inputs_data,
    .doc = "Sets elements to 0 with probability p and divides the others by 1 - p, while training; "
           "otherwise the array as it is.",
    MXL_PARAMS_OF(dropout_params,
                  MXL_PARAM(dropout_params, p, MXL_P_FLOAT, "0.5",
                            "Probability of an element to become 0; in [0, 1]. At 1 all are NaN."),
                  MXL_PARAM(dropout_params, mode, MXL_P_ENUM, "training",
                            "Whether to drop elements only while training, or always.",
                            .values = dropout_modes),
                  MXL_PARAM(dropout_params, axes, MXL_P_SHAPE, "[]",
                            "Axes along which elements are dropped together."),
                  MXL_PARAM(dropout_params, cudnn_off, MXL_P_OPT_BOOL, "0", "Of no effect here.")),
    .arity = mxl_arity_hidden,
    .output_names = "output mask",
    .infer = dropout_infer,
    .shapes = "A>A",
    .compute = dropout_compute,
    .draws = true,
    .grad = dropout_grad,
    .saves = dropout_saves,
    .in_place = true,
};

mxl_array *mxl_dropout_factors(mxl_scope *s, double p, int dtype, int ndim, const int64_t *shape)
{
    dropout_params params = {.p = p, .mode = MODE_ALWAYS};
    mxl_array *ones = mxl_scope_own(s, mxl_array_new(dtype, ndim, shape));
    int64_t one = 0;

    if (ones == NULL)
        return NULL;
    mxl_cast_scalar(1, dtype, &one);
    mxl_fill(mxl_dtype_size(dtype), mxl_array_write(ones), &one, ones->size);
    return mxl_scope_call(s, &op_dropout, &params, 1, &ones);
}

const mxl_op *const mxl_ops_dropout[] = {&op_dropout, NULL};

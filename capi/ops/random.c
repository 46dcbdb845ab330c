/* Random arrays: _random_uniform, _random_normal. The numbers depend on the seed and on what was
 * drawn before, never on the number of threads. */
#include "ops/build.h"

#include <stddef.h>

#include "engine/random.h"
#include "kernel/rng.h"

typedef struct random_params {
    double first, second; /* low and high, or loc and scale */
    mxl_tuple shape;
    const char *ctx;
    int dtype;
} random_params;

/* Every fill has a stream of numbers of its own. */
static mxl_rng next_stream(void)
{
    mxl_random_range range = mxl_random_next(1);
    mxl_rng rng = {.seed = range.seed, .stream = range.offset};

    return rng;
}

static const mxl_input no_inputs[] = {{0}};

static const char *const random_dtypes[] = {"None", "float16", "float32", "float64", NULL};

/* dtype and shape come from the array given as output where the parameters leave them open. */
static int random_infer(mxl_infer *infer)
{
    const random_params *p = infer->params;

    if (p->dtype != MXL_DTYPE_UNKNOWN)
        infer->out_dtype[0] = p->dtype;
    else if (infer->out_dtype[0] == MXL_DTYPE_UNKNOWN)
        infer->out_dtype[0] = MXL_F32;
    else if (!mxl_dtype_is_float(infer->out_dtype[0]))
        return mxl_error("%s: the output must be of a floating dtype, got %s", infer->op->name,
                         mxl_dtype_name(infer->out_dtype[0]));
    return mxl_infer_fresh(infer, p->shape, p->ctx);
}

#define RANDOM_PARAMS(table, first_name, first_def, first_doc, second_name, second_def,            \
                      second_doc)                                                                  \
    static const mxl_param table[] = {                                                             \
        {.name = first_name,                                                                       \
         .type = MXL_P_FLOAT,                                                                      \
         .offset = offsetof(random_params, first),                                                 \
         .def = first_def,                                                                         \
         .doc = first_doc},                                                                        \
        {.name = second_name,                                                                      \
         .type = MXL_P_FLOAT,                                                                      \
         .offset = offsetof(random_params, second),                                                \
         .def = second_def,                                                                        \
         .doc = second_doc},                                                                       \
        {.name = "shape",                                                                          \
         .type = MXL_P_SHAPE,                                                                      \
         .offset = offsetof(random_params, shape),                                                 \
         .def = "None",                                                                            \
         .doc = "Shape of the array; None: that of the output given."},                            \
        {.name = "ctx",                                                                            \
         .type = MXL_P_STRING,                                                                     \
         .offset = offsetof(random_params, ctx),                                                   \
         .def = "",                                                                                \
         .doc = "Where the array lives: cpu(0)."},                                                 \
        {.name = "dtype",                                                                          \
         .type = MXL_P_DTYPE,                                                                      \
         .offset = offsetof(random_params, dtype),                                                 \
         .def = "None",                                                                            \
         .values = random_dtypes,                                                                  \
         .type_text = "{'None', 'float16', 'float32', 'float64'},optional, default='None'",        \
         .doc = "dtype of the array; None: that of the output given, else float32."},              \
        {0},                                                                                       \
    }

/* ---- uniform ---- */

RANDOM_PARAMS(uniform_params, "low", "0", "The smallest value drawn.", "high", "1",
              "What all values lie below; equal to low, all are low.");

static int uniform_infer(mxl_infer *infer)
{
    const random_params *p = infer->params;

    if (!(p->second >= p->first))
        return mxl_error("%s: low must not be above high, got %g and %g", infer->op->name, p->first,
                         p->second);
    return random_infer(infer);
}

static int uniform_compute(const mxl_call *call)
{
    const random_params *p = call->params;
    mxl_array *out = call->out[0];

    return mxl_rng_uniform(next_stream(), out->dtype, p->first, p->second, out->size,
                           mxl_array_write(out));
}

static const mxl_op op_uniform = {
    .name = "_random_uniform",
    .aliases = MXL_ALIASES("random_uniform", "uniform"),
    .doc = "Random numbers, uniformly distributed over [low, high).",
    .inputs = no_inputs,
    .params = uniform_params,
    .params_size = sizeof(random_params),
    .infer = uniform_infer,
    .compute = uniform_compute,
    .grad = mxl_grad_zero,
};

/* ---- normal ---- */

RANDOM_PARAMS(normal_params, "loc", "0", "The mean.", "scale", "1",
              "The standard deviation, above 0.");

static int normal_infer(mxl_infer *infer)
{
    const random_params *p = infer->params;

    if (!(p->second > 0))
        return mxl_error("%s: scale must be above 0, got %g", infer->op->name, p->second);
    return random_infer(infer);
}

static int normal_compute(const mxl_call *call)
{
    const random_params *p = call->params;
    mxl_array *out = call->out[0];

    return mxl_rng_normal(next_stream(), out->dtype, p->first, p->second, out->size,
                          mxl_array_write(out));
}

static const mxl_op op_normal = {
    .name = "_random_normal",
    .aliases = MXL_ALIASES("normal", "random_normal"),
    .doc = "Random numbers, normally distributed.",
    .inputs = no_inputs,
    .params = normal_params,
    .params_size = sizeof(random_params),
    .infer = normal_infer,
    .compute = normal_compute,
    .grad = mxl_grad_zero,
};

const mxl_op *const mxl_ops_random[] = {&op_uniform, &op_normal, NULL};

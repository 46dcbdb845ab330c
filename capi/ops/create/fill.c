/* Constant arrays: _zeros, _ones, _full of a given shape; zeros_like, ones_like of another array's;
 * _set_value, which fills an existing array; _npi_full_like. */
#include "ops/build.h"

#include <stddef.h>

#include "kernel/copy/cast.h"
#include "kernel/copy/strided_copy.h"
#include "ops/sparse/forms.h"

/* All elements of the output equal to `value`. */
static int fill(const mxl_call *call, double value)
{
    mxl_array *out = call->out[0];
    int64_t element = 0;

    if (mxl_check_digits(call->op->name, value, out->dtype) != 0)
        return -1;
    mxl_cast_scalar(value, out->dtype, &element);
    mxl_fill(mxl_dtype_size(out->dtype), mxl_array_write(out), &element, out->size);
    return 0;
}

/* The zeros of a new array take no memory until the first write, so gradients that are never
 * computed take none. */
static int zeros_compute(const mxl_call *call)
{
    if (!call->is_new)
        return fill(call, 0);
    mxl_storage_clear(call->out[0]->storage);
    return 0;
}

static int ones_compute(const mxl_call *call)
{
    return fill(call, 1);
}

/* ---- from a shape ---- */

typedef struct init_params {
    mxl_tuple shape;
    const char *ctx;
    int dtype;
    double value;
} init_params;

#define INIT_SHAPE(default_text)                                                                   \
    MXL_PARAM(init_params, shape, MXL_P_SHAPE, default_text, "Shape of the array.")
#define INIT_CTX MXL_PARAM(init_params, ctx, MXL_P_STRING, "", "Where the array lives: cpu(0).")
#define INIT_DTYPE                                                                                 \
    MXL_PARAM(init_params, dtype, MXL_P_DTYPE, "float32", "dtype of the array.",                   \
              .values = mxl_dtype_names)

static const mxl_param init_params_table[] = {INIT_SHAPE("[]"), INIT_CTX, INIT_DTYPE, {0}};

static const mxl_param full_params_table[] = {
    INIT_SHAPE("None"),
    INIT_CTX,
    INIT_DTYPE,
    MXL_PARAM(init_params, value, MXL_P_FLOAT, MXL_REQUIRED, "The value of every element.",
              .type_name = "double"),
    {0},
};

static int init_infer(mxl_infer *infer)
{
    const init_params *p = infer->params;

    infer->out_dtype[0] = p->dtype;
    return mxl_infer_fresh(infer, p->shape, p->ctx);
}

static int full_compute(const mxl_call *call)
{
    return fill(call, ((const init_params *)call->params)->value);
}

MXL_CREATOR(op_zeros, "_zeros", init_params, init_params_table, init_infer, zeros_compute,
            "An array of zeros.", MXL_CREATES, .numpy_name = "_npi_zeros",
            .sparse = &mxl_sparse_stores_nothing, .any_dtype = true);
MXL_CREATOR(op_ones, "_ones", init_params, init_params_table, init_infer, ones_compute,
            "An array of ones.", MXL_CREATES, .any_dtype = true, .numpy_name = "_npi_ones");
MXL_CREATOR(op_full, "_full", init_params, full_params_table, init_infer, full_compute,
            "An array of which every element is `value`.", .aliases = MXL_ALIASES("_npi_full"),
            MXL_CREATES, .any_dtype = true);

/* ---- with the dtype as a number ---- */

typedef struct plain_params {
    mxl_tuple shape;
    const char *ctx;
    int64_t dtype;
} plain_params;

static const mxl_param plain_params_table[] = {
    MXL_PARAM(plain_params, shape, MXL_P_SHAPE, "None", "Shape of the array."),
    MXL_PARAM(plain_params, ctx, MXL_P_STRING, "", "Where the array lives: cpu(0)."),
    MXL_PARAM(plain_params, dtype, MXL_P_INT, "-1",
              "The number of the dtype, 0 for float32; -1: that of the array that is given."),
    {0},
};

static int plain_infer(mxl_infer *infer)
{
    const plain_params *p = infer->params;

    if (p->dtype < -1 || p->dtype >= MXL_DTYPE_COUNT)
        return mxl_error("%s: dtype must be from 0 to %d, or -1, got %lld", infer->op->name,
                         MXL_DTYPE_COUNT - 1, (long long)p->dtype);
    if (p->dtype < 0 && infer->out_dtype[0] == MXL_DTYPE_UNKNOWN)
        return mxl_error("%s: needs a dtype, or an array to write to; got neither",
                         infer->op->name);
    if (p->dtype >= 0)
        infer->out_dtype[0] = (int)p->dtype;
    return mxl_infer_fresh(infer, p->shape, p->ctx);
}

static int plain_dtypes(mxl_rule *rule)
{
    int64_t said = ((const plain_params *)rule->params)->dtype;

    return mxl_rule_say_dtype(rule, rule->out, said < 0 ? MXL_F32 : (int)said);
}

MXL_CREATOR(op_plain_zeros, "_zeros_without_dtype", plain_params, plain_params_table, plain_infer,
            zeros_compute,
            "An array of zeros, whose dtype a number says, or the array that is given as output.",
            .complete_shapes = mxl_rule_creation, .complete_dtypes = plain_dtypes,
            .any_dtype = true);

/* ---- into an array that is given ---- */

typedef struct set_params {
    double src;
} set_params;

static const mxl_param set_params_table[] = {
    MXL_PARAM(set_params, src, MXL_P_FLOAT, MXL_REQUIRED, "The value of every element.",
              .type_text = "real_t"),
    {0},
};

/* out= gives shape and dtype. */
static int set_infer(mxl_infer *infer)
{
    if (infer->out_dtype[0] == MXL_DTYPE_UNKNOWN)
        return mxl_error("_set_value: writes into an array that is given, and none with a shape "
                         "was");
    return 0;
}

static int set_compute(const mxl_call *call)
{
    return fill(call, ((const set_params *)call->params)->src);
}

MXL_CREATOR(op_set_value, "_set_value", set_params, set_params_table, set_infer, set_compute,
            "Fills the array that is given as output with one number.", .needs_out = true,
            .any_dtype = true);

/* ---- from another array's shape ---- */

#define FILLED_LIKE(id, values, ...)                                                               \
    const mxl_op mxl_op_##id##_like = {.name = #id "_like",                                        \
                                       .doc = values " in the shape and dtype of the array.",      \
                                       .infer = mxl_infer_same,                                    \
                                       .compute = id##_compute,                                    \
                                       .grad = mxl_grad_zero,                                      \
                                       .in_place = true,                                           \
                                       .any_dtype = true,                                          \
                                       .along = true,                                              \
                                       __VA_ARGS__}

FILLED_LIKE(zeros, "Zeros", .aliases = MXL_ALIASES("_sparse_zeros_like"),
            .sparse = &mxl_sparse_stores_nothing);
FILLED_LIKE(ones, "Ones", .aliases = NULL);

typedef struct full_like_params {
    double fill_value;
    const char *ctx;
    int dtype;
} full_like_params;

static const char *const full_dtypes[] = {"None",    "bfloat16", "bool",  "float16",
                                          "float32", "float64",  "int32", "int64",
                                          "int8",    "uint8",    NULL};

static int full_like_infer(mxl_infer *infer)
{
    int dtype = ((const full_like_params *)infer->params)->dtype;

    if (mxl_infer_same(infer) != 0)
        return -1;
    if (dtype != MXL_DTYPE_UNKNOWN)
        infer->out_dtype[0] = dtype;
    return 0;
}

static int full_like_compute(const mxl_call *call)
{
    return fill(call, ((const full_like_params *)call->params)->fill_value);
}

static const mxl_op op_full_like = {
    .name = MXL_NUMPY("_npi_full_like"),
    .doc = "An array in the shape of another, of which every element is `fill_value`.",
    .inputs = mxl_inputs_np,
    MXL_PARAMS_OF(full_like_params,
                  MXL_PARAM(full_like_params, fill_value, MXL_P_FLOAT, MXL_REQUIRED,
                            "The value of every element.", .type_name = "double"),
                  MXL_PARAM(full_like_params, ctx, MXL_P_STRING, "",
                            "Read and not used: the array lives beside the other."),
                  MXL_PARAM(full_like_params, dtype, MXL_P_DTYPE, "None",
                            "dtype of the array; None: the other's.", .values = full_dtypes)),
    .infer = full_like_infer,
    .shapes = "A>A",
    .compute = full_like_compute,
    .any_dtype = true,
    .along = true,
    .grad = mxl_grad_zero,
};

const mxl_op *const mxl_ops_fill[] = {
    &op_zeros,         &op_ones,      &op_full, &op_plain_zeros, &op_set_value, &mxl_op_zeros_like,
    &mxl_op_ones_like, &op_full_like, NULL,
};

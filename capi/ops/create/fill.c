/* Constant arrays: _zeros, _ones, _full of a given shape; zeros_like, ones_like of another array's;
 * _set_value, which fills an existing array. */
#include "ops/build.h"

#include <stddef.h>

#include "kernel/copy/cast.h"
#include "kernel/copy/strided_copy.h"

static const mxl_input no_inputs[] = {{0}};

/* All elements of `out` equal to `value`. */
static int fill(mxl_array *out, double value)
{
    int64_t element = 0;

    mxl_cast_scalar(value, out->dtype, &element);
    mxl_fill(mxl_dtype_size(out->dtype), mxl_array_write(out), &element, out->size);
    return 0;
}

static int zeros_compute(const mxl_call *call)
{
    return fill(call->out[0], 0);
}

static int ones_compute(const mxl_call *call)
{
    return fill(call->out[0], 1);
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
              .type_text = "double, required"),
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
    return fill(call->out[0], ((const init_params *)call->params)->value);
}

static const mxl_op op_zeros = {
    .name = "_zeros",
    .doc = "An array of zeros.",
    .inputs = no_inputs,
    MXL_PARAMS(init_params, init_params_table),
    .infer = init_infer,
    .compute = zeros_compute,
    .grad = mxl_grad_zero,
};

static const mxl_op op_ones = {
    .name = "_ones",
    .doc = "An array of ones.",
    .inputs = no_inputs,
    MXL_PARAMS(init_params, init_params_table),
    .infer = init_infer,
    .compute = ones_compute,
    .grad = mxl_grad_zero,
};

static const mxl_op op_full = {
    .name = "_full",
    .aliases = MXL_ALIASES("_npi_full"),
    .doc = "An array of which every element is `value`.",
    .inputs = no_inputs,
    MXL_PARAMS(init_params, full_params_table),
    .infer = init_infer,
    .compute = full_compute,
    .grad = mxl_grad_zero,
};

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
    return fill(call->out[0], ((const set_params *)call->params)->src);
}

static const mxl_op op_set_value = {
    .name = "_set_value",
    .doc = "Fills the array that is given as output with one number.",
    .inputs = no_inputs,
    MXL_PARAMS(set_params, set_params_table),
    .infer = set_infer,
    .compute = set_compute,
    .grad = mxl_grad_zero,
};

/* ---- from another array's shape ---- */

const mxl_op mxl_op_zeros_like = {
    .name = "zeros_like",
    .aliases = MXL_ALIASES("_sparse_zeros_like"),
    .doc = "Zeros in the shape and dtype of the array.",
    .inputs = mxl_inputs_data,
    .params = mxl_params_none,
    .infer = mxl_infer_same,
    .compute = zeros_compute,
    .grad = mxl_grad_zero,
    .in_place = true,
};

const mxl_op mxl_op_ones_like = {
    .name = "ones_like",
    .doc = "Ones in the shape and dtype of the array.",
    .inputs = mxl_inputs_data,
    .params = mxl_params_none,
    .infer = mxl_infer_same,
    .compute = ones_compute,
    .grad = mxl_grad_zero,
    .in_place = true,
};

const mxl_op *const mxl_ops_init[] = {
    &op_zeros, &op_ones, &op_full, &op_set_value, &mxl_op_zeros_like, &mxl_op_ones_like, NULL,
};

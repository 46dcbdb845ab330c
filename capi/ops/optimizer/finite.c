/* What training loops ask of gradients, of several arrays in one call: all_finite,
 * multi_all_finite, multi_sum_sq, multi_lars; and reset_arrays, which zeroes them. None has a
 * gradient. */
#include "ops/build.h"

#include <math.h>

#include "base/memory/mem.h"
#include "kernel/optimizer/squares.h"

/* ---- several arrays ---- */

/* The parameter num_arrays comes first. */
typedef struct arrays_params {
    int64_t num_arrays;
    int init_output;
} arrays_params;

/* Where the number is an argument that is not known yet, it is 0. */
static int arrays_arity(const void *params, mxl_arity *arity)
{
    int64_t count = ((const arrays_params *)params)->num_arrays;

    arity->inputs = count < 1 ? 1 : (int)count;
    return 0;
}

/* Addresses and sizes of the inputs, and room of the kernels. */
typedef struct arrays {
    int dtype, count;
    void **data;
    int64_t *sizes, *first;
    double *sums, *blocks;
    size_t bytes;
} arrays;

static int arrays_new(arrays *a, const mxl_call *call, bool sums)
{
    size_t count = (size_t)call->num_inputs, blocks = 0, numbers;

    for (size_t i = 0; sums && i < count; i++)
        blocks += (size_t)mxl_square_blocks(call->in[i]->size);
    numbers = 3 * count + 1 + (sums ? count + blocks : 0); /* all have 8 bytes */
    a->bytes = numbers * sizeof(int64_t);
    a->sizes = mxl_alloc(a->bytes);
    if (a->sizes == NULL)
        return -1;
    a->data = (void **)(a->sizes + count);
    a->first = (int64_t *)(a->data + count);
    a->sums = (double *)(a->first + count + 1);
    a->blocks = a->sums + count;
    a->dtype = call->in[0]->dtype;
    a->count = call->num_inputs;
    for (size_t i = 0; i < count; i++)
        a->sizes[i] = call->in[i]->size;
    return 0;
}

static void arrays_read(arrays *a, const mxl_call *call)
{
    for (int i = 0; i < a->count; i++)
        a->data[i] = (void *)(uintptr_t)mxl_array_read(call->in[i]);
}

static const void *const *to_read(const arrays *a)
{
    return (const void *const *)a->data;
}

static void arrays_free(arrays *a)
{
    mxl_free(a->sizes, a->bytes);
}

#define DATA(meaning)                                                                              \
    MXL_INPUTS(MXL_INPUT(data, meaning, .type_text = "NDArray-or-Symbol[]")),                      \
        .input_names = "(array)"
#define NUM_ARRAYS(text)                                                                           \
    MXL_PARAM(arrays_params, num_arrays, MXL_P_INT, text, "The number of arrays.", MXL_AT_LEAST(1))

/* ---- all_finite, multi_all_finite ---- */

#define INIT_OUTPUT                                                                                \
    MXL_PARAM(arrays_params, init_output, MXL_P_BOOL, "1",                                         \
              "Whether the output given counts as 1; else what it holds is multiplied by the "     \
              "answer, so that calls can be joined.")

/* A new output counts as 1, as it holds nothing yet. */
static int finite_compute(const mxl_call *call)
{
    bool keeps = !((const arrays_params *)call->params)->init_output && !call->is_new;
    bool finite;
    float *out;
    arrays a;

    if (arrays_new(&a, call, false) != 0)
        return -1;
    arrays_read(&a, call);
    finite = mxl_all_finite(a.dtype, a.count, to_read(&a), a.sizes, a.first);
    arrays_free(&a);
    out = mxl_array_write(call->out[0]);
    if (!keeps || !finite)
        *out = finite;
    return 0;
}

static const mxl_op op_all_finite = {
    .name = "all_finite",
    .doc = "1 if no element is infinite or NaN, else 0, in a float32 array of one number.",
    MXL_INPUTS(MXL_INPUT(data, "The array, of a floating dtype.", .type_text = "NDArray")),
    MXL_PARAMS_OF(arrays_params, INIT_OUTPUT),
    MXL_SHAPES(". -> [1]"),
    .dtypes = "F>f",
    .compute = finite_compute,
    .writes_last = true,
};

static const mxl_op op_multi_all_finite = {
    .name = "multi_all_finite",
    .doc = "1 if no element of several arrays is infinite or NaN, else 0, in a float32 array of "
           "one number.",
    DATA("The arrays, of one floating dtype."),
    MXL_PARAMS_OF(arrays_params, NUM_ARRAYS("1"), INIT_OUTPUT),
    .arity = arrays_arity,
    MXL_SHAPES(".* -> [1]"),
    .dtypes = "F*>f",
    .compute = finite_compute,
    .writes_last = true,
};

/* ---- multi_sum_sq ---- */

static int squares_compute(const mxl_call *call)
{
    float *out;
    arrays a;

    if (arrays_new(&a, call, true) != 0)
        return -1;
    arrays_read(&a, call);
    mxl_square_sums(a.dtype, a.count, to_read(&a), a.sizes, a.first, a.blocks, a.sums);
    out = mxl_array_write(call->out[0]);
    for (int i = 0; i < a.count; i++)
        out[i] = (float)a.sums[i];
    arrays_free(&a);
    return 0;
}

static const mxl_op op_multi_sum_sq = {
    .name = "multi_sum_sq",
    .doc = "The sum of the squares of each of several arrays, in a float32 array.",
    DATA("The arrays, of one floating dtype."),
    MXL_PARAMS_OF(arrays_params, NUM_ARRAYS(MXL_REQUIRED)),
    .arity = arrays_arity,
    MXL_SHAPES(".* -> [count]"),
    .dtypes = "F*>f",
    .compute = squares_compute,
    .writes_last = true,
};

/* ---- reset_arrays ---- */

static int reset_arity(const void *params, mxl_arity *arity)
{
    arity->outputs = arity->visible = 0;
    return arrays_arity(params, arity);
}

static bool reset_mutates(const mxl_call *call, int i)
{
    return i < call->num_inputs;
}

static int reset_infer(mxl_infer *infer)
{
    for (int i = 0; i < infer->num_inputs; i++) {
        if (mxl_check_float(infer->op, infer->in[i]) != 0)
            return -1;
    }
    return 0;
}

static int reset_compute(const mxl_call *call)
{
    arrays a;

    if (arrays_new(&a, call, false) != 0)
        return -1;
    for (int i = 0; i < a.count; i++) {
        a.data[i] = mxl_array_write(call->in[i]);
        a.sizes[i] *= (int64_t)mxl_dtype_size(call->in[i]->dtype);
    }
    mxl_all_zero(a.count, a.data, a.sizes, a.first);
    arrays_free(&a);
    return 0;
}

static const mxl_op op_reset_arrays = {
    .name = "reset_arrays",
    .doc = "Fills several arrays with zeros. It has no result.",
    DATA("The arrays, of floating dtypes."),
    MXL_PARAMS_OF(arrays_params, NUM_ARRAYS(MXL_REQUIRED)),
    .arity = reset_arity,
    .mutates = reset_mutates,
    .infer = reset_infer,
    .compute = reset_compute,
};

/* ---- multi_lars ---- */

typedef struct lars_params {
    double eta, eps, rescale_grad;
} lars_params;

static int lars_infer(mxl_infer *infer)
{
    if (infer->in[0]->dtype != MXL_F32)
        return mxl_error("multi_lars: takes float32, got %s", mxl_dtype_name(infer->in[0]->dtype));
    return mxl_infer_same(infer);
}

static int lars_compute(const mxl_call *call)
{
    const lars_params *p = call->params;
    const float *lr = mxl_array_read(call->in[0]), *weights = mxl_array_read(call->in[1]);
    const float *grads = mxl_array_read(call->in[2]), *wd = mxl_array_read(call->in[3]);
    float *out = mxl_array_write(call->out[0]);

    for (int64_t i = 0; i < call->out[0]->size; i++) {
        float weight = sqrtf(weights[i]), grad = sqrtf(grads[i]) * (float)p->rescale_grad;

        out[i] = weight > 0 && grad > 0
                     ? lr[i] * (float)p->eta * weight / (grad + wd[i] * weight + (float)p->eps)
                     : lr[i];
    }
    return 0;
}

static const mxl_op op_multi_lars = {
    .name = "multi_lars",
    .doc = "The learning rates of LARS (arXiv 1708.03888): with the norms w and g of weights and "
           "gradients, lr * eta * w / (rescale_grad * g + wd * w + eps); lr where a norm is 0.",
    MXL_INPUTS(MXL_INPUT(lrs, "The learning rate of each weight."),
               MXL_INPUT(weights_sum_sq, "The sum of the squares of each weight."),
               MXL_INPUT(grads_sum_sq, "The sum of the squares of each gradient."),
               MXL_INPUT(wds, "The weight decay of each weight.")),
    MXL_PARAMS_OF(
        lars_params, MXL_PARAM(lars_params, eta, MXL_P_FLOAT, MXL_REQUIRED, "Factor of the ratio."),
        MXL_PARAM(lars_params, eps, MXL_P_FLOAT, MXL_REQUIRED,
                  "Added to the divisor, so that it is not zero."),
        MXL_PARAM(lars_params, rescale_grad, MXL_P_FLOAT, "1", "Factor of the gradients.")),
    .infer = lars_infer,
    .shapes = "A*>A",
    .dtypes = "f*>f",
    .compute = lars_compute,
    .in_place = true,
};

const mxl_op *const mxl_ops_finite[] = {
    &op_all_finite, &op_multi_all_finite, &op_multi_sum_sq, &op_reset_arrays, &op_multi_lars, NULL,
};

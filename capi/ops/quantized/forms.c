/* Which operators have one for bytes. */
#include "ops/elementwise/elementwise.h"
#include "ops/nn/batch_norm.h"
#include "ops/nn/pooling.h"
#include "ops/quantized/quantized.h"
#include "ops/shape/movement.h"

extern const mxl_op mxl_op_fully_connected, mxl_op_flatten, mxl_op_embedding;

static bool is_relu(const void *params)
{
    return mxl_activation_of(params) == &mxl_op_relu;
}

static bool pools(const void *params)
{
    const mxl_pooling_params *p = params;

    return !mxl_pooling_is_last(p) &&
           (p->pool_type == MXL_POOLING_AVG || p->pool_type == MXL_POOLING_MAX);
}

static bool has_channels(const void *params)
{
    return ((const mxl_batch_norm_params *)params)->axis == 1;
}

static const mxl_quantized_form forms[] = {
    {&mxl_op_convolution, &mxl_op_quantized_conv, true, true, false, 0, -1, NULL},
    {&mxl_op_fully_connected, &mxl_op_quantized_dense, true, true, false, 0, -1, NULL},
    {&mxl_op_activation, &mxl_op_quantized_act, false, false, false, 0, -1, is_relu},
    {&mxl_op_flatten, &mxl_op_quantized_flatten, false, false, false, 0, -1, NULL},
    {&mxl_op_pooling, &mxl_op_quantized_pooling, false, false, false, 0, -1, pools},
    {&mxl_op_embedding, &mxl_op_quantized_embedding, false, false, false, 1, -1, NULL},
    {&mxl_op_concat, &mxl_op_quantized_concat, false, false, false, 0, -1, NULL},
    {&mxl_op_batch_norm, &mxl_op_quantized_norm, false, false, true, 0, 1, has_channels},
};

const mxl_quantized_form *mxl_quantized_form_of(const mxl_op *op, const void *params)
{
    static const mxl_quantized_form add = {NULL, &mxl_op_quantized_add, false, true, false, 0, -1,
                                           NULL};
    static const mxl_quantized_form mul = {NULL, &mxl_op_quantized_mul, false, true, false, 0, -1,
                                           NULL};

    if (op == mxl_op_add_alike || op == mxl_op_mul_alike)
        return op == mxl_op_add_alike ? &add : &mul;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (forms[i].of == op)
            return forms[i].fits == NULL || forms[i].fits(params) ? &forms[i] : NULL;
    }
    return NULL;
}

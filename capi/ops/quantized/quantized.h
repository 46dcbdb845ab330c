/* What operators of quantized arrays share. A quantized array is int8 or uint8, and two arrays of
 * one float32 each tell the smallest and the largest number that its bytes stand for; the larger
 * magnitude of the two, over a number of steps, is what one step of the bytes is. 1.9.1 counts
 * steps in two ways. */
#ifndef MXL_OPS_QUANTIZED_QUANTIZED_H
#define MXL_OPS_QUANTIZED_QUANTIZED_H

#include <math.h>

#include "kernel/quantized/bytes.h"
#include "kernel/quantized/convolve.h"
#include "ops/conv/conv_ops.h"

/* Steps of _contrib_quantize, _contrib_requantize and of products; and of everything else. */
static inline float mxl_quantized_steps(int dtype)
{
    return dtype == MXL_U8 ? 255.0F : 127.0F;
}

static inline float mxl_quantized_half_steps(int dtype)
{
    return dtype == MXL_U8 ? 255.5F : 127.5F;
}

/* int32 has these. */
#define MXL_QUANTIZED_WIDE_STEPS 2147483648.0F

/* The larger magnitude of two limits; of inputs `i` and the next one. */
static inline float mxl_quantized_reach(float low, float high)
{
    return fabsf(low) > fabsf(high) ? fabsf(low) : fabsf(high);
}

static inline float mxl_quantized_number(const mxl_array *x)
{
    return *(const float *)mxl_array_read(x);
}

static inline float mxl_quantized_reach_of(const mxl_call *call, int i)
{
    return mxl_quantized_reach(mxl_quantized_number(call->in[i]),
                               mxl_quantized_number(call->in[i + 1]));
}

/* n / d; 0 where d is 0. */
static inline float mxl_quantized_over(float n, float d)
{
    return d > 0 ? n / d : 0;
}

/* Writes the limits, outputs 1 and 2. */
void mxl_quantized_set_range(const mxl_call *call, float low, float high);

/* So many inputs, and three outputs. */
int mxl_quantized_arity_one(const void *params, mxl_arity *arity);
int mxl_quantized_arity_three(const void *params, mxl_arity *arity);
static inline int mxl_quantized_arity(mxl_arity *arity, int inputs)
{
    *arity = (mxl_arity){inputs, 3, 3};
    return 0;
}
/* mxl_infer_said, and that input 0 is int8 or uint8. */
int mxl_quantized_infer(mxl_infer *infer);
/* -1 with the error set unless input i is int8 or uint8. */
int mxl_quantized_check(const mxl_infer *infer, int i);

#define MXL_QUANTIZED_NAMES              "output min_output max_output"
#define MXL_QUANTIZED_RESULTS(its_arity) .arity = its_arity, .output_names = MXL_QUANTIZED_NAMES
#define MXL_QUANTIZED_DATA               MXL_INPUT(data, "Bytes: int8 or uint8.")
#define MXL_QUANTIZED_LIMITS(name, of)                                                             \
    MXL_INPUT(min_##name, "float32, one element: the smallest number of " of "."),                 \
        MXL_INPUT(max_##name, "float32, one element: the largest number of " of ".")

/* What results were in calibration: both or none of two parameters. */
#define MXL_QUANTIZED_CALIB(type)                                                                  \
    MXL_PARAM(type, min_calib_range, MXL_P_OPT_FLOAT, "None",                                      \
              "The smallest number of the result, from calibration.",                              \
              .type_text = "float or None, optional, default=None"),                               \
        MXL_PARAM(type, max_calib_range, MXL_P_OPT_FLOAT, "None",                                  \
                  "The largest number of the result, from calibration.",                           \
                  .type_text = "float or None, optional, default=None")

typedef struct mxl_requantize_params {
    int out_type;
    double min_calib_range, max_calib_range;
} mxl_requantize_params;

static inline bool mxl_quantized_is_calibrated(double low, double high)
{
    return !isnan(low) && !isnan(high);
}

/* The dtype of the result of _contrib_requantize and _contrib_quantize_v2. */
int mxl_quantized_dtype(const mxl_requantize_params *p);
/* The factor of int32 to bytes, with the range of the int32 and the calibrated one. */
float mxl_quantized_factor(const mxl_requantize_params *p, float wide_reach);

/* The factor of bytes to int32 with the reach `all`. */
static inline float mxl_quantized_sum_factor(int dtype, float reach, float all)
{
    return all > 0 ? (float)((double)reach / (double)mxl_quantized_half_steps(dtype) *
                             (double)MXL_QUANTIZED_WIDE_STEPS / (double)all)
                   : 0;
}

/* For passes over graphs (symbol/passes). */
extern const mxl_op mxl_op_quantize_v2, mxl_op_requantize, mxl_op_dequantize;
extern const mxl_op mxl_op_quantized_conv, mxl_op_quantized_dense, mxl_op_quantized_act,
    mxl_op_quantized_flatten, mxl_op_quantized_pooling, mxl_op_quantized_embedding,
    mxl_op_quantized_concat, mxl_op_quantized_add, mxl_op_quantized_mul, mxl_op_quantized_norm;

/* Of _mxl_quantized_limit: bytes as numbers within limits, as bytes again. */
typedef struct mxl_limit_params {
    mxl_requantize_params to;
    double low, high;
} mxl_limit_params;
extern const mxl_op mxl_op_quantized_limit;

/* Pooling and concat with the channels as the last axis of all arrays of bytes, whatever the shapes
 * say; and whether a concat with these parameters can be one. */
extern const mxl_op mxl_op_quantized_pooling_last, mxl_op_quantized_concat_last;
bool mxl_quantized_joins_channels(const void *params);

/* What an operator becomes in a quantized graph: one that takes bytes, and the limits of each array
 * of bytes behind all inputs. */
typedef struct mxl_quantized_form {
    const mxl_op *of, *op;
    bool leads;      /* quantized for its own sake; others only between such ones (mode "smart") */
    bool is_wide;    /* its result is int32, and a node of _contrib_requantize follows */
    bool calibrated; /* has the limits of its result as parameters */
    int first, last; /* the inputs that are bytes: from `first` on, `last` (-1: all) excluded */
    bool (*fits)(const void *params); /* NULL: with all parameters */
} mxl_quantized_form;

/* NULL: the operator with these parameters takes numbers alone. */
const mxl_quantized_form *mxl_quantized_form_of(const mxl_op *op, const void *params);

#endif

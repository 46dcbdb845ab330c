/* Between numbers and bytes: quantize, dequantize, requantize. */
#include <stddef.h>

#include "base/memory/mem.h"
#include "ops/quantized/quantized.h"

enum { OUT_AUTO, OUT_INT8, OUT_UINT8 };

static const char *const byte_types[] = {"int8", "uint8", NULL};
static const char *const out_types[] = {"auto", "int8", "uint8", NULL};
static const char *const float_types[] = {"float32", NULL};

/* ---- shared ---- */

void mxl_quantized_set_range(const mxl_call *call, float low, float high)
{
    *(float *)mxl_array_write(call->out[1]) = low;
    *(float *)mxl_array_write(call->out[2]) = high;
}

int mxl_quantized_arity_one(const void *params, mxl_arity *arity)
{
    (void)params;
    return mxl_quantized_arity(arity, 1);
}

int mxl_quantized_arity_three(const void *params, mxl_arity *arity)
{
    (void)params;
    return mxl_quantized_arity(arity, 3);
}

/* Whether shape inference passes this array: it has a shape, and its dtype is not known. */
static bool is_stand_in(const mxl_array *x)
{
    mxl_storage *none = mxl_storage_new_meta(0);
    bool is = x->storage == none;

    mxl_storage_release(none);
    return is;
}

int mxl_quantized_check(const mxl_infer *infer, int i)
{
    int dtype = infer->in[i]->dtype;
    char room[MXL_NAME];

    if (dtype == MXL_I8 || dtype == MXL_U8 || is_stand_in(infer->in[i]))
        return 0;
    return mxl_error("%s: %s must be int8 or uint8, got %s", infer->op->name,
                     mxl_op_input_name(infer->op, infer->params, infer->num_inputs, i, room),
                     mxl_dtype_name(dtype));
}

int mxl_quantized_infer(mxl_infer *infer)
{
    return mxl_quantized_check(infer, 0) != 0 ? -1 : mxl_infer_said(infer);
}

int mxl_quantized_dtype(const mxl_requantize_params *p)
{
    if (p->out_type == OUT_AUTO)
        return mxl_quantized_is_calibrated(p->min_calib_range, p->max_calib_range) &&
                       p->min_calib_range >= 0
                   ? MXL_U8
                   : MXL_I8;
    return p->out_type == OUT_UINT8 ? MXL_U8 : MXL_I8;
}

/* Sets the limits of bytes of a dtype that has this reach. */
static void set_reach(const mxl_call *call, int dtype, float reach)
{
    mxl_quantized_set_range(call, dtype == MXL_U8 ? 0 : -reach, reach);
}

#define LIMITS                                                                                     \
    MXL_INPUT(min_range, "float32, one element: the smallest number of data."),                    \
        MXL_INPUT(max_range, "float32, one element: the largest number of data.")

/* ---- _contrib_quantize ---- */

static const char *quantize_dtypes(const void *params)
{
    return *(const int *)params == 0 ? "fff>cff" : "fff>uff";
}

static int quantize_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    mxl_array *y = call->out[0];
    float low = mxl_quantized_number(call->in[1]), high = mxl_quantized_number(call->in[2]);
    float reach = mxl_quantized_reach(low, high);

    if (y->dtype == MXL_U8)
        mxl_quantized_set_range(call, low, high);
    else
        set_reach(call, y->dtype, reach);
    mxl_quantized_scale(MXL_F32, y->dtype, mxl_array_read(x), mxl_array_write(y), x->size,
                        mxl_quantized_over(mxl_quantized_steps(y->dtype), reach));
    return 0;
}

static const mxl_op op_quantize = {
    .name = "_contrib_quantize",
    .doc = "Numbers as bytes: round(data * steps / max(|min_range|, |max_range|)), cut to the "
           "dtype's numbers, with 127 steps (int8) or 255 (uint8); and the limits of the bytes.",
    MXL_INPUTS(MXL_INPUT(data, "Numbers: float32."), LIMITS),
    MXL_ONLY_PARAM(int, out_type, MXL_P_ENUM, "uint8", "The dtype of the bytes.",
                   .values = byte_types),
    .arity = mxl_quantized_arity_three,
    MXL_SHAPES("data[*S] min_range[1] max_range[1] -> [*S] [1] [1]"),
    .dtypes = "fff>.ff",
    .dtypes_of = quantize_dtypes,
    .compute = quantize_compute,
};

/* ---- _contrib_quantize_v2 ---- */

static const char *v2_dtypes(const void *params)
{
    return mxl_quantized_dtype(params) == MXL_U8 ? ".>uff" : ".>cff";
}

static int v2_infer(mxl_infer *infer)
{
    int dtype = infer->in[0]->dtype, wanted = mxl_quantized_dtype(infer->params);

    if (dtype != MXL_F32 && dtype != wanted)
        return mxl_error("%s: data must be float32, or %s as the result, got %s", infer->op->name,
                         mxl_dtype_name(wanted), mxl_dtype_name(dtype));
    return mxl_infer_said(infer);
}

static int v2_compute(const mxl_call *call)
{
    const mxl_requantize_params *p = call->params;
    const mxl_array *x = call->in[0];
    mxl_array *y = call->out[0];
    bool known = mxl_quantized_is_calibrated(p->min_calib_range, p->max_calib_range);
    float steps = mxl_quantized_half_steps(y->dtype), reach;
    float low = (float)p->min_calib_range, high = (float)p->max_calib_range;

    if (x->dtype == y->dtype) {
        memcpy(mxl_array_write(y), mxl_array_read(x), (size_t)x->size);
        if (known)
            mxl_quantized_set_range(call, low, high);
        else
            set_reach(call, y->dtype, steps);
        return 0;
    }
    if (!known) {
        low = high = 0;
        if (x->size > 0)
            mxl_quantized_bounds(MXL_F32, mxl_array_read(x), x->size, &low, &high);
    }
    reach = mxl_quantized_reach(low, high);
    if (y->dtype == MXL_U8)
        mxl_quantized_set_range(call, low, high);
    else
        set_reach(call, y->dtype, reach);
    mxl_quantized_scale(MXL_F32, y->dtype, mxl_array_read(x), mxl_array_write(y), x->size,
                        mxl_quantized_over(steps, reach));
    return 0;
}

#define OUT_TYPE                                                                                   \
    MXL_PARAM(mxl_requantize_params, out_type, MXL_P_ENUM, "int8",                                 \
              "The dtype of the bytes; auto: uint8 where min_calib_range is not below 0, else "    \
              "int8.",                                                                             \
              .values = out_types)

const mxl_op mxl_op_quantize_v2 = {
    .name = "_contrib_quantize_v2",
    .doc = "Numbers as bytes, with limits from calibration or else from the data: round(data * "
           "steps / larger magnitude of the limits), with 127.5 steps (int8) or 255.5 (uint8); and "
           "the limits of the bytes. Bytes stay.",
    MXL_INPUTS(MXL_INPUT(data, "Numbers: float32; or bytes of the result's dtype.")),
    MXL_PARAMS_OF(mxl_requantize_params, OUT_TYPE, MXL_QUANTIZED_CALIB(mxl_requantize_params)),
    .arity = mxl_quantized_arity_one,
    .infer = v2_infer,
    MXL_SHAPES_TABLE("data[*S] -> [*S] [1] [1]"),
    .dtypes = ".>cff",
    .dtypes_of = v2_dtypes,
    .compute = v2_compute,
};

/* ---- _contrib_dequantize ---- */

static int dequantize_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];

    mxl_quantized_scale(x->dtype, MXL_F32, mxl_array_read(x), mxl_array_write(call->out[0]),
                        x->size,
                        mxl_quantized_reach_of(call, 1) / mxl_quantized_half_steps(x->dtype));
    return 0;
}

const mxl_op mxl_op_dequantize = {
    .name = "_contrib_dequantize",
    .doc = "The numbers that bytes stand for: data * max(|min_range|, |max_range|) / steps, with "
           "127.5 steps (int8) or 255.5 (uint8).",
    MXL_INPUTS(MXL_QUANTIZED_DATA, LIMITS),
    MXL_ONLY_PARAM(int, out_type, MXL_P_ENUM, "float32", "The dtype of the numbers.",
                   .values = float_types),
    .infer = mxl_quantized_infer,
    MXL_SHAPES_TABLE("data[*S] min_range[1] max_range[1] -> [*S]"),
    .dtypes = ".ff>f",
    .compute = dequantize_compute,
};

/* ---- bytes as numbers within limits, as bytes again ---- */

static const char *limit_dtypes(const void *params)
{
    const mxl_limit_params *p = params;

    return mxl_quantized_dtype(&p->to) == MXL_U8 ? ".ff>uff" : ".ff>cff";
}

static int limit_compute(const mxl_call *call)
{
    const mxl_limit_params *p = call->params;
    const mxl_array *x = call->in[0];
    mxl_array *y = call->out[0];
    float low = (float)p->to.min_calib_range, high = (float)p->to.max_calib_range;
    float reach = mxl_quantized_reach(low, high);
    mxl_quantized_limit limit = {
        .from = x->dtype,
        .to = y->dtype,
        .x = mxl_array_read(x),
        .y = mxl_array_write(y),
        .scale = mxl_quantized_reach_of(call, 1) / mxl_quantized_half_steps(x->dtype),
        .low = (float)p->low,
        .high = (float)p->high,
        .again = mxl_quantized_over(mxl_quantized_half_steps(y->dtype), reach)};

    if (y->dtype == MXL_U8)
        mxl_quantized_set_range(call, low, high);
    else
        set_reach(call, y->dtype, reach);
    mxl_quantized_within(&limit, x->size);
    return 0;
}

const mxl_op mxl_op_quantized_limit = {
    .name = "_mxl_quantized_limit",
    .doc = "_contrib_dequantize, clip, and _contrib_quantize_v2 with limits from calibration: the "
           "same bytes as from those operators.",
    MXL_INPUTS(MXL_QUANTIZED_DATA, LIMITS),
    MXL_PARAMS_OF(
        mxl_limit_params,
        MXL_PARAM_AS("out_type", mxl_limit_params, to.out_type, MXL_P_ENUM, "int8",
                     "The dtype of the bytes.", .values = out_types),
        MXL_PARAM_AS("min_calib_range", mxl_limit_params, to.min_calib_range, MXL_P_FLOAT,
                     MXL_REQUIRED, "The smallest number of the bytes."),
        MXL_PARAM_AS("max_calib_range", mxl_limit_params, to.max_calib_range, MXL_P_FLOAT,
                     MXL_REQUIRED, "The largest number of the bytes."),
        MXL_PARAM(mxl_limit_params, low, MXL_P_FLOAT, MXL_REQUIRED, "The lower limit of numbers."),
        MXL_PARAM(mxl_limit_params, high, MXL_P_FLOAT, MXL_REQUIRED,
                  "The upper limit of numbers.")),
    .arity = mxl_quantized_arity_three,
    .output_names = MXL_QUANTIZED_NAMES,
    .infer = mxl_quantized_infer,
    MXL_SHAPES_TABLE("data[*S] min_range[1] max_range[1] -> [*S] [1] [1]"),
    .dtypes = ".ff>cff",
    .dtypes_of = limit_dtypes,
    .compute = limit_compute,
};

/* ---- _contrib_requantize ---- */

static const char *requantize_dtypes(const void *params)
{
    return mxl_quantized_dtype(params) == MXL_U8 ? "iff>uff" : "iff>cff";
}

float mxl_quantized_factor(const mxl_requantize_params *p, float wide_reach)
{
    float reach = mxl_quantized_reach((float)p->min_calib_range, (float)p->max_calib_range);

    return wide_reach / MXL_QUANTIZED_WIDE_STEPS *
           mxl_quantized_over(mxl_quantized_steps(mxl_quantized_dtype(p)), reach);
}

static int requantize_compute(const mxl_call *call)
{
    mxl_requantize_params p = *(const mxl_requantize_params *)call->params;
    const mxl_array *x = call->in[0];
    mxl_array *y = call->out[0];
    float wide = mxl_quantized_reach_of(call, 1), low = 0, high = 0;

    if (!mxl_quantized_is_calibrated(p.min_calib_range, p.max_calib_range)) {
        if (x->size > 0)
            mxl_quantized_bounds(MXL_I32, mxl_array_read(x), x->size, &low, &high);
        p.min_calib_range = low * (wide / MXL_QUANTIZED_WIDE_STEPS);
        p.max_calib_range = high * (wide / MXL_QUANTIZED_WIDE_STEPS);
        p.out_type = y->dtype == MXL_U8 ? OUT_UINT8 : OUT_INT8;
    }
    set_reach(call, y->dtype,
              mxl_quantized_reach((float)p.min_calib_range, (float)p.max_calib_range));
    mxl_quantized_scale(MXL_I32, y->dtype, mxl_array_read(x), mxl_array_write(y), x->size,
                        mxl_quantized_factor(&p, wide));
    return 0;
}

const mxl_op mxl_op_requantize = {
    .name = "_contrib_requantize",
    .doc = "int32 as bytes, with limits from calibration or else from the data: 2^31 steps of "
           "int32 are max(|min_range|, |max_range|), 127 (int8) or 255 (uint8) steps of bytes the "
           "larger magnitude of the new limits.",
    MXL_INPUTS(MXL_INPUT(data, "int32."), LIMITS),
    MXL_PARAMS_OF(mxl_requantize_params, OUT_TYPE, MXL_QUANTIZED_CALIB(mxl_requantize_params)),
    .arity = mxl_quantized_arity_three,
    MXL_SHAPES("data[*S] min_range[1] max_range[1] -> [*S] [1] [1]"),
    .dtypes = "iff>cff",
    .dtypes_of = requantize_dtypes,
    .compute = requantize_compute,
};

const mxl_op *const mxl_ops_quantize[] = {
    &op_quantize,       &mxl_op_quantize_v2,     &mxl_op_dequantize,
    &mxl_op_requantize, &mxl_op_quantized_limit, NULL};

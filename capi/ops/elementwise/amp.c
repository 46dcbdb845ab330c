/* Casts of automatic mixed precision: amp_cast and amp_multicast. They leave integers alone. */
#include "ops/build.h"

#include "array/copy.h"

/* ---- amp_cast ---- */

static int cast_infer(mxl_infer *infer)
{
    if (mxl_infer_same(infer) != 0)
        return -1;
    if (mxl_dtype_is_float(infer->in[0]->dtype))
        infer->out_dtype[0] = *(const int *)infer->params;
    return 0;
}

static int cast_dtypes(mxl_rule *rule)
{
    int dtype = mxl_rule_in_dtype(rule, 0);
    bool keeps = dtype != MXL_DTYPE_UNKNOWN && !mxl_dtype_is_float(dtype);

    return mxl_rule_say_dtype(rule, rule->out, keeps ? dtype : *(const int *)rule->params);
}

static int cast_compute(const mxl_call *call)
{
    for (int i = 0; i < call->num_outputs; i++) {
        if (mxl_array_copy_into(call->out[i], call->in[i]) != 0)
            return -1;
    }
    return 0;
}

/* dx = dy, which the engine casts back to the input's dtype */
static int cast_grad(mxl_grad *g)
{
    for (int i = 0; i < g->num_inputs; i++) {
        if (mxl_grad_wants(g, i) && g->grad_output[i] != NULL &&
            mxl_grad_set(g, i, g->grad_output[i]) != 0)
            return -1;
    }
    return 0;
}

const mxl_op mxl_op_amp_cast = {
    .name = "amp_cast",
    .doc = "A floating array in another dtype; others as they are.",
    MXL_ONLY_PARAM(int, dtype, MXL_P_DTYPE, MXL_REQUIRED, "The dtype of the result.",
                   .values = mxl_number_names),
    .mixed_precision = true,
    .infer = cast_infer,
    .shapes = "A>A",
    .complete_dtypes = cast_dtypes,
    .compute = cast_compute,
    .keeps_result = true,
    .any_dtype = true,
    .grad = cast_grad,
};

/* ---- amp_multicast ---- */

typedef struct multicast_params {
    int64_t num_outputs;
    int cast_narrow;
} multicast_params;

static int multicast_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = arity->outputs = arity->visible =
        (int)((const multicast_params *)params)->num_outputs;
    return 0;
}

static bool is_low(int dtype)
{
    return dtype == MXL_F16 || dtype == MXL_BF16;
}

/* What arrays in 16 bits and in float32 are cast to where this dtype is among them: float32, or, if
 * they are to be narrow, the first narrow one. */
static int wanted_of(const multicast_params *p, int dtype)
{
    return (p->cast_narrow ? is_low(dtype) : dtype == MXL_F32) ? dtype : MXL_DTYPE_UNKNOWN;
}

static int cast_one(int wanted, int dtype)
{
    return wanted != MXL_DTYPE_UNKNOWN && (is_low(dtype) || dtype == MXL_F32) ? wanted : dtype;
}

static int multicast_infer(mxl_infer *infer)
{
    int wanted = MXL_DTYPE_UNKNOWN;

    for (int i = 0; i < infer->num_inputs && wanted == MXL_DTYPE_UNKNOWN; i++)
        wanted = wanted_of(infer->params, infer->in[i]->dtype);
    for (int i = 0; i < infer->num_inputs; i++) {
        const mxl_array *x = infer->in[i];

        mxl_shape_set(&infer->out_shape[i], x->ndim, x->shape);
        infer->out_dtype[i] = cast_one(wanted, x->dtype);
    }
    return 0;
}

/* What is cast follows when the wanted dtype is among those that are known, or all are known. */
static int multicast_dtypes(mxl_rule *rule)
{
    int wanted = MXL_DTYPE_UNKNOWN;
    bool known = true;

    for (int i = 0; i < rule->num_in; i++) {
        int dtype = mxl_rule_in_dtype(rule, i);

        known &= dtype != MXL_DTYPE_UNKNOWN;
        if (wanted == MXL_DTYPE_UNKNOWN)
            wanted = wanted_of(rule->params, dtype);
    }
    for (int i = 0; i < rule->num_out; i++) {
        int dtype = mxl_rule_in_dtype(rule, i);
        bool is_cast = is_low(dtype) || dtype == MXL_F32 || dtype == MXL_DTYPE_UNKNOWN;

        if ((known || wanted != MXL_DTYPE_UNKNOWN || !is_cast) && dtype != MXL_DTYPE_UNKNOWN &&
            mxl_rule_say_dtype(rule, rule->out + i, cast_one(wanted, dtype)) != 0)
            return -1;
    }
    return 0;
}

const mxl_op mxl_op_amp_multicast = {
    .name = "amp_multicast",
    .doc = "Several arrays, of which those in float16, bfloat16 and float32 are cast to the wider "
           "dtype that "
           "is among them; others as they are.",
    MXL_INPUTS(MXL_INPUT(data, "The arrays.", .type_text = "NDArray-or-Symbol[]")),
    MXL_PARAMS_OF(multicast_params,
                  MXL_PARAM(multicast_params, num_outputs, MXL_P_INT, MXL_REQUIRED,
                            "The number of arrays.", .sets_outputs = true, MXL_AT_LEAST(1)),
                  MXL_PARAM(multicast_params, cast_narrow, MXL_P_BOOL, "0",
                            "Whether they are cast to the narrower dtype instead.")),
    .arity = multicast_arity,
    .mixed_precision = true,
    .infer = multicast_infer,
    .shapes = "(A)>(A)",
    .complete_dtypes = multicast_dtypes,
    .input_names = "(data)",
    .compute = cast_compute,
    .any_dtype = true,
    .grad = cast_grad,
};

const mxl_op *const mxl_ops_amp[] = {&mxl_op_amp_cast, &mxl_op_amp_multicast, NULL};

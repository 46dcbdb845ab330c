/* Operators whose bytes stay what they are: activation, flatten, pooling, embedding; and concat. */
#include <limits.h>
#include <stddef.h>

#include "base/memory/mem.h"
#include "kernel/quantized/byte_pool.h"
#include "ops/nn/pooling.h"
#include "ops/quantized/quantized.h"

/* The limits stay too; they are inputs `first` and the next one. */
static void pass_range(const mxl_call *call, int first)
{
    mxl_quantized_set_range(call, mxl_quantized_number(call->in[first]),
                            mxl_quantized_number(call->in[first + 1]));
}

#define ONE_ARRAY MXL_INPUTS(MXL_QUANTIZED_DATA, MXL_QUANTIZED_LIMITS(data, "data"))
#define SAME      "data[*S] min_data[1] max_data[1] -> "

/* ---- activation ---- */

static const char *const act_types[] = {"relu", "sigmoid", "softrelu", "softsign", "tanh", NULL};

static int act_check(void *params)
{
    if (*(const int *)params == 0)
        return 0;
    return mxl_error("_contrib_quantized_act: act_type must be relu, got %s",
                     act_types[*(const int *)params]);
}

static int act_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    const int8_t *from = mxl_array_read(x);
    int8_t *to = mxl_array_write(call->out[0]);

    pass_range(call, 1);
    if (x->dtype == MXL_U8)
        memcpy(to, from, (size_t)x->size);
    else
        mxl_quantized_relu(from, to, x->size);
    return 0;
}

const mxl_op mxl_op_quantized_act = {
    .name = "_contrib_quantized_act",
    .doc = "relu of bytes: those below 0 become 0. The limits stay.",
    ONE_ARRAY,
    MXL_ONLY_PARAM(int, act_type, MXL_P_ENUM, MXL_REQUIRED, "The function: relu.",
                   .values = act_types),
    MXL_QUANTIZED_RESULTS(mxl_quantized_arity_three),
    .check = act_check,
    .infer = mxl_quantized_infer,
    MXL_SHAPES_TABLE(SAME "[*S] [1] [1]"),
    .dtypes = "Aff>Aff",
    .compute = act_compute,
};

/* ---- flatten ---- */

static int flatten_compute(const mxl_call *call)
{
    pass_range(call, 1);
    memcpy(mxl_array_write(call->out[0]), mxl_array_read(call->in[0]), (size_t)call->in[0]->size);
    return 0;
}

const mxl_op mxl_op_quantized_flatten = {
    .name = "_contrib_quantized_flatten",
    .doc = "Bytes as rows: all axes but the first become one. The limits stay.",
    ONE_ARRAY,
    MXL_QUANTIZED_RESULTS(mxl_quantized_arity_three),
    .infer = mxl_quantized_infer,
    MXL_SHAPES_TABLE("data[N,*S] min_data[1] max_data[1] -> [N,prod(S)] [1] [1]"),
    .dtypes = "Aff>Aff",
    .compute = flatten_compute,
};

/* ---- pooling ---- */

static int pooling_check(void *params)
{
    const mxl_pooling_params *p = params;

    if (mxl_pooling_is_last(p))
        return mxl_error("_contrib_quantized_pooling: channels must be the second axis");
    if (p->pool_type != MXL_POOLING_AVG && p->pool_type != MXL_POOLING_MAX)
        return mxl_error("_contrib_quantized_pooling: pool_type must be avg or max");
    return 0;
}

static int pooling_infer(mxl_infer *infer)
{
    const mxl_pooling_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    mxl_shape *out = infer->out_shape;
    mxl_pool pool;

    if (mxl_quantized_check(infer, 0) != 0)
        return -1;
    for (int i = 1; i < 3; i++) {
        if (infer->in[i]->dtype != MXL_F32 || infer->in[i]->ndim != 1 || infer->in[i]->shape[0] > 1)
            return mxl_error("%s: %s must be float32 with shape (1,)", infer->op->name,
                             infer->op->inputs[i].name);
        infer->out_dtype[i] = MXL_F32;
        mxl_shape_set(&out[i], 1, (int64_t[]){1});
    }
    if (mxl_pooling_windows(infer->op->name, p, x->ndim, x->shape, &pool) != 0)
        return -1;
    mxl_shape_set(&out[0], x->ndim, x->shape);
    for (int i = 0; i < x->ndim - 2; i++)
        out[0].dim[i + 2] = pool.axis[i + 5 - x->ndim].out;
    infer->out_dtype[0] = x->dtype;
    return 0;
}

static int pooling_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    mxl_pool pool = {.outer = 0};

    if (mxl_pooling_windows(call->op->name, call->params, x->ndim, x->shape, &pool) != 0)
        return -1;
    pool.dtype = x->dtype;
    if (call->op == &mxl_op_quantized_pooling_last) {
        pool.outer = x->shape[0];
        pool.inner = x->shape[1];
    }
    pass_range(call, 1);
    return mxl_quantized_pool(&pool, mxl_array_read(x), mxl_array_write(call->out[0]));
}

#define POOLING                                                                                    \
    MXL_INPUTS(MXL_INPUT(data, "Bytes, int8 or uint8: batch, channels, then one to three "         \
                               "spatial axes."),                                                   \
               MXL_QUANTIZED_LIMITS(data, "data")),                                                \
        MXL_PARAMS(mxl_pooling_params, mxl_pooling_table),                                         \
        MXL_QUANTIZED_RESULTS(mxl_quantized_arity_three), .check = pooling_check,                  \
        .infer = pooling_infer, .dtypes = "Aff>Aff", .compute = pooling_compute

const mxl_op mxl_op_quantized_pooling = {
    .name = "_contrib_quantized_pooling",
    .doc =
        "The largest byte of windows that slide over the spatial axes, or their mean, rounded to "
        "the nearest. The limits stay.",
    POOLING,
};

const mxl_op mxl_op_quantized_pooling_last = {
    .name = "_mxl_quantized_pooling_last",
    .doc = "_contrib_quantized_pooling of arrays whose bytes have the channels as the last axis, "
           "whatever their shapes say.",
    POOLING,
};

/* ---- embedding ---- */

typedef struct embedding_params {
    int64_t input_dim, output_dim;
    int dtype, sparse_grad;
} embedding_params;

static const char *const weight_types[] = {"float32", "float64", "float16",  "uint8", "int32",
                                           "int8",    "int64",   "bfloat16", NULL};

static int embedding_arity(const void *params, mxl_arity *arity)
{
    (void)params;
    return mxl_quantized_arity(arity, 4);
}

static mxl_array *embedding_compose(mxl_scope *s, const mxl_call *call)
{
    for (int i = 0; i < 2; i++)
        call->out[1 + i] = mxl_apply(s, &mxl_op_copy, call->in[2 + i]);
    return mxl_take_rows(s, call->in[1], call->in[0]);
}

const mxl_op mxl_op_quantized_embedding = {
    .name = "_contrib_quantized_embedding",
    .doc = "Rows of an int8 weight that data names, as a last axis. The limits stay.",
    MXL_INPUTS(MXL_INPUT(data, "Which rows, of any dtype; out of bounds means the first or the "
                               "last."),
               MXL_INPUT(weight, "int8: the rows, of shape (input_dim, output_dim)."),
               MXL_QUANTIZED_LIMITS(weight, "weight")),
    MXL_PARAMS_OF(embedding_params,
                  MXL_PARAM(embedding_params, input_dim, MXL_P_INT, MXL_REQUIRED,
                            "How many rows the weight has.", MXL_AT_LEAST(1)),
                  MXL_PARAM(embedding_params, output_dim, MXL_P_INT, MXL_REQUIRED,
                            "The length of a row.", MXL_AT_LEAST(1)),
                  MXL_PARAM(embedding_params, dtype, MXL_P_ENUM, "float32", "Of no effect here.",
                            .values = weight_types),
                  MXL_PARAM(embedding_params, sparse_grad, MXL_P_BOOL, "0", "Of no effect here.")),
    MXL_QUANTIZED_RESULTS(embedding_arity),
    MXL_SHAPES("data[*S] weight[input_dim,output_dim] min_weight[1] max_weight[1] -> "
               "[*S,output_dim] [1] [1]"),
    .dtypes = "ecff>cff",
    .compose = embedding_compose,
};

/* ---- concat ---- */

typedef struct concat_params {
    int64_t num_args, dim;
} concat_params;

static int concat_arity(const void *params, mxl_arity *arity)
{
    const concat_params *p = params;

    if (p->num_args > INT_MAX / 3)
        return mxl_error("_contrib_quantized_concat: num_args is %lld", (long long)p->num_args);
    return mxl_quantized_arity(arity, 3 * (int)p->num_args);
}

/* arg0, arg1 ... and then arg0_min, arg0_max ..., of the first eight. */
static const char *concat_input_name(const void *params, int i)
{
    static const char *const arrays[] = {"arg0", "arg1", "arg2", "arg3",
                                         "arg4", "arg5", "arg6", "arg7"};
    static const char *const limits[] = {"arg0_min", "arg0_max", "arg1_min", "arg1_max",
                                         "arg2_min", "arg2_max", "arg3_min", "arg3_max",
                                         "arg4_min", "arg4_max", "arg5_min", "arg5_max",
                                         "arg6_min", "arg6_max", "arg7_min", "arg7_max"};
    int count = (int)((const concat_params *)params)->num_args;

    if (i < count)
        return i < 8 ? arrays[i] : NULL;
    return i - count < 16 ? limits[i - count] : NULL;
}

static int concat_infer(mxl_infer *infer)
{
    const concat_params *p = infer->params;
    int count = (int)p->num_args, axis = mxl_check_axis(infer->op, p->dim, infer->in[0]->ndim);
    mxl_shape *out = infer->out_shape;
    bool is_unsigned = true;

    if (axis < 0)
        return -1;
    mxl_shape_set(&out[0], infer->in[0]->ndim, infer->in[0]->shape);
    out[0].dim[axis] = 0;
    for (int i = 0; i < count; i++) {
        const mxl_array *x = infer->in[i];

        if (mxl_quantized_check(infer, i) != 0)
            return -1;
        if (x->ndim != out[0].ndim)
            return mxl_error("%s: ranks %d and %d differ", infer->op->name, out[0].ndim, x->ndim);
        for (int k = 0; k < x->ndim; k++) {
            if (k != axis && mxl_sizes_differ(x->shape[k], out[0].dim[k]))
                return mxl_error("%s: axis %d is %lld and %lld", infer->op->name, k,
                                 (long long)out[0].dim[k], (long long)x->shape[k]);
        }
        if (x->shape[axis] < 0 || out[0].dim[axis] < 0)
            out[0].dim[axis] = MXL_UNKNOWN_SIZE;
        else
            out[0].dim[axis] += x->shape[axis];
        is_unsigned = is_unsigned && x->dtype == MXL_U8;
    }
    for (int i = count; i < 3 * count; i++) {
        if (infer->in[i]->dtype != MXL_F32 || infer->in[i]->ndim != 1 || infer->in[i]->shape[0] > 1)
            return mxl_error("%s: limits must be float32 with shape (1,)", infer->op->name);
    }
    infer->out_dtype[0] = is_unsigned ? MXL_U8 : MXL_I8;
    for (int i = 1; i < 3; i++) {
        infer->out_dtype[i] = MXL_F32;
        mxl_shape_set(&out[i], 1, (int64_t[]){1});
    }
    return 0;
}

static int concat_dtypes(mxl_rule *rule)
{
    int count = rule->num_in / 3, dtype = MXL_U8;

    for (int i = 0; i < count && dtype != MXL_DTYPE_UNKNOWN; i++) {
        int of = mxl_rule_in_dtype(rule, i);

        dtype = of == MXL_U8 ? dtype : of;
    }
    for (int i = count; i < rule->num_in; i++) {
        if (mxl_rule_say_dtype(rule, rule->in[i], MXL_F32) != 0)
            return -1;
    }
    return mxl_rule_say_dtype(rule, rule->out, dtype) != 0 ||
                   mxl_rule_say_dtype(rule, rule->out + 1, MXL_F32) != 0 ||
                   mxl_rule_say_dtype(rule, rule->out + 2, MXL_F32) != 0
               ? -1
               : 0;
}

/* Writes the rows of x, of n bytes, times `scale`, `whole` bytes apart; -1 with the error set. */
static int put_rows(const mxl_array *x, int dtype, float scale, int64_t rows, int64_t n,
                    int64_t whole, char *to)
{
    bool stays = x->dtype == dtype && scale == 1;
    size_t bytes = (size_t)x->size + 1;
    char *scaled = stays ? NULL : mxl_alloc(bytes);
    const char *from = stays ? mxl_array_read(x) : scaled;

    if (from == NULL)
        return -1;
    if (!stays)
        mxl_quantized_scale(x->dtype, dtype, mxl_array_read(x), scaled, x->size, scale);
    for (int64_t r = 0; r < rows; r++)
        memcpy(to + r * whole, from + r * n, (size_t)n);
    mxl_free(scaled, bytes);
    return 0;
}

static int concat_compute(const mxl_call *call)
{
    const concat_params *p = call->params;
    int count = (int)p->num_args;
    mxl_array *y = call->out[0];
    int axis = mxl_check_axis(call->op, p->dim, y->ndim);
    int64_t inner, rows, whole;
    float low = mxl_quantized_number(call->in[count]);
    float high = mxl_quantized_number(call->in[count + 1]), reach;
    char *to = mxl_array_write(y);

    if (axis < 0)
        return -1;
    inner = mxl_shape_size(y->ndim - axis - 1, y->shape + axis + 1);
    if (call->op == &mxl_op_quantized_concat_last)
        inner = 1;
    whole = y->shape[axis] * inner;
    rows = whole > 0 ? y->size / whole : 0;
    for (int i = 1; i < count; i++) {
        float l = mxl_quantized_number(call->in[count + 2 * i]);
        float h = mxl_quantized_number(call->in[count + 2 * i + 1]);

        low = l < low ? l : low;
        high = h > high ? h : high;
    }
    reach = mxl_quantized_reach(low, high);
    mxl_quantized_set_range(call, low, high);
    for (int i = 0; i < count; i++) {
        const mxl_array *x = call->in[i];
        int64_t n = x->shape[axis] * inner;
        float of = mxl_quantized_reach_of(call, count + 2 * i);
        float scale = mxl_quantized_over(of, reach);

        if (x->dtype != y->dtype)
            scale = of / mxl_quantized_half_steps(x->dtype) *
                    mxl_quantized_over(mxl_quantized_half_steps(y->dtype), reach);
        if (put_rows(x, y->dtype, scale, rows, n, whole, to) != 0)
            return -1;
        to += n;
    }
    return 0;
}

#define CONCAT                                                                                     \
    MXL_INPUTS(MXL_INPUT(data,                                                                     \
                         "Arrays of bytes, and then the limits of each: arg0_min, arg0_max, "      \
                         "arg1_min ...",                                                           \
                         .type_text = "NDArray-or-Symbol[]")),                                     \
        MXL_PARAMS_OF(concat_params,                                                               \
                      MXL_PARAM(concat_params, num_args, MXL_P_INT, MXL_REQUIRED,                  \
                                "How many arrays there are.", MXL_AT_LEAST(1)),                    \
                      MXL_PARAM(concat_params, dim, MXL_P_INT, "1", "The axis.")),                 \
        .arity = concat_arity, .output_names = MXL_QUANTIZED_NAMES,                                \
        .input_name = concat_input_name, .infer = concat_infer, .complete_dtypes = concat_dtypes,  \
        .compute = concat_compute

const mxl_op mxl_op_quantized_concat = {
    .name = "_contrib_quantized_concat",
    .doc = "Quantized arrays one after another along an axis, with common limits: the smallest and "
           "the largest of theirs. The bytes are uint8 if all are, else int8.",
    CONCAT,
};

const mxl_op mxl_op_quantized_concat_last = {
    .name = "_mxl_quantized_concat_last",
    .doc = "_contrib_quantized_concat along axis 1 of arrays whose bytes have the channels as the "
           "last axis, whatever their shapes say.",
    CONCAT,
};

bool mxl_quantized_joins_channels(const void *params)
{
    return ((const concat_params *)params)->dim == 1;
}

const mxl_op *const mxl_ops_pieces[] = {
    &mxl_op_quantized_act,         &mxl_op_quantized_flatten,
    &mxl_op_quantized_pooling,     &mxl_op_quantized_embedding,
    &mxl_op_quantized_concat,      &mxl_op_quantized_pooling_last,
    &mxl_op_quantized_concat_last, NULL};

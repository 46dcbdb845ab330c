/* Sequences of numbers and identity matrices: _arange, _linspace, _eye; and
 * _identity_with_attr_like_rhs. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "array/copy.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/convert.h"
#include "ops/build.h"

static const char *const eye_dtypes[] = {"float16", "float32", "float64", "int32",
                                         "int64",   "int8",    "uint8",   NULL};

typedef struct range_params {
    double start, stop, step;
    int64_t repeat, num;
    int infer_range, endpoint, dtype;
    const char *ctx;
} range_params;

#define RANGE_CTX MXL_PARAM(range_params, ctx, MXL_P_STRING, "", "Where the array lives: cpu(0).")
#define RANGE_DTYPE                                                                                \
    MXL_PARAM(range_params, dtype, MXL_P_DTYPE, "float32", "dtype of the array.",                  \
              .values = mxl_number_names)

/* Stores element i. */
static void store(mxl_array *out, char *data, int64_t i, double value)
{
    mxl_cast_scalar(value, out->dtype, data + i * (int64_t)mxl_dtype_size(out->dtype));
}

/* ---- _arange ---- */

static const mxl_param arange_table[] = {
    MXL_PARAM(range_params, start, MXL_P_FLOAT, MXL_REQUIRED,
              "The first number; without `stop` the end, and the first one is 0.",
              .type_name = "double"),
    MXL_PARAM(range_params, stop, MXL_P_OPT_FLOAT, "None", "The end, which is not in the array.",
              .type_name = "double or None"),
    MXL_PARAM(range_params, step, MXL_P_FLOAT, "1", "From one number to the next; not 0.",
              .type_name = "double"),
    MXL_PARAM(range_params, repeat, MXL_P_INT, "1", "Number of repetitions of each number."),
    MXL_PARAM(range_params, infer_range, MXL_P_BOOL, "0",
              "For symbols: whether the end follows from the shape. Here `stop` must be given."),
    RANGE_CTX,
    RANGE_DTYPE,
    {0},
};

/* `empty`: no numbers are an array of none, as in NumPy, not a mistake. */
static int count_range(mxl_infer *infer, bool empty)
{
    range_params p = *(const range_params *)infer->params;
    double count;
    int64_t size = 0;

    if (isnan(p.stop)) {
        if (p.infer_range)
            return mxl_error("_arange: infer_range without stop needs a symbol");
        p.stop = p.start;
        p.start = 0;
    }
    if (p.repeat < 1)
        return mxl_error("_arange: repeat is %lld, it must be positive", (long long)p.repeat);
    if (empty && (p.step > 0 ? p.start >= p.stop : p.step < 0 && p.start <= p.stop))
        return mxl_infer_made(infer, p.ctx, p.dtype, 1, &size);
    if (!(p.step > 0 ? p.start < p.stop : p.step < 0 && p.start > p.stop))
        return mxl_error("_arange: no numbers from %g to %g in steps of %g", p.start, p.stop,
                         p.step);
    count = ceil((p.stop - p.start) / p.step);
    if (!(count < 0x1p62) || __builtin_mul_overflow((int64_t)count, p.repeat, &size))
        return mxl_error("_arange: from %g to %g in steps of %g are too many numbers", p.start,
                         p.stop, p.step);
    return mxl_infer_made(infer, p.ctx, p.dtype, 1, &size);
}

static int arange_infer(mxl_infer *infer)
{
    return count_range(infer, false);
}

static int np_arange_infer(mxl_infer *infer)
{
    return count_range(infer, true);
}

/* start + i step; integers truncate start and step towards zero. */
static int arange_compute(const mxl_call *call)
{
    const range_params *p = call->params;
    mxl_array *out = call->out[0];
    char *data = mxl_array_write(out);
    double start = isnan(p->stop) ? 0 : p->start, step = p->step;

    if (!mxl_dtype_is_float(out->dtype)) {
        start = trunc(start);
        step = trunc(step);
    }
    for (int64_t i = 0; i < out->size; i++) {
        double value = start + (double)(i / p->repeat) * step;
        int64_t whole;

        /* Narrow integers must wrap; a cast from double need not. */
        if (out->dtype == MXL_U8 || out->dtype == MXL_I8) {
            whole = mxl_i64_from_f64(value);
            memcpy(data + i, &(uint8_t){(uint8_t)whole}, 1);
        } else {
            store(out, data, i, value);
        }
    }
    return 0;
}

MXL_CREATOR(op_arange, "_arange", range_params, arange_table, arange_infer, arange_compute,
            "Numbers from start to before stop, evenly spaced.");
MXL_CREATOR(op_np_arange, "_npi_arange", range_params, arange_table, np_arange_infer,
            arange_compute, "Numbers from start to before stop, evenly spaced; there may be none.");

mxl_array *mxl_range(mxl_scope *s, int64_t count, int dtype)
{
    const range_params p = {
        .stop = (double)count, .step = 1, .repeat = 1, .dtype = dtype, .ctx = ""};

    return mxl_scope_call(s, &op_np_arange, &p, 0, NULL);
}

/* ---- _linspace ---- */

static const mxl_param linspace_table[] = {
    MXL_PARAM(range_params, start, MXL_P_FLOAT, MXL_REQUIRED, "The first number.",
              .type_name = "double"),
    MXL_PARAM(range_params, stop, MXL_P_FLOAT, MXL_REQUIRED,
              "The last number; without `endpoint` the one behind it.", .type_name = "double"),
    MXL_PARAM(range_params, num, MXL_P_INT, MXL_REQUIRED, "How many numbers."),
    MXL_PARAM(range_params, endpoint, MXL_P_BOOL, "1", "Whether `stop` is one of them."),
    RANGE_CTX,
    RANGE_DTYPE,
    {0},
};

static int linspace_infer(mxl_infer *infer)
{
    const range_params *p = infer->params;

    if (p->num < 0)
        return mxl_error("_linspace: num is %lld, it must not be negative", (long long)p->num);
    return mxl_infer_made(infer, p->ctx, p->dtype, 1, &p->num);
}

static int linspace_compute(const mxl_call *call)
{
    const range_params *p = call->params;
    mxl_array *out = call->out[0];
    char *data = mxl_array_write(out);
    int64_t parts = p->endpoint ? p->num - 1 : p->num;
    double step = parts > 0 ? (p->stop - p->start) / (double)parts : 0;

    for (int64_t i = 0; i < out->size; i++)
        store(out, data, i, i > 0 && i == parts ? p->stop : p->start + (double)i * step);
    return 0;
}

MXL_CREATOR(op_linspace, "_linspace", range_params, linspace_table, linspace_infer,
            linspace_compute, "A number of values from start to stop, evenly spaced.",
            .aliases = MXL_ALIASES("_npi_linspace"));

/* ---- _eye ---- */

typedef struct eye_params {
    int64_t rows, columns, k;
    const char *ctx;
    int dtype;
} eye_params;

static const mxl_param eye_table[] = {
    MXL_PARAM_AS("N", eye_params, rows, MXL_P_INT, MXL_REQUIRED, "Number of rows.",
                 .type_name = "long"),
    MXL_PARAM_AS("M", eye_params, columns, MXL_P_INT, "0",
                 "Number of columns; 0 or less: as many as rows.", .type_name = "long"),
    MXL_PARAM(eye_params, k, MXL_P_INT, "0",
              "Which diagonal holds ones: 0 the main one, positive above it, negative below.",
              .type_name = "long"),
    MXL_PARAM(eye_params, ctx, MXL_P_STRING, "", "Where the array lives: cpu(0)."),
    MXL_PARAM(eye_params, dtype, MXL_P_DTYPE, "float32", "dtype of the array.",
              .values = eye_dtypes),
    {0},
};

static int eye_infer(mxl_infer *infer)
{
    const eye_params *p = infer->params;
    const int64_t shape[2] = {p->rows, p->columns > 0 ? p->columns : p->rows};

    if (p->rows < 0)
        return mxl_error("_eye: N is %lld, it must not be negative", (long long)p->rows);
    return mxl_infer_made(infer, p->ctx, p->dtype, 2, shape);
}

static int eye_compute(const mxl_call *call)
{
    const eye_params *p = call->params;
    mxl_array *out = call->out[0];
    size_t width = mxl_dtype_size(out->dtype);
    int64_t columns = out->shape[1], row = p->k < 0 ? -p->k : 0;
    char *data = mxl_array_write(out);

    memset(data, 0, (size_t)out->size * width);
    if (p->k < -out->shape[0] || p->k > columns)
        return 0;
    for (; row < out->shape[0] && row + p->k < columns; row++)
        store(out, data, row * columns + row + p->k, 1);
    return 0;
}

MXL_CREATOR(op_eye, "_eye", eye_params, eye_table, eye_infer, eye_compute,
            "Ones on a diagonal, zeros elsewhere.");

/* ---- _identity_with_attr_like_rhs ---- */

static int identity_compute(const mxl_call *call)
{
    return mxl_array_copy_into(call->out[0], call->in[0]);
}

static const mxl_op op_identity = {
    .name = "_identity_with_attr_like_rhs",
    .doc = "A copy of lhs, which must have the shape and dtype of rhs.",
    .inputs = mxl_inputs_lhs_rhs,
    .infer = mxl_infer_same,
    .compute = identity_compute,
    .grad = mxl_grad_pass,
};

const mxl_op *const mxl_ops_range[] = {&op_arange, &op_np_arange, &op_linspace,
                                       &op_eye,    &op_identity,  NULL};

/* Sequences of numbers and identity matrices: _arange, _linspace, _eye and NumPy's; and
 * _identity_with_attr_like_rhs. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "array/copy.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/convert.h"
#include "ops/build.h"
#include "ops/sparse/forms.h"

static const char *const eye_dtypes[] = {"float16", "float32", "float64", "int32",
                                         "int64",   "int8",    "uint8",   NULL};
static const char *const identity_dtypes[] = {"bfloat16", "bool",  "float16", "float32", "float64",
                                              "int32",    "int64", "int8",    "uint8",   NULL};

typedef struct range_params {
    double start, stop, step, base;
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
            "Numbers from start to before stop, evenly spaced.", .any_dtype = true);
MXL_CREATOR(op_np_arange, "_npi_arange", range_params, arange_table, np_arange_infer,
            arange_compute, "Numbers from start to before stop, evenly spaced; there may be none.",
            .any_dtype = true);

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
        return mxl_error("%s: num is %lld, it must not be negative", infer->op->name,
                         (long long)p->num);
    return mxl_infer_made(infer, p->ctx, p->dtype, 1, &p->num);
}

static const mxl_param even_table[] = {
    MXL_PARAM(range_params, start, MXL_P_FLOAT, MXL_REQUIRED, "The first number."),
    MXL_PARAM(range_params, stop, MXL_P_FLOAT, MXL_REQUIRED, "The last number."),
    MXL_PARAM(range_params, num, MXL_P_INT, MXL_REQUIRED, "How many numbers."),
    RANGE_CTX,
    RANGE_DTYPE,
    {0},
};

/* The same numbers, those behind the middle counted from stop. */
static int even_compute(const mxl_call *call)
{
    const range_params *p = call->params;
    mxl_array *out = call->out[0];
    char *data = mxl_array_write(out);
    double step = p->num > 1 ? (p->stop - p->start) / (double)(p->num - 1) : 0;

    for (int64_t i = 0; i < out->size; i++)
        store(out, data, i,
              p->num == 1      ? p->start
              : i < p->num / 2 ? p->start + (double)i * step
                               : p->stop - (double)(p->num - 1 - i) * step);
    return 0;
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
MXL_CREATOR(op_even, "_mxl_linspace", range_params, even_table, linspace_infer, even_compute,
            "A number of values from start to stop, evenly spaced; exact at both ends.");

/* ---- logspace ---- */

static int logspace_compute(const mxl_call *call)
{
    const range_params *p = call->params;
    int64_t parts = p->endpoint ? p->num - 1 : p->num;
    double step = parts > 0 ? (p->stop - p->start) / (double)parts : 0;
    char *data = mxl_array_write(call->out[0]);

    for (int64_t i = 0; i < p->num; i++)
        store(call->out[0], data, i, pow(p->base, p->start + (double)i * step));
    return 0;
}

static const mxl_param logspace_table[] = {
    MXL_PARAM(range_params, start, MXL_P_FLOAT, MXL_REQUIRED, "Exponent of the first number.",
              .type_name = "double"),
    MXL_PARAM(range_params, stop, MXL_P_FLOAT, MXL_REQUIRED, "Exponent of the last number.",
              .type_name = "double"),
    MXL_PARAM(range_params, num, MXL_P_INT, MXL_REQUIRED, "How many numbers."),
    MXL_PARAM(range_params, endpoint, MXL_P_BOOL, "1",
              "Whether the last number is the one at `stop`, or the one before it."),
    MXL_PARAM(range_params, base, MXL_P_FLOAT, "10", "The base of the powers.",
              .type_name = "double"),
    RANGE_CTX,
    RANGE_DTYPE,
    {0},
};

MXL_CREATOR(op_logspace, "_npi_logspace", range_params, logspace_table, linspace_infer,
            logspace_compute, "base ** x for equally spaced x from `start` to `stop`.");

/* ---- _eye ---- */

typedef struct eye_params {
    int64_t rows, columns, k;
    mxl_tuple shape;
    const char *ctx;
    int dtype;
} eye_params;

#define EYE_PARAM(field, kind, ...) MXL_PARAM(eye_params, field, kind, __VA_ARGS__)
#define EYE_ROWS                                                                                   \
    MXL_PARAM_AS("N", eye_params, rows, MXL_P_INT, MXL_REQUIRED, "Number of rows.",                \
                 .type_name = "long")
#define EYE_DIAGONAL                                                                               \
    EYE_PARAM(k, MXL_P_INT, "0",                                                                   \
              "Which diagonal holds ones: 0 the main one, positive above it, negative below.",     \
              .type_name = "long")
#define EYE_CTX EYE_PARAM(ctx, MXL_P_STRING, "", "Where the array lives: cpu(0).")
#define EYE_DTYPE(names)                                                                           \
    EYE_PARAM(dtype, MXL_P_DTYPE, "float32", "dtype of the array.", .values = names)

static const mxl_param eye_table[] = {
    EYE_ROWS,
    MXL_PARAM_AS("M", eye_params, columns, MXL_P_INT, "0",
                 "Number of columns; 0 or less: as many as rows.", .type_name = "long"),
    EYE_DIAGONAL,
    EYE_CTX,
    EYE_DTYPE(eye_dtypes),
    {0},
};
static const mxl_param np_eye_table[] = {
    EYE_ROWS,
    MXL_PARAM_AS("M", eye_params, columns, MXL_P_OPT_INT, "None",
                 "Number of columns; None: as many.", .type_name = ""),
    EYE_DIAGONAL,
    EYE_CTX,
    EYE_DTYPE(mxl_number_names),
    {0},
};
static const mxl_param np_identity_table[] = {
    EYE_PARAM(shape, MXL_P_SHAPE, "[]", "Shape of the matrix, which is square."),
    EYE_CTX,
    EYE_DTYPE(identity_dtypes),
    {0},
};

static int made_eye(mxl_infer *infer, int64_t columns)
{
    const eye_params *p = infer->params;
    const int64_t shape[2] = {p->rows, columns};

    if (p->rows < 0 || columns < 0)
        return mxl_error("%s: a matrix of %lld x %lld; sizes must not be negative", infer->op->name,
                         (long long)p->rows, (long long)columns);
    return mxl_infer_made(infer, p->ctx, p->dtype, 2, shape);
}

static int eye_infer(mxl_infer *infer)
{
    const eye_params *p = infer->params;

    return made_eye(infer, p->columns > 0 ? p->columns : p->rows);
}

static int np_eye_infer(mxl_infer *infer)
{
    const eye_params *p = infer->params;

    return made_eye(infer, p->columns == MXL_NONE ? p->rows : p->columns);
}

static int np_identity_infer(mxl_infer *infer)
{
    const eye_params *p = infer->params;

    if (p->shape.n != 2 || p->shape.v[0] != p->shape.v[1])
        return mxl_error("%s: shape %s is not that of a square matrix", infer->op->name,
                         MXL_SHAPE_TEXT(p->shape.n, p->shape.v));
    return mxl_infer_made(infer, p->ctx, p->dtype, 2, p->shape.v);
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
            "Ones on a diagonal, zeros elsewhere.", .any_dtype = true);
MXL_CREATOR(op_np_eye, "_npi_eye", eye_params, np_eye_table, np_eye_infer, eye_compute,
            "Ones on a diagonal, zeros elsewhere.", .any_dtype = true);
MXL_CREATOR(op_np_identity, "_npi_identity", eye_params, np_identity_table, np_identity_infer,
            eye_compute, "The identity matrix.", .any_dtype = true);

/* ---- _identity_with_attr_like_rhs ---- */

static int identity_compute(const mxl_call *call)
{
    return mxl_array_copy_into(call->out[0], call->in[0]);
}

/* Stored as rhs is. */
static bool identity_stypes(mxl_stypes *call)
{
    call->out[0] = call->in[1];
    return true;
}

static const mxl_sparse_forms identity_forms = {.stypes = identity_stypes,
                                                .compute = identity_compute};

static const mxl_op op_identity = {
    .name = "_identity_with_attr_like_rhs",
    .doc = "A copy of lhs, which must have the shape and dtype of rhs.",
    .inputs = mxl_inputs_lhs_rhs,
    .infer = mxl_infer_same,
    .compute = identity_compute,
    .any_dtype = true,
    .sparse = &identity_forms,
    .grad = mxl_grad_pass,
};

const mxl_op *const mxl_ops_range[] = {&op_arange,   &op_np_arange, &op_linspace, &op_even,
                                       &op_logspace, &op_eye,       &op_np_eye,   &op_np_identity,
                                       &op_identity, NULL};

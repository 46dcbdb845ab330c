/* NumPy arrays made from nothing: identity matrices, indices, sequences with equal ratios, windows.
 */
#include "ops/numpy/numpy.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "kernel/copy/cast.h"

static const char *const identity_dtypes[] = {"bfloat16", "bool",  "float16", "float32", "float64",
                                              "int32",    "int64", "int8",    "uint8",   NULL};

#define CTX(type) MXL_PARAM(type, ctx, MXL_P_STRING, "", "Where the array lives: cpu(0).")
#define DTYPE(type, def, names)                                                                    \
    MXL_PARAM(type, dtype, MXL_P_DTYPE, def, "dtype of the array.", .values = names)

/* Stores element i. */
static void store(mxl_array *out, char *data, int64_t i, double value)
{
    mxl_cast_scalar(value, out->dtype, data + i * (int64_t)mxl_dtype_size(out->dtype));
}

/* ---- eye, identity ---- */

typedef struct eye_params {
    int64_t rows, columns, k;
    const char *ctx;
    int dtype;
} eye_params;

static int eye_infer(mxl_infer *infer)
{
    const eye_params *p = infer->params;
    const int64_t shape[2] = {p->rows, p->columns == MXL_NONE ? p->rows : p->columns};

    if (shape[0] < 0 || shape[1] < 0)
        return mxl_error("%s: a matrix of %lld x %lld", infer->op->name, (long long)shape[0],
                         (long long)shape[1]);
    return mxl_infer_made(infer, p->ctx, p->dtype, 2, shape);
}

/* Ones on diagonal k of a matrix, zeros elsewhere. */
static int diagonal_of_ones(mxl_array *out, int64_t k)
{
    int64_t rows = out->shape[0], columns = out->shape[1], row = k < 0 ? -k : 0;
    char *data = mxl_array_write(out);

    memset(data, 0, (size_t)out->size * mxl_dtype_size(out->dtype));
    if (k < -rows || k > columns)
        return 0;
    for (; row < rows && row + k < columns; row++)
        store(out, data, row * columns + row + k, 1);
    return 0;
}

static int eye_compute(const mxl_call *call)
{
    return diagonal_of_ones(call->out[0], ((const eye_params *)call->params)->k);
}

static const mxl_param eye_table[] = {
    MXL_PARAM_AS("N", eye_params, rows, MXL_P_INT, MXL_REQUIRED, "Number of rows.",
                 .type_name = "long"),
    MXL_PARAM_AS("M", eye_params, columns, MXL_P_OPT_INT, "None",
                 "Number of columns; None: as many.", .type_name = ""),
    MXL_PARAM(eye_params, k, MXL_P_INT, "0", "Which diagonal has ones, counted upwards.",
              .type_name = "long"),
    CTX(eye_params),
    DTYPE(eye_params, "float32", mxl_number_names),
    {0},
};

MXL_CREATOR(op_eye, "_npi_eye", eye_params, eye_table, eye_infer, eye_compute,
            "Ones on a diagonal, zeros elsewhere.");

typedef struct identity_params {
    mxl_tuple shape;
    const char *ctx;
    int dtype;
} identity_params;

static int identity_infer(mxl_infer *infer)
{
    const identity_params *p = infer->params;

    if (p->shape.n != 2 || p->shape.v[0] != p->shape.v[1])
        return mxl_error("%s: shape %s is not that of a square matrix", infer->op->name,
                         MXL_SHAPE_TEXT(p->shape.n, p->shape.v));
    return mxl_infer_made(infer, p->ctx, p->dtype, 2, p->shape.v);
}

static int identity_compute(const mxl_call *call)
{
    return diagonal_of_ones(call->out[0], 0);
}

static const mxl_param identity_table[] = {
    MXL_PARAM(identity_params, shape, MXL_P_SHAPE, "[]", "Shape of the matrix, which is square."),
    CTX(identity_params),
    DTYPE(identity_params, "float32", identity_dtypes),
    {0},
};

MXL_CREATOR(op_identity, "_npi_identity", identity_params, identity_table, identity_infer,
            identity_compute, "The identity matrix.");

/* ---- indices ---- */

typedef struct indices_params {
    mxl_tuple dimensions;
    int dtype;
    const char *ctx;
} indices_params;

static int indices_infer(mxl_infer *infer)
{
    const indices_params *p = infer->params;
    int64_t shape[MXL_MAX_NDIM];
    int n = p->dimensions.n;

    if (n >= MXL_MAX_NDIM)
        return mxl_error("%s: dimensions has %d sizes, the maximum is %d", infer->op->name, n,
                         MXL_MAX_NDIM - 1);
    shape[0] = n;
    for (int i = 0; i < n; i++)
        shape[i + 1] = p->dimensions.v[i];
    return mxl_infer_made(infer, p->ctx, p->dtype, n + 1, shape);
}

static int indices_compute(const mxl_call *call)
{
    mxl_array *out = call->out[0];
    char *data = mxl_array_write(out);
    int n = out->ndim - 1;
    int64_t each = n > 0 ? out->size / n : 0, inner = each;

    for (int axis = 0; axis < n && each > 0; axis++) {
        int64_t size = out->shape[axis + 1];

        inner /= size;
        for (int64_t i = 0; i < each; i++)
            store(out, data, axis * each + i, (double)(i / inner % size));
    }
    return 0;
}

static const mxl_param indices_table[] = {
    MXL_PARAM(indices_params, dimensions, MXL_P_SHAPE, MXL_REQUIRED, "Shape of the grid."),
    DTYPE(indices_params, "int32", mxl_number_names),
    CTX(indices_params),
    {0},
};

MXL_CREATOR(op_indices, "_npi_indices", indices_params, indices_table, indices_infer,
            indices_compute, "The positions of a grid's points, one array for each axis.");

/* ---- logspace ---- */

typedef struct logspace_params {
    double start, stop;
    int64_t num;
    int endpoint;
    double base;
    const char *ctx;
    int dtype;
} logspace_params;

static int logspace_infer(mxl_infer *infer)
{
    const logspace_params *p = infer->params;

    if (p->num < 0)
        return mxl_error("%s: num is %lld, it must not be negative", infer->op->name,
                         (long long)p->num);
    return mxl_infer_made(infer, p->ctx, p->dtype, 1, &p->num);
}

static int logspace_compute(const mxl_call *call)
{
    const logspace_params *p = call->params;
    int64_t steps = p->endpoint ? p->num - 1 : p->num;
    double step = steps > 0 ? (p->stop - p->start) / (double)steps : 0;
    char *data = mxl_array_write(call->out[0]);

    for (int64_t i = 0; i < p->num; i++)
        store(call->out[0], data, i, pow(p->base, p->start + (double)i * step));
    return 0;
}

static const mxl_param logspace_table[] = {
    MXL_PARAM(logspace_params, start, MXL_P_FLOAT, MXL_REQUIRED, "Exponent of the first number.",
              .type_name = "double"),
    MXL_PARAM(logspace_params, stop, MXL_P_FLOAT, MXL_REQUIRED, "Exponent of the last number.",
              .type_name = "double"),
    MXL_PARAM(logspace_params, num, MXL_P_INT, MXL_REQUIRED, "How many numbers."),
    MXL_PARAM(logspace_params, endpoint, MXL_P_BOOL, "1",
              "Whether the last number is the one at `stop`, or the one before it."),
    MXL_PARAM(logspace_params, base, MXL_P_FLOAT, "10", "The base of the powers.",
              .type_name = "double"),
    CTX(logspace_params),
    DTYPE(logspace_params, "float32", mxl_number_names),
    {0},
};

MXL_CREATOR(op_logspace, "_npi_logspace", logspace_params, logspace_table, logspace_infer,
            logspace_compute, "base ** x for equally spaced x from `start` to `stop`.");

/* ---- windows ---- */

typedef struct window_params {
    int64_t size;
    const char *ctx;
    int dtype;
} window_params;

static int window_infer(mxl_infer *infer)
{
    const window_params *p = infer->params;
    int64_t size = p->size == MXL_NONE || p->size < 0 ? 0 : p->size;

    return mxl_infer_made(infer, p->ctx, p->dtype, 1, &size);
}

/* c[0] - c[1] cos(2 pi i / (n - 1)) + c[2] cos(4 pi i / (n - 1)) */
static int fill_window(mxl_array *out, const double c[3])
{
    int64_t n = out->size;
    char *data = mxl_array_write(out);

    for (int64_t i = 0; i < n; i++) {
        double angle = n > 1 ? 2 * 3.14159265358979323846 * (double)i / (double)(n - 1) : 0;
        double value = c[0] - c[1] * cos(angle) + c[2] * cos(2 * angle);

        store(out, data, i, n == 1 ? 1 : value);
    }
    return 0;
}

#define WINDOW(id, text, ...)                                                                      \
    static int id##_compute(const mxl_call *call)                                                  \
    {                                                                                              \
        return fill_window(call->out[0], (const double[3]){__VA_ARGS__});                          \
    }                                                                                              \
    MXL_CREATOR(op_##id, "_npi_" #id, window_params, window_table, window_infer, id##_compute, text)

static const mxl_param window_table[] = {
    MXL_PARAM_AS("M", window_params, size, MXL_P_OPT_INT, "None", "How many numbers.",
                 .type_name = ""),
    CTX(window_params),
    DTYPE(window_params, "float32", mxl_number_names),
    {0},
};

WINDOW(blackman, "Blackman's window: 0.42 - 0.5 cos(x) + 0.08 cos(2 x).", 0.42, 0.5, 0.08);
WINDOW(hamming, "Hamming's window: 0.54 - 0.46 cos(x).", 0.54, 0.46, 0);
WINDOW(hanning, "Hann's window: 0.5 - 0.5 cos(x).", 0.5, 0.5, 0);

const mxl_op *const mxl_ops_np_create[] = {
    &op_eye, &op_identity, &op_indices, &op_logspace, &op_blackman, &op_hamming, &op_hanning, NULL,
};

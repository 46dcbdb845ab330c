/* NumPy arrays made from nothing: indices and windows. */
#include "ops/numpy/numpy.h"

#include <math.h>
#include <stddef.h>

#include "kernel/copy/cast.h"

#define CTX(type) MXL_PARAM(type, ctx, MXL_P_STRING, "", "Where the array lives: cpu(0).")
#define DTYPE(type, def, names)                                                                    \
    MXL_PARAM(type, dtype, MXL_P_DTYPE, def, "dtype of the array.", .values = names)

/* Stores element i. */
static void store(mxl_array *out, char *data, int64_t i, double value)
{
    mxl_cast_scalar(value, out->dtype, data + i * (int64_t)mxl_dtype_size(out->dtype));
}

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
    &op_indices, &op_blackman, &op_hamming, &op_hanning, NULL,
};

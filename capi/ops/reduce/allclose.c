/* Equality within tolerances: _contrib_allclose for all elements together, _mxl_isclose for each.
 */
#include <stddef.h>

#include "kernel/copy/cast.h"
#include "ops/build.h"

enum { RUN = 256 };

typedef struct allclose_params {
    double rtol, atol;
    int equal_nan;
} allclose_params;

static const mxl_input allclose_inputs[] = {
    MXL_INPUT(a, "First array."),
    MXL_INPUT(b, "Second array, of the same shape and dtype."),
    {0},
};

/* The defaults are 1e-5 and 1e-8 rounded to float32, as 1.9.1 prints them. */
static const mxl_param allclose_table[] = {
    MXL_PARAM(allclose_params, rtol, MXL_P_FLOAT, "9.99999975e-06",
              "How far elements may differ, relative to the second one."),
    MXL_PARAM(allclose_params, atol, MXL_P_FLOAT, "9.99999994e-09",
              "How far they may differ beyond that."),
    MXL_PARAM(allclose_params, equal_nan, MXL_P_BOOL, "1", "Whether two NaNs are equal."),
    {0},
};

static int allclose_infer(mxl_infer *infer)
{
    if (infer->in[0]->dtype == MXL_BOOL)
        return mxl_error("%s: dtype bool is not supported", infer->op->name);
    if (mxl_infer_same(infer) != 0)
        return -1;
    infer->out_shape[0].ndim = 0;
    infer->out_dtype[0] = MXL_U8;
    return 0;
}

/* |a - b| <= atol + rtol |b|; infinities equal only themselves. */
static bool is_close(const allclose_params *p, double a, double b, double distance)
{
    if (isnan(a) || isnan(b))
        return p->equal_nan && isnan(a) && isnan(b);
    if (isinf(a) || isinf(b))
        return a == b;
    return distance == 0 || distance <= p->atol + p->rtol * fabs(b);
}

/* n elements as doubles; int64 elements also unconverted. */
static void read_run(const mxl_array *array, int64_t at, int64_t n, double *out, int64_t *exact)
{
    const void *from =
        (const char *)mxl_array_read(array) + at * (int64_t)mxl_dtype_size(array->dtype);
    int64_t step = 1;

    mxl_cast_loop(array->dtype, MXL_F64)(out, &from, &step, n, NULL);
    if (array->dtype == MXL_I64)
        mxl_cast_loop(MXL_I64, MXL_I64)(exact, &from, &step, n, NULL);
}

static int allclose_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0], *y = call->in[1];
    double a[RUN], b[RUN];
    int64_t i[RUN], j[RUN];
    bool close = true;

    for (int64_t at = 0; close && at < x->size; at += RUN) {
        int64_t n = x->size - at < RUN ? x->size - at : RUN;

        read_run(x, at, n, a, i);
        read_run(y, at, n, b, j);
        for (int64_t k = 0; close && k < n; k++) {
            double distance = fabs(a[k] - b[k]);

            /* Doubles would lose small differences of large integers. */
            if (x->dtype == MXL_I64)
                distance = i[k] > j[k] ? (double)((uint64_t)i[k] - (uint64_t)j[k])
                                       : (double)((uint64_t)j[k] - (uint64_t)i[k]);
            close = is_close(call->params, a[k], b[k], distance);
        }
    }
    *(uint8_t *)mxl_array_write(call->out[0]) = close;
    return 0;
}

static const mxl_op op_allclose = {
    .name = "_contrib_allclose",
    .doc =
        "1 where all elements of two arrays are equal within |a - b| <= atol + rtol |b|, 0 where "
        "one pair is not.",
    .inputs = allclose_inputs,
    MXL_PARAMS(allclose_params, allclose_table),
    .infer = allclose_infer,
    .compute = allclose_compute,
    .keeps_scalars = true,
};

/* ---- _mxl_isclose ---- */

static const mxl_param isclose_table[] = {
    MXL_PARAM(allclose_params, rtol, MXL_P_FLOAT, "1e-05",
              "How far elements may differ, relative to the second one."),
    MXL_PARAM(allclose_params, atol, MXL_P_FLOAT, "1e-08", "How far they may differ beyond that."),
    MXL_PARAM(allclose_params, equal_nan, MXL_P_BOOL, "0", "Whether two NaNs are equal."),
    {0},
};

/* As is_close, without branches; computed in C. An infinite distance is never close. */
#define CLOSE_LOOP(name, T, C, LOAD, EQUAL, DISTANCE)                                              \
    static void close_##name(void *out, const void *const *in, const int64_t *step, int64_t n,     \
                             const void *params)                                                   \
    {                                                                                              \
        const allclose_params *p = params;                                                         \
        const C rtol = (C)p->rtol, atol = (C)p->atol;                                              \
        const bool equal_nan = p->equal_nan != 0;                                                  \
        const T *a = in[0], *b = in[1];                                                            \
        uint8_t *z = out;                                                                          \
                                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T u = a[i * step[0]], v = b[i * step[1]];                                        \
            const C x = (C)LOAD(u), y = (C)LOAD(v), distance = DISTANCE;                           \
            const C most = atol + (C)fabs(rtol * y);                                               \
                                                                                                   \
            z[i] = (uint8_t)((EQUAL) | ((distance <= most) & (distance < (C)INFINITY)) |           \
                             (equal_nan & (x != x) & (y != y)));                                   \
        }                                                                                          \
    }

#define SAME(v) (v)
/* Doubles would lose small differences of large integers. */
#define APART_INT64 (double)(u > v ? (uint64_t)u - (uint64_t)v : (uint64_t)v - (uint64_t)u)

CLOSE_LOOP(f32, float, float, SAME, x == y, (float)fabs(x - y))
CLOSE_LOOP(f64, double, double, SAME, x == y, fabs(x - y))
CLOSE_LOOP(f16, mxl_half, float, mxl_half_to_float, x == y, (float)fabs(x - y))
CLOSE_LOOP(u8, uint8_t, double, SAME, u == v, fabs(x - y))
CLOSE_LOOP(i8, int8_t, double, SAME, u == v, fabs(x - y))
CLOSE_LOOP(i32, int32_t, double, SAME, u == v, fabs(x - y))
CLOSE_LOOP(i64, int64_t, double, SAME, u == v, APART_INT64)

static const mxl_kernels isclose_kernels = {.row = {[MXL_F32] = close_f32,
                                                    [MXL_F64] = close_f64,
                                                    [MXL_F16] = close_f16,
                                                    [MXL_U8] = close_u8,
                                                    [MXL_I8] = close_i8,
                                                    [MXL_I32] = close_i32,
                                                    [MXL_I64] = close_i64,
                                                    [MXL_BOOL] = close_u8},
                                            .weight = 2};

static int isclose_infer(mxl_infer *infer)
{
    if (mxl_infer_broadcast(infer) != 0)
        return -1;
    infer->out_dtype[0] = MXL_BOOL;
    return 0;
}

static const mxl_op op_isclose = {
    .name = "_mxl_isclose",
    .doc = "Where the elements of two arrays, broadcast, are equal within |a - b| <= atol + rtol "
           "|b|, as bool.",
    .inputs = mxl_inputs_lhs_rhs,
    MXL_PARAMS(allclose_params, isclose_table),
    .infer = isclose_infer,
    MXL_LOOPS(isclose),
};

const mxl_op *const mxl_ops_allclose[] = {&op_allclose, &op_isclose, NULL};

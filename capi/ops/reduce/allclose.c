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

/* The defaults are 1e-5 and 1e-8 rounded to float32, as 1.9.1 prints them. */
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

/* ---- loops ---- */

/* |a - b| <= atol + rtol |b|, computed in C; infinities equal only themselves. */
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
            const C most = atol + rtol * (C)fabs(y);                                               \
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

/* ---- _contrib_allclose ---- */

/* In runs of doubles, or of int64. */
static int allclose_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0], *y = call->in[1];
    const int wide = x->dtype == MXL_I64 ? MXL_I64 : MXL_F64;
    const mxl_loop read = mxl_cast_loop(x->dtype, wide);
    const int64_t width = (int64_t)mxl_dtype_size(x->dtype), step[2] = {1, 1};
    union {
        double f64[RUN];
        int64_t i64[RUN];
    } a, b;
    uint8_t close[RUN], all = 1;

    for (int64_t at = 0; all && at < x->size; at += RUN) {
        const void *from[2] = {(const char *)mxl_array_read(x) + at * width,
                               (const char *)mxl_array_read(y) + at * width};
        int64_t n = x->size - at < RUN ? x->size - at : RUN;

        read(&a, from, step, n, NULL);
        read(&b, from + 1, step, n, NULL);
        (wide == MXL_I64 ? close_i64 : close_f64)(close, (const void *[]){&a, &b}, step, n,
                                                  call->params);
        for (int64_t k = 0; k < n; k++)
            all &= close[k];
    }
    *(uint8_t *)mxl_array_write(call->out[0]) = all;
    return 0;
}

/* The parameters, with these defaults. */
#define CLOSE_PARAMS(rtol_default, atol_default, nan_default)                                      \
    MXL_PARAMS_OF(allclose_params,                                                                 \
                  MXL_PARAM(allclose_params, rtol, MXL_P_FLOAT, rtol_default,                      \
                            "The largest difference, relative to the second element."),            \
                  MXL_PARAM(allclose_params, atol, MXL_P_FLOAT, atol_default,                      \
                            "The largest difference beyond that."),                                \
                  MXL_PARAM(allclose_params, equal_nan, MXL_P_BOOL, nan_default,                   \
                            "Whether two NaNs are equal."))

static const mxl_op op_allclose = {
    .name = "_contrib_allclose",
    .doc =
        "1 where all elements of two arrays are equal within |a - b| <= atol + rtol |b|, 0 where "
        "one pair is not.",
    MXL_INPUTS(MXL_INPUT(a, "First array."),
               MXL_INPUT(b, "Second array, of the same shape and dtype.")),
    CLOSE_PARAMS("9.99999975e-06", "9.99999994e-09", "1"),
    .infer = allclose_infer,
    .dtypes = "AA>u",
    .compute = allclose_compute,
    .keeps_scalars = true,
};

/* ---- _mxl_isclose ---- */

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
    .doc = "Whether the elements of two arrays, broadcast, are equal within |a - b| <= atol + rtol "
           "|b|, as bool.",
    .inputs = mxl_inputs_lhs_rhs,
    CLOSE_PARAMS("1e-05", "1e-08", "0"),
    .infer = isclose_infer,
    MXL_LOOPS(isclose),
};

const mxl_op *const mxl_ops_allclose[] = {&op_allclose, &op_isclose, NULL};

/* The reduction loops, from reduce.tmpl.h, of each dtype that has its own; the initial values of
 * accumulators and their conversion to elements. */
#include "kernel/reduce/reduce_loops.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/dtype.h"
#include "base/half.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/convert.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/target.h"

enum {
    WIDE_ROWS = 32, /* most rows that are read side by side, LANES columns of each */
    SHORT_ROW = 256 /* elements; the lanes of longer rows are combined differently */
};

#define NAME(x)         f32_##x
#define T               float
#define A               double
#define P               double
#define FLAG            int32_t
#define LOWEST          (-INFINITY)
#define HIGHEST         INFINITY
#define FLOATING        1
#define MAGNITUDE       fabsf
#define UNORDERED(a, b) isunordered(a, b)
#define CARRIES         0
#define LEVELS          MXL_BY_LEVEL
#define RARE_LEVELS     MXL_UP_TO_AVX2
#include "kernel/reduce/reduce.tmpl.h"

#define NAME(x)         f64_##x
#define T               double
#define A               double
#define P               double
#define FLAG            int64_t
#define LOWEST          (-INFINITY)
#define HIGHEST         INFINITY
#define FLOATING        1
#define MAGNITUDE       fabs
#define UNORDERED(a, b) isunordered(a, b)
#define CARRIES         1
#define LEVELS          MXL_FROM_AVX2
#define RARE_LEVELS     MXL_UP_TO_AVX2
#include "kernel/reduce/reduce.tmpl.h"

/* Integers wrap, so sums and products may be computed in any width from that of the result on.
 * Their loops are bound by memory, and have one vector level less. */
#define NAME(x)         i32_##x
#define T               int32_t
#define A               int64_t
#define P               int32_t
#define FLAG            int32_t
#define LOWEST          INT32_MIN
#define HIGHEST         INT32_MAX
#define FLOATING        0
#define MAGNITUDE(v)    ((v) < 0 ? -(v) : (v))
#define UNORDERED(a, b) 0
#define CARRIES         0
#define LEVELS          MXL_UP_TO_AVX2
#define RARE_LEVELS     MXL_BASELINE_ONLY
#include "kernel/reduce/reduce.tmpl.h"

#define NAME(x)         i64_##x
#define T               int64_t
#define A               int64_t
#define P               int64_t
#define FLAG            int64_t
#define LOWEST          INT64_MIN
#define HIGHEST         INT64_MAX
#define FLOATING        0
#define MAGNITUDE(v)    ((v) < 0 ? -(v) : (v))
#define UNORDERED(a, b) 0
#define CARRIES         0
#define LEVELS          MXL_UP_TO_AVX2
#define RARE_LEVELS     MXL_BASELINE_ONLY
#include "kernel/reduce/reduce.tmpl.h"

const mxl_reduce_loops *mxl_reduce_loops_of(int dtype)
{
    return dtype == MXL_F32   ? &f32_loops
           : dtype == MXL_F64 ? &f64_loops
           : dtype == MXL_I32 ? &i32_loops
                              : &i64_loops;
}

int mxl_reduce_wide(mxl_reduction kind, int dtype)
{
    if (kind == MXL_REDUCE_NORM2 && !mxl_dtype_is_float(dtype))
        return MXL_F64;
    switch (dtype) {
    case MXL_F64:
    case MXL_I32:
    case MXL_I64:
        return dtype;
    case MXL_F32:
    case MXL_F16:
        return MXL_F32;
    default:
        return MXL_I32;
    }
}

void mxl_reduce_widen(int dtype, int wide, void *out, const void *in, int64_t n)
{
    int64_t step = 1;

    mxl_cast_loop(dtype, wide)(out, &in, &step, n, NULL);
}

void mxl_reduce_start(mxl_reduction kind, int dtype, void *acc, int64_t n)
{
    static const double floats[REDUCE_KINDS] = {
        [MXL_REDUCE_MAX] = -(double)INFINITY,
        [MXL_REDUCE_MIN] = (double)INFINITY,
        [MXL_REDUCE_PROD] = 1,
        [MXL_REDUCE_NANPROD] = 1,
    };
    static const int64_t integers[REDUCE_KINDS] = {
        [MXL_REDUCE_MAX] = INT64_MIN,
        [MXL_REDUCE_MIN] = INT64_MAX,
        [MXL_REDUCE_PROD] = 1,
        [MXL_REDUCE_NANPROD] = 1,
    };

    if (mxl_dtype_is_float(dtype))
        mxl_fill(sizeof(double), acc, &floats[kind], n);
    else
        mxl_fill(sizeof(int64_t), acc, &integers[kind], n);
}

#define FLOAT_MEAN(T, v, count) ((v) / (double)(count))
/* The sum wraps in its dtype before the division. */
#define INT_MEAN(T, v, count) ((count) == 0 ? 0 : (int64_t)(T)(v) / (count))
/* 1.9.1: true if any element is */
#define BOOL_MEAN(T, v, count) (v)

/* ROOT: the square root of a double. */
#define FINISH(name, T, A, MEAN, STORE, ROOT)                                                      \
    static void name(mxl_reduction kind, T *out, const void *acc, int64_t n, int64_t count)        \
    {                                                                                              \
        const double *squares = acc;                                                               \
        const A *all = acc;                                                                        \
                                                                                                   \
        (void)count;                                                                               \
        for (int64_t j = 0; j < n; j++) {                                                          \
            if (kind == MXL_REDUCE_NORM2)                                                          \
                out[j] = ROOT(sqrt(squares[j]));                                                   \
            else if (kind == MXL_REDUCE_MEAN)                                                      \
                out[j] = STORE(MEAN(T, all[j], count));                                            \
            else                                                                                   \
                out[j] = STORE(all[j]);                                                            \
        }                                                                                          \
    }
#define HALF(v) mxl_half_from_float((float)(v))
#define BOOL(v) ((uint8_t)((v) != 0))

FINISH(finish_f32, float, double, FLOAT_MEAN, (float), (float))
FINISH(finish_f64, double, double, FLOAT_MEAN, , )
FINISH(finish_f16, mxl_half, double, FLOAT_MEAN, HALF, HALF)
FINISH(finish_u8, uint8_t, int64_t, INT_MEAN, (uint8_t), mxl_u8_from_f64)
FINISH(finish_i8, int8_t, int64_t, INT_MEAN, (int8_t), mxl_i8_from_f64)
FINISH(finish_i32, int32_t, int64_t, INT_MEAN, (int32_t), mxl_i32_from_f64)
FINISH(finish_i64, int64_t, int64_t, INT_MEAN, , mxl_i64_from_f64)
FINISH(finish_b8, uint8_t, int64_t, BOOL_MEAN, BOOL, BOOL)

void mxl_reduce_finish(mxl_reduction kind, int dtype, void *out, const void *acc, int64_t n,
                       int64_t count)
{
    switch (dtype) {
    case MXL_F32:
        finish_f32(kind, out, acc, n, count);
        break;
    case MXL_F64:
        finish_f64(kind, out, acc, n, count);
        break;
    case MXL_F16:
        finish_f16(kind, out, acc, n, count);
        break;
    case MXL_U8:
        finish_u8(kind, out, acc, n, count);
        break;
    case MXL_I8:
        finish_i8(kind, out, acc, n, count);
        break;
    case MXL_I32:
        finish_i32(kind, out, acc, n, count);
        break;
    case MXL_I64:
        finish_i64(kind, out, acc, n, count);
        break;
    default:
        finish_b8(kind, out, acc, n, count);
    }
}

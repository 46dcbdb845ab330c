/* One set of reduction loops per dtype, from reduce.tmpl.h. */
#include "kernel/reduce_loops.h"

#include <math.h>

#include "base/dtype.h"
#include "base/half.h"
#include "kernel/target.h"

#define SAME(v)                 (v)
#define FLOAT_NAN(v)            ((v) != (v))
#define INT_NAN(v)              0
#define FLOAT_MEAN(T, v, count) ((v) / (double)(count))
/* The sum wraps in its dtype before it is divided. */
#define INT_MEAN(T, v, count) ((count) == 0 ? 0 : (int64_t)(T)(v) / (count))

#define NAME(x)  f32_##x
#define T        float
#define A        double
#define LOAD     SAME
#define STORE(a) ((float)(a))
#define LOWEST   (-(double)INFINITY)
#define HIGHEST  ((double)INFINITY)
#define IS_NAN   FLOAT_NAN
#define MEAN     FLOAT_MEAN
#include "kernel/reduce.tmpl.h"

#define NAME(x)  f64_##x
#define T        double
#define A        double
#define LOAD     SAME
#define STORE(a) (a)
#define LOWEST   (-(double)INFINITY)
#define HIGHEST  ((double)INFINITY)
#define IS_NAN   FLOAT_NAN
#define MEAN     FLOAT_MEAN
#include "kernel/reduce.tmpl.h"

#define NAME(x)  f16_##x
#define T        mxl_half
#define A        double
#define LOAD(v)  mxl_half_to_float(v)
#define STORE(a) mxl_half_from_float((float)(a))
#define LOWEST   (-(double)INFINITY)
#define HIGHEST  ((double)INFINITY)
#define IS_NAN   FLOAT_NAN
#define MEAN     FLOAT_MEAN
#include "kernel/reduce.tmpl.h"

#define NAME(x) u8_##x
#define WHOLE
#define T        uint8_t
#define A        int64_t
#define LOAD     SAME
#define STORE(a) ((uint8_t)(a))
#define LOWEST   0
#define HIGHEST  UINT8_MAX
#define IS_NAN   INT_NAN
#define MEAN     INT_MEAN
#include "kernel/reduce.tmpl.h"

#define NAME(x) i8_##x
#define WHOLE
#define T        int8_t
#define A        int64_t
#define LOAD     SAME
#define STORE(a) ((int8_t)(a))
#define LOWEST   INT8_MIN
#define HIGHEST  INT8_MAX
#define IS_NAN   INT_NAN
#define MEAN     INT_MEAN
#include "kernel/reduce.tmpl.h"

#define NAME(x) i32_##x
#define WHOLE
#define T        int32_t
#define A        int64_t
#define LOAD     SAME
#define STORE(a) ((int32_t)(a))
#define LOWEST   INT32_MIN
#define HIGHEST  INT32_MAX
#define IS_NAN   INT_NAN
#define MEAN     INT_MEAN
#include "kernel/reduce.tmpl.h"

#define NAME(x) i64_##x
#define WHOLE
#define T        int64_t
#define A        int64_t
#define LOAD     SAME
#define STORE(a) (a)
#define LOWEST   INT64_MIN
#define HIGHEST  INT64_MAX
#define IS_NAN   INT_NAN
#define MEAN     INT_MEAN
#include "kernel/reduce.tmpl.h"

#define NAME(x) b8_##x
#define WHOLE
#define T        uint8_t
#define A        int64_t
#define LOAD(v)  ((v) != 0)
#define STORE(a) ((uint8_t)((a) != 0))
#define LOWEST   0
#define HIGHEST  1
#define IS_NAN   INT_NAN
/* 1.9.1: true where anything is */
#define MEAN(T_, v, count) (v)
#include "kernel/reduce.tmpl.h"

const mxl_reduce_loops *mxl_reduce_loops_of(int dtype)
{
    static const mxl_reduce_loops *const loops[MXL_DTYPE_COUNT] = {
        [MXL_F32] = &f32_loops, [MXL_F64] = &f64_loops, [MXL_F16] = &f16_loops,
        [MXL_U8] = &u8_loops,   [MXL_I32] = &i32_loops, [MXL_I8] = &i8_loops,
        [MXL_I64] = &i64_loops, [MXL_BOOL] = &b8_loops,
    };

    return loops[dtype];
}

/* The casts: one loop per pair of dtypes. */
#include "kernel/copy/cast.h"

typedef uint8_t b8; /* stored 0 or 1 */
typedef float f32;
typedef double f64;
typedef mxl_half f16;
typedef uint8_t u8;
typedef int8_t i8;
typedef int32_t i32;
typedef int64_t i64;

/* The C type that each dtype is converted from: a float, a double or an integer. */
#define FROM_f32(v) (v)
#define FROM_f64(v) (v)
#define FROM_u8(v)  (v)
#define FROM_i8(v)  (v)
#define FROM_i32(v) (v)
#define FROM_i64(v) (v)
/* Foreign memory may hold any byte as a bool. */
#define FROM_b8(v) ((v) != 0)

#define TO_FLOAT(T, v) ((T)(v))
#define TO_BOOL(T, v)  ((v) != 0)
#define TO_INT(T, v)   ((T)(v))
#define F32_TO_u8(v)   mxl_u8_from_f32(v)
#define F32_TO_i8(v)   mxl_i8_from_f32(v)
#define F32_TO_i32(v)  mxl_i32_from_f32(v)
#define F32_TO_i64(v)  mxl_i64_from_f32(v)
#define F64_TO_u8(v)   mxl_u8_from_f64(v)
#define F64_TO_i8(v)   mxl_i8_from_f64(v)
#define F64_TO_i32(v)  mxl_i32_from_f64(v)
#define F64_TO_i64(v)  mxl_i64_from_f64(v)

#define CAST(A, B, expr)                                                                           \
    MXL_INLINE void cast_##A##_##B##_loop_at(int level, B *z, const A *a, int64_t n)               \
    {                                                                                              \
        (void)level;                                                                               \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            z[i] = expr;                                                                           \
        }                                                                                          \
    }                                                                                              \
    MXL_UP_TO_AVX2(cast_##A##_##B##_loop, (B * z, const A *a, int64_t n), z, a, n)                 \
                                                                                                   \
    static void cast_##A##_##B(void *out, const void *const *in, const int64_t *step, int64_t n,   \
                               const void *params)                                                 \
    {                                                                                              \
        (void)step;                                                                                \
        (void)params;                                                                              \
        cast_##A##_##B##_loop(out, in[0], n);                                                      \
    }

#define FROM_ANY(A)                                                                                \
    CAST(A, f32, TO_FLOAT(float, FROM_##A(a[i])))                                                  \
    CAST(A, f64, TO_FLOAT(double, FROM_##A(a[i])))                                                 \
    CAST(A, b8, TO_BOOL(b8, FROM_##A(a[i])))

#define FROM_INT(A)                                                                                \
    FROM_ANY(A)                                                                                    \
    CAST(A, u8, TO_INT(uint8_t, FROM_##A(a[i])))                                                   \
    CAST(A, i8, TO_INT(int8_t, FROM_##A(a[i])))                                                    \
    CAST(A, i32, TO_INT(int32_t, FROM_##A(a[i])))                                                  \
    CAST(A, i64, TO_INT(int64_t, FROM_##A(a[i])))

#define FROM_REAL(A, KIND)                                                                         \
    FROM_ANY(A)                                                                                    \
    CAST(A, u8, KIND##_TO_u8(FROM_##A(a[i])))                                                      \
    CAST(A, i8, KIND##_TO_i8(FROM_##A(a[i])))                                                      \
    CAST(A, i32, KIND##_TO_i32(FROM_##A(a[i])))                                                    \
    CAST(A, i64, KIND##_TO_i64(FROM_##A(a[i])))

FROM_REAL(f32, F32)
FROM_REAL(f64, F64)
FROM_INT(u8)
FROM_INT(i8)
FROM_INT(i32)
FROM_INT(i64)
FROM_INT(b8)

/* ---- float16, through float32 ---- */

/* second(first(in)), a tile of float32 at a time. */
static void in_two_steps(mxl_loop first, size_t in_size, mxl_loop second, size_t out_size,
                         void *out, const void *in, int64_t n)
{
    float tile[MXL_LOOP_TILE];
    int64_t step = 1;

    for (int64_t i = 0; i < n; i += MXL_LOOP_TILE) {
        int64_t part = n - i < MXL_LOOP_TILE ? n - i : MXL_LOOP_TILE;
        const void *from = (const char *)in + i * (int64_t)in_size, *between = tile;

        first(tile, &from, &step, part, NULL);
        second((char *)out + i * (int64_t)out_size, &between, &step, part, NULL);
    }
}

#define TWO_STEPS(A, B, first, second)                                                             \
    static void cast_##A##_##B(void *out, const void *const *in, const int64_t *step, int64_t n,   \
                               const void *params)                                                 \
    {                                                                                              \
        (void)step;                                                                                \
        (void)params;                                                                              \
        in_two_steps(first, sizeof(A), second, sizeof(B), out, in[0], n);                          \
    }

#define cast_f16_f32 mxl_cast_half_to_float
#define cast_f32_f16 mxl_cast_float_to_half
#define HALF(A)                                                                                    \
    TWO_STEPS(A, f16, cast_##A##_f32, cast_f32_f16)                                                \
    TWO_STEPS(f16, A, cast_f16_f32, cast_f32_##A)

HALF(f64)
HALF(u8)
HALF(i8)
HALF(i32)
HALF(i64)
HALF(b8)
TWO_STEPS(f16, f16, cast_f16_f32, cast_f32_f16)

#define CAST_LINE(A)                                                                               \
    {[MXL_F32] = cast_##A##_f32, [MXL_F64] = cast_##A##_f64, [MXL_F16] = cast_##A##_f16,           \
     [MXL_U8] = cast_##A##_u8,   [MXL_I32] = cast_##A##_i32, [MXL_I8] = cast_##A##_i8,             \
     [MXL_I64] = cast_##A##_i64, [MXL_BOOL] = cast_##A##_b8}

mxl_loop mxl_cast_loop(int from, int to)
{
    static const mxl_loop table[MXL_DTYPE_LOOPS][MXL_DTYPE_LOOPS] = {
        [MXL_F32] = CAST_LINE(f32), [MXL_F64] = CAST_LINE(f64), [MXL_F16] = CAST_LINE(f16),
        [MXL_U8] = CAST_LINE(u8),   [MXL_I32] = CAST_LINE(i32), [MXL_I8] = CAST_LINE(i8),
        [MXL_I64] = CAST_LINE(i64), [MXL_BOOL] = CAST_LINE(b8),
    };

    if (mxl_dtype_is_carried(from) || mxl_dtype_is_carried(to))
        return mxl_cast_carried(from, to);
    return table[from][to];
}

void mxl_cast_scalar(double value, int dtype, void *out)
{
    const void *in = &value;
    int64_t step = 1;

    mxl_cast_loop(MXL_F64, dtype)(out, &in, &step, 1, NULL);
}

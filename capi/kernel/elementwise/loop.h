/* Element-wise kernels: an expression in x (and y, or the scalar s) becomes one loop per dtype.
 * Files of ops/ define theirs with the macros below; op/rows.c and loop.c call them. */
#ifndef MXL_KERNEL_ELEMENTWISE_LOOP_H
#define MXL_KERNEL_ELEMENTWISE_LOOP_H

#include <stddef.h>
#include <stdint.h>
#include <tgmath.h>

#include "base/dtype.h"
#include "base/half.h"
#include "kernel/copy/convert.h"
#include "kernel/elementwise/instructions.h"
#include "kernel/math/math.h"

/* A loop over one run of elements. in[i] advances by step[i] (0 or 1) elements, out by 1; at least
 * one step is 1. `params` is the operator's parameter struct. in[i] may equal out, but must not
 * overlap it otherwise. */
typedef void (*mxl_loop)(void *out, const void *const *in, const int64_t *step, int64_t n,
                         const void *params);

/* One loop for each dtype of the first input; NULL: unsupported. */
typedef struct mxl_kernels {
    mxl_loop row[MXL_DTYPE_LOOPS];
    int weight; /* cost of an element in additions (0: one); decides how many elements a thread is
                   worth */
    mxl_opcode opcode; /* what the loops of float32 and float64 compute, if it is an instruction */
} mxl_kernels;

/* What the loop of a dtype computes, if it is an instruction. */
static inline mxl_opcode mxl_kernels_opcode(const mxl_kernels *kernels, int dtype)
{
    return dtype == MXL_F32 || dtype == MXL_F64 ? kernels->opcode : MXL_CODE_NONE;
}

/* The parameter struct of operators with one scalar (MXL_SCALAR_LOOP reads it). */
typedef struct mxl_scalar_params {
    double scalar;
    int is_int;
} mxl_scalar_params;

enum {
    MXL_LOOP_INPUTS = 8,       /* the most inputs of a loop */
    MXL_LOOP_UNIT = 16384,     /* additions that make a chunk worth a spinning thread, */
    MXL_LOOP_GRAIN = 32768,    /* and worth waking a sleeping one */
    MXL_LOOP_SMALL = 8192,     /* elements below which no kernel is split among threads */
    MXL_LOOP_WHOLE_BYTES = 64, /* of a whole vector of a loop of functions */
    MXL_LOOP_TILE = 512        /* elements gathered at a time where strides are not 0 or 1 */
};

/* Runs a loop over n elements with steps of 0 or 1, on several threads if n * weight is large.
 * Sizes are bytes of one element. */
void mxl_loop_run(mxl_loop row, int weight, int64_t n, void *out, size_t out_size, int num_in,
                  const void *const *in, const int64_t *step, const size_t *in_size,
                  const void *params);

/* Runs a loop over strided operands of one shape. Strides are in elements, of either sign, and 0
 * along broadcast dimensions of inputs (never of out, unless the dimension has size 1). num_in is 1
 * to MXL_LOOP_INPUTS, element sizes are 1, 2, 4 or 8 bytes. -1 with the error set for more inputs
 * or dimensions. */
int mxl_loops(mxl_loop row, int weight, int ndim, const int64_t *shape, void *out,
              const int64_t *out_strides, size_t out_size, int num_in, const void *const *in,
              const int64_t *const *in_strides, const size_t *in_size, const void *params);

/* Runs the loop of dtype `via`, MXL_F32 or MXL_F64, for `dtype`: casts elements in tiles that stay
 * in the cache, and casts the results back. One or two inputs. */
void mxl_loop_via(mxl_loop row, int via, int dtype, int num_in, void *out, const void *const *in,
                  const int64_t *step, int64_t n, const void *params);

/* The same after rounding the scalar of mxl_scalar_params to `dtype`. */
void mxl_scalar_loop_via(mxl_loop row, int via, int dtype, int num_in, void *out,
                         const void *const *in, const int64_t *step, int64_t n, const void *params);

/* Calls `row` with whole vectors of elements (64 bytes) and steps of 1, where `step` or `n` are
 * others: from copies of one-element operands and of the last elements. One or two inputs. */
void mxl_loop_whole(mxl_loop row, size_t size, int num_in, void *out, const void *const *in,
                    const int64_t *step, int64_t n, const void *params);

/* ---- loops from expressions ----
 *
 *     MXL_FLOAT_KERNELS(tanh, MXL_UNARY_LOOP, mxl_loop_tanh(x));
 *
 * makes `static const mxl_kernels tanh_kernels`. Likewise
 *
 *     MXL_ARITH_KERNELS(add, MXL_BINARY_LOOP, x + y);
 *
 *     MXL_ARITH_KERNELS(divide, MXL_BINARY_LOOP, mxl_quotient(x, y));
 *
 *     MXL_ARITH_KERNELS(plus_scalar, MXL_SCALAR_LOOP, x + s);
 *
 *     MXL_MATH_KERNELS(exp, MXL_UNARY_LOOP, mxl_loop_exp(x));
 *
 * FLOAT: float32, float64, float16. ARITH: those and all integers, each in its own arithmetic.
 * MATH: ARITH's dtypes, integers computed in float32 (8 bits) or float64 and truncated back, in
 * tiles. float16 always goes through float32, likewise. No kernels are made for bool.
 * MXL_FLOAT_OPCODE and MXL_ARITH_OPCODE make the same kernels and say which instruction
 * (instructions.h) the expression is:
 *
 *     MXL_ARITH_OPCODE(add, MXL_BINARY_LOOP, MXL_CODE_ADD, x + y);
 *
 * x, y and s have the type the loop computes in: float for float32 and float16, double for float64,
 * int for the 8-bit integers, int32_t, int64_t. <tgmath.h> is in force, so exp(x) of a float is
 * expf; write constants as integers (1 / (1 + exp(-x))), since 1.0 would make float expressions
 * double. Prefer mxl_loop_exp(x), ... (math.h): loops of those
 * vectorise. Integers wrap on being stored. s is the scalar after conversion to the
 * array's dtype. */
#define MXL_FLOAT_KERNELS(name, ROW, ...) MXL_FLOAT_OPCODE(name, ROW, MXL_CODE_NONE, __VA_ARGS__)

#define MXL_FLOAT_OPCODE(name, ROW, CODE, ...)                                                     \
    ROW(name##_f32, f32, __VA_ARGS__)                                                              \
    ROW(name##_f64, f64, __VA_ARGS__)                                                              \
    ROW##_VIA(name, f16) static const mxl_kernels name##_kernels = {                               \
        .row = {[MXL_F32] = name##_f32, [MXL_F64] = name##_f64, [MXL_F16] = name##_f16},           \
        .weight = 2,                                                                               \
        .opcode = CODE}

#define MXL_ARITH_KERNELS(name, ROW, ...) MXL_ARITH_OPCODE(name, ROW, MXL_CODE_NONE, __VA_ARGS__)

#define MXL_ARITH_OPCODE(name, ROW, CODE, ...)                                                     \
    ROW(name##_f32, f32a, __VA_ARGS__)                                                             \
    ROW(name##_f64, f64a, __VA_ARGS__)                                                             \
    ROW##_VIA(name, f16) ROW(name##_u8, u8, __VA_ARGS__) ROW(name##_i32, i32, __VA_ARGS__)         \
        ROW(name##_i8, i8, __VA_ARGS__) ROW(name##_i64, i64, __VA_ARGS__)                          \
            MXL_WEIGHED_TABLE(name, 1, CODE)

#define MXL_MATH_KERNELS(name, ROW, ...)                                                           \
    ROW(name##_f32, f32, __VA_ARGS__)                                                              \
    ROW(name##_f64, f64, __VA_ARGS__)                                                              \
    ROW##_VIA(name, f16) ROW##_VIA(name, u8) ROW##_VIA(name, i32) ROW##_VIA(name, i8)              \
        ROW##_VIA(name, i64) MXL_NUMERIC_TABLE(name)

/* The same for functions that are plain arithmetic, of which each vector level has its loops: they
 * are small, and take any number of elements. */
#define MXL_PLAIN_KERNELS(name, ROW, ...)                                                          \
    ROW(name##_f32, f32p, __VA_ARGS__)                                                             \
    ROW(name##_f64, f64p, __VA_ARGS__)                                                             \
    ROW##_VIA(name, f16) ROW##_VIA(name, u8) ROW##_VIA(name, i32) ROW##_VIA(name, i8)              \
        ROW##_VIA(name, i64) MXL_NUMERIC_TABLE(name)

#define MXL_NUMERIC_TABLE(name) MXL_WEIGHED_TABLE(name, 2, MXL_CODE_NONE)
#define MXL_WEIGHED_TABLE(name, cost, CODE)                                                        \
    static const mxl_kernels name##_kernels = MXL_KERNELS_OF(name, cost, CODE)
#define MXL_KERNELS_OF(name, cost, CODE)                                                           \
    {.row = {[MXL_F32] = name##_f32,                                                               \
             [MXL_F64] = name##_f64,                                                               \
             [MXL_F16] = name##_f16,                                                               \
             [MXL_U8] = name##_u8,                                                                 \
             [MXL_I32] = name##_i32,                                                               \
             [MXL_I8] = name##_i8,                                                                 \
             [MXL_I64] = name##_i64},                                                              \
     .weight = cost,                                                                               \
     .opcode = CODE}

/* Loops for the vector levels that are worth it (kernel/target.h). Without AVX2 only those of
 * float32 are vectorised; arithmetic is bound by memory, and 1-byte elements have one version. */
#define MXL_LOOP_PARAMETERS                                                                        \
    (void *out, const void *const *in, const int64_t *step, int64_t n, const void *params)
#define MXL_LOOP_BY_LEVEL(fn)   MXL_BY_LEVEL(fn, MXL_LOOP_PARAMETERS, out, in, step, n, params)
#define MXL_LOOP_FROM_AVX2(fn)  MXL_FROM_AVX2(fn, MXL_LOOP_PARAMETERS, out, in, step, n, params)
#define MXL_LOOP_UP_TO_AVX2(fn) MXL_UP_TO_AVX2(fn, MXL_LOOP_PARAMETERS, out, in, step, n, params)
#define MXL_LOOP_FAST_UP_TO_AVX2(fn)                                                               \
    MXL_FAST_UP_TO_AVX2(fn, MXL_LOOP_PARAMETERS, out, in, step, n, params)
#define MXL_LOOP_BASELINE_ONLY(fn)                                                                 \
    MXL_BASELINE_ONLY(fn, MXL_LOOP_PARAMETERS, out, in, step, n, params)

/* Loops of functions, those of f32 and f64, run whole vectors of elements alone: an expression is
 * built once for each level, not again for the elements that are left over, nor for each operand
 * that is one number. mxl_loop_whole copies such elements and operands. The baseline, and other
 * processors than x86-64, take any number of elements. */
#define MXL_TAKES_ANY(level) (!MXL_HAS_WIDE || (level) == MXL_BASELINE)
#define MXL_WHOLE_LOOP(fn, T, num_in, LEVELS)                                                      \
    MXL_INLINE void fn##_whole_at(int level, void *out, const void *const *in,                     \
                                  const int64_t *step, int64_t n, const void *params)              \
    {                                                                                              \
        fn##_at(level, out, in, step, n, params);                                                  \
    }                                                                                              \
    LEVELS(fn##_whole)                                                                             \
    static void fn MXL_LOOP_PARAMETERS                                                             \
    {                                                                                              \
        const bool is_whole = n % MXL_LOOP_WHOLE(T) == 0 || MXL_TAKES_ANY(mxl_level());            \
                                                                                                   \
        if (is_whole && ((num_in) == 1 || (step[0] != 0 && step[1] != 0)))                         \
            fn##_whole(out, in, step, n, params);                                                  \
        else                                                                                       \
            mxl_loop_whole(fn, sizeof(T), num_in, out, in, step, n, params);                       \
    }
#define MXL_LOOP_WHOLE(T)      (MXL_LOOP_WHOLE_BYTES / (int64_t)sizeof(T))
#define MXL_WHOLE(level, T, n) (MXL_TAKES_ANY(level) ? (n) : (n) & -MXL_LOOP_WHOLE(T))

/* out[i] = expression in x */
#define MXL_UNARY_LOOP(fn, D, ...)                                                                 \
    MXL_INLINE void fn##_at(int level, void *out, const void *const *in, const int64_t *step,      \
                            int64_t n, const void *params)                                         \
    {                                                                                              \
        MXL_T_##D *const z = out;                                                                  \
        const MXL_T_##D *const a = in[0];                                                          \
                                                                                                   \
        (void)step, (void)params;                                                                  \
        n = MXL_COUNT_##D(level, n);                                                               \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const MXL_C_##D x = MXL_LOAD_##D(a[i]);                                                \
            z[i] = MXL_STORE_##D(__VA_ARGS__);                                                     \
        }                                                                                          \
    }                                                                                              \
    MXL_LOOP_LEVELS_##D(fn, 1)

/* out[i] = the expression `near` if |x| <= `limit`, else `far`. Works in tiles, so that `far`,
 * which may be slow or not vectorise, costs nothing in tiles without large numbers. */
#define MXL_NEAR_LOOP(fn, D, limit, near, far)                                                     \
    MXL_INLINE void fn##_tile(int level, MXL_T_##D *z, const MXL_T_##D *a, int64_t n)              \
    {                                                                                              \
        int beyond = 0;                                                                            \
                                                                                                   \
        n = MXL_COUNT_##D(level, n);                                                               \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const MXL_C_##D x = MXL_LOAD_##D(a[i]);                                                \
            beyond |= fabs(x) > limit;                                                             \
        }                                                                                          \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n && !beyond; i++) {                                               \
            const MXL_C_##D x = MXL_LOAD_##D(a[i]);                                                \
            z[i] = MXL_STORE_##D(near);                                                            \
        }                                                                                          \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n && beyond; i++) {                                                \
            const MXL_C_##D x = MXL_LOAD_##D(a[i]);                                                \
            z[i] = MXL_STORE_##D(fabs(x) > limit ? far : near);                                    \
        }                                                                                          \
    }                                                                                              \
    MXL_INLINE void fn##_at(int level, void *out, const void *const *in, const int64_t *step,      \
                            int64_t n, const void *params)                                         \
    {                                                                                              \
        MXL_T_##D *z = out;                                                                        \
        const MXL_T_##D *a = in[0];                                                                \
                                                                                                   \
        (void)step, (void)params;                                                                  \
        for (int64_t i = 0; i < n; i += MXL_LOOP_TILE)                                             \
            fn##_tile(level, z + i, a + i, n - i < MXL_LOOP_TILE ? n - i : MXL_LOOP_TILE);         \
    }                                                                                              \
    MXL_LOOP_LEVELS_##D(fn, 1)

/* out[i] = expression in x and the scalar s */
#define MXL_SCALAR_LOOP(fn, D, ...)                                                                \
    MXL_INLINE void fn##_at(int level, void *out, const void *const *in, const int64_t *step,      \
                            int64_t n, const void *params)                                         \
    {                                                                                              \
        const MXL_C_##D s =                                                                        \
            MXL_LOAD_##D(MXL_ROUND_##D(((const mxl_scalar_params *)params)->scalar));              \
        MXL_T_##D *const z = out;                                                                  \
        const MXL_T_##D *const a = in[0];                                                          \
                                                                                                   \
        (void)step;                                                                                \
        n = MXL_COUNT_##D(level, n);                                                               \
        MXL_IVDEP                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const MXL_C_##D x = MXL_LOAD_##D(a[i]);                                                \
            z[i] = MXL_STORE_##D(__VA_ARGS__);                                                     \
        }                                                                                          \
    }                                                                                              \
    MXL_LOOP_LEVELS_##D(fn, 1)

/* out[i] = expression in x and y; a loop for each pair of steps, so that each vectorises */
#define MXL_BINARY_LOOP(fn, D, ...)                                                                \
    MXL_INLINE void fn##_at(int level, void *out, const void *const *in, const int64_t *step,      \
                            int64_t n, const void *params)                                         \
    {                                                                                              \
        MXL_T_##D *const z = out;                                                                  \
        const MXL_T_##D *const a = in[0];                                                          \
        const MXL_T_##D *const b = in[1];                                                          \
                                                                                                   \
        (void)params;                                                                              \
        n = MXL_COUNT_##D(level, n);                                                               \
        if (!MXL_IS_WHOLE_##D && step[1] == 0) {                                                   \
            const MXL_C_##D y = MXL_LOAD_##D(*b);                                                  \
            MXL_IVDEP                                                                              \
            for (int64_t i = 0; i < n; i++) {                                                      \
                const MXL_C_##D x = MXL_LOAD_##D(a[i]);                                            \
                z[i] = MXL_STORE_##D(__VA_ARGS__);                                                 \
            }                                                                                      \
        } else if (!MXL_IS_WHOLE_##D && step[0] == 0) {                                            \
            const MXL_C_##D x = MXL_LOAD_##D(*a);                                                  \
            MXL_IVDEP                                                                              \
            for (int64_t i = 0; i < n; i++) {                                                      \
                const MXL_C_##D y = MXL_LOAD_##D(b[i]);                                            \
                z[i] = MXL_STORE_##D(__VA_ARGS__);                                                 \
            }                                                                                      \
        } else {                                                                                   \
            MXL_IVDEP                                                                              \
            for (int64_t i = 0; i < n; i++) {                                                      \
                const MXL_C_##D x = MXL_LOAD_##D(a[i]);                                            \
                const MXL_C_##D y = MXL_LOAD_##D(b[i]);                                            \
                z[i] = MXL_STORE_##D(__VA_ARGS__);                                                 \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    MXL_LOOP_LEVELS_##D(fn, 2)

/* The loop of another dtype through a float that holds its numbers: the tables of kernels call
 * ROW##_VIA. The scalar is rounded to the dtype. */
#define MXL_UNARY_LOOP_VIA(name, D)  MXL_LOOP_VIA(name, D, mxl_loop_via, 1)
#define MXL_NEAR_LOOP_VIA(name, D)   MXL_LOOP_VIA(name, D, mxl_loop_via, 1)
#define MXL_BINARY_LOOP_VIA(name, D) MXL_LOOP_VIA(name, D, mxl_loop_via, 2)
#define MXL_SCALAR_LOOP_VIA(name, D) MXL_LOOP_VIA(name, D, mxl_scalar_loop_via, 1)
#define MXL_LOOP_VIA(name, D, run, num_in)                                                         \
    static void name##_##D MXL_LOOP_PARAMETERS                                                     \
    {                                                                                              \
        run(MXL_VIA_##D(name), MXL_DTYPE_##D, num_in, out, in, step, n, params);                   \
    }

/* x / y without traps: an integer divided by zero is 0, the smallest divided by -1 is itself. */
static inline int32_t mxl_quotient_i32(int32_t x, int32_t y)
{
    if (y == 0)
        return 0;
    return y == -1 ? -x : x / y;
}

static inline int64_t mxl_quotient_i64(int64_t x, int64_t y)
{
    if (y == 0)
        return 0;
    return y == -1 ? -x : x / y;
}

static inline float mxl_quotient_f32(float x, float y)
{
    return x / y;
}

static inline double mxl_quotient_f64(double x, double y)
{
    return x / y;
}

#define mxl_quotient(x, y)                                                                         \
    _Generic((x),                                                                                  \
        float: mxl_quotient_f32,                                                                   \
        double: mxl_quotient_f64,                                                                  \
        int32_t: mxl_quotient_i32,                                                                 \
        int64_t: mxl_quotient_i64)(x, y)

/* ---- per dtype: stored type, computing type, load, store, and a double rounded to the dtype ----
 */
#define MXL_T_f32                       float
#define MXL_C_f32                       float
#define MXL_LOAD_f32(v)                 (v)
#define MXL_STORE_f32(v)                ((float)(v))
#define MXL_LOOP_LEVELS_f32(fn, num_in) MXL_WHOLE_LOOP(fn, float, num_in, MXL_LOOP_BY_LEVEL)
#define MXL_COUNT_f32(level, n)         MXL_WHOLE(level, float, n)
#define MXL_IS_WHOLE_f32                true
#define MXL_ROUND_f32(v)                ((float)(v))

#define MXL_T_f64                       double
#define MXL_C_f64                       double
#define MXL_LOAD_f64(v)                 (v)
#define MXL_STORE_f64(v)                ((double)(v))
#define MXL_LOOP_LEVELS_f64(fn, num_in) MXL_WHOLE_LOOP(fn, double, num_in, MXL_LOOP_FROM_AVX2)
#define MXL_COUNT_f64(level, n)         MXL_WHOLE(level, double, n)
#define MXL_IS_WHOLE_f64                true
#define MXL_ROUND_f64(v)                ((double)(v))

#define MXL_T_f32p                       MXL_T_f32
#define MXL_C_f32p                       MXL_C_f32
#define MXL_LOAD_f32p(v)                 MXL_LOAD_f32(v)
#define MXL_STORE_f32p(v)                MXL_STORE_f32(v)
#define MXL_LOOP_LEVELS_f32p(fn, num_in) MXL_LOOP_BY_LEVEL(fn)
#define MXL_COUNT_f32p(level, n)         ((void)(level), (n))
#define MXL_IS_WHOLE_f32p                false
#define MXL_ROUND_f32p(v)                MXL_ROUND_f32(v)

#define MXL_T_f64p                       MXL_T_f64
#define MXL_C_f64p                       MXL_C_f64
#define MXL_LOAD_f64p(v)                 MXL_LOAD_f64(v)
#define MXL_STORE_f64p(v)                MXL_STORE_f64(v)
#define MXL_LOOP_LEVELS_f64p(fn, num_in) MXL_LOOP_FROM_AVX2(fn)
#define MXL_COUNT_f64p(level, n)         ((void)(level), (n))
#define MXL_IS_WHOLE_f64p                false
#define MXL_ROUND_f64p(v)                MXL_ROUND_f64(v)

/* The same for plain arithmetic, which memory bounds: 512-bit vectors are no faster in the
 * first-level cache and up to a fifth slower outside of it (Zen 4). */
#define MXL_T_f32a                       MXL_T_f32
#define MXL_C_f32a                       MXL_C_f32
#define MXL_LOAD_f32a(v)                 MXL_LOAD_f32(v)
#define MXL_STORE_f32a(v)                MXL_STORE_f32(v)
#define MXL_LOOP_LEVELS_f32a(fn, num_in) MXL_LOOP_FAST_UP_TO_AVX2(fn)
#define MXL_COUNT_f32a(level, n)         ((void)(level), (n))
#define MXL_IS_WHOLE_f32a                false
#define MXL_ROUND_f32a(v)                MXL_ROUND_f32(v)

#define MXL_T_f64a                       MXL_T_f64
#define MXL_C_f64a                       MXL_C_f64
#define MXL_LOAD_f64a(v)                 MXL_LOAD_f64(v)
#define MXL_STORE_f64a(v)                MXL_STORE_f64(v)
#define MXL_LOOP_LEVELS_f64a(fn, num_in) MXL_LOOP_UP_TO_AVX2(fn)
#define MXL_COUNT_f64a(level, n)         ((void)(level), (n))
#define MXL_IS_WHOLE_f64a                false
#define MXL_ROUND_f64a(v)                MXL_ROUND_f64(v)

#define MXL_DTYPE_f16                   MXL_F16
#define MXL_VIA_f16(name)               name##_f32, MXL_F32
#define MXL_T_f16                       mxl_half
#define MXL_C_f16                       float
#define MXL_LOAD_f16(v)                 mxl_half_to_float(v)
#define MXL_STORE_f16(v)                mxl_half_from_float((float)(v))
#define MXL_LOOP_LEVELS_f16(fn, num_in) MXL_LOOP_FROM_AVX2(fn)
#define MXL_COUNT_f16(level, n)         ((void)(level), (n))
#define MXL_IS_WHOLE_f16                false
#define MXL_ROUND_f16(v)                mxl_half_from_float((float)(v))

#define MXL_DTYPE_u8                   MXL_U8
#define MXL_VIA_u8(name)               name##_f32, MXL_F32
#define MXL_T_u8                       uint8_t
#define MXL_C_u8                       int
#define MXL_LOAD_u8(v)                 ((int)(v))
#define MXL_STORE_u8(v)                ((uint8_t)(v))
#define MXL_LOOP_LEVELS_u8(fn, num_in) MXL_LOOP_BASELINE_ONLY(fn)
#define MXL_COUNT_u8(level, n)         ((void)(level), (n))
#define MXL_IS_WHOLE_u8                false
#define MXL_ROUND_u8(v)                mxl_u8_from_f64(v)

/* For loops of uint64, of operators that cannot be computed as int64. */
#define MXL_DTYPE_u64                   MXL_U64
#define MXL_T_u64                       uint64_t
#define MXL_C_u64                       uint64_t
#define MXL_LOAD_u64(v)                 (v)
#define MXL_STORE_u64(v)                ((uint64_t)(v))
#define MXL_LOOP_LEVELS_u64(fn, num_in) MXL_LOOP_BASELINE_ONLY(fn)
#define MXL_COUNT_u64(level, n)         ((void)(level), (n))
#define MXL_IS_WHOLE_u64                false

#define MXL_DTYPE_i8                   MXL_I8
#define MXL_VIA_i8(name)               name##_f32, MXL_F32
#define MXL_T_i8                       int8_t
#define MXL_C_i8                       int
#define MXL_LOAD_i8(v)                 ((int)(v))
#define MXL_STORE_i8(v)                ((int8_t)(v))
#define MXL_LOOP_LEVELS_i8(fn, num_in) MXL_LOOP_BASELINE_ONLY(fn)
#define MXL_COUNT_i8(level, n)         ((void)(level), (n))
#define MXL_IS_WHOLE_i8                false
#define MXL_ROUND_i8(v)                mxl_i8_from_f64(v)

#define MXL_DTYPE_i32                   MXL_I32
#define MXL_VIA_i32(name)               name##_f64, MXL_F64
#define MXL_T_i32                       int32_t
#define MXL_C_i32                       int32_t
#define MXL_LOAD_i32(v)                 (v)
#define MXL_STORE_i32(v)                ((int32_t)(v))
#define MXL_LOOP_LEVELS_i32(fn, num_in) MXL_LOOP_UP_TO_AVX2(fn)
#define MXL_COUNT_i32(level, n)         ((void)(level), (n))
#define MXL_IS_WHOLE_i32                false
#define MXL_ROUND_i32(v)                mxl_i32_from_f64(v)

#define MXL_DTYPE_i64                   MXL_I64
#define MXL_VIA_i64(name)               name##_f64, MXL_F64
#define MXL_T_i64                       int64_t
#define MXL_C_i64                       int64_t
#define MXL_LOAD_i64(v)                 (v)
#define MXL_STORE_i64(v)                ((int64_t)(v))
#define MXL_LOOP_LEVELS_i64(fn, num_in) MXL_LOOP_FROM_AVX2(fn)
#define MXL_COUNT_i64(level, n)         ((void)(level), (n))
#define MXL_IS_WHOLE_i64                false
#define MXL_ROUND_i64(v)                mxl_i64_from_f64(v)

#endif

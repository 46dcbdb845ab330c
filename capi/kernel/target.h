/* Vector levels: a loop is built once for each set of vector instructions that the library knows,
 * and the one that fits the processor runs. Kernels and row expressions are written with this.
 *
 *     MXL_INLINE void scale_at(int level, float *x, float by, int64_t n)
 *     {
 *         for (int64_t i = 0; i < n; i++)
 *             x[i] = mxl_fma(level, x[i], by, x[i]);
 *     }
 *     MXL_BY_LEVEL(scale, (float *x, float by, int64_t n), x, by, n)
 *
 * makes `static void scale(float *x, float by, int64_t n)`. `level` is a constant where a loop is
 * built. Inlining forgets `restrict`: say MXL_IVDEP in front of the loop. */
#ifndef MXL_KERNEL_TARGET_H
#define MXL_KERNEL_TARGET_H

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>

/* x86-64: the baseline of all processors, AVX2 with FMA and F16C, AVX-512 (F, BW, DQ, VL).
 * aarch64: the baseline, whose products and sums are rounded by themselves, with the bits of
 * x86-64's; NEON with fused multiply-adds; and DOTPROD, NEON with dot products of bytes. Other
 * architectures have only the baseline. */
enum { MXL_BASELINE, MXL_AVX2, MXL_AVX512, MXL_LEVELS, MXL_NEON = MXL_AVX2, MXL_DOTPROD };

/* Whether loops are built for more than the baseline: not without the part "wide" (mk/parts.mk). */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(MXL_WITHOUT_WIDE)
#define MXL_HAS_WIDE 1
#else
#define MXL_HAS_WIDE 0
#endif
#if defined(__aarch64__) && defined(__GNUC__) && !defined(MXL_WITHOUT_WIDE)
#define MXL_HAS_NEON 1
#else
#define MXL_HAS_NEON 0
#endif

#define MXL_INLINE static inline __attribute__((always_inline))

/* Where a processor has AVX2, all loops are vectorised. What differs is the rest:
 *
 *                         baseline      AVX-512
 *   MXL_BY_LEVEL          vectorised    yes
 *   MXL_FROM_AVX2         small         yes
 *   MXL_FAST_UP_TO_AVX2   vectorised    no: bound by memory
 *   MXL_UP_TO_AVX2        small         no
 *   MXL_BASELINE_ONLY     vectorised    no, and no AVX2
 *
 * The large families of loops are small at the baseline, which saves 0.6 MB of the library: see
 * MXL_SMALL. */
#define MXL_BASELINE_ONLY(fn, parameters, ...) MXL_BASELINE_ONLY_(fn, parameters, __VA_ARGS__)
#define MXL_BASELINE_ONLY_(fn, parameters, ...)                                                    \
    static void fn parameters                                                                      \
    {                                                                                              \
        fn##_at(MXL_BASELINE, __VA_ARGS__);                                                        \
    }

/* Builds a function for size: its loops are scalar and take two to five times the time. */
#define MXL_SMALL __attribute__((cold))

#if MXL_HAS_WIDE
#define MXL_TARGET_AVX2 __attribute__((target("avx2,fma,f16c")))
#if defined(__clang__)
#define MXL_TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma,f16c")))
#else
#define MXL_TARGET_AVX512                                                                          \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma,f16c,prefer-vector-width=512")))
#endif
/* (Not "arch=...": functions built for another architecture, such as inline helpers, would not be
 * inlined.) */
#define MXL_TWO_LEVELS_(attribute, fn, parameters, ...)                                            \
    attribute static void fn##_0 parameters                                                        \
    {                                                                                              \
        fn##_at(MXL_BASELINE, __VA_ARGS__);                                                        \
    }                                                                                              \
    MXL_TARGET_AVX2 static void fn##_1 parameters                                                  \
    {                                                                                              \
        fn##_at(MXL_AVX2, __VA_ARGS__);                                                            \
    }
#define MXL_BY_LEVEL(fn, parameters, ...)  MXL_THREE_LEVELS_(, fn, parameters, __VA_ARGS__)
#define MXL_FROM_AVX2(fn, parameters, ...) MXL_THREE_LEVELS_(MXL_SMALL, fn, parameters, __VA_ARGS__)
#define MXL_THREE_LEVELS_(attribute, fn, parameters, ...)                                          \
    MXL_TWO_LEVELS_(attribute, fn, parameters, __VA_ARGS__)                                        \
    MXL_TARGET_AVX512 static void fn##_2 parameters                                                \
    {                                                                                              \
        fn##_at(MXL_AVX512, __VA_ARGS__);                                                          \
    }                                                                                              \
    static void fn parameters                                                                      \
    {                                                                                              \
        switch (mxl_level()) {                                                                     \
        case MXL_AVX512:                                                                           \
            fn##_2(__VA_ARGS__);                                                                   \
            break;                                                                                 \
        case MXL_AVX2:                                                                             \
            fn##_1(__VA_ARGS__);                                                                   \
            break;                                                                                 \
        default:                                                                                   \
            fn##_0(__VA_ARGS__);                                                                   \
        }                                                                                          \
    }
#define MXL_UP_TO_AVX2(fn, parameters, ...) MXL_UP_TO_AVX2_(MXL_SMALL, fn, parameters, __VA_ARGS__)
#define MXL_FAST_UP_TO_AVX2(fn, parameters, ...) MXL_UP_TO_AVX2_(, fn, parameters, __VA_ARGS__)
#define MXL_UP_TO_AVX2_(attribute, fn, parameters, ...)                                            \
    MXL_TWO_LEVELS_(attribute, fn, parameters, __VA_ARGS__)                                        \
    static void fn parameters                                                                      \
    {                                                                                              \
        if (mxl_level() >= MXL_AVX2)                                                               \
            fn##_1(__VA_ARGS__);                                                                   \
        else                                                                                       \
            fn##_0(__VA_ARGS__);                                                                   \
    }
#elif MXL_HAS_NEON
/* Where there is NEON the baseline serves tests of bits alone. */
#define MXL_BY_LEVEL(fn, parameters, ...)        MXL_NEON_(, fn, parameters, __VA_ARGS__)
#define MXL_FROM_AVX2(fn, parameters, ...)       MXL_NEON_(MXL_SMALL, fn, parameters, __VA_ARGS__)
#define MXL_UP_TO_AVX2(fn, parameters, ...)      MXL_NEON_(MXL_SMALL, fn, parameters, __VA_ARGS__)
#define MXL_FAST_UP_TO_AVX2(fn, parameters, ...) MXL_NEON_(, fn, parameters, __VA_ARGS__)
#define MXL_NEON_(attribute, fn, parameters, ...)                                                  \
    attribute static void fn##_0 parameters                                                        \
    {                                                                                              \
        fn##_at(MXL_BASELINE, __VA_ARGS__);                                                        \
    }                                                                                              \
    static void fn##_1 parameters                                                                  \
    {                                                                                              \
        fn##_at(MXL_NEON, __VA_ARGS__);                                                            \
    }                                                                                              \
    static void fn parameters                                                                      \
    {                                                                                              \
        if (mxl_level() >= MXL_NEON)                                                               \
            fn##_1(__VA_ARGS__);                                                                   \
        else                                                                                       \
            fn##_0(__VA_ARGS__);                                                                   \
    }
#else
#define MXL_BY_LEVEL(fn, parameters, ...)        MXL_BASELINE_ONLY(fn, parameters, __VA_ARGS__)
#define MXL_FROM_AVX2(fn, parameters, ...)       MXL_BASELINE_ONLY(fn, parameters, __VA_ARGS__)
#define MXL_UP_TO_AVX2(fn, parameters, ...)      MXL_BASELINE_ONLY(fn, parameters, __VA_ARGS__)
#define MXL_FAST_UP_TO_AVX2(fn, parameters, ...) MXL_BASELINE_ONLY(fn, parameters, __VA_ARGS__)
#endif

/* Put before a loop whose iterations are independent, though its arrays may be equal: a check at
 * run time would take equal arrays for dependent ones. (clang would warn about loops that it cannot
 * vectorise.) */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define MXL_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define MXL_IVDEP _Pragma("GCC ivdep")
#else
#define MXL_IVDEP
#endif

/* Put before a loop over a fixed number of lanes: if it were unrolled first, it would not be
 * vectorised. */
#if defined(__GNUC__) && !defined(__clang__)
#define MXL_AS_LOOP _Pragma("GCC unroll 1")
#else
#define MXL_AS_LOOP
#endif

extern atomic_int mxl_level_in_force; /* -1: not determined yet */

/* The widest level of this processor, or the level that MXLITE_VECTOR_LEVEL names ("baseline",
 * "avx2", "avx512"; on aarch64 "baseline", "neon", "dotprod"). The baseline if that name is
 * invalid, see mxl_level_check. */
int mxl_level_find(void);

static inline int mxl_level(void)
{
    int level = atomic_load_explicit(&mxl_level_in_force, memory_order_relaxed);

    return level >= 0 ? level : mxl_level_find();
}

/* -1 with the error set if MXLITE_VECTOR_LEVEL names a level that is unknown or not available on
 * this processor. The first lookup of an operator calls this. */
int mxl_level_check(void);

/* For tests: sets the level. -1 with the error set if this processor lacks it. */
int mxl_level_set(int level);
const char *mxl_level_name(int level);

/* Whether the level in force is AVX-512 and the processor has its VNNI (dot products of four
 * bytes). */
bool mxl_level_has_vnni(void);
/* The same of its products of pairs of bfloat16. */
bool mxl_level_has_bfloat16(void);

/* a * b + c; rounded once if the level has an instruction for it, else twice. */
MXL_INLINE float mxl_fma_f32(int level, float a, float b, float c)
{
    return level > MXL_BASELINE ? __builtin_fmaf(a, b, c) : a * b + c;
}

MXL_INLINE double mxl_fma_f64(int level, double a, double b, double c)
{
    return level > MXL_BASELINE ? __builtin_fma(a, b, c) : a * b + c;
}

#define mxl_fma(level, a, b, c)                                                                    \
    _Generic((a), float: mxl_fma_f32, default: mxl_fma_f64)(level, a, b, c)

#endif

/* The loop of a step, written once: rules (sgd.c, adam.c, ...) are its body. */
#ifndef MXL_KERNEL_OPTIMIZER_STEP_LOOP_H
#define MXL_KERNEL_OPTIMIZER_STEP_LOOP_H

#include <stddef.h>

#include "kernel/elementwise/loop.h"
#include "kernel/optimizer/step.h"
#include "kernel/target.h"

/* x within [-limit, limit]; a NaN stays. */
#define MXL_WITHIN(x, limit) ((x) > (limit) ? (limit) : (x) < -(limit) ? -(limit) : (x))

/* A limit that is negative is none. */
#define MXL_LIMIT(number) ((number) >= 0 ? (float)(number) : INFINITY)

/* A loop over elements of arrays of the dtype S; the weight that is read is `source`: weight or
 * master. RULE(S) reads w, the weight, and g, the gradient, both of the type `real`; it sets `next`
 * to the result. It may use lr, wd, k (the numbers), the arrays first, second and third, and
 * `limit` of the gradient. KEEP: the result is stored in the float32 copy of the weight too. The
 * structs are copied, so that no store can change what the loop reads from them. */
#define MXL_STEP_LOOP(fn, S, source, KEEP, RULE)                                                   \
    MXL_INLINE void fn##_at(int level, const mxl_step *step, const mxl_step_numbers *numbers,      \
                            int64_t begin, int64_t end)                                            \
    {                                                                                              \
        typedef MXL_C_##S real;                                                                    \
        const mxl_step_numbers k = *numbers;                                                       \
        const mxl_step s = *step;                                                                  \
        const MXL_T_##S *weight = (const void *)s.source;                                          \
        const MXL_T_##S *grad = s.grad;                                                            \
        MXL_T_##S *first = s.state[0], *second = s.state[1], *third = s.state[2];                  \
        MXL_T_##S *out = s.out;                                                                    \
        float *master = s.master;                                                                  \
        const real lr = s.lr, wd = s.wd, limit = MXL_LIMIT(k.clip_gradient);                       \
                                                                                                   \
        (void)level, (void)k, (void)first, (void)second, (void)third, (void)master, (void)lr,      \
            (void)wd, (void)limit;                                                                 \
        MXL_IVDEP                                                                                  \
        for (int64_t i = begin; i < end; i++) {                                                    \
            const real w = MXL_LOAD_##S(weight[i]);                                                \
            real g = (real)MXL_LOAD_##S(grad[i]), next;                                            \
                                                                                                   \
            RULE(S)                                                                                \
            if (KEEP)                                                                              \
                master[i] = (float)next;                                                           \
            out[i] = MXL_STORE_##S(next);                                                          \
        }                                                                                          \
    }                                                                                              \
    MXL_UP_TO_AVX2(                                                                                \
        fn, (const mxl_step *step, const mxl_step_numbers *numbers, int64_t begin, int64_t end),   \
        step, numbers, begin, end)

/* Runs a loop of float32 for arrays of these dtypes (`state` is that of the weight too, where it
 * has no copy in float32), in tiles that stay in the cache. */
void mxl_step_via(mxl_step_fn run, int state, int grad, int out, const mxl_step *step,
                  const mxl_step_numbers *numbers, int64_t begin, int64_t end);

#define MXL_STEP_VIA(fn, run, state, grad, out)                                                    \
    static void fn(const mxl_step *step, const mxl_step_numbers *numbers, int64_t begin,           \
                   int64_t end)                                                                    \
    {                                                                                              \
        mxl_step_via(run, state, grad, out, step, numbers, begin, end);                            \
    }

/* The loops of a rule where all arrays have one dtype; and those with a float32 copy of the weight.
 * (float64 weights with one are pointless, but 1.9.1 takes them.) */
#define MXL_STEP_ONE_DTYPE(id, RULE)                                                               \
    MXL_STEP_LOOP(id##_f32, f32, weight, 0, RULE)                                                  \
    MXL_STEP_LOOP(id##_f64, f64, weight, 0, RULE)                                                  \
    MXL_STEP_VIA(id##_f16, id##_f32, MXL_F16, MXL_F16, MXL_F16)
#define MXL_STEP_TWO_DTYPES(id, RULE)                                                              \
    MXL_STEP_LOOP(id##_mixed_f32, f32, master, 1, RULE)                                            \
    MXL_STEP_VIA(id##_mixed_f64, id##_mixed_f32, MXL_F32, MXL_F64, MXL_F64)                        \
    MXL_STEP_VIA(id##_mixed_f16, id##_mixed_f32, MXL_F32, MXL_F16, MXL_F16)

#define MXL_STEP_TABLE(id) {[MXL_F32] = id##_f32, [MXL_F64] = id##_f64, [MXL_F16] = id##_f16}

/* Defines mxl_step_ID with these loops; _BOTH also has those with a copy. */
#define MXL_STEP_RULE(id, RULE)                                                                    \
    MXL_STEP_ONE_DTYPE(id, RULE)                                                                   \
    const mxl_step_rule mxl_step_##id = {.same = MXL_STEP_TABLE(id)};
#define MXL_STEP_BOTH(id, RULE)                                                                    \
    MXL_STEP_ONE_DTYPE(id, RULE)                                                                   \
    MXL_STEP_TWO_DTYPES(id, RULE)                                                                  \
    const mxl_step_rule mxl_step_##id = {.same = MXL_STEP_TABLE(id),                               \
                                         .mixed = MXL_STEP_TABLE(id##_mixed)};

#endif

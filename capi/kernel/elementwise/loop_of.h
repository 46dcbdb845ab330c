/* Loops that are those of a function of two arrays with other operands, for the macros of kernels
 * of loop.h:
 *
 *     MXL_ARITH_OPCODE(plus_scalar, MXL_NUMBER_LOOP, MXL_CODE_ADD, &add_kernels);
 *
 * They have no code for elements of their own. */
#ifndef MXL_KERNEL_ELEMENTWISE_LOOP_OF_H
#define MXL_KERNEL_ELEMENTWISE_LOOP_OF_H

#include "kernel/elementwise/loop.h"

#define MXL_DTYPE_f32a MXL_F32
#define MXL_DTYPE_f64a MXL_F64

/* f(x, s), for the kernels of f(x, y) */
#define MXL_NUMBER_LOOP(fn, D, kernels) MXL_NUMBER_LOOP_(fn, D, kernels, 1)
/* f(s, x) */
#define MXL_NUMBER_FIRST_LOOP(fn, D, kernels) MXL_NUMBER_LOOP_(fn, D, kernels, 0)
#define MXL_NUMBER_LOOP_(fn, D, kernels, number)                                                   \
    static void fn MXL_LOOP_PARAMETERS                                                             \
    {                                                                                              \
        const MXL_T_##D s = MXL_ROUND_##D(((const mxl_scalar_params *)params)->scalar);            \
        const void *both[2];                                                                       \
                                                                                                   \
        (void)step;                                                                                \
        both[number] = &s;                                                                         \
        both[1 - (number)] = in[0];                                                                \
        (kernels)->row[MXL_DTYPE_##D](out, both, (const int64_t[]){(number), 1 - (number)}, n,     \
                                      NULL);                                                       \
    }

/* f(y, x) */
#define MXL_TURNED_LOOP(fn, D, kernels)                                                            \
    static void fn MXL_LOOP_PARAMETERS                                                             \
    {                                                                                              \
        (kernels)->row[MXL_DTYPE_##D](out, (const void *const[]){in[1], in[0]},                    \
                                      (const int64_t[]){step[1], step[0]}, n, params);             \
    }

#define MXL_NUMBER_LOOP_VIA(name, D)       MXL_SCALAR_LOOP_VIA(name, D)
#define MXL_NUMBER_FIRST_LOOP_VIA(name, D) MXL_SCALAR_LOOP_VIA(name, D)
#define MXL_TURNED_LOOP_VIA(name, D)       MXL_BINARY_LOOP_VIA(name, D)

#endif

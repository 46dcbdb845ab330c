/* Casts between element types, as element-wise loops. For array/copy.c and the operators that cast.
 */
#ifndef MXL_KERNEL_COPY_CAST_H
#define MXL_KERNEL_COPY_CAST_H

#include "kernel/elementwise/loop.h"

/* The loop that casts `from` to `to`; never NULL for valid dtypes. Float to integer truncates;
 * values that do not fit convert as in kernel/copy/convert.h. Casting to bool is != 0 (a NaN is
 * true); float64 and integers are rounded to float16, and to bfloat16,
 * through float32. */
mxl_loop mxl_cast_loop(int from, int to);

/* Converts one value to `dtype` and stores it at `out`. */
void mxl_cast_scalar(double value, int dtype, void *out);

/* The same where one of the two has no loops of its own (cast_carried.c). */
mxl_loop mxl_cast_carried(int from, int to);

/* Two of these loops (cast_half.c). */
void mxl_cast_half_to_float(void *out, const void *const *in, const int64_t *step, int64_t n,
                            const void *params);
void mxl_cast_float_to_half(void *out, const void *const *in, const int64_t *step, int64_t n,
                            const void *params);

/* Two more (cast_brain.c). */
void mxl_cast_float_to_brain(void *out, const void *const *in, const int64_t *step, int64_t n,
                             const void *params);
void mxl_cast_brain_to_float(void *out, const void *const *in, const int64_t *step, int64_t n,
                             const void *params);

#endif

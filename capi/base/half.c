/* Rows of half-precision numbers, for kernels that compute in float32. */
#include "base/half.h"

void mxl_half_row_to_float(float *restrict out, const mxl_half *restrict in, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = mxl_half_to_float(in[i]);
}

void mxl_half_row_from_float(mxl_half *restrict out, const float *restrict in, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = mxl_half_from_float(in[i]);
}

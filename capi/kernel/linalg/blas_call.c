/* Choosing between OpenBLAS and the library's own routines; see blas_call.h. */
#include "kernel/linalg/blas_call.h"

#include "base/dtype.h"

enum {
    LEAST = 32, /* measured: below it the library's own routines are as fast as OpenBLAS's */
    LARGE = 256 /* size from which OpenBLAS's threads help */
};

int mxl_blas_begin(int dtype, int64_t m, int64_t n, mxl_blas_call *b)
{
    *b = (mxl_blas_call){0};
    if (mxl_openblas_get(&b->held) != 0)
        return -1;
    b->held = NULL;
    if (m > MXL_BLAS_LARGEST || n > MXL_BLAS_LARGEST || (m < LEAST && n < LEAST))
        return 0;
    if (mxl_openblas_begin(&b->held, m >= LARGE && n >= LARGE) != 0)
        return -1;
    if (b->held != NULL)
        b->blas = dtype == MXL_F32 ? &b->held->f32 : &b->held->f64;
    return 0;
}

void mxl_linalg_to_double(int dtype, int64_t count, const void *from, double *to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = dtype == MXL_F32 ? (double)((const float *)from)[i] : ((const double *)from)[i];
}

void mxl_linalg_from_double(int dtype, int64_t count, const double *from, void *to)
{
    for (int64_t i = 0; i < count; i++) {
        if (dtype == MXL_F32)
            ((float *)to)[i] = (float)from[i];
        else
            ((double *)to)[i] = from[i];
    }
}

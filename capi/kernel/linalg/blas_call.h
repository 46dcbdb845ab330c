/* What the factorisations share: whether OpenBLAS does a call, and numbers as doubles for the
 * library's own routines. For lapack.c and spectral.c. */
#ifndef MXL_KERNEL_LINALG_BLAS_CALL_H
#define MXL_KERNEL_LINALG_BLAS_CALL_H

#include <stdint.h>

#include "backend/openblas.h"

enum { MXL_BLAS_LARGEST = 30000 }; /* size for OpenBLAS, whose workspace sizes have 32 bits */

/* OpenBLAS for one call, and its routines for the dtype. */
typedef struct mxl_blas_call {
    const mxl_openblas *held;
    const mxl_openblas_routines *blas; /* NULL: no OpenBLAS, or the sizes do not suit it */
} mxl_blas_call;

/* Begins a call for m x n numbers, which mxl_openblas_end(b->held) ends, unless this returns -1. A
 * requested library that is missing is an error for small matrices too. */
int mxl_blas_begin(int dtype, int64_t m, int64_t n, mxl_blas_call *b);

/* float32 or float64 numbers to doubles, and back. */
void mxl_linalg_to_double(int dtype, int64_t count, const void *from, double *to);
void mxl_linalg_from_double(int dtype, int64_t count, const double *from, void *to);

#endif

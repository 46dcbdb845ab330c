/* Singular values, and eigenvalues of any real matrix: by OpenBLAS if it is found, else by the
 * library's own routines. For ops/numpy. Row-major, without gaps, float32 or float64. All return 0,
 * or -1 with the error set (out of memory; a back end was requested and is missing). */
#ifndef MXL_KERNEL_LINALG_SPECTRAL_H
#define MXL_KERNEL_LINALG_SPECTRAL_H

#include <stdbool.h>
#include <stdint.h>

/* A (m x n, m <= n) = U diag(values) V: A becomes V (m x n, rows orthonormal), u becomes U (m x m).
 * Values descend. The component of greatest magnitude of each row of V (the first of equal ones) is
 * positive. NaN or infinities in A give NaN. */
int mxl_svd(int dtype, int64_t m, int64_t n, void *a, void *u, void *values);

/* A V = V diag(values), n x n: A becomes V, whose columns are eigenvectors of length 1. *real:
 * whether all eigenvalues are real; *converged: whether the iteration converged. Without these A
 * and values are undefined. NaN or infinities in A give NaN. */
int mxl_eig(int dtype, int64_t n, void *a, void *values, bool *real, bool *converged);

/* The routines without a back end. mxl_svd_plain: A has finite numbers and becomes V; rows of `u`
 * are the columns of U; signs are any. mxl_eig_plain: `work` holds 2 n n + n numbers; returns
 * whether it converged. */
void mxl_svd_plain(int64_t m, int64_t n, double *a, double *u, double *values);
bool mxl_eig_plain(int64_t n, double *a, double *values, double *work, bool *real);

#endif

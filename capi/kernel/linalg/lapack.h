/* Factorisations of one matrix: by OpenBLAS if it is found (backend/openblas.h), else by the
 * library's own routines. For ops/linalg*.c. Row-major, without gaps, float32 or float64. All
 * return 0, or -1 with the error set (out of memory; a back end was requested and is missing); the
 * outputs are then undefined. */
#ifndef MXL_KERNEL_LINALG_LAPACK_H
#define MXL_KERNEL_LINALG_LAPACK_H

#include <stdbool.h>
#include <stdint.h>

/* Replaces the lower triangle of A (n x n; the upper one is not read) by L with A = L L', the upper
 * one by zeros. *bad: 0, or the order of the first leading minor that is not positive. */
int mxl_cholesky(int dtype, int64_t n, void *a, int64_t *bad);

/* B := op(A)^-1 B, or B op(A)^-1 with `right`; B is rows x columns. Reads only the lower triangle
 * of A with `lower`, else only the upper one. Zeros on its diagonal give infinities and NaN. */
int mxl_triangular_solve(int dtype, bool right, bool lower, bool transpose, int64_t rows,
                         int64_t columns, const void *a, void *b);

/* The result of decomposing a square matrix A. */
typedef struct mxl_lu {
    int64_t bad;    /* 0, or the number (from 1) of the first pivot that is zero: A is singular */
    double det;     /* the determinant */
    double log_det; /* the logarithm of its magnitude, -infinity if it is 0 */
    int sign;       /* its sign: -1, 0 (also for NaN) or 1 */
} mxl_lu;

/* Decomposes A in place; with `invert` A becomes its inverse unless it is singular. */
int mxl_lu_decompose(int dtype, int64_t n, void *a, bool invert, mxl_lu *lu);

/* B (n x columns) := op(A)^-1 B by one decomposition of A, which is overwritten. *bad is as in
 * mxl_lu; B is undefined unless it is 0. */
int mxl_lu_solve(int dtype, bool transpose, int64_t n, int64_t columns, void *a, void *b,
                 int64_t *bad);

/* A (m x n, m <= n) = L Q: A becomes Q (rows orthonormal), l becomes L (m x m, lower). */
int mxl_lq(int dtype, int64_t m, int64_t n, void *a, void *l);

/* A (n x n symmetric, its upper triangle is not read) = U' diag(values) U: A becomes U, whose rows
 * are eigenvectors; values ascend. The component of greatest magnitude of each row (the first of
 * equal ones) is positive. NaN or infinities in A give NaN. *converged: whether the iteration
 * converged. */
int mxl_eigen(int dtype, int64_t n, void *a, void *values, bool *converged);

/* The matrix of cofactors of A, which may be singular. */
int mxl_cofactors(int dtype, int64_t n, const void *a, void *out);

/* The routines without a back end, in double: A = L Q, A = U' diag(values) U, and cofactors by full
 * pivoting. `work` holds 3 n numbers for the first two, n n + 3 n for the last. mxl_eigen_plain
 * returns whether it converged. */
void mxl_lq_plain(int64_t m, int64_t n, double *a, double *l, double *work);
bool mxl_eigen_plain(int64_t n, double *a, double *values, double *work);
void mxl_cofactors_plain(int64_t n, double *a, double *out, double *work);

#endif

/* Factorisations: chooses between OpenBLAS and lapack.tmpl.h, householder.c and cofactors.c. A
 * row-major matrix is its transpose in column-major order, so nothing is copied for OpenBLAS:
 * "upper" there is the lower triangle here. */
#include "kernel/linalg/lapack.h"

#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "kernel/copy/cast.h"
#include "kernel/gemm/gemm.h"
#include "kernel/linalg/blas_call.h"

enum {
    BLOCK = 48,
    WORK_ROWS = 64 /* rows of workspace for OpenBLAS's blocked routines */
};

#define NAME(x) f32_##x
#define T       float
#define DTYPE   MXL_F32
#include "kernel/linalg/lapack.tmpl.h"

#define NAME(x) f64_##x
#define T       double
#define DTYPE   MXL_F64
#include "kernel/linalg/lapack.tmpl.h"

/* ---- Cholesky ---- */

static void clear_upper(int64_t n, char *a, size_t width)
{
    for (int64_t i = 0; i + 1 < n; i++)
        memset(a + (size_t)(i * n + i + 1) * width, 0, (size_t)(n - i - 1) * width);
}

static int cholesky_plain(int dtype, int64_t n, void *a, int64_t *bad)
{
    size_t bytes = (size_t)(n * BLOCK) * mxl_dtype_size(dtype);
    void *work = mxl_alloc(bytes);
    int status;

    if (work == NULL)
        return -1;
    status = dtype == MXL_F32 ? f32_cholesky(n, a, bad, work) : f64_cholesky(n, a, bad, work);
    mxl_free(work, bytes);
    return status;
}

int mxl_cholesky(int dtype, int64_t n, void *a, int64_t *bad)
{
    int size = (int)n, info = 0, status = 0;
    mxl_blas_call b;

    *bad = 0;
    if (mxl_blas_begin(dtype, n, n, &b) != 0)
        return -1;
    if (b.blas != NULL) {
        b.blas->potrf("U", &size, a, &size, &info, 1);
        *bad = info;
    } else {
        status = cholesky_plain(dtype, n, a, bad);
    }
    mxl_openblas_end(b.held);
    clear_upper(n, a, mxl_dtype_size(dtype));
    return status;
}

/* ---- triangular solve ---- */

/* to (columns x rows) = from' */
static void transposed(int dtype, int64_t rows, int64_t columns, const void *from, void *to)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            if (dtype == MXL_F32)
                ((float *)to)[j * rows + i] = ((const float *)from)[i * columns + j];
            else
                ((double *)to)[j * rows + i] = ((const double *)from)[i * columns + j];
        }
    }
}

/* X op(A) = B is op(A)' X' = B'. */
static int solve_plain(int dtype, bool right, bool lower, bool transpose, int64_t rows,
                       int64_t columns, const void *a, void *b)
{
    int64_t n = right ? columns : rows, others = right ? rows : columns;
    size_t width = mxl_dtype_size(dtype);
    size_t bytes = (size_t)(n * BLOCK + (right ? rows * columns : 0)) * width;
    char *work = mxl_alloc(bytes);
    char *x = right && work != NULL ? work + (size_t)(n * BLOCK) * width : b;
    int status;

    if (work == NULL)
        return -1;
    if (right)
        transposed(dtype, rows, columns, b, x);
    transpose = transpose != right;
    status = dtype == MXL_F32
                 ? f32_solve(lower, transpose, false, n, others, a, (void *)x, (void *)work)
                 : f64_solve(lower, transpose, false, n, others, a, (void *)x, (void *)work);
    if (right && status == 0)
        transposed(dtype, columns, rows, x, b);
    mxl_free(work, bytes);
    return status;
}

int mxl_triangular_solve(int dtype, bool right, bool lower, bool transpose, int64_t rows,
                         int64_t columns, const void *a, void *b)
{
    static const float one32 = 1;
    static const double one64 = 1;
    int m = (int)columns, n = (int)rows, size = right ? m : n, status = 0;
    mxl_blas_call by;

    if (rows == 0 || columns == 0)
        return 0;
    if (mxl_blas_begin(dtype, rows, columns, &by) != 0)
        return -1;
    if (by.blas != NULL)
        by.blas->trsm(right ? "L" : "R", lower ? "U" : "L", transpose ? "T" : "N", "N", &m, &n,
                      dtype == MXL_F32 ? (const void *)&one32 : &one64, a, &size, b, &m, 1, 1, 1,
                      1);
    else
        status = solve_plain(dtype, right, lower, transpose, rows, columns, a, b);
    mxl_openblas_end(by.held);
    return status;
}

/* ---- LU ---- */

/* Computes determinant and singularity from the diagonal and the exchanges. */
static void describe(int dtype, int64_t n, const void *a, const int *pivots, int64_t bad,
                     mxl_lu *lu)
{
    *lu = (mxl_lu){.bad = bad, .det = 1, .sign = 1};
    for (int64_t i = 0; i < n; i++) {
        double value = dtype == MXL_F32 ? (double)((const float *)a)[i * n + i]
                                        : ((const double *)a)[i * n + i];

        if (pivots[i] != (int)i + 1)
            value = -value;
        lu->det *= value;
        lu->log_det += log(fabs(value));
        lu->sign *= (value > 0) - (value < 0);
    }
    if (bad != 0) {
        lu->det = 0;
        lu->log_det = -HUGE_VAL;
        lu->sign = 0;
    }
}

static int lu_plain(int dtype, int64_t n, void *a, int *pivots, bool invert, mxl_lu *lu)
{
    size_t width = mxl_dtype_size(dtype), bytes = (size_t)(n * (BLOCK + (invert ? n : 0))) * width;
    char *work = mxl_alloc(bytes), *copy;
    int64_t bad;
    int status;

    if (work == NULL)
        return -1;
    copy = work + (size_t)(n * BLOCK) * width;
    status = dtype == MXL_F32 ? f32_lu(n, a, pivots, &bad, (void *)work)
                              : f64_lu(n, a, pivots, &bad, (void *)work);
    if (status == 0) {
        describe(dtype, n, a, pivots, bad, lu);
        if (invert && bad == 0)
            status = dtype == MXL_F32 ? f32_lu_invert(n, a, pivots, (void *)copy, (void *)work)
                                      : f64_lu_invert(n, a, pivots, (void *)copy, (void *)work);
    }
    mxl_free(work, bytes);
    return status;
}

/* The inverse of the transpose is the transpose of the inverse, so the column-major result needs no
 * transpose. */
static int lu_by(const mxl_openblas_routines *blas, int dtype, int64_t n, void *a, int *pivots,
                 bool invert, mxl_lu *lu)
{
    size_t bytes = (size_t)(n * WORK_ROWS) * mxl_dtype_size(dtype);
    int size = (int)n, room = (int)n * WORK_ROWS, info = 0;
    void *work;

    blas->getrf(&size, &size, a, &size, pivots, &info);
    describe(dtype, n, a, pivots, info, lu);
    if (!invert || info != 0)
        return 0;
    work = mxl_alloc(bytes);
    if (work == NULL)
        return -1;
    blas->getri(&size, a, &size, pivots, work, &room, &info);
    mxl_free(work, bytes);
    return 0;
}

int mxl_lu_decompose(int dtype, int64_t n, void *a, bool invert, mxl_lu *lu)
{
    size_t bytes = (size_t)n * sizeof(int);
    int *pivots, status = -1;
    mxl_blas_call b;

    if (n == 0) {
        describe(dtype, 0, a, NULL, 0, lu);
        return 0;
    }
    if (mxl_blas_begin(dtype, n, n, &b) != 0)
        return -1;
    pivots = mxl_alloc(bytes);
    if (pivots != NULL)
        status = b.blas != NULL ? lu_by(b.blas, dtype, n, a, pivots, invert, lu)
                                : lu_plain(dtype, n, a, pivots, invert, lu);
    mxl_openblas_end(b.held);
    mxl_free(pivots, bytes);
    return status;
}

/* ---- systems ---- */

static int system_plain(int dtype, bool transpose, int64_t n, int64_t columns, void *a, void *b,
                        int *pivots, int64_t *bad)
{
    size_t bytes = (size_t)(n * BLOCK) * mxl_dtype_size(dtype);
    void *work = mxl_alloc(bytes);
    int status;

    if (work == NULL)
        return -1;
    status = dtype == MXL_F32 ? f32_lu(n, a, pivots, bad, work) : f64_lu(n, a, pivots, bad, work);
    if (status == 0 && *bad == 0)
        status = dtype == MXL_F32 ? f32_lu_solve(transpose, n, columns, a, pivots, b, work)
                                  : f64_lu_solve(transpose, n, columns, a, pivots, b, work);
    mxl_free(work, bytes);
    return status;
}

/* In column-major order A is its transpose, and B must be transposed unless it is a vector. */
static int system_by(const mxl_openblas_routines *blas, int dtype, bool transpose, int64_t n,
                     int64_t columns, void *a, void *b, int *pivots, int64_t *bad)
{
    size_t bytes = columns == 1 ? 0 : (size_t)(n * columns) * mxl_dtype_size(dtype);
    int size = (int)n, count = (int)columns, info = 0;
    void *work = columns == 1 ? NULL : mxl_alloc(bytes), *x = work == NULL ? b : work;

    if (columns != 1 && work == NULL)
        return -1;
    blas->getrf(&size, &size, a, &size, pivots, &info);
    *bad = info;
    if (info == 0) {
        if (work != NULL)
            transposed(dtype, n, columns, b, x);
        blas->getrs(transpose ? "N" : "T", &size, &count, a, &size, pivots, x, &size, &info, 1);
        if (work != NULL)
            transposed(dtype, columns, n, x, b);
    }
    mxl_free(work, bytes);
    return 0;
}

int mxl_lu_solve(int dtype, bool transpose, int64_t n, int64_t columns, void *a, void *b,
                 int64_t *bad)
{
    size_t bytes = (size_t)n * sizeof(int);
    int *pivots, status = -1;
    mxl_blas_call by;

    *bad = 0;
    if (n == 0)
        return 0;
    if (mxl_blas_begin(dtype, n, n, &by) != 0)
        return -1;
    pivots = mxl_alloc(bytes);
    if (pivots != NULL)
        status = by.blas != NULL && columns <= MXL_BLAS_LARGEST
                     ? system_by(by.blas, dtype, transpose, n, columns, a, b, pivots, bad)
                     : system_plain(dtype, transpose, n, columns, a, b, pivots, bad);
    mxl_openblas_end(by.held);
    mxl_free(pivots, bytes);
    return status;
}

/* ---- LQ ---- */

static int lq_plain(int dtype, int64_t m, int64_t n, void *a, void *l)
{
    int64_t count = m * n + m * m + 3 * n;
    double *work = mxl_alloc((size_t)count * sizeof(double));

    if (work == NULL)
        return -1;
    mxl_linalg_to_double(dtype, m * n, a, work);
    mxl_lq_plain(m, n, work, work + m * n, work + m * n + m * m);
    mxl_linalg_from_double(dtype, m * n, work, a);
    mxl_linalg_from_double(dtype, m * m, work + m * n, l);
    mxl_free(work, (size_t)count * sizeof(double));
    return 0;
}

/* In column-major order it is the QR of the transpose, n x m. */
static int lq_by(const mxl_openblas_routines *blas, int dtype, int64_t m, int64_t n, char *a,
                 char *l)
{
    size_t width = mxl_dtype_size(dtype), bytes = (size_t)(m * (WORK_ROWS + 1)) * width;
    int rows = (int)n, columns = (int)m, room = (int)m * WORK_ROWS, info = 0;
    char *work = mxl_alloc(bytes), *tau;

    if (work == NULL)
        return -1;
    tau = work + (size_t)(m * WORK_ROWS) * width;
    blas->geqrf(&rows, &columns, a, &rows, tau, work, &room, &info);
    for (int64_t i = 0; i < m; i++)
        memcpy(l + (size_t)(i * m) * width, a + (size_t)(i * n) * width, (size_t)(i + 1) * width);
    clear_upper(m, l, width);
    blas->orgqr(&rows, &columns, &columns, a, &rows, tau, work, &room, &info);
    mxl_free(work, bytes);
    return 0;
}

int mxl_lq(int dtype, int64_t m, int64_t n, void *a, void *l)
{
    mxl_blas_call b;
    int status;

    if (m == 0)
        return 0;
    if (mxl_blas_begin(dtype, m, n, &b) != 0)
        return -1;
    status = b.blas != NULL ? lq_by(b.blas, dtype, m, n, a, l) : lq_plain(dtype, m, n, a, l);
    mxl_openblas_end(b.held);
    return status;
}

/* ---- eigenvalues ---- */

/* Whether the lower triangle is finite. */
static bool lower_finite(int dtype, int64_t n, const void *a)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            if (!(dtype == MXL_F32 ? isfinite(((const float *)a)[i * n + j])
                                   : isfinite(((const double *)a)[i * n + j])))
                return false;
        }
    }
    return true;
}

/* Changes signs so that the component of greatest magnitude of each row is positive: the sign of an
 * eigenvector is arbitrary, and both algorithms must give the same one. */
#define TURN_ROWS(T)                                                                               \
    static void transpose_rows_##T(int64_t n, T *u)                                                \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T *row = u + i * n, best = 0;                                                          \
                                                                                                   \
            for (int64_t j = 0; j < n; j++) {                                                      \
                if (fabs((double)row[j]) > fabs((double)best))                                     \
                    best = row[j];                                                                 \
            }                                                                                      \
            for (int64_t j = 0; j < n && best < 0; j++)                                            \
                row[j] = -row[j];                                                                  \
        }                                                                                          \
    }

TURN_ROWS(float)
TURN_ROWS(double)

static int eigen_plain(int dtype, int64_t n, void *a, void *values, bool *converged)
{
    int64_t count = n * n + 4 * n;
    double *work = mxl_alloc((size_t)count * sizeof(double));

    if (work == NULL)
        return -1;
    mxl_linalg_to_double(dtype, n * n, a, work);
    *converged = mxl_eigen_plain(n, work, work + n * n, work + n * n + n);
    mxl_linalg_from_double(dtype, n * n, work, a);
    mxl_linalg_from_double(dtype, n, work + n * n, values);
    mxl_free(work, (size_t)count * sizeof(double));
    return 0;
}

static int eigen_by(const mxl_openblas_routines *blas, int dtype, int64_t n, void *a, void *values,
                    bool *converged)
{
    int64_t room = 1 + 6 * n + 2 * n * n, int_room = 3 + 5 * n;
    size_t bytes = (size_t)room * mxl_dtype_size(dtype), int_bytes = (size_t)int_room * sizeof(int);
    int size = (int)n, lwork = (int)room, liwork = (int)int_room, info = 0;
    void *work = mxl_alloc(bytes);
    int *int_work = mxl_alloc(int_bytes);

    if (work != NULL && int_work != NULL)
        blas->syevd("V", "U", &size, a, &size, values, work, &lwork, int_work, &liwork, &info, 1,
                    1);
    *converged = info == 0;
    mxl_free(int_work, int_bytes);
    mxl_free(work, bytes);
    return work == NULL || int_work == NULL ? -1 : 0;
}

int mxl_eigen(int dtype, int64_t n, void *a, void *values, bool *converged)
{
    mxl_blas_call b;
    int status;

    *converged = true;
    if (n == 0)
        return 0;
    if (!lower_finite(dtype, n, a)) {
        for (int64_t i = 0; i < n * n; i++)
            mxl_linalg_from_double(dtype, 1, &(double){NAN},
                                   (char *)a + (size_t)i * mxl_dtype_size(dtype));
        memcpy(values, a, (size_t)n * mxl_dtype_size(dtype));
        return 0;
    }
    if (mxl_blas_begin(dtype, n, n, &b) != 0)
        return -1;
    status = b.blas != NULL ? eigen_by(b.blas, dtype, n, a, values, converged)
                            : eigen_plain(dtype, n, a, values, converged);
    mxl_openblas_end(b.held);
    if (dtype == MXL_F32)
        transpose_rows_float(n, a);
    else
        transpose_rows_double(n, a);
    return status;
}

/* ---- cofactors ---- */

/* det(A) times the transposed inverse, from one decomposition; if A is singular, by full pivoting.
 */
int mxl_cofactors(int dtype, int64_t n, const void *a, void *out)
{
    int64_t count = 2 * n * n + n * n + 3 * n;
    size_t bytes = (size_t)(count + 1) * sizeof(double);
    double *work = mxl_alloc(bytes), *copy = work, *result;
    mxl_lu lu;
    int status;

    if (work == NULL)
        return -1;
    result = work + n * n;
    mxl_linalg_to_double(dtype, n * n, a, copy);
    status = mxl_lu_decompose(MXL_F64, n, copy, true, &lu);
    if (status == 0 && lu.bad == 0) {
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < n; j++)
                result[i * n + j] = lu.det * copy[j * n + i];
        }
    } else if (status == 0) {
        mxl_linalg_to_double(dtype, n * n, a, copy);
        mxl_cofactors_plain(n, copy, result, work + 2 * n * n);
    }
    if (status == 0)
        mxl_linalg_from_double(dtype, n * n, result, out);
    mxl_free(work, bytes);
    return status;
}

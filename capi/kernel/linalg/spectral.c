/* Singular values and eigenvalues: all in double, by OpenBLAS or by jacobi.c and hessenberg.c. */
#include "kernel/linalg/spectral.h"

#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "kernel/linalg/blas_call.h"

/* A call's numbers as doubles, with room behind them; NULL with the error set. */
static double *begin_work(int dtype, int64_t count, int64_t more, const void *a)
{
    double *work = mxl_alloc((size_t)(count + more) * sizeof(double));

    if (work != NULL)
        mxl_linalg_to_double(dtype, count, a, work);
    return work;
}

static bool all_finite(int64_t count, const double *a)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(a[i]))
            return false;
    return true;
}

static void fill_nan(int64_t count, double *a)
{
    for (int64_t i = 0; i < count; i++)
        a[i] = NAN;
}

/* ---- singular values ---- */

/* The sign of a pair of vectors is arbitrary, and all routines must give the same one. Rows of
 * `turned` are the columns of U. */
static void fix_signs(int64_t m, int64_t n, double *v, double *turned)
{
    for (int64_t i = 0; i < m; i++) {
        double *row = v + i * n, best = 0;

        for (int64_t j = 0; j < n; j++)
            best = fabs(row[j]) > fabs(best) ? row[j] : best;
        for (int64_t j = 0; j < n && best < 0; j++)
            row[j] = -row[j];
        for (int64_t j = 0; j < m && best < 0; j++)
            turned[i * m + j] = -turned[i * m + j];
    }
}

static void transpose(int64_t n, const double *from, double *to)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            to[j * n + i] = from[i * n + j];
}

/* In column-major order A is its transpose V' S U', n x m. Row-major, the first factor is V and the
 * second U. 1: it did not converge, and a is undefined. */
static int svd_by(const mxl_openblas *blas, int64_t m, int64_t n, double *a, double *u,
                  double *values)
{
    int rows = (int)n, columns = (int)m, info = 0, room = -1;
    double wanted = 0, *work, *v = mxl_alloc((size_t)(m * n) * sizeof(double));
    size_t bytes;

    if (v == NULL)
        return -1;
    blas->dgesvd("S", "S", &rows, &columns, a, &rows, values, v, &rows, u, &columns, &wanted, &room,
                 &info, 1, 1);
    room = (int)wanted;
    bytes = (size_t)room * sizeof(double);
    work = mxl_alloc(bytes);
    if (work != NULL) {
        blas->dgesvd("S", "S", &rows, &columns, a, &rows, values, v, &rows, u, &columns, work,
                     &room, &info, 1, 1);
        memcpy(a, v, (size_t)(m * n) * sizeof(double));
        mxl_free(work, bytes);
    }
    mxl_free(v, (size_t)(m * n) * sizeof(double));
    return work == NULL ? -1 : info != 0;
}

/* a becomes V, `turned` the transpose of U. */
static int svd_double(int64_t m, int64_t n, const double *a, double *v, double *turned,
                      double *square, double *values)
{
    mxl_blas_call b;
    int status = 1;

    if (mxl_blas_begin(MXL_F64, m, n, &b) != 0)
        return -1;
    memcpy(v, a, (size_t)(m * n) * sizeof(double));
    if (b.blas != NULL && m > 0) {
        status = svd_by(b.held, m, n, v, square, values);
        if (status == 0)
            transpose(m, square, turned);
    }
    mxl_openblas_end(b.held);
    if (status <= 0)
        return status;
    memcpy(v, a, (size_t)(m * n) * sizeof(double));
    mxl_svd_plain(m, n, v, turned, values);
    return 0;
}

int mxl_svd(int dtype, int64_t m, int64_t n, void *a, void *u, void *values)
{
    int64_t more = m * n + 2 * m * m + m;
    double *work = begin_work(dtype, m * n, more, a), *v, *turned, *square, *lengths;
    int status = 0;

    if (work == NULL)
        return -1;
    v = work + m * n;
    turned = v + m * n;
    square = turned + m * m;
    lengths = square + m * m;
    if (all_finite(m * n, work)) {
        status = svd_double(m, n, work, v, turned, square, lengths);
        if (status == 0)
            fix_signs(m, n, v, turned);
    } else {
        fill_nan(more, v);
    }
    if (status == 0) {
        transpose(m, turned, square);
        mxl_linalg_from_double(dtype, m * n, v, a);
        mxl_linalg_from_double(dtype, m * m, square, u);
        mxl_linalg_from_double(dtype, m, lengths, values);
    }
    mxl_free(work, (size_t)(m * n + more) * sizeof(double));
    return status;
}

/* ---- eigenvalues ---- */

/* `a` is column-major; its right eigenvectors become the rows of `square`, then the columns of a.
 */
static int eig_by(const mxl_openblas *blas, int64_t n, double *a, double *square, double *values,
                  bool *real, bool *converged)
{
    int size = (int)n, one = 1, info = 0, room = (int)(8 * n);
    size_t bytes = (size_t)(9 * n) * sizeof(double);
    double *work = mxl_alloc(bytes), *imaginary = work == NULL ? NULL : work + 8 * n;

    if (work == NULL)
        return -1;
    transpose(n, a, square);
    memcpy(a, square, (size_t)(n * n) * sizeof(double));
    blas->dgeev("N", "V", &size, a, &size, values, imaginary, square, &one, square, &size, work,
                &room, &info, 1, 1);
    *converged = info == 0;
    for (int64_t i = 0; i < n; i++)
        *real = *real && imaginary[i] == 0;
    transpose(n, square, a);
    mxl_free(work, bytes);
    return 0;
}

int mxl_eig(int dtype, int64_t n, void *a, void *values, bool *real, bool *converged)
{
    int64_t more = 2 * n * n + 2 * n;
    double *work = begin_work(dtype, n * n, more, a), *square, *found;
    mxl_blas_call b;
    int status = 0;

    *real = *converged = true;
    if (work == NULL)
        return -1;
    found = work + n * n;
    square = found + n;
    status = mxl_blas_begin(MXL_F64, n, n, &b);
    if (!all_finite(n * n, work)) {
        fill_nan(n * n + n, work);
    } else if (status == 0) {
        if (b.blas != NULL)
            status = eig_by(b.held, n, work, square, found, real, converged);
        else
            *converged = mxl_eig_plain(n, work, found, square, real);
    }
    mxl_openblas_end(b.held);
    mxl_linalg_from_double(dtype, n * n, work, a);
    mxl_linalg_from_double(dtype, n, found, values);
    mxl_free(work, (size_t)(n * n + more) * sizeof(double));
    return status;
}

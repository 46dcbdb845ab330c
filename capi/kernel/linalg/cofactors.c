/* Cofactors of a matrix that may be singular, in double. For lapack.c. */
#include <math.h>
#include <string.h>

#include "kernel/linalg/lapack.h"

static void swap_rows(int64_t n, double *a, int64_t i, int64_t j)
{
    for (int64_t k = 0; k < n && i != j; k++) {
        double value = a[i * n + k];

        a[i * n + k] = a[j * n + k];
        a[j * n + k] = value;
    }
}

static void swap_columns(int64_t n, double *a, int64_t i, int64_t j)
{
    for (int64_t k = 0; k < n && i != j; k++) {
        double value = a[k * n + i];

        a[k * n + i] = a[k * n + j];
        a[k * n + j] = value;
    }
}

/* Decomposes P A Q = L U in place with full pivoting: rows[k] and columns[k] are the row and column
 * exchanged with k. Returns the sign of the exchanges, or 0 if two or more pivots are zero; then
 * every cofactor is zero. */
static double decompose(int64_t n, double *a, double *rows, double *columns)
{
    double sign = 1;

    for (int64_t k = 0; k < n; k++) {
        int64_t row = k, column = k;

        for (int64_t i = k; i < n; i++) {
            for (int64_t j = k; j < n; j++) {
                if (fabs(a[i * n + j]) > fabs(a[row * n + column])) {
                    row = i;
                    column = j;
                }
            }
        }
        swap_rows(n, a, k, row);
        swap_columns(n, a, k, column);
        rows[k] = (double)row;
        columns[k] = (double)column;
        sign = (row != k) != (column != k) ? -sign : sign;
        if (k + 1 < n && a[k * n + k] == 0)
            return 0;
        for (int64_t i = k + 1; i < n; i++) {
            double factor = a[i * n + k] / a[k * n + k];

            a[i * n + k] = factor;
            for (int64_t j = k + 1; j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
        }
    }
    return sign;
}

/* out := adj(U) L^-1, the adjugate of L U. With U = (V u; 0 d) adj(U) is det(V) times
 * (d V^-1, -V^-1 u; 0, 1), which divides by no d. */
static void adjugate(int64_t n, const double *a, double *out)
{
    const double *last = out + (n - 1) * n;
    double det = 1, d = a[n * n - 1];

    memset(out, 0, (size_t)(n * n) * sizeof(*out));
    for (int64_t i = 0; i < n; i++) {
        out[i * n + i] = 1;
        for (int64_t k = 0; k < i; k++) {
            for (int64_t j = 0; j < n; j++)
                out[i * n + j] -= a[i * n + k] * out[k * n + j];
        }
    }
    for (int64_t i = n - 2; i >= 0; i--) {
        double *row = out + i * n;

        for (int64_t j = 0; j < n; j++)
            row[j] = d * row[j] - a[i * n + n - 1] * last[j];
        for (int64_t k = i + 1; k < n - 1; k++) {
            for (int64_t j = 0; j < n; j++)
                row[j] -= a[i * n + k] * out[k * n + j];
        }
        for (int64_t j = 0; j < n; j++)
            row[j] /= a[i * n + i];
        det *= a[i * n + i];
    }
    for (int64_t i = 0; i < n * n; i++)
        out[i] *= det;
}

void mxl_cofactors_plain(int64_t n, double *a, double *out, double *work)
{
    double *rows = work, *columns = work + n, *adj = work + 2 * n, sign;

    memset(out, 0, (size_t)(n * n) * sizeof(*out));
    if (n == 0)
        return;
    sign = decompose(n, a, rows, columns);
    if (sign == 0)
        return;
    adjugate(n, a, adj);
    /* adj(A) = +-Q adj(L U) P: undoes the exchanges, the last one first. */
    for (int64_t k = n - 1; k >= 0; k--) {
        swap_rows(n, adj, k, (int64_t)columns[k]);
        swap_columns(n, adj, k, (int64_t)rows[k]);
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++)
            out[i * n + j] = sign * adj[j * n + i];
    }
}

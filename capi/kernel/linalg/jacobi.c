/* Singular values and vectors without a back end: one-sided Jacobi rotations, in double. For
 * spectral.c. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernel/linalg/spectral.h"

enum { SWEEPS = 60 };

/* Rows shorter than this, the largest element being 1, are what rounding left of none: their
 * squares are too near to 0 to make them orthogonal to others. */
#define SHORTEST 1e-140

static double dot(int64_t n, const double *x, const double *y)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static void rotate(int64_t n, double c, double s, double *x, double *y)
{
    for (int64_t i = 0; i < n; i++) {
        double old = x[i];

        x[i] = c * old - s * y[i];
        y[i] = s * old + c * y[i];
    }
}

/* Makes rows x and y orthogonal, and turns the rows of `turns` with them. Returns whether they were
 * not. */
static bool make_orthogonal(int64_t m, int64_t n, double *x, double *y, double *x_turn,
                            double *y_turn)
{
    double xx = dot(n, x, x), yy = dot(n, y, y), xy = dot(n, x, y), zeta, t, c;

    if (fabs(xy) <= DBL_EPSILON * sqrt(xx) * sqrt(yy) || xy == 0)
        return false;
    zeta = (yy - xx) / (2 * xy);
    t = copysign(1 / (fabs(zeta) + sqrt(1 + zeta * zeta)), zeta);
    c = 1 / sqrt(1 + t * t);
    rotate(n, c, c * t, x, y);
    rotate(m, c, c * t, x_turn, y_turn);
    return true;
}

static void swap_rows(int64_t n, double *x, double *y)
{
    for (int64_t i = 0; i < n; i++) {
        double old = x[i];

        x[i] = y[i];
        y[i] = old;
    }
}

/* A row of length 1 that is orthogonal to the first `count` rows of v. */
static void complete(int64_t count, int64_t n, const double *v, double *row)
{
    for (int64_t k = 0; k < n; k++) {
        double length;

        memset(row, 0, (size_t)n * sizeof(double));
        row[k] = 1;
        for (int pass = 0; pass < 2; pass++) {
            for (int64_t i = 0; i < count; i++) {
                double part = dot(n, v + i * n, row);

                for (int64_t j = 0; j < n; j++)
                    row[j] -= part * v[i * n + j];
            }
        }
        length = sqrt(dot(n, row, row));
        /* Of n unit vectors one at least keeps this much of its length. */
        if (length * length < 0.5 / (double)n)
            continue;
        for (int64_t j = 0; j < n; j++)
            row[j] /= length;
        return;
    }
}

void mxl_svd_plain(int64_t m, int64_t n, double *a, double *u, double *values)
{
    double largest = 0;
    bool turned = true;

    memset(u, 0, (size_t)(m * m) * sizeof(double));
    for (int64_t i = 0; i < m; i++)
        u[i * m + i] = 1;
    for (int64_t i = 0; i < m * n; i++)
        largest = fmax(largest, fabs(a[i]));
    for (int64_t i = 0; largest > 0 && i < m * n; i++)
        a[i] /= largest;
    for (int sweep = 0; sweep < SWEEPS && turned; sweep++) {
        turned = false;
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = i + 1; j < m; j++)
                turned |= make_orthogonal(m, n, a + i * n, a + j * n, u + i * m, u + j * m);
    }
    for (int64_t i = 0; i < m; i++)
        values[i] = sqrt(dot(n, a + i * n, a + i * n));
    for (int64_t i = 0; i < m; i++) {
        int64_t best = i;

        for (int64_t j = i + 1; j < m; j++)
            best = values[j] > values[best] ? j : best;
        if (best != i) {
            swap_rows(1, values + i, values + best);
            swap_rows(n, a + i * n, a + best * n);
            swap_rows(m, u + i * m, u + best * m);
        }
    }
    for (int64_t i = 0; i < m; i++) {
        if (values[i] <= SHORTEST) {
            values[i] = 0;
            complete(i, n, a, a + i * n);
        }
        for (int64_t j = 0; values[i] > 0 && j < n; j++)
            a[i * n + j] /= values[i];
        values[i] *= largest;
    }
}

/* LQ and the symmetric eigenproblem without a back end, by Householder's reflections; in double,
 * for float32 matrices too. For lapack.c.
 * A reflection is H = I - t v v' with v[0] = 1; the rest of v is stored in place of the zeros. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernel/linalg/lapack.h"

enum { MOST_STEPS = 60 }; /* QL steps per eigenvalue; two or three are usual */

/* Makes the reflection that maps x (n >= 1 numbers) to (beta, 0, ...). x becomes v, except x[0],
 * which becomes beta. Returns t, or 0 if x has that form already. Numbers are scaled to at most 1,
 * so that their squares cannot overflow. */
static double make_reflection(int64_t n, double *x)
{
    double scale = 0, sum = 0, alpha = x[0], beta;

    for (int64_t i = 1; i < n; i++)
        scale = fabs(x[i]) > scale || isnan(x[i]) ? fabs(x[i]) : scale;
    if (scale == 0)
        return 0;
    for (int64_t i = 1; i < n; i++)
        sum += x[i] / scale * (x[i] / scale);
    beta = -copysign(hypot(alpha, scale * sqrt(sum)), alpha);
    for (int64_t i = 1; i < n; i++)
        x[i] /= alpha - beta;
    x[0] = beta;
    return (beta - alpha) / beta;
}

/* row := row H, with H given by v (n numbers, v[0] is not read) and t. */
static void reflect(int64_t n, const double *v, double t, double *row)
{
    double sum = row[0];

    for (int64_t i = 1; i < n; i++)
        sum += v[i] * row[i];
    sum *= t;
    row[0] -= sum;
    for (int64_t i = 1; i < n; i++)
        row[i] -= sum * v[i];
}

/* Replaces the reflections in `a` (m x n) by the first rows of H(last) ... H(1) H(0). Row k holds
 * the v of H(k - skip), which begins at column k, for k >= skip. Rows before `skip` become the
 * identity's. `v` has room for n numbers. */
static void expand_reflections(int64_t m, int64_t n, int64_t skip, double *a, const double *t,
                               double *v)
{
    for (int64_t k = m - 1; k >= 0; k--) {
        memcpy(v, a + k * n, (size_t)n * sizeof(*v));
        memset(a + k * n, 0, (size_t)n * sizeof(*a));
        a[k * n + k] = 1;
        for (int64_t i = k; i < m && k >= skip; i++)
            reflect(n - k, v + k, t[k - skip], a + i * n + k);
    }
}

void mxl_lq_plain(int64_t m, int64_t n, double *a, double *l, double *work)
{
    double *t = work, *v = work + n;

    memset(l, 0, (size_t)(m * m) * sizeof(*l));
    for (int64_t k = 0; k < m; k++) {
        double *row = a + k * n;

        t[k] = make_reflection(n - k, row + k);
        memcpy(l + k * m, row, (size_t)(k + 1) * sizeof(*l));
        for (int64_t i = k + 1; i < m; i++)
            reflect(n - k, row + k, t[k], a + i * n + k);
    }
    expand_reflections(m, n, 0, a, t, v);
}

/* ---- eigenvalues ---- */

/* B (k x k, rows n apart) := H B H for the symmetric B: with p = t B v and w = p - (t/2) (p v) v it
 * is B - v w' - w v'. v has k numbers, the first of which is 1; w has room for k. */
static void reflect_both(int64_t n, int64_t k, double t, const double *v, double *b, double *w)
{
    double sum = 0;

    for (int64_t i = 0; i < k; i++) {
        double p = 0;

        for (int64_t j = 0; j < k; j++)
            p += b[i * n + j] * v[j];
        w[i] = t * p;
        sum += w[i] * v[i];
    }
    for (int64_t i = 0; i < k; i++)
        w[i] -= t / 2 * sum * v[i];
    for (int64_t i = 0; i < k; i++) {
        for (int64_t j = 0; j < k; j++)
            b[i * n + j] -= v[i] * w[j] + w[i] * v[j];
    }
}

/* A = Q T Q' with tridiagonal T: d is its diagonal, e[i] the element between d[i] and d[i + 1]. A
 * becomes Q'. t and v have room for n numbers each. */
static void make_tridiagonal(int64_t n, double *a, double *d, double *e, double *t, double *v)
{
    for (int64_t k = 0; k + 1 < n; k++) {
        int64_t rest = n - k - 1;
        double *row = a + k * n + k + 1;

        d[k] = a[k * n + k];
        t[k] = make_reflection(rest, row);
        e[k] = row[0];
        memcpy(v, row, (size_t)rest * sizeof(*v));
        v[0] = 1;
        /* Uses e as w: these elements are not computed yet. */
        reflect_both(n, rest, t[k], v, a + (k + 1) * n + k + 1, e + k + 1);
    }
    d[n - 1] = a[n * n - 1];
    /* expand_reflections expects the v of column k in row k. */
    for (int64_t k = n - 1; k > 0; k--)
        memcpy(a + k * n + k, a + (k - 1) * n + k, (size_t)(n - k) * sizeof(*a));
    expand_reflections(n, n, 1, a, t, v);
}

/* Rotates rows i and i + 1 of u. */
static void turn(int64_t n, double c, double s, double *u)
{
    double *first = u, *second = u + n;

    for (int64_t k = 0; k < n; k++) {
        double f = first[k], g = second[k];

        first[k] = c * f - s * g;
        second[k] = s * f + c * g;
    }
}

/* One implicit QL step with Wilkinson's shift on d[l..m]; applies the rotations to the rows of u.
 */
static void ql_step(int64_t n, int64_t l, int64_t m, double *d, double *e, double *u)
{
    double g = (d[l + 1] - d[l]) / (2 * e[l]), c = 1, s = 1, p = 0;

    g = d[m] - d[l] + e[l] / (g + copysign(hypot(g, 1), g));
    for (int64_t i = m - 1; i >= l; i--) {
        double f = s * e[i], b = c * e[i], r = hypot(f, g);

        e[i + 1] = r;
        if (r == 0) {
            /* The matrix split in the middle. */
            d[i + 1] -= p;
            e[m] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        turn(n, c, s, u + i * n);
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0;
}

/* Computes the eigenvalues of (d, e) into d. False: no convergence. */
static bool solve_tridiagonal(int64_t n, double *d, double *e, double *u)
{
    e[n - 1] = 0;
    for (int64_t l = 0; l < n; l++) {
        for (int step = 0;; step++) {
            int64_t m = l;

            while (m + 1 < n && fabs(e[m]) > DBL_EPSILON * (fabs(d[m]) + fabs(d[m + 1])))
                m++;
            if (m == l)
                break;
            if (step == MOST_STEPS)
                return false;
            ql_step(n, l, m, d, e, u);
        }
    }
    return true;
}

static void sort_rows(int64_t n, double *d, double *u, double *row)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t least = i;
        double value = d[i];

        for (int64_t j = i + 1; j < n; j++)
            least = d[j] < d[least] ? j : least;
        if (least == i)
            continue;
        d[i] = d[least];
        d[least] = value;
        memcpy(row, u + i * n, (size_t)n * sizeof(*u));
        memcpy(u + i * n, u + least * n, (size_t)n * sizeof(*u));
        memcpy(u + least * n, row, (size_t)n * sizeof(*u));
    }
}

bool mxl_eigen_plain(int64_t n, double *a, double *values, double *work)
{
    double *e = work, *t = work + n, *v = work + 2 * n, scale = 0;

    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            scale = fabs(a[i * n + j]) > scale ? fabs(a[i * n + j]) : scale;
            a[j * n + i] = a[i * n + j];
        }
    }
    /* Scales numbers to at most 1: then no product overflows, and underflow is harmless. */
    for (int64_t i = 0; i < n * n && scale > 0; i++)
        a[i] /= scale;
    make_tridiagonal(n, a, values, e, t, v);
    if (!solve_tridiagonal(n, values, e, a))
        return false;
    sort_rows(n, values, a, v);
    for (int64_t i = 0; i < n; i++)
        values[i] *= scale;
    return true;
}

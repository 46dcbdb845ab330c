/* Eigenvalues and eigenvectors of any real matrix without a back end, in double: reduction to
 * Hessenberg form, Francis's double-shift QR steps, substitution. For spectral.c. Golub and Van
 * Loan, "Matrix Computations", chapter 7. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernel/linalg/spectral.h"

enum { TRIES = 60 };

/* An n x n matrix H, and the orthogonal Z with A = Z H Z'. */
typedef struct schur {
    int64_t n;
    double *h, *z;
} schur;

#define H(i, j) s->h[(i) * s->n + (j)]
#define Z(i, j) s->z[(i) * s->n + (j)]

/* A reflection of `count` rows and columns from k: 1 - tau v v', v of length up to n. */
static void reflect(const schur *s, int64_t k, int64_t count, const double *v, double tau)
{
    for (int64_t j = 0; j < s->n; j++) {
        double sum = 0;

        for (int64_t i = 0; i < count; i++)
            sum += v[i] * H(k + i, j);
        for (int64_t i = 0; i < count; i++)
            H(k + i, j) -= tau * sum * v[i];
    }
    for (int64_t j = 0; j < s->n; j++) {
        double sum = 0, z_sum = 0;

        for (int64_t i = 0; i < count; i++) {
            sum += v[i] * H(j, k + i);
            z_sum += v[i] * Z(j, k + i);
        }
        for (int64_t i = 0; i < count; i++) {
            H(j, k + i) -= tau * sum * v[i];
            Z(j, k + i) -= tau * z_sum * v[i];
        }
    }
}

/* Turns x into the vector v of the reflection that maps it onto its first axis; returns tau, 0 if
 * nothing is to do. */
static double householder(int64_t count, double *x)
{
    double rest = 0, length, first = x[0];

    for (int64_t i = 1; i < count; i++)
        rest = hypot(rest, x[i]);
    if (rest == 0)
        return 0;
    length = -copysign(hypot(first, rest), first);
    for (int64_t i = 1; i < count; i++)
        x[i] /= first - length;
    x[0] = 1;
    return (length - first) / length;
}

static void to_hessenberg(const schur *s, double *v)
{
    for (int64_t k = 0; k + 2 < s->n; k++) {
        double tau;

        for (int64_t i = k + 1; i < s->n; i++)
            v[i - k - 1] = H(i, k);
        tau = householder(s->n - k - 1, v);
        if (tau != 0)
            reflect(s, k + 1, s->n - k - 1, v, tau);
        for (int64_t i = k + 2; i < s->n; i++)
            H(i, k) = 0;
    }
}

/* One double-shift step on rows low..high, with the shifts' sum and product. */
static void francis_step(const schur *s, int64_t low, int64_t high, double sum, double product)
{
    double v[3];

    for (int64_t k = low; k < high; k++) {
        int64_t count = high - k + 1 < 3 ? high - k + 1 : 3;
        double tau;

        if (k == low) {
            v[0] = H(k, k) * (H(k, k) - sum) + product + H(k, k + 1) * H(k + 1, k);
            v[1] = H(k + 1, k) * (H(k, k) + H(k + 1, k + 1) - sum);
            v[2] = count > 2 ? H(k + 1, k) * H(k + 2, k + 1) : 0;
        } else {
            for (int64_t i = 0; i < count; i++)
                v[i] = H(k + i, k - 1);
        }
        tau = householder(count, v);
        if (tau != 0)
            reflect(s, k, count, v, tau);
        for (int64_t i = 1; k > low && i < count; i++)
            H(k + i, k - 1) = 0;
    }
}

/* Makes rows k and k + 1 triangular if their eigenvalues are real; returns whether they are. */
static bool split_pair(const schur *s, int64_t k)
{
    double a = H(k, k), b = H(k, k + 1), c = H(k + 1, k), d = H(k + 1, k + 1);
    double p = (a - d) / 2, q = p * p + b * c, z, v[2], r, cosine, sine;

    if (q < 0)
        return false;
    z = p + copysign(sqrt(q), p);
    /* (z, c) is an eigenvector, of d + z. */
    v[0] = z;
    v[1] = c;
    r = hypot(v[0], v[1]);
    if (r == 0)
        return true;
    cosine = v[0] / r;
    sine = v[1] / r;
    for (int64_t j = 0; j < s->n; j++) {
        double x = H(k, j), y = H(k + 1, j);

        H(k, j) = cosine * x + sine * y;
        H(k + 1, j) = cosine * y - sine * x;
    }
    for (int64_t j = 0; j < s->n; j++) {
        double x = H(j, k), y = H(j, k + 1), u = Z(j, k), w = Z(j, k + 1);

        H(j, k) = cosine * x + sine * y;
        H(j, k + 1) = cosine * y - sine * x;
        Z(j, k) = cosine * u + sine * w;
        Z(j, k + 1) = cosine * w - sine * u;
    }
    H(k + 1, k) = 0;
    return true;
}

/* The row at which the active block that ends at `high` begins; clears what is negligible. */
static int64_t block_start(const schur *s, int64_t high)
{
    int64_t low = high;

    for (; low > 0; low--) {
        double near = fabs(H(low - 1, low - 1)) + fabs(H(low, low));

        if (fabs(H(low, low - 1)) <= DBL_EPSILON * near || fabs(H(low, low - 1)) < DBL_MIN)
            break;
    }
    if (low > 0)
        H(low, low - 1) = 0;
    return low;
}

/* The sum and the product of a step's two shifts: the eigenvalues of the last two rows; if these
 * are real, the one that is closer to the last element, twice. `other`: for a matrix that keeps its
 * shape. */
static void choose_shifts(const schur *s, int64_t high, bool other, double *sum, double *product)
{
    double a = H(high - 1, high - 1), b = H(high - 1, high), c = H(high, high - 1),
           d = H(high, high);
    double half = (a - d) / 2, inner = half * half + b * c;

    if (other) {
        double size = fabs(c) + fabs(H(high - 1, high - 2));

        *sum = 1.5 * size;
        *product = size * size;
    } else if (inner < 0) {
        *sum = a + d;
        *product = a * d - b * c;
    } else {
        double shift = d + half - copysign(sqrt(inner), half);

        *sum = 2 * shift;
        *product = shift * shift;
    }
}

/* Triangular H. False if it does not converge; *real is false for complex eigenvalues. */
static bool to_triangular(const schur *s, bool *real)
{
    int64_t high = s->n - 1;
    int tries = 0;

    *real = true;
    while (high > 0) {
        int64_t low = block_start(s, high);
        double sum, product;

        if (low == high) {
            high--;
            tries = 0;
            continue;
        }
        if (low == high - 1) {
            *real = split_pair(s, low);
            if (!*real)
                return true;
            high -= 2;
            tries = 0;
            continue;
        }
        if (tries++ == TRIES)
            return false;
        choose_shifts(s, high, tries % 10 == 0, &sum, &product);
        francis_step(s, low, high, sum, product);
    }
    return true;
}

/* The eigenvector of diagonal element k as column k of `out`, by substitution in H, then by Z. */
static void eigenvector(const schur *s, int64_t k, double *x, double *out)
{
    double length = 0, small = DBL_MIN;

    for (int64_t i = 0; i <= k; i++)
        small = fmax(small, DBL_EPSILON * fabs(H(i, i)));
    x[k] = 1;
    for (int64_t i = k - 1; i >= 0; i--) {
        double sum = H(i, k), apart = H(i, i) - H(k, k);

        for (int64_t j = i + 1; j < k; j++)
            sum += H(i, j) * x[j];
        x[i] = -sum / (fabs(apart) < small ? small : apart);
    }
    for (int64_t i = 0; i < s->n; i++) {
        double sum = 0;

        for (int64_t j = 0; j <= k; j++)
            sum += Z(i, j) * x[j];
        out[i * s->n + k] = sum;
        length = hypot(length, sum);
    }
    for (int64_t i = 0; i < s->n; i++)
        out[i * s->n + k] /= length;
}

bool mxl_eig_plain(int64_t n, double *a, double *values, double *work, bool *real)
{
    const schur of = {n, work, work + n * n}, *s = &of;
    double *row = work + 2 * n * n;

    memcpy(s->h, a, (size_t)(n * n) * sizeof(double));
    memset(s->z, 0, (size_t)(n * n) * sizeof(double));
    for (int64_t i = 0; i < n; i++)
        Z(i, i) = 1;
    to_hessenberg(s, row);
    if (!to_triangular(s, real))
        return false;
    for (int64_t k = 0; *real && k < n; k++) {
        values[k] = H(k, k);
        eigenvector(s, k, row, a);
    }
    return true;
}

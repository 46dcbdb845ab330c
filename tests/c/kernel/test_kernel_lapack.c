/* Factorisations without a back end: what they give multiplies back to what they were given, for
 * sizes around a block, in float32 and float64; cofactors against minors. And choosing a back end.
 * (tests/python/table/test_backends.py compares both ways with each other and with NumPy.) */
#include <math.h>
#include <stdlib.h>

#include "backend/openblas.h"
#include "base/dtype.h"
#include "base/system/process.h"
#include "base/error.h"
#include "harness.h"
#include "kernel/linalg/lapack.h"

enum { MOST = 101 };

static const int sizes[] = {1, 2, 3, 7, 47, 48, 49, 96, MOST};

static double a[MOST * MOST], b[MOST * MOST], c[MOST * MOST], values[MOST];
static float narrow[3][MOST * MOST];

static double random_number(uint64_t *seed)
{
    return (double)(int64_t)harness_random(seed) / 9.3e18;
}

/* A matrix with `heavy` on its diagonal, of both signs where `mixed`. */
static void refill(int n, double heavy, bool mixed)
{
    uint64_t seed = (uint64_t)n;

    mxl_openblas_set(NULL);
    for (int i = 0; i < n * n; i++)
        a[i] = random_number(&seed);
    for (int i = 0; i < n; i++)
        a[i * n + i] += mixed && i % 3 == 1 ? -heavy : heavy;
}

/* The largest |p q - r| for n x n matrices, or |p' q - r|, |p q' - r|. */
static double off(int n, bool tp, bool tq, const double *p, const double *q, const double *r)
{
    double most = 0;

    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = -r[i * n + j];

            for (int k = 0; k < n; k++)
                sum += (tp ? p[k * n + i] : p[i * n + k]) * (tq ? q[j * n + k] : q[k * n + j]);
            most = fmax(most, fabs(sum));
        }
    }
    return most;
}

static void to_narrow(int which, const double *from, int count)
{
    for (int i = 0; i < count; i++)
        narrow[which][i] = (float)from[i];
}

static void to_wide(double *to, int which, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = (double)narrow[which][i];
}

static void identity(int n, double *to)
{
    memset(to, 0, (size_t)(n * n) * sizeof(*to));
    for (int i = 0; i < n; i++)
        to[i * n + i] = 1;
}

TEST(cholesky)
{
    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
        int n = sizes[s];
        int64_t bad = 9;

        refill(n, n, false);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < i; j++)
                a[j * n + i] = a[i * n + j];
        }
        memcpy(b, a, sizeof(a));
        to_narrow(0, a, n * n);
        CHECK_INT(mxl_cholesky(MXL_F64, n, b, &bad), 0);
        CHECK_INT(bad, 0);
        CHECK(off(n, false, true, b, b, a) < 1e-12 * n);
        CHECK_INT(mxl_cholesky(MXL_F32, n, narrow[0], &bad), 0);
        CHECK_INT(bad, 0);
        to_wide(b, 0, n * n);
        CHECK(off(n, false, true, b, b, a) < 1e-5 * n);
        /* The last leading minor is the first that is negative. */
        memcpy(b, a, sizeof(a));
        b[n * n - 1] = -1;
        CHECK_INT(mxl_cholesky(MXL_F64, n, b, &bad), 0);
        CHECK_INT(bad, n);
    }
}

TEST(triangles)
{
    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
        for (int mode = 0; mode < 8; mode++) {
            int n = sizes[s];
            bool right = mode & 1, low = mode & 2, transpose = mode & 4;

            refill(n, n, true);
            memcpy(b, a, sizeof(a));
            CHECK_INT(mxl_triangular_solve(MXL_F64, right, low, transpose, n, n, a, b), 0);
            memcpy(c, a, sizeof(a));
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < n; j++)
                    c[i * n + j] = i == j || (j < i) == low ? c[i * n + j] : 0;
            }
            CHECK(right ? off(n, false, transpose, b, c, a) < 1e-12 * n
                        : off(n, transpose, false, c, b, a) < 1e-12 * n);
            to_narrow(0, a, n * n);
            to_narrow(1, a, n * n);
            CHECK_INT(
                mxl_triangular_solve(MXL_F32, right, low, transpose, n, n, narrow[0], narrow[1]),
                0);
            to_wide(b, 1, n * n);
            CHECK(right ? off(n, false, transpose, b, c, a) < 1e-5 * n
                        : off(n, transpose, false, c, b, a) < 1e-5 * n);
        }
    }
}

TEST(inverses)
{
    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
        int n = sizes[s];
        mxl_lu lu;

        refill(n, 2, true);
        identity(n, c);
        memcpy(b, a, sizeof(a));
        CHECK_INT(mxl_lu_decompose(MXL_F64, n, b, true, &lu), 0);
        CHECK_INT(lu.bad, 0);
        CHECK(off(n, false, false, a, b, c) < 1e-10 * n);
        CHECK_NEAR(lu.det, lu.sign * exp(lu.log_det), 1e-9);
        to_narrow(0, a, n * n);
        CHECK_INT(mxl_lu_decompose(MXL_F32, n, narrow[0], true, &lu), 0);
        to_wide(b, 0, n * n);
        CHECK(off(n, false, false, a, b, c) < 1e-3 * n);
        /* A row of zeros. */
        memcpy(b, a, sizeof(a));
        memset(b + (n / 2) * n, 0, (size_t)n * sizeof(*b));
        CHECK_INT(mxl_lu_decompose(MXL_F64, n, b, true, &lu), 0);
        CHECK_INT(lu.bad, n);
        CHECK(lu.det == 0 && lu.sign == 0 && lu.log_det == -HUGE_VAL);
    }
}

TEST(lq)
{
    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
        int n = sizes[s];

        refill(n, 1, true);
        memcpy(b, a, sizeof(a));
        CHECK_INT(mxl_lq(MXL_F64, n, n, b, c), 0);
        CHECK(off(n, false, false, c, b, a) < 1e-12 * n);
        for (int i = 0; i < n; i++) {
            for (int j = i + 1; j < n; j++)
                CHECK(c[i * n + j] == 0);
        }
        identity(n, c);
        CHECK(off(n, false, true, b, b, c) < 1e-12 * n);
        to_narrow(0, a, n * n);
        CHECK_INT(mxl_lq(MXL_F32, n, n, narrow[0], narrow[1]), 0);
        to_wide(b, 0, n * n);
        to_wide(c, 1, n * n);
        CHECK(off(n, false, false, c, b, a) < 1e-5 * n);
    }
}

/* U' diag(values) U - A, the lower triangle of A standing for both. */
static double eigen_off(int n)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            c[i * n + j] = values[i] * b[i * n + j];
        for (int j = i + 1; j < n; j++)
            a[i * n + j] = a[j * n + i];
    }
    return off(n, true, false, b, c, a);
}

TEST(eigen)
{
    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
        int n = sizes[s];
        bool converged = false;

        refill(n, 1, true);
        memcpy(b, a, sizeof(a));
        CHECK_INT(mxl_eigen(MXL_F64, n, b, values, &converged), 0);
        CHECK(converged);
        CHECK(eigen_off(n) < 1e-12 * n);
        identity(n, c);
        CHECK(off(n, false, true, b, b, c) < 1e-12 * n);
        for (int i = 0; i + 1 < n; i++)
            CHECK(values[i] <= values[i + 1]);
        for (int i = 0; i < n; i++) {
            int best = 0;

            for (int j = 1; j < n; j++)
                best = fabs(b[i * n + j]) > fabs(b[i * n + best]) ? j : best;
            CHECK(b[i * n + best] > 0);
        }
        to_narrow(0, a, n * n);
        CHECK_INT(mxl_eigen(MXL_F32, n, narrow[0], narrow[1], &converged), 0);
        to_wide(b, 0, n * n);
        to_wide(values, 1, n);
        CHECK(eigen_off(n) < 1e-5 * n);
    }
}

/* Matrices on which shifts have nothing to hold on to. */
TEST(eigen_of_special_matrices)
{
    for (int kind = 0; kind < 4; kind++) {
        enum { N = 12 };
        bool converged = false;

        memset(a, 0, sizeof(a));
        for (int i = 0; i < N; i++) {
            if (kind == 1)
                a[i * N + i] = i % 3;
            else if (kind == 2 && i > 0)
                a[i * N + i - 1] = 1;
            else if (kind == 3)
                a[i * N + N - 1 - i] = i >= N / 2 ? 1e-200 : 0;
        }
        memcpy(b, a, sizeof(a));
        CHECK_INT(mxl_eigen(MXL_F64, N, b, values, &converged), 0);
        CHECK(converged);
        CHECK(eigen_off(N) < 1e-14);
        identity(N, c);
        CHECK(off(N, false, true, b, b, c) < 1e-14);
    }
}

/* It ends, whatever it is given. */
TEST(eigen_of_nan)
{
    double work[3 * 3];

    for (int i = 0; i < 9; i++)
        a[i] = NAN;
    CHECK(mxl_eigen_plain(3, a, values, work));
    CHECK(isnan(values[0]) && isnan(values[2]));
}

/* The determinant of what is left of an n x n matrix without row `row` and column `column`. */
static double minor_of(int n, const double *m, int row, int column)
{
    double rest[36], sum = 0;
    int count = 0;

    if (n == 1)
        return 1;
    for (int i = 0; i < n * n; i++) {
        if (i / n != row && i % n != column)
            rest[count++] = m[i];
    }
    if (n == 2)
        return rest[0];
    for (int j = 0; j < n - 1; j++)
        sum += (j % 2 == 0 ? 1 : -1) * rest[j] * minor_of(n - 1, rest, 0, j);
    return sum;
}

TEST(cofactors)
{
    double work[36 + 18], m[36], got[36];

    /* kind: regular; rank n - 1; rank n - 2; permuted; zero */
    for (int kind = 0; kind < 5; kind++) {
        for (int n = 1; n <= 6; n++) {
            refill(n, 1, true);
            for (int k = 1; k <= kind && kind < 3 && k < n; k++) {
                for (int j = 0; j < n; j++)
                    a[k * n + j] = (k + 1) * a[j];
            }
            for (int i = 0; i < n * n && kind >= 3; i++)
                a[i] = kind == 3 && i % n == (i / n + 2) % n ? i + 1 : 0;
            a[0] = n == 1 && kind > 0 ? 0 : a[0];
            memcpy(m, a, sizeof(m));
            CHECK_INT(mxl_cofactors(MXL_F64, n, a, got), 0);
            for (int i = 0; i < n * n; i++)
                CHECK_NEAR(got[i],
                           ((i / n + i % n) % 2 == 0 ? 1 : -1) * minor_of(n, m, i / n, i % n),
                           1e-12);
            /* The same by pivots from the whole matrix, which singular ones need. */
            mxl_cofactors_plain(n, a, got, work);
            for (int i = 0; i < n * n; i++)
                CHECK_NEAR(got[i],
                           ((i / n + i % n) % 2 == 0 ? 1 : -1) * minor_of(n, m, i / n, i % n),
                           1e-12);
        }
    }
}

/* A library of the system. */
#if defined(_WIN32)
#define OTHER "kernel32.dll"
#elif defined(__APPLE__)
#define OTHER "libSystem.B.dylib"
#else
#define OTHER "libm.so.6"
#endif

TEST(choosing)
{
    const mxl_openblas *table = NULL;

    CHECK_INT(mxl_openblas_set("/nowhere/libopenblas.so"), -1);
    CHECK_HAS(mxl_error_text(), "openblas: cannot be opened");
    CHECK_INT(mxl_openblas_set(OTHER), -1);
    CHECK_HAS(mxl_error_text(), OTHER " is no OpenBLAS");
    CHECK_INT(mxl_openblas_set(NULL), 0);
    CHECK_INT(mxl_openblas_begin(&table, true), 0);
    CHECK(table == NULL);
    mxl_openblas_end(table);
    CHECK_INT(mxl_environment_set("MXLITE_BACKENDS", "none"), 0);
    CHECK_INT(mxl_openblas_set(""), 0);
    CHECK_INT(mxl_openblas_get(&table), 0);
    CHECK(table == NULL);
    CHECK_INT(mxl_environment_set("MXLITE_BACKENDS", "mkl"), 0);
    CHECK_INT(mxl_openblas_set(""), -1);
    CHECK_STR(mxl_error_text(), "MXLITE_BACKENDS is \"mkl\"; it may be \"none\" or \"openblas\"");
    CHECK_INT(mxl_environment_set("MXLITE_BACKENDS", "openblas"), 0);
    CHECK_INT(mxl_environment_set("MXLITE_OPENBLAS", "/nowhere/x.so"), 0);
    CHECK_INT(mxl_openblas_set(""), -1);
    CHECK_HAS(mxl_error_text(), "MXLITE_OPENBLAS: cannot be opened");
    CHECK_INT(mxl_environment_set("MXLITE_OPENBLAS", NULL), 0);
    CHECK_INT(mxl_environment_set("MXLITE_BACKENDS", NULL), 0);
    CHECK_INT(mxl_openblas_set(NULL), 0);
}

HARNESS_MAIN(ENTRY(cholesky), ENTRY(triangles), ENTRY(inverses), ENTRY(lq), ENTRY(eigen),
             ENTRY(eigen_of_special_matrices), ENTRY(eigen_of_nan), ENTRY(cofactors),
             NOT_WASM(choosing))

/* The special functions of kernel/math/special.h against values with more digits than a double, at
 * every vector level. */
#include "harness.h"

#include <math.h>
#include <string.h>

#include "kernel/math/special.h"
#include "kernel/target.h"

static double polygamma(int order, double x)
{
    double y;

    mxl_polygamma(order, 1, &x, &y);
    return y;
}

/* 8 ULP, or as much of `least`. */
static bool near(double got, double wanted, double least)
{
    return fabs(got - wanted) <= 8 * 0x1p-53 * fmax(fabs(wanted), least);
}

/* By mpmath. */
typedef struct value {
    int order;
    double x, y;
} value;

static const value VALUES[] = {
    {0, 1, -0.5772156649015329},
    {0, 0.5, -1.9635100260214235},
    {0, 10, 2.251752589066721},
    {0, 10000000000.0, 23.025850929890456},
    {0, -0.5, 0.03648997397857652},
    {0, -1e-20, 1e+20},
    {0, -2.000000000000001, 1125899906842625.0},
    {0, 1.4616321449683622, -9.241265521729427e-17},
    {1, 1, 1.6449340668482264},
    {1, 0.5, 4.934802200544679},
    {1, 100, 0.010050166663333571},
    {1, -0.5, 8.934802200544679},
    {1, -1e-20, 1.0000000000000002e+40},
    {1, 1e-150, 1e+300},
    {1, 1e+200, 1e-200},
    {2, 1, -2.4041138063191885},
    {2, 0.125, -1025.7533381181356},
    {2, 40, -0.0006408202718352986},
    {2, -2.9999999999990905, -2.658455991569832e+36},
    {2, 1e+100, -1e-200},
    {3, 1, 6.493939402266829},
    {3, 1e-70, 6e+280},
    {3, 1e+100, 2e-300},
    {3, -2.5, 194.74787621918762},
    {4, 2.5, -0.3137559995067314},
    {4, -1.25, 24481.063714184584},
    {7, 7.9, 0.0005684216308918637},
    {10, 0.3, -2048468424178.0745},
    {10, 1.2, -489024.54888412775},
    {10, -0.75, -15220204748421.006},
    {10, -20.5, -2.1531748492994132e-08},
    {10, 1e+30, -3.628799999999999e-295},
    {30, 3.5, -3611857616302858.0},
    {60, 1, -8.32098711274139e+81},
    {60, 15.9, -442244253.3686512},
    {60, 72.5, -4.8909079735271486e-32},
    {60, 300000.0, -3.2718376418748303e-249},
    {60, -0.25, 4.424195609128541e+118},
    {59, -0.5, 3.197814993945329e+98},
    {60, 0.002, -3.608652921943235e+246},
};
enum { VALUE_COUNT = sizeof VALUES / sizeof *VALUES };

TEST(values)
{
    for (int level = MXL_BASELINE; level < MXL_LEVELS && mxl_level_set(level) == 0; level++)
        for (int i = 0; i < VALUE_COUNT; i++)
            if (!CHECK(near(polygamma(VALUES[i].order, VALUES[i].x), VALUES[i].y,
                            VALUES[i].order == 0 ? 1 : 0)))
                CHECK_NEAR(polygamma(VALUES[i].order, VALUES[i].x), VALUES[i].y, 0);
}

TEST(edges)
{
    static const double poles[] = {0.0, -0.0, -1, -2, -1e15, -0x1p52, -1e300};

    for (int level = MXL_BASELINE; level < MXL_LEVELS && mxl_level_set(level) == 0; level++)
        for (int n = 0; n <= MXL_POLYGAMMA_MOST; n++) {
            double sign = n % 2 == 0 ? -1 : 1, far = polygamma(n, INFINITY);

            for (int i = 0; i < (int)(sizeof poles / sizeof *poles); i++)
                CHECK(polygamma(n, poles[i]) == INFINITY);
            CHECK(n == 0 ? far == INFINITY : far == 0 && !signbit(far) == (sign > 0));
            CHECK(isnan(polygamma(n, NAN)) && isnan(polygamma(n, -INFINITY)));
            CHECK(polygamma(n, 5e-324) == sign * (double)INFINITY);
            CHECK(polygamma(n, -5e-324) == INFINITY); /* from below, every pole is */
        }
}

/* psi_n(x + 1) = psi_n(x) + (-1)^n n! / x^(n + 1), on both sides of 0 */
TEST(recurrence)
{
    for (int level = MXL_BASELINE; level < MXL_LEVELS && mxl_level_set(level) == 0; level++)
        for (int n = 0; n <= MXL_POLYGAMMA_MOST; n++)
            for (double x = -7.35; x < 90; x += 0.7) {
                double step = (n % 2 == 0 ? 1 : -1) * tgamma(n + 1) / pow(x, n + 1);
                double a = polygamma(n, x), b = polygamma(n, x + 1);

                if (!CHECK(fabs(b - a - step) <= 3e-14 * (fabs(a) + fabs(b) + fabs(step))))
                    CHECK_NEAR(x, n, 0);
            }
}

/* A number has the same bits at any position and with any neighbours; also in place. */
TEST(arrays)
{
    enum { MOST = 300 };
    static const int sizes[] = {0, 1, 7, 8, 9, 127, 128, 129, MOST};
    double x[MOST], y[MOST + 1];
    uint64_t seed = 3;

    for (int i = 0; i < MOST; i++)
        x[i] = (double)(harness_random(&seed) >> 11) * 0x1p-53 * 30 - (i % 3 == 0 ? 15 : 0);
    x[200] = NAN, x[201] = 0, x[202] = 1e-310, x[203] = INFINITY;
    for (int level = MXL_BASELINE; level < MXL_LEVELS && mxl_level_set(level) == 0; level++)
        for (int n = 0; n <= 5; n++)
            for (int k = 0; k < (int)(sizeof sizes / sizeof *sizes); k++) {
                y[sizes[k]] = 42;
                mxl_polygamma(n, sizes[k], x, y);
                for (int i = 0; i < sizes[k]; i++) {
                    double alone = polygamma(n, x[i]);

                    CHECK(memcmp(&y[i], &alone, sizeof alone) == 0);
                }
                CHECK(y[sizes[k]] == 42);
                memcpy(y, x, sizeof x);
                mxl_polygamma(n, sizes[k], y, y);
                for (int i = 0; i < sizes[k]; i++)
                    CHECK(isnan(x[i]) || y[i] == polygamma(n, x[i]));
            }
}

TEST(log_gamma)
{
    CHECK(near(mxl_log_gamma(0.5), 0.57236494292470008707, 0));
    CHECK(near(mxl_log_gamma(-0.5), 1.2655121234846453964, 0));
    CHECK(mxl_log_gamma(0) == INFINITY && mxl_log_gamma(-1) == INFINITY);
}

HARNESS_MAIN(ENTRY(values), ENTRY(edges), ENTRY(recurrence), ENTRY(arrays), ENTRY(log_gamma))

/* The special functions of kernel/special.h against values with more digits than a double. */
#include "harness.h"

#include <math.h>

#include "kernel/special.h"

static bool near(double got, double wanted)
{
    return fabs(got - wanted) <= 2e-13 * fabs(wanted) + 1e-15;
}

TEST(digamma)
{
    CHECK(near(mxl_polygamma(0, 1), -0.57721566490153286061));
    CHECK(near(mxl_polygamma(0, 0.5), -1.9635100260214234794));
    CHECK(near(mxl_polygamma(0, 10), 2.2517525890667211077));
    CHECK(near(mxl_polygamma(0, -0.5), 0.036489973978576520559));
    CHECK(near(mxl_polygamma(0, -1e-20), 1e20) && near(mxl_polygamma(0, -2 - 0x1p-50), 0x1p50));
    CHECK(mxl_polygamma(0, -5e-324) == INFINITY && mxl_polygamma(1, -5e-324) == INFINITY);
    CHECK(mxl_polygamma(0, 0) == INFINITY && mxl_polygamma(2, -3) == INFINITY);
    CHECK(mxl_polygamma(0, INFINITY) == INFINITY && mxl_polygamma(1, INFINITY) == 0);
    CHECK(isnan(mxl_polygamma(0, NAN)) && isnan(mxl_polygamma(0, -INFINITY)));
}

TEST(polygamma)
{
    const double pi = 3.14159265358979323846;

    CHECK(near(mxl_polygamma(1, 1), pi * pi / 6));
    CHECK(near(mxl_polygamma(1, 0.5), pi * pi / 2));
    CHECK(near(mxl_polygamma(2, 1), -2.4041138063191885708));
    CHECK(near(mxl_polygamma(3, 1), pi * pi * pi * pi / 15));
    CHECK(near(mxl_polygamma(1, -1e-20), 1e40) && near(mxl_polygamma(2, -3 + 0x1p-40), -0x1p121));
    CHECK(near(mxl_polygamma(1, -0.5), pi * pi / 2 + 4));
    /* psi_n(x + 1) = psi_n(x) + (-1)^n n! / x^(n + 1), on both sides of 0 */
    for (int n = 0; n <= 6; n++)
        for (double x = -3.3; x < 4; x += 0.7) {
            double step = (n % 2 == 0 ? 1 : -1) * tgamma(n + 1) / pow(x, n + 1);
            double a = mxl_polygamma(n, x), b = mxl_polygamma(n, x + 1);

            CHECK(fabs(b - a - step) <= 1e-10 * (fabs(a) + fabs(b) + fabs(step)));
        }
}

TEST(log_gamma)
{
    CHECK(near(mxl_log_gamma(0.5), 0.57236494292470008707));
    CHECK(near(mxl_log_gamma(-0.5), 1.2655121234846453964));
    CHECK(mxl_log_gamma(0) == INFINITY && mxl_log_gamma(-1) == INFINITY);
}

HARNESS_MAIN(ENTRY(digamma), ENTRY(polygamma), ENTRY(log_gamma))

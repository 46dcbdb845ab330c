/* Bessel's and Airy's functions, incomplete gamma functions, zeta and polynomials: by the equations
 * that hold between them, across the borders of the ways in which they are computed. */
#include <math.h>

#include "harness.h"
#include "kernel/math/bessel.h"
#include "kernel/math/incomplete.h"

static const double PI = 3.14159265358979323846;

/* Wronski's determinants. */
TEST(wronskians)
{
    for (double x = 0.01; x < 300; x *= 1.07) {
        double j =
            mxl_bessel_j(1, x) * mxl_bessel_y(0, x) - mxl_bessel_j(0, x) * mxl_bessel_y(1, x);
        double k = mxl_bessel_i_scaled(0, x) * mxl_bessel_k_scaled(1, x) +
                   mxl_bessel_i_scaled(1, x) * mxl_bessel_k_scaled(0, x);

        CHECK_NEAR(j * PI * x / 2, 1, 1e-11);
        CHECK_NEAR(k * x, 1, 1e-14);
        CHECK_NEAR(mxl_bessel_i(1, -x) / mxl_bessel_i(1, x), -1, 0);
    }
    CHECK_NEAR(mxl_bessel_i(0, 1), 1.2660658777520083356, 1e-15);
    CHECK_NEAR(mxl_bessel_k(1, 2), 0.13986588181652242728, 1e-15);
    CHECK_NEAR(mxl_airy_ai(0), 0.35502805388781723926, 1e-16);
    CHECK_NEAR(mxl_airy_ai(1), 0.13529241631288141552, 1e-16);
    CHECK_NEAR(mxl_airy_ai(1.0000001), mxl_airy_ai(1), 2e-8);
    CHECK_NEAR(mxl_airy_ai(-8.0000001), mxl_airy_ai(-8), 2e-7);
    CHECK_NEAR(mxl_airy_ai(10), 1.1047532552898685934e-10, 1e-24);
}

TEST(limits)
{
    CHECK(isinf(mxl_bessel_y(0, 0)) && mxl_bessel_y(0, 0) < 0);
    CHECK(isnan(mxl_bessel_y(1, -1)) && isnan(mxl_bessel_k(0, -1)) && isnan(mxl_bessel_i(0, NAN)));
    CHECK(isinf(mxl_bessel_k(1, 0)) && isinf(mxl_bessel_i(1, HUGE_VAL)));
    CHECK_NEAR(mxl_bessel_k_scaled(0, HUGE_VAL), 0, 0);
    CHECK_NEAR(mxl_spherical_j0(0), 1, 0);
    CHECK_NEAR(mxl_spherical_j0(HUGE_VAL), 0, 0);
    CHECK_NEAR(mxl_airy_ai(1e300), 0, 0);
    CHECK(isnan(mxl_airy_ai(-HUGE_VAL)));
}

TEST(incomplete)
{
    for (double a = 0.1; a < 300; a *= 1.3)
        for (double x = 0.01; x < 500; x *= 1.7)
            CHECK_NEAR(mxl_gamma_lower(a, x) + mxl_gamma_upper(a, x), 1, 1e-15);
    CHECK_NEAR(mxl_gamma_lower(1, 2), 1 - exp(-2), 1e-15);
    CHECK_NEAR(mxl_gamma_upper(0.5, 4), erfc(2), 1e-16);
    CHECK_NEAR(mxl_gamma_lower(5e-324, 0.5), 1, 1e-15);
    CHECK_NEAR(mxl_zeta(2, 1), PI * PI / 6, 1e-15);
    CHECK_NEAR(mxl_zeta(3, 4.5) - mxl_zeta(3, 5.5), 1 / (4.5 * 4.5 * 4.5), 1e-16);
    for (double x = -25; x < 40; x += 0.37)
        CHECK_NEAR(mxl_erfcx(x) / (x < 26 ? exp(x * x) * erfc(x) : 1 / (x * sqrt(PI))), 1,
                   x < 26 ? 1e-12 : 1e-3);
    for (double x = -37; x < 8; x += 0.31)
        CHECK_NEAR(mxl_ndtri(erfc(-x / sqrt(2)) / 2), x, x < 6 ? 1e-9 : 1e-1);
    CHECK_NEAR(mxl_log_ndtr(-1e10), -5e19, 1e5);
}

TEST(polynomials)
{
    const double x = 0.37, angle = acos(x);

    CHECK_NEAR(mxl_polynomial_at(MXL_CHEBYSHEV_T, x, 9), cos(9 * angle), 1e-14);
    CHECK_NEAR(mxl_polynomial_at(MXL_CHEBYSHEV_U, x, 9), sin(10 * angle) / sin(angle), 1e-14);
    CHECK_NEAR(mxl_polynomial_at(MXL_CHEBYSHEV_V, x, 4), cos(4.5 * angle) / cos(angle / 2), 1e-14);
    CHECK_NEAR(mxl_polynomial_at(MXL_CHEBYSHEV_W, x, 4), sin(4.5 * angle) / sin(angle / 2), 1e-14);
    CHECK_NEAR(mxl_polynomial_at(MXL_HERMITE_H, x, 3), 8 * x * x * x - 12 * x, 1e-15);
    CHECK_NEAR(mxl_polynomial_at(MXL_HERMITE_HE, x, 3), x * x * x - 3 * x, 1e-15);
    CHECK_NEAR(mxl_polynomial_at(MXL_LAGUERRE, x, 2), (x * x - 4 * x + 2) / 2, 1e-15);
    CHECK_NEAR(mxl_polynomial_at(MXL_LEGENDRE, x, 3.9), (5 * x * x * x - 3 * x) / 2, 1e-15);
    CHECK_NEAR(mxl_polynomial_at(MXL_LEGENDRE, x, 0), 1, 0);
    CHECK_NEAR(mxl_polynomial_at(MXL_LEGENDRE, x, -1), 0, 0);
}

HARNESS_MAIN(ENTRY(wronskians), ENTRY(limits), ENTRY(incomplete), ENTRY(polynomials))

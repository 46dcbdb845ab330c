/* Densities of distributions at single values; their sums and means over counts. */
#include <math.h>

#include "base/dtype.h"
#include "base/error.h"
#include "harness.h"
#include "kernel/random/density.h"

TEST(densities)
{
    static const double x[] = {0.25, 0.75, 0.5, 0.5}, alpha[] = {2, 3};
    double out[2], sum;
    int32_t integers[2];

    CHECK_NEAR(mxl_density_normal(1, 0, 2, false), 0.17603266338214976, 1e-16);
    CHECK_NEAR(mxl_density_gamma(2, 3, 0.5, false), 0.09196986029286058, 1e-15);
    CHECK_NEAR(mxl_density_exponential(2, 0.5, 0, true), log(0.5) - 1, 1e-15);
    CHECK_NEAR(mxl_density_uniform(9, 1, 5, false), 0.25, 0);
    sum = 0;
    for (int k = 0; k < 60; k++)
        sum += mxl_density_poisson(k, 7, 0, false);
    CHECK_NEAR(sum, 1, 1e-12);
    sum = 0;
    for (int k = 0; k < 400; k++)
        sum += mxl_density_negative_binomial(k, 2.5, 0.25, false) * k;
    CHECK_NEAR(sum, 7.5, 1e-9); /* the mean */
    sum = 0;
    for (int k = 0; k < 400; k++)
        sum += mxl_density_generalized_negative_binomial(k, 3, 0.5, false) * k;
    CHECK_NEAR(sum, 3, 1e-9);
    CHECK_INT(mxl_density_dirichlet(false, MXL_F64, 2, 2, x, alpha, 2, out), 0);
    CHECK_NEAR(out[0], 12 * 0.25 * 0.75 * 0.75, 1e-14);
    CHECK_NEAR(out[1], 12 * 0.5 * 0.25, 1e-14);
    CHECK_INT(mxl_density_dirichlet(false, MXL_I32, 2, 2, x, alpha, 2, integers), -1);
    CHECK_INT(mxl_density_fill(mxl_density_poisson, true, MXL_I32, 2, x, alpha, NULL, 2, integers),
              -1);
    CHECK_HAS(mxl_error_text(), "int32");
}

HARNESS_MAIN(ENTRY(densities))

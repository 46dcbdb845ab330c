/* Powers of doubles (kernel/math/math_pow_f64.h) at every vector level: compared with the C
 * library's for long double, and exactly with its double ones for zeros, infinities, NaN and
 * integer exponents. */
#include <float.h>
#include <math.h>

#include "harness.h"
#include "kernel/math/math.h"

enum { COUNT = 20011 };

MXL_INLINE void pow_row_at(int level, double *out, const double *x, const double *y, int64_t n)
{
    MXL_IVDEP
    for (int64_t i = 0; i < n; i++)
        out[i] = mxl_pow_f64(level, x[i], y[i]);
}
MXL_BY_LEVEL(pow_row, (double *out, const double *x, const double *y, int64_t n), out, x, y, n)

static double unit(uint64_t *seed)
{
    return (double)(harness_random(seed) >> 11) * 0x1p-53;
}

/* Pairs whose powers are anywhere from 0 to infinity. */
static void draw(uint64_t *seed, double *x, double *y)
{
    switch (harness_random(seed) % 4) {
    case 0:
        *x = mxl_double_of_bits(harness_random(seed) % (UINT64_C(2047) << 52));
        *y = (unit(seed) - 0.5) * 4;
        break;
    case 1:
        *x = 1 + (unit(seed) - 0.5) * ldexp(1, -(int)(harness_random(seed) % 50));
        *y = (unit(seed) * 2 - 1) * 745 / log(*x);
        break;
    case 2:
        *x = exp((unit(seed) - 0.5) * 10);
        *y = (unit(seed) * 2 - 1) * 745 / log(*x);
        break;
    default:
        *x = unit(seed) * 100;
        *y = (unit(seed) - 0.5) * 20;
    }
}

TEST(within_their_bound)
{
    static double x[COUNT], y[COUNT], out[COUNT];
    uint64_t seed = 11;

    for (int i = 0; i < COUNT; i++)
        draw(&seed, &x[i], &y[i]);
    for (int level = MXL_BASELINE; level < MXL_LEVELS && mxl_level_set(level) == 0; level++) {
        pow_row(out, x, y, COUNT);
        for (int i = 0; i < COUNT; i++) {
            long double want = powl(x[i], y[i]), off = fabsl(out[i] - want);
            double rounded = (double)want, next = nextafter(fabs(rounded), INFINITY);
            long double place = fmaxl((long double)next - fabs(rounded), 4.94065645841246544e-324L);

            CHECK(isinf(rounded) || isinf(next) ? out[i] >= DBL_MAX : off <= place);
        }
    }
}

TEST(edges)
{
    static const double edges[] = {
        0.0,
        -0.0,
        1,
        -1,
        INFINITY,
        -INFINITY,
        NAN,
        2,
        -2,
        3,
        -3,
        0.5,
        -0.5,
        1e300,
        5e-324,
        -5e-324,
        1e-300,
        1e19,
        4503599627370497.0,
        4503599627370495.5,
        2251799813685247.5,
        2251799813685249.0,
        9007199254740993.0,
        -2.5,
        0.9999999999999999,
        1.0000000000000002,
        DBL_MAX,
        -DBL_MAX,
    };
    enum { EDGES = sizeof edges / sizeof *edges };
    double y[EDGES], out[EDGES];

    for (int level = MXL_BASELINE; level < MXL_LEVELS && mxl_level_set(level) == 0; level++)
        for (int k = 0; k < EDGES; k++) {
            for (int i = 0; i < EDGES; i++)
                y[i] = edges[k];
            pow_row(out, edges, y, EDGES);
            for (int i = 0; i < EDGES; i++) {
                double want = pow(edges[i], edges[k]);

                bool held = isnan(want) ? isnan(out[i]) : !signbit(out[i]) == !signbit(want);

                if (isnan(want) || want == 0 || isinf(want))
                    held = held && (out[i] == want || isnan(want));
                else
                    held = held && fabs(out[i] / want - 1) < 3e-16;
                if (!CHECK(held))
                    CHECK_NEAR(edges[i], edges[k], 0);
            }
        }
}

HARNESS_MAIN(ENTRY(within_their_bound), ENTRY(edges))

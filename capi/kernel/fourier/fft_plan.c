/* Factors of lengths, and roots of unity. */
#include "kernel/fourier/fft_plan.h"

#include "kernel/math/math.h"
#include "kernel/target.h"

int mxl_fft_factors(int64_t n, int factors[MXL_FFT_STAGES])
{
    int count = 0;

    for (; n % 4 == 0; n /= 4)
        factors[count++] = 4;
    for (int64_t radix = 2; n > 1; radix += radix == 2 ? 1 : 2) {
        if (radix > MXL_FFT_RADIX)
            return 0;
        for (; n % radix == 0; n /= radix)
            factors[count++] = (int)radix;
    }
    return count;
}

/* Operations of a stage for one element, in units of a radix of 2. */
static double stage_cost(int radix)
{
    return radix <= 5 ? radix : 1.5 * radix;
}

static double factors_cost(int64_t n)
{
    int factors[MXL_FFT_STAGES], count = mxl_fft_factors(n, factors);
    double sum = 0;

    for (int i = 0; i < count; i++)
        sum += stage_cost(factors[i]);
    return sum * (double)n;
}

bool mxl_fft_convolves(int64_t n)
{
    int factors[MXL_FFT_STAGES];

    if (n <= MXL_FFT_RADIX)
        return false;
    if (mxl_fft_factors(n, factors) == 0)
        return true;
    return factors_cost(n) > 3 * factors_cost(mxl_fft_padded(n));
}

int64_t mxl_fft_padded(int64_t n)
{
    int64_t least = 2 * n - 1, best = INT64_MAX;

    for (int64_t fives = 16; fives < 2 * least + 80; fives *= 5) {
        for (int64_t threes = fives; threes < 2 * least + 48; threes *= 3) {
            int64_t size = threes;

            while (size < least)
                size *= 2;
            if (size < best)
                best = size;
        }
    }
    return best;
}

int64_t mxl_fft_columns(int64_t n)
{
    static const int64_t large[] = {16, 20, 24, 15, 18, 25, 12, 27, 21, 10, 8, 9, 0};
    static const int64_t small[] = {8, 10, 9, 12, 15, 16, 0};
    const int64_t *columns = n < 256 ? small : large;

    if (n < 64)
        return 0;
    while (*columns != 0 && n % *columns != 0)
        columns++;
    return *columns;
}

/* One unit of an angle as a sum: the first term has so few bits that multiples of it are exact. */
typedef struct angle {
    double first, rest;
} angle;

#define SPLIT 134217729.0 /* 2^27 + 1 (Veltkamp) */

static double high_bits(double x)
{
    double wide = x * SPLIT;

    return wide - (wide - x);
}

/* pi / 4 / n */
static angle unit_angle(double n)
{
    const double eighth = 0.78539816339744830962, more = 3.0616169978683824e-17;
    double unit = eighth / n, high = high_bits(unit), low = unit - high;
    double tall = high_bits(n), small = n - tall;
    double left = ((eighth - high * tall) - high * small - low * tall) - low * small;

    return (angle){high, low + (left + more) / n};
}

/* Angles are reduced to an eighth of the circle, in units of 1 / (8 n), which is exact. What an
 * angle lacks to be exact corrects the sine and cosine. */
MXL_INLINE void roots_at(int level, double eighth, angle unit, int64_t count, const double *k,
                         double *cosines, double *sines)
{
    MXL_IVDEP
    for (int64_t i = 0; i < count; i++) {
        double at = 8 * k[i], theta, lacks, c, s, cosine, sine;
        bool below = at > 4 * eighth, left, upper;

        at = below ? 8 * eighth - at : at;
        left = at > 2 * eighth;
        at = left ? 4 * eighth - at : at;
        upper = at > eighth;
        at = upper ? 2 * eighth - at : at;
        theta = at * unit.first + at * unit.rest;
        lacks = (at * unit.first - theta) + at * unit.rest;
        c = mxl_loop_cos(theta);
        s = mxl_loop_sin(theta);
        cosine = c - lacks * s;
        sine = s + lacks * c;
        c = upper ? sine : cosine;
        s = upper ? cosine : sine;
        cosines[i] = left ? -c : c;
        sines[i] = below ? s : -s;
    }
}
MXL_FROM_AVX2(roots,
              (double eighth, angle unit, int64_t count, const double *k, double *cosines,
               double *sines),
              eighth, unit, count, k, cosines, sines)

void mxl_fft_roots(int64_t n, int64_t count, const double *k, double *cosines, double *sines)
{
    roots((double)n, unit_angle((double)n), count, k, cosines, sines);
}

/* Sine, cosine and tangent of large doubles, see circular.h. Multiplies x with 2 / pi, in as many
 * bits as the exponent of x needs, to count the quarter turns in x (Payne and Hanek). */
#include "kernel/math/circular.h"

#include <math.h>

#include "kernel/math/math_trig_f64.h"

/* 2 / pi in 32-bit words, the highest first; enough for the largest double. */
static const uint32_t TWO_BY_PI[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046,
};
enum { WORDS = 7, LIMBS = WORDS + 2 };

/* limb[0..8] = significand * (7 words of 2 / pi), the lowest limb first. */
static void multiply(uint64_t significand, const uint32_t *words, uint32_t limb[LIMBS])
{
    uint64_t part[2] = {significand & UINT32_MAX, significand >> 32};

    for (int i = 0; i < LIMBS; i++)
        limb[i] = 0;
    for (int j = 0; j < 2; j++) {
        uint64_t carry = 0;

        for (int i = 0; i < WORDS; i++) {
            carry += limb[i + j] + part[j] * words[WORDS - 1 - i];
            limb[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        limb[WORDS + j] = (uint32_t)carry;
    }
}

/* Shifts to the left by less than LIMBS * 32 bits; high bits are lost. */
static void shift_left(uint32_t limb[LIMBS], int bits)
{
    int whole = bits / 32, rest = bits % 32;

    for (int i = LIMBS - 1; i >= 0; i--) {
        uint64_t high = i >= whole ? limb[i - whole] : 0, low = i > whole ? limb[i - whole - 1] : 0;

        limb[i] = (uint32_t)((high << 32 | low) >> (32 - rest));
    }
}

/* x = the returned count * pi / 2 + *high + *low, |*high| <= pi / 4. */
static uint64_t quarters_of(double x, double *high, double *low)
{
    uint64_t bits = mxl_double_bits(x), quarters;
    int exponent = (int)(bits >> 52 & 2047) - 1075; /* x = significand * 2^exponent */
    int first = exponent > 2 ? (exponent - 2) / 32
                             : 0; /* the words before it contribute only whole turns */
    uint64_t significand = (bits & UINT64_C(0xfffffffffffff)) | UINT64_C(1) << 52;
    uint32_t limb[LIMBS];
    double h = 0, l = 0, scale = 1;

    multiply(significand, TWO_BY_PI + first, limb);
    /* The product is in units of 2^(exponent - 32 (first + WORDS)); two bits above it count quarter
     * turns. */
    shift_left(limb, 32 * LIMBS - 2 - (32 * (first + WORDS) - exponent));
    quarters = limb[LIMBS - 1] >> 30;
    shift_left(limb, 2);
    if (limb[LIMBS - 1] >>
        31) { /* more than half a quarter turn: take the next one and a negative rest */
        quarters++;
        scale = -1;
        for (int i = 0; i < LIMBS; i++)
            limb[i] = ~limb[i]; /* exact up to 2^-226 */
    }
    for (int i = LIMBS - 1; i >= 0; i--) {
        double d;

        scale *= 0x1p-32;
        d = h + scale * limb[i];
        l += scale * limb[i] - (d - h);
        h = d;
    }
    *high = h * 1.5707963267948966;
    *low =
        fma(h, 1.5707963267948966, -*high) + (h * 6.123233995736766e-17 + l * 1.5707963267948966);
    return quarters;
}

double mxl_far_sin(double x)
{
    double r, low, y;
    uint64_t quarters;

    if (!isfinite(x))
        return NAN;
    quarters = quarters_of(fabs(x), &r, &low);
    y = mxl_sin_turned_f64(0, r, low, quarters);
    return x < 0 ? -y : y;
}

double mxl_far_cos(double x)
{
    double r, low;
    uint64_t quarters;

    if (!isfinite(x))
        return NAN;
    quarters = quarters_of(fabs(x), &r, &low);
    return mxl_sin_turned_f64(0, r, low, quarters + 1);
}

double mxl_far_tan(double x)
{
    double r, low, y;
    uint64_t quarters;

    if (!isfinite(x))
        return NAN;
    quarters = quarters_of(fabs(x), &r, &low);
    y = mxl_tan_turned_f64(0, r, low, quarters);
    return x < 0 ? -y : y;
}

/* IEEE 754 binary16 without compiler support: conversions to and from float, round to nearest even.
 * The inline functions use selections instead of branches, so that loops over them vectorise. */
#ifndef MXL_BASE_HALF_H
#define MXL_BASE_HALF_H

#include <stdint.h>
#include <string.h>

typedef uint16_t mxl_half;

static inline float mxl_half_to_float(mxl_half h)
{
    const float normal_min = 0x1p-14f;
    uint32_t magnitude = ((uint32_t)h & 0x7FFF) << 13;
    uint32_t exponent = magnitude & 0x0F800000;
    uint32_t bits = magnitude + (112u << 23);
    uint32_t small_bits = magnitude + (113u << 23);
    float small, f;

    /* Infinity and NaN get a float's exponent. */
    bits = exponent == 0x0F800000 ? magnitude | 0x7F800000 : bits;
    /* Zero and denormals: m * 2^-24 is exactly the float 2^-14 * (1 + m/1024) minus 2^-14. */
    memcpy(&small, &small_bits, sizeof small);
    small -= normal_min;
    memcpy(&small_bits, &small, sizeof small);
    bits = exponent == 0 ? small_bits : bits;
    bits |= ((uint32_t)h & 0x8000) << 16;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline mxl_half mxl_half_from_float(float f)
{
    uint32_t bits, magnitude, normal, small_bits, special, result;
    float small;

    memcpy(&bits, &f, sizeof bits);
    magnitude = bits & 0x7FFFFFFF;
    /* A carry out of the mantissa correctly increments the exponent. */
    normal = (magnitude + 0xFFF + ((magnitude >> 13) & 1) - (112u << 23)) >> 13;
    /* Below 2^-14, adding 0.5 rounds to multiples of 2^-24, the spacing of a half's denormals. */
    memcpy(&small, &magnitude, sizeof small);
    small = (magnitude < 0x38800000 ? small : 0.0f) + 0.5f;
    memcpy(&small_bits, &small, sizeof small_bits);
    special = magnitude > 0x7F800000 ? 0x7E00 | (magnitude >> 13 & 0x3FF) : 0x7C00;
    result = magnitude < 0x38800000 ? small_bits - 0x3F000000 : normal;
    result = magnitude >= 0x477FF000 ? special : result;
    return (mxl_half)(result | (bits >> 16 & 0x8000));
}

#endif

/* For tests of loops over bytes: an element as an int, and a number as the nearest byte. */
#ifndef MXL_TESTS_BYTES_KIT_H
#define MXL_TESTS_BYTES_KIT_H

#include <math.h>
#include <stdint.h>

#include "base/dtype.h"

/* Element i of an array of uint8 or int8. */
static inline int byte_at(int dtype, const void *x, int64_t i)
{
    return dtype == MXL_U8 ? ((const uint8_t *)x)[i] : ((const int8_t *)x)[i];
}

/* Rounds to the nearest integer, ties to even, and cuts to what the dtype holds. */
static inline int to_byte(int dtype, double x)
{
    double low = dtype == MXL_U8 ? 0 : -128, high = dtype == MXL_U8 ? 255 : 127;

    x = rint(x);
    return (int)(x < low ? low : x > high ? high : x);
}

#endif

/* Conversions between element types that C leaves undefined, with the results of x86 (and so of
 * MXNet 1.9.1): float to int truncates, values that do not fit give the smallest int, 8-bit
 * integers go through int32 and wrap. Used by every kernel. */
#ifndef MXL_KERNEL_COPY_CONVERT_H
#define MXL_KERNEL_COPY_CONVERT_H

#include <stdint.h>

#include "kernel/target.h"

static inline int32_t mxl_i32_from_f32(float v)
{
    return v >= -2147483648.0f && v < 2147483648.0f ? (int32_t)v : INT32_MIN;
}

static inline int32_t mxl_i32_from_f64(double v)
{
    return v > -2147483649.0 && v < 2147483648.0 ? (int32_t)v : INT32_MIN;
}

static inline int64_t mxl_i64_from_f32(float v)
{
    return v >= -9223372036854775808.0f && v < 9223372036854775808.0f ? (int64_t)v : INT64_MIN;
}

static inline int64_t mxl_i64_from_f64(double v)
{
    return v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? (int64_t)v : INT64_MIN;
}

static inline uint8_t mxl_u8_from_f32(float v)
{
    return (uint8_t)mxl_i32_from_f32(v);
}

static inline uint8_t mxl_u8_from_f64(double v)
{
    return (uint8_t)mxl_i32_from_f64(v);
}

static inline int8_t mxl_i8_from_f32(float v)
{
    return (int8_t)mxl_i32_from_f32(v);
}

static inline int8_t mxl_i8_from_f64(double v)
{
    return (int8_t)mxl_i32_from_f64(v);
}

#endif

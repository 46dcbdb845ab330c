/* Element types. The numbers are MXNet's type flags. */
#ifndef MXL_BASE_DTYPE_H
#define MXL_BASE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum mxl_dtype {
    MXL_F32 = 0,
    MXL_F64 = 1,
    MXL_F16 = 2,
    MXL_U8 = 3,
    MXL_I32 = 4,
    MXL_I8 = 5,
    MXL_I64 = 6,
    MXL_BOOL = 7,
    MXL_DTYPE_COUNT = 8,
    MXL_DTYPE_UNKNOWN = -1
} mxl_dtype;

/* Bytes of one element. */
static inline size_t mxl_dtype_size(int dtype)
{
    static const unsigned char size[MXL_DTYPE_COUNT] = {4, 8, 2, 1, 4, 1, 8, 1};
    return size[dtype];
}

static inline bool mxl_dtype_valid(int dtype)
{
    return dtype >= 0 && dtype < MXL_DTYPE_COUNT;
}

static inline bool mxl_dtype_is_float(int dtype)
{
    return dtype == MXL_F32 || dtype == MXL_F64 || dtype == MXL_F16;
}

/* "float32", ... ; "unknown" for anything else. */
const char *mxl_dtype_name(int dtype);

/* The dtype with that name, or MXL_DTYPE_UNKNOWN. */
int mxl_dtype_parse(const char *name);

#endif

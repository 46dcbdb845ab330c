/* Element types. The numbers are MXNet's type flags; those from 8 to 11 are of MXNet 2. */
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
    MXL_I16 = 8,
    MXL_U16 = 9,
    MXL_U32 = 10,
    MXL_U64 = 11,
    MXL_BF16 = 12,
    MXL_DTYPE_COUNT = 13,
    MXL_DTYPE_LOOPS = MXL_I16, /* those below have loops of their own in the kernels; the others are
                                  computed in one of them (mxl_dtype_carrier) */
    MXL_DTYPE_UNKNOWN = -1
} mxl_dtype;

/* Bytes of one element. */
static inline size_t mxl_dtype_size(int dtype)
{
    static const unsigned char size[MXL_DTYPE_COUNT] = {4, 8, 2, 1, 4, 1, 8, 1, 2, 2, 4, 8, 2};
    return size[dtype];
}

static inline bool mxl_dtype_valid(int dtype)
{
    return dtype >= 0 && dtype < MXL_DTYPE_COUNT;
}

static inline bool mxl_dtype_is_float(int dtype)
{
    return dtype == MXL_F32 || dtype == MXL_F64 || dtype == MXL_F16 || dtype == MXL_BF16;
}

/* Whether the kernels lack loops of it: it is computed in its carrier. */
static inline bool mxl_dtype_is_carried(int dtype)
{
    return dtype >= MXL_DTYPE_LOOPS;
}

/* The dtype with loops that has all of its values; int64 for uint64, of which the larger half wraps
 * to negative numbers. A dtype with loops is its own. */
static inline int mxl_dtype_carrier(int dtype)
{
    static const unsigned char carrier[MXL_DTYPE_COUNT - MXL_DTYPE_LOOPS] = {
        MXL_I32, MXL_I32, MXL_I64, MXL_I64, MXL_F32};

    return dtype < MXL_DTYPE_LOOPS ? dtype : carrier[dtype - MXL_DTYPE_LOOPS];
}

/* Whether it has integers, none of them negative. */
static inline bool mxl_dtype_is_unsigned(int dtype)
{
    return dtype == MXL_U8 || (dtype >= MXL_U16 && dtype <= MXL_U64);
}

/* "float32", ... ; "unknown" for anything else. */
const char *mxl_dtype_name(int dtype);

/* The dtype with that name, or MXL_DTYPE_UNKNOWN. */
int mxl_dtype_parse(const char *name);

#endif

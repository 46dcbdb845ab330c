/* The constants of MXNet's array format; only for file.c and file_read.c. */
#ifndef MXL_ARRAY_FILE_FORMAT_H
#define MXL_ARRAY_FILE_FORMAT_H

#include "base/shape.h"

/* The first word of an array. V1: the shape has 64-bit sizes. V2: a storage type is added. V3: V2
 * in numpy-shape mode. Any other value is the number of dimensions in the oldest format. */
#define MAGIC_V1 0xF993FAC8u
#define MAGIC_V2 0xF993FAC9u
#define MAGIC_V3 0xF993FACAu

#define LIST_MAGIC UINT64_C(0x112)

enum {
    STYPE_DENSE = 0,
    STYPE_ROW_SPARSE = 1,
    STYPE_CSR = 2,
    HEADER_MAX = 24 + 8 * MXL_MAX_NDIM /* magic, stype, ndim, shape, device and id, dtype */
};

#endif

/* The numbers of MXNet's array format; for file.c and file_read.c alone. */
#ifndef MXL_ARRAY_FILE_FORMAT_H
#define MXL_ARRAY_FILE_FORMAT_H

#include "base/shape.h"

/* Before an array: V1 has a shape of 64-bit extents, V2 a storage type too, V3 is V2 written in
 * numpy-shape mode. Anything else is the number of axes of the oldest format. */
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

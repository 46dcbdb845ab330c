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

/* After the magic of V2 and V3: the storage type (an mxl_stype); of a sparse array the shape of its
 * data; shape; device and id; dtype; dtype and shape of each index array, the indptr of csr first;
 * the data; the index arrays in that order. A shape is the number of dimensions and 64-bit sizes.
 */
enum {
    SHAPE_MAX = 4 + 8 * MXL_MAX_NDIM,
    HEADER_MAX = 4 + 4 + 2 * SHAPE_MAX + 12 + 2 * (4 + 4 + 8)
};

#endif

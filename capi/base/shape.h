/* Shapes: number of axes and extents. Inside the library () is a scalar, 0 a real extent and -1
 * unknown; all 64 bits. */
#ifndef MXL_BASE_SHAPE_H
#define MXL_BASE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MXL_MAX_NDIM = 32 };

typedef struct mxl_shape {
    int ndim; /* -1: unknown */
    int64_t dim[MXL_MAX_NDIM];
} mxl_shape;

/* A list of integers that belongs to someone else: an axis list, a shape parameter, where an array
 * is cut. n = -1: None. It may be longer than a shape can be. */
typedef struct mxl_tuple {
    int n;
    const int64_t *v;
} mxl_tuple;

/* The most entries of a list, so that twice their number and a shape's axes more is still an int.
 * They take 8 GiB. */
enum { MXL_TUPLE_MOST = 1 << 30 };

/* Stands for None where an integer may be None. */
#define MXL_NONE INT64_MIN

/* Inline, as the next: every operator call goes through them. */
static inline void mxl_shape_set(mxl_shape *shape, int ndim, const int64_t *dim)
{
    shape->ndim = ndim;
    for (int i = 0; i < ndim; i++)
        shape->dim[i] = dim[i];
}

static inline bool mxl_shape_same(int ndim_a, const int64_t *a, int ndim_b, const int64_t *b)
{
    if (ndim_a != ndim_b)
        return false;
    for (int i = 0; i < ndim_a; i++) {
        if (a[i] != b[i])
            return false;
    }
    return true;
}

/* Number of elements, or -1 with the error set when there are more than MXL_MAX_NDIM axes, an
 * extent is negative, or the product of the extents that are not 0, or 16 times it, overflows. */
int64_t mxl_shape_count(int ndim, const int64_t *dim);

/* Number of elements of a shape known to be valid, or of any of its axes together. */
static inline int64_t mxl_shape_size(int ndim, const int64_t *dim)
{
    int64_t n = 1;
    for (int i = 0; i < ndim; i++)
        n *= dim[i];
    return n;
}

/* Strides, in elements, of elements that lie one after another in the order of the last axis. */
static inline void mxl_shape_strides(int ndim, const int64_t *dim, int64_t *strides)
{
    int64_t step = 1;

    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = step;
        step *= dim[i] > 0 ? dim[i] : 1;
    }
}

/* The broadcast of two shapes by NumPy's rule into `out`; -1 with the error set. */
int mxl_shape_broadcast(mxl_shape *out, int ndim_a, const int64_t *a, int ndim_b, const int64_t *b);

/* An axis counted from either end, in [0, ndim); -1 with the error set. */
int mxl_shape_axis(int64_t axis, int ndim);

/* Writes "(2,3)" / "(2,)" / "()" into buf, cut to size; returns buf. */
char *mxl_shape_text(char *buf, size_t size, int ndim, const int64_t *dim);

#endif

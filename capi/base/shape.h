/* Shapes: number of dimensions and their sizes. Inside the library () is a scalar, 0 a real size
 * and -1 unknown; all sizes have 64 bits. */
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

/* A borrowed list of integers: axes, a shape parameter, indices to split at. n = -1: None. It may
 * be longer than MXL_MAX_NDIM. */
typedef struct mxl_tuple {
    int n;
    const int64_t *v;
} mxl_tuple;

/* Entry i of a list of as many as are needed, or of none: `missing`. */
static inline int64_t mxl_tuple_entry(mxl_tuple list, int i, int64_t missing)
{
    return list.n > 0 ? list.v[i] : missing;
}

/* A borrowed list of numbers with a fraction: scales, learning rates. */
typedef struct mxl_floats {
    int n;
    const double *v;
} mxl_floats;

/* The largest number of entries of a list (8 GiB). Twice it plus MXL_MAX_NDIM still fits an int. */
enum { MXL_TUPLE_MOST = 1 << 30 };

/* An unknown size where the shapes of results are computed (infer, meta runs). All sizes below 0
 * are: its sum with a size, and a multiple or a part of it. Products are by mxl_shape_size, and of
 * two sizes that may both be unknown there is no difference. */
#define MXL_UNKNOWN_SIZE (-(INT64_C(1) << 40))

/* The value of an integer parameter that is None. */
#define MXL_NONE INT64_MIN

/* Inline, as the next one, because every operator call uses it. */
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

/* Whether all sizes are. */
static inline bool mxl_shape_known(const mxl_shape *shape)
{
    for (int i = 0; i < shape->ndim; i++) {
        if (shape->dim[i] < 0)
            return false;
    }
    return shape->ndim >= 0;
}

/* A shape of the C API: there sizes of -1, and in MXNet's legacy mode 0 and (), are unknown. */
void mxl_shape_from_caller(mxl_shape *shape, bool legacy_shape);

/* Number of elements. -1 with the error set for more than MXL_MAX_NDIM dimensions, a negative size,
 * or overflow of 16 times the product of the sizes other than 0. */
int64_t mxl_shape_count(int ndim, const int64_t *dim);

/* -1 with the error set where mxl_shape_count fails whatever the unknown sizes are. */
int mxl_shape_check(int ndim, const int64_t *dim);

/* Number of elements of a valid shape, or of some of its dimensions; unknown if one size is. */
static inline int64_t mxl_shape_size(int ndim, const int64_t *dim)
{
    int64_t n = 1, bits = 0;

    for (int i = 0; i < ndim; i++) {
        n *= dim[i];
        bits |= dim[i];
    }
    return bits < 0 ? MXL_UNKNOWN_SIZE : n;
}

/* Of sizes that may be unknown: whether they cannot be the same, and whether one is too small. */
static inline bool mxl_sizes_differ(int64_t a, int64_t b)
{
    return a != b && a >= 0 && b >= 0;
}

static inline bool mxl_size_below(int64_t size, int64_t least)
{
    return size >= 0 && size < least;
}

/* An array around one axis: `outer` blocks, each of `n` rows of `inner` elements. */
typedef struct mxl_split {
    int axis;
    int64_t outer, n, inner;
} mxl_split;

/* Of an axis that mxl_shape_axis accepts, or MXL_NONE for the flattened array; of a shape without
 * dimensions one element. */
static inline mxl_split mxl_shape_split(int64_t axis, int ndim, const int64_t *shape)
{
    int at = (int)(axis < 0 ? axis + ndim : axis);

    if (axis == MXL_NONE || ndim == 0)
        return (mxl_split){0, 1, mxl_shape_size(ndim, shape), 1};
    return (mxl_split){at, mxl_shape_size(at, shape), shape[at],
                       mxl_shape_size(ndim - at - 1, shape + at + 1)};
}

/* Row-major strides, in elements. */
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

/* Normalises an axis in [-ndim, ndim) to [0, ndim); -1 with the error set. */
int mxl_shape_axis(int64_t axis, int ndim);

/* Writes "(2,3)", "(2,)" or "()" into buf, truncated to `size`. Returns buf. */
char *mxl_shape_text(char *buf, size_t size, int ndim, const int64_t *dim);

/* The text of a shape, and of an array's, in a buffer that lives as long as the enclosing block:
 * for the arguments of mxl_error. */
#define MXL_SHAPE_TEXT(ndim, dim) mxl_shape_text((char[256]){0}, 256, ndim, dim)
#define MXL_SHAPE_OF(array)       MXL_SHAPE_TEXT((array)->ndim, (array)->shape)

#endif

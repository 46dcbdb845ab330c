/* Arithmetic on shapes. */
#include "base/shape.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

void mxl_shape_from_caller(mxl_shape *shape, bool legacy_shape)
{
    for (int i = 0; i < shape->ndim; i++) {
        if (shape->dim[i] < 0 || (legacy_shape && shape->dim[i] == 0))
            shape->dim[i] = -1;
    }
    if (legacy_shape && shape->ndim == 0)
        shape->ndim = -1;
}

int64_t mxl_shape_count(int ndim, const int64_t *dim)
{
    bool zero = false, overflow = false;
    int64_t n = 1;

    if (ndim > MXL_MAX_NDIM)
        return mxl_error("a shape of %d axes; at most %d are possible", ndim, MXL_MAX_NDIM);
    for (int i = 0; i < ndim; i++) {
        if (dim[i] < 0)
            return mxl_error("shape %s: extent %lld is negative", MXL_SHAPE_TEXT(ndim, dim),
                             (long long)dim[i]);
        zero = zero || dim[i] == 0;
        if (!overflow && dim[i] > 0)
            overflow = __builtin_mul_overflow(n, dim[i], &n) || n > PTRDIFF_MAX / 16;
    }
    /* As in NumPy, this is an error for empty arrays too: the product of some of the sizes is used
     * as a size. */
    if (overflow)
        return mxl_error("shape %s: too many elements", MXL_SHAPE_TEXT(ndim, dim));
    return zero ? 0 : n;
}

int mxl_shape_check(int ndim, const int64_t *dim)
{
    int64_t known[MXL_MAX_NDIM];
    int n = 0;

    for (int i = 0; i < ndim && ndim <= MXL_MAX_NDIM; i++) {
        if (dim[i] >= 0)
            known[n++] = dim[i];
    }
    return mxl_shape_count(ndim <= MXL_MAX_NDIM ? n : ndim, known) < 0 ? -1 : 0;
}

int mxl_shape_broadcast(mxl_shape *out, int ndim_a, const int64_t *a, int ndim_b, const int64_t *b)
{
    int ndim = ndim_a > ndim_b ? ndim_a : ndim_b;
    mxl_shape result;

    result.ndim = ndim;
    for (int i = 0; i < ndim; i++) {
        int64_t x = i < ndim - ndim_a ? 1 : a[i - (ndim - ndim_a)];
        int64_t y = i < ndim - ndim_b ? 1 : b[i - (ndim - ndim_b)];

        if (mxl_sizes_differ(x, y) && x != 1 && y != 1)
            return mxl_error("shapes %s and %s cannot be broadcast together",
                             MXL_SHAPE_TEXT(ndim_a, a), MXL_SHAPE_TEXT(ndim_b, b));
        result.dim[i] = x == 1 || (x < 0 && y != 1) ? y : x;
    }
    *out = result;
    return 0;
}

int mxl_shape_axis(int64_t axis, int ndim)
{
    if (axis < -(int64_t)ndim || axis >= ndim)
        return mxl_error("axis %lld is out of range for an array of %d dimensions", (long long)axis,
                         ndim);
    return (int)(axis < 0 ? axis + ndim : axis);
}

char *mxl_shape_text(char *buf, size_t size, int ndim, const int64_t *dim)
{
    size_t at = 0;

    if (size == 0)
        return buf;
    if (ndim < 0) {
        (void)snprintf(buf, size, "(unknown)");
        return buf;
    }
    (void)snprintf(buf, size, "(");
    for (int i = 0; i < ndim; i++) {
        at += strlen(buf + at);
        (void)snprintf(buf + at, size - at, "%s%lld%s", i > 0 ? "," : "", (long long)dim[i],
                       ndim == 1 ? "," : "");
    }
    at += strlen(buf + at);
    (void)snprintf(buf + at, size - at, ")");
    return buf;
}

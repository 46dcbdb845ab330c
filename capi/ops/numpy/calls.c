/* What the composites of this folder share. */
#include "ops/numpy/numpy.h"
#include "ops/shape/movement.h"

#include <string.h>

#include "array/copy.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "kernel/copy/cast.h"

mxl_array *mxl_np_number(mxl_scope *s, double value, int dtype)
{
    mxl_array *made = mxl_scope_own(s, mxl_array_new(dtype, 0, NULL));

    if (made != NULL)
        mxl_cast_scalar(value, dtype, mxl_array_write(made));
    return made;
}

mxl_array *mxl_np_take(mxl_scope *s, mxl_array *x, int axis, mxl_array *at)
{
    if (x == NULL || at == NULL)
        return NULL;
    if (at->size == 0 || x->size == 0)
        return mxl_np_empty(s, x, axis, at->size);
    return mxl_take_axis(s, x, at, axis);
}

mxl_array *mxl_np_line(mxl_scope *s, mxl_array *x)
{
    return x == NULL ? NULL : mxl_reshape(s, x, 1, &x->size);
}

mxl_array *mxl_np_empty(mxl_scope *s, mxl_array *x, int axis, int64_t size)
{
    int64_t shape[MXL_MAX_NDIM];
    mxl_array *made;
    void *zeros;

    memcpy(shape, x->shape, (size_t)x->ndim * sizeof(*shape));
    shape[axis] = size;
    if (mxl_shape_size(x->ndim, shape) == 0)
        return mxl_reshape(s, mxl_slice_axis(s, x, axis, 0, 0), x->ndim, shape);
    made = mxl_scope_new(s, x->dtype, x->ndim, shape);
    zeros = mxl_scope_fill(s, made);
    if (zeros != NULL)
        memset(zeros, 0, (size_t)made->size * mxl_dtype_size(x->dtype));
    return made;
}

mxl_array *mxl_np_read(mxl_scope *s, mxl_array *x, int dtype)
{
    mxl_array *copy;

    if (s->mode.meta) /* an operator that gets here says that it goes by values */
        return mxl_error_null("the shape of the result depends on values");
    copy = mxl_scope_new(s, dtype, x->ndim, x->shape);
    if (copy != NULL && mxl_array_copy_into(copy, x) == 0)
        return copy;
    s->failed = true;
    return NULL;
}

double *mxl_np_doubles(const mxl_array *a)
{
    double *to = mxl_alloc((size_t)a->size * sizeof(double));
    int64_t step = 1;

    if (to != NULL && a->size > 0) {
        const void *from = mxl_array_read(a);

        mxl_cast_loop(a->dtype, MXL_F64)(to, &from, &step, a->size, NULL);
    }
    return to;
}

int64_t mxl_np_position(int ndim, const int64_t *shape, const mxl_array *in, int64_t i)
{
    int64_t at = 0, step = 1;

    for (int d = 1; d <= in->ndim; d++) {
        int64_t extent = in->shape[in->ndim - d];

        at += extent == 1 ? 0 : i % shape[ndim - d] * step;
        step *= extent;
        i /= shape[ndim - d];
    }
    return at;
}

int mxl_np_sort_axes(const mxl_op *op, const mxl_array *x, mxl_tuple list, int64_t *kept,
                     int64_t *listed)
{
    bool taken[MXL_MAX_NDIM] = {false};
    int n = 0;

    for (int i = 0; i < list.n; i++) {
        int axis = mxl_check_axis(op, list.v[i], x->ndim);

        if (axis < 0)
            return -1;
        if (taken[axis])
            return mxl_error("%s: axis %d is listed twice", op->name, axis);
        taken[axis] = true;
        listed[i] = axis;
    }
    for (int i = 0; i < x->ndim; i++)
        if (!taken[i])
            kept[n++] = i;
    return n;
}

int mxl_np_solver_dtype(int count, mxl_array *const *arrays)
{
    int wider = MXL_F32;

    for (int i = 0; i < count; i++) {
        int dtype = arrays[i]->dtype;

        if (dtype == MXL_F16 || dtype == MXL_BOOL)
            return mxl_error("takes float32, float64 and integers, got %s", mxl_dtype_name(dtype));
        wider = dtype == MXL_F32 ? wider : MXL_F64;
    }
    return wider;
}

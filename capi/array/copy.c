/* Copies between arrays, with or without a cast; see copy.h. */
#include "array/copy.h"
#include "array/batch/batched.h"
#include "array/failure.h"

#include <string.h>

#include "array/expression.h"
#include "array/sparse/sparse.h"
#include "base/error.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/copy_loops.h"
#include "kernel/copy/strided_copy.h"

/* ---- deferred copies ---- */

#define COPY_LOOP(width)                                                                           \
    static void copy_##width(void *out, const void *const *in, const int64_t *step, int64_t n,     \
                             const void *params)                                                   \
    {                                                                                              \
        (void)params;                                                                              \
        if (step[0] == 0)                                                                          \
            mxl_copy_run(width, out, 1, in[0], 0, n);                                              \
        else if (in[0] != out)                                                                     \
            memcpy(out, in[0], (size_t)n * (width));                                               \
    }

COPY_LOOP(1)
COPY_LOOP(2)
COPY_LOOP(4)
COPY_LOOP(8)

static mxl_loop copy_loop(int from, int to)
{
    static const mxl_loop loops[] = {[1] = copy_1, [2] = copy_2, [4] = copy_4, [8] = copy_8};

    return from == to ? loops[mxl_dtype_size(to)] : mxl_cast_loop(from, to);
}

bool mxl_array_copy_later(mxl_array *dst, mxl_array *src)
{
    mxl_deferral later = {.row = copy_loop(src->dtype, dst->dtype),
                          .opcode = src->dtype == dst->dtype ? MXL_CODE_COPY : MXL_CODE_NONE,
                          .name = "copy",
                          .weight = 1,
                          .num_in = 1,
                          .in = &src,
                          .out = dst};

    return src->storage != dst->storage && mxl_defer(&later);
}

/* ---- copies ---- */

/* Copies or casts with one shape for both. */
static int copy_shaped(mxl_array *dst, const mxl_array *src, int ndim, const int64_t *shape,
                       const int64_t *dst_strides, const int64_t *src_strides)
{
    const void *in = mxl_array_read(src);
    size_t in_size = mxl_dtype_size(src->dtype);

    if (dst->dtype == src->dtype) {
        mxl_copy_strided(in_size, ndim, shape, mxl_array_write(dst), dst_strides, in, src_strides);
        return 0;
    }
    return mxl_loops(mxl_cast_loop(src->dtype, dst->dtype), 1, ndim, shape, mxl_array_write(dst),
                     dst_strides, mxl_dtype_size(dst->dtype), 1, &in, &src_strides, &in_size, NULL);
}

/* Both are contiguous: shapes do not matter. */
static void copy_straight(mxl_array *dst, const mxl_array *src)
{
    const void *in = mxl_array_read(src);
    size_t in_size = mxl_dtype_size(src->dtype);
    int64_t step = 1;

    if (dst->dtype == src->dtype)
        mxl_copy_bytes(mxl_array_write(dst), in, (size_t)src->size * in_size);
    else
        mxl_loop_run(mxl_cast_loop(src->dtype, dst->dtype), 1, src->size, mxl_array_write(dst),
                     mxl_dtype_size(dst->dtype), 1, &in, &step, &in_size, NULL);
}

/* Of two batched arrays of one level the wholes. */
static int copy_batched(mxl_array *dst, const mxl_array *src)
{
    const mxl_batched *to = mxl_batched_of(dst, 0), *from = mxl_batched_of(src, 0);

    if (to == NULL || from == NULL || to->level != from->level || to->has_axis != from->has_axis)
        return mxl_batched_refuse("a copy", to != NULL ? dst : src);
    return mxl_array_copy_into(to->whole, from->whole);
}

static mxl_array *batched_copy(const mxl_batched *from, int dtype)
{
    mxl_array *whole = mxl_array_copy_as(from->whole, dtype), *made = NULL;

    if (whole != NULL)
        made = mxl_batched_like(from, whole, from->has_axis);
    mxl_array_release(whole);
    return made;
}

/* Nothing to copy, where the target has no memory. */
static int copy_meta(mxl_array *dst, const mxl_array *src)
{
    if (!mxl_array_is_meta(dst))
        return mxl_array_refuse_read("copy", src);
    if (dst->size != src->size)
        return mxl_error("copy: %lld elements do not fill an array of %lld", (long long)src->size,
                         (long long)dst->size);
    mxl_storage_bump(dst->storage);
    return 0;
}

int mxl_array_copy_into(mxl_array *dst, const mxl_array *src)
{
    int64_t strides[MXL_MAX_NDIM];
    mxl_array *straight;
    int status;

    if (dst->storage == NULL || src->storage == NULL)
        return mxl_error("copy: an array that has no shape yet");
    if (mxl_array_is_batched(dst) || mxl_array_is_batched(src))
        return copy_batched(dst, src);
    if (mxl_array_is_meta(dst) || mxl_array_is_meta(src))
        return copy_meta(dst, src);
    if (!mxl_array_is_dense(dst) || !mxl_array_is_dense(src))
        return mxl_sparse_copy_into(dst, src);
    if (dst->size != src->size)
        return mxl_error("copy: %lld elements do not fill an array of %lld", (long long)src->size,
                         (long long)dst->size);
    if (mxl_failures_exist() &&
        mxl_failure_pass(1, &(mxl_array *){(mxl_array *)(size_t)src}, 1, &dst) != 0)
        return -1;
    if (mxl_defers(dst->size) && (mxl_array_same_shape(dst, src) || src->contiguous) &&
        mxl_array_copy_later(dst, (mxl_array *)(size_t)src))
        return 0;
    if (dst->contiguous && src->contiguous) {
        copy_straight(dst, src);
        return 0;
    }
    if (mxl_array_same_shape(dst, src))
        return copy_shaped(dst, src, dst->ndim, dst->shape, dst->strides, src->strides);
    if (src->contiguous) {
        mxl_shape_strides(dst->ndim, dst->shape, strides);
        return copy_shaped(dst, src, dst->ndim, dst->shape, dst->strides, strides);
    }
    if (dst->contiguous) {
        mxl_shape_strides(src->ndim, src->shape, strides);
        return copy_shaped(dst, src, src->ndim, src->shape, strides, src->strides);
    }
    straight = mxl_array_new(src->dtype, src->ndim, src->shape);
    if (straight == NULL)
        return -1;
    status = mxl_array_copy_into(straight, src);
    if (status == 0)
        status = mxl_array_copy_into(dst, straight);
    mxl_array_release(straight);
    return status;
}

mxl_array *mxl_array_copy_as(const mxl_array *array, int dtype)
{
    const mxl_batched *batched = mxl_batched_of(array, 0);
    mxl_array *copy;

    if (batched != NULL)
        return batched_copy(batched, dtype);
    copy = mxl_array_is_sparse(array)
               ? mxl_array_sparse_zeros(array->stype, dtype, array->ndim, array->shape)
           : mxl_array_is_meta(array) ? mxl_array_on_meta(dtype, array->ndim, array->shape)
                                      : mxl_array_new(dtype, array->ndim, array->shape);
    if (copy != NULL && mxl_array_copy_into(copy, array) != 0) {
        mxl_array_release(copy);
        copy = NULL;
    }
    return copy;
}

mxl_array *mxl_array_copy(const mxl_array *array)
{
    return mxl_array_copy_as(array, array->dtype);
}

mxl_array *mxl_array_contiguous(mxl_array *array)
{
    if (!array->contiguous)
        return mxl_array_copy(array);
    mxl_array_retain(array);
    return array;
}

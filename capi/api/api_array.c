/* MXNDArray*: making and freeing arrays, copying their data in and out, their gradients. Called by
 * bindings. (Views: api_view.c; shapes and kinds: api_query.c.) */
#include "api/common.h"
#include "array/batch/batched.h"
#include "array/failure.h"
#include "array/expression.h"

#include <string.h>

#include "array/copy.h"
#include "array/sparse/sparse.h"

/* A new handle in *out. A NULL `array` is an earlier failure. */
static int give(mxl_array *array, NDArrayHandle *out)
{
    if (array == NULL)
        return -1;
    *out = api_handle(array);
    return *out == NULL ? -1 : 0;
}

/* ---- creation and release ---- */

static int create(const char *function, int ndim, const int64_t *shape, int device_type,
                  int device_id, int dtype, NDArrayHandle *out)
{
    bool meta = device_type == API_DEVICE_META;
    mxl_device device = 0;
    mxl_array *array;

    if (!meta && mxl_device_of(device_type, device_id, &device) != 0)
        return mxl_error_prefix(function);
    if (!mxl_dtype_valid(dtype))
        return mxl_error("%s: unknown dtype %d; 0 to %d are known", function, dtype,
                         MXL_DTYPE_COUNT - 1);
    array = (meta ? mxl_array_on_meta : mxl_array_new)(dtype, ndim, shape);
    if (array == NULL)
        return mxl_error_prefix(function);
    array->device = device;
    return give(array, out);
}

static int check_ndim(const char *function, int64_t ndim, const void *shape)
{
    if (ndim < 0 || ndim > MXL_MAX_NDIM)
        return mxl_error("%s: %lld axes; an array has 0 to %d", function, (long long)ndim,
                         MXL_MAX_NDIM);
    if (ndim > 0 && shape == NULL)
        return api_null(function, "shape");
    return 0;
}

static int create_u32(const char *function, uint32_t ndim, const uint32_t *shape, int device_type,
                      int device_id, int dtype, NDArrayHandle *out)
{
    int64_t wide[MXL_MAX_NDIM];

    if (check_ndim(function, ndim, shape) != 0)
        return -1;
    for (uint32_t i = 0; i < ndim; i++)
        wide[i] = shape[i];
    return create(function, (int)ndim, wide, device_type, device_id, dtype, out);
}

int MXNDArrayCreateNone(NDArrayHandle *out)
{
    API_NEED(out);
    *out = NULL;
    return give(mxl_array_new_none(), out);
}

int MXNDArrayCreate(const uint32_t *shape, uint32_t ndim, int dev_type, int dev_id, int delay_alloc,
                    NDArrayHandle *out)
{
    (void)delay_alloc;
    API_NEED(out);
    *out = NULL;
    return create_u32(__func__, ndim, shape, dev_type, dev_id, MXL_F32, out);
}

int MXNDArrayCreateEx(const uint32_t *shape, uint32_t ndim, int dev_type, int dev_id,
                      int delay_alloc, int dtype, NDArrayHandle *out)
{
    (void)delay_alloc;
    API_NEED(out);
    *out = NULL;
    return create_u32(__func__, ndim, shape, dev_type, dev_id, dtype, out);
}

int MXNDArrayCreateEx64(const int64_t *shape, int ndim, int dev_type, int dev_id, int delay_alloc,
                        int dtype, NDArrayHandle *out)
{
    (void)delay_alloc;
    API_NEED(out);
    *out = NULL;
    if (check_ndim(__func__, ndim, shape) != 0)
        return -1;
    return create(__func__, ndim, shape, dev_type, dev_id, dtype, out);
}

int MXNDArrayFree(NDArrayHandle handle)
{
    if (mxl_handle_free(MXL_KIND_ARRAY, api_number(handle)) != 0)
        return mxl_error_prefix(__func__);
    return 0;
}

/* Two handles of one array share memory, shape and edge. */
int MXShallowCopyNDArray(NDArrayHandle src, NDArrayHandle *out)
{
    mxl_array *array;

    API_NEED(out);
    *out = NULL;
    array = api_pin_for(src, __func__);
    if (array == NULL)
        return -1;
    mxl_array_retain(array);
    api_unpin(src);
    return give(array, out);
}

/* ---- waiting for deferred calls (array/expression.h) ---- */

static void settle(const mxl_array *array, bool write)
{
    if (mxl_storage_waits(array->storage))
        mxl_storage_settle(array->storage, write);
}

/* Of a sparse array its data may wait. */
static void settle_parts(const mxl_array *array)
{
    mxl_parts *parts = mxl_array_parts(array);

    settle(parts->data, false);
    mxl_parts_release(parts);
}

/* Runs the deferred calls that compute the array's bytes and, before a write, those that read them.
 */
static int wait_for(const char *function, NDArrayHandle handle, bool write)
{
    mxl_array *array = api_pin_for(handle, function);
    int status;

    if (array == NULL)
        return -1;
    if (array->storage != NULL && mxl_array_is_sparse(array))
        settle_parts(array);
    else if (array->storage != NULL)
        settle(array, write);
    status = write ? 0 : mxl_failure_report(array);
    api_unpin(handle);
    return status;
}

int MXNDArrayWaitToRead(NDArrayHandle handle)
{
    return wait_for(__func__, handle, false);
}

int MXNDArrayWaitToWrite(NDArrayHandle handle)
{
    return wait_for(__func__, handle, true);
}

int MXNDArrayWaitAll(void)
{
    mxl_expressions_run();
    return mxl_failure_report_any();
}

/* ---- data ---- */

/* Checks that `size` is the array's number of elements, and that `data` is not NULL. */
static int check_data(const char *function, const mxl_array *array, const void *data, size_t size)
{
    if (size != (size_t)array->size)
        return mxl_error("%s: size is %zu elements, the array has %lld", function, size,
                         (long long)array->size);
    if (mxl_array_refuse_read(function, array) != 0)
        return -1;
    return size > 0 && data == NULL ? api_null(function, "data") : 0;
}

/* Copies elements in C order into the array. */
static int copy_in(mxl_array *array, const void *data)
{
    mxl_array *straight;
    int status;

    if (array->contiguous) {
        memcpy(mxl_array_write(array), data, (size_t)array->size * mxl_dtype_size(array->dtype));
        return 0;
    }
    straight = mxl_array_new(array->dtype, array->ndim, array->shape);
    if (straight == NULL)
        return -1;
    status = copy_in(straight, data);
    if (status == 0)
        status = mxl_array_copy_into(array, straight);
    mxl_array_release(straight);
    return status;
}

int MXNDArraySyncCopyFromCPU(NDArrayHandle handle, const void *data, size_t size)
{
    mxl_array *array = api_pin_defined(handle, __func__);
    int status;

    if (array == NULL)
        return -1;
    status = check_data(__func__, array, data, size);
    if (status == 0 && size > 0)
        status = mxl_array_check_writable(array) == 0 ? copy_in(array, data)
                                                      : mxl_error_prefix(__func__);
    api_unpin(handle);
    return status;
}

static int copy_out(mxl_array *array, void *data)
{
    mxl_array *straight = mxl_array_contiguous(array);

    if (straight == NULL)
        return -1;
    memcpy(data, mxl_array_read(straight), (size_t)array->size * mxl_dtype_size(array->dtype));
    mxl_array_release(straight);
    return 0;
}

int MXNDArraySyncCopyToCPU(NDArrayHandle handle, void *data, size_t size)
{
    mxl_array *array = api_pin_defined(handle, __func__);
    int status;

    if (array == NULL)
        return -1;
    status = check_data(__func__, array, data, size);
    if (status == 0)
        status = mxl_failure_report(array);
    if (status == 0 && size > 0)
        status = copy_out(array, data);
    api_unpin(handle);
    return status;
}

int MXNDArrayGetData(NDArrayHandle handle, void **out_pdata)
{
    mxl_array *array;
    int status = 0;

    API_NEED(out_pdata);
    *out_pdata = NULL;
    array = api_pin_read(handle, __func__);
    if (array == NULL)
        return -1;
    if (!array->contiguous)
        status =
            mxl_error("%s: the array's elements do not lie in C order; copy it first", __func__);
    else if (array->size > 0)
        *out_pdata = mxl_array_address(array); /* No write: printing must not invalidate saved
                                                  tensors. */
    api_unpin(handle);
    return status;
}

/* ---- gradients ---- */

int MXNDArrayGetGrad(NDArrayHandle handle, NDArrayHandle *out)
{
    mxl_array *array, *grad = NULL;
    mxl_leaf *leaf;

    API_NEED(out);
    *out = NULL;
    array = api_pin_for(handle, __func__);
    if (array == NULL)
        return -1;
    leaf = mxl_array_leaf(array);
    if (leaf != NULL) {
        mxl_leaf_lock(leaf);
        grad = leaf->grad;
        if (grad != NULL)
            mxl_array_retain(grad);
        mxl_leaf_unlock(leaf);
    }
    api_unpin(handle);
    return grad == NULL ? 0 : give(grad, out);
}

int MXNDArrayDetach(NDArrayHandle handle, NDArrayHandle *out)
{
    mxl_array *array, *alias;

    API_NEED(out);
    *out = NULL;
    array = api_pin_for(handle, __func__);
    if (array == NULL)
        return -1;
    alias = mxl_array_alias(array);
    api_unpin(handle);
    return give(alias, out);
}

int MXNDArrayGetGradState(NDArrayHandle handle, int *out)
{
    mxl_array *array;
    mxl_leaf *leaf;

    API_NEED(out);
    *out = 0;
    array = api_pin_for(handle, __func__);
    if (array == NULL)
        return -1;
    leaf = mxl_array_leaf(array);
    if (leaf != NULL) {
        mxl_leaf_lock(leaf);
        *out = leaf->fresh;
        mxl_leaf_unlock(leaf);
    }
    api_unpin(handle);
    return 0;
}

int MXNDArraySetGradState(NDArrayHandle handle, int state)
{
    mxl_array *array = api_pin_for(handle, __func__);
    mxl_leaf *leaf;
    int status = 0;

    if (array == NULL)
        return -1;
    leaf = mxl_array_leaf(array);
    if (leaf == NULL) {
        status =
            mxl_error("%s: the array is not a variable: no gradient is attached to it", __func__);
    } else {
        mxl_leaf_lock(leaf);
        leaf->fresh = state != 0;
        mxl_leaf_unlock(leaf);
    }
    api_unpin(handle);
    return status;
}

/* Properties of an array: shape in three widths, dtype, device, storage type, version. Called by
 * bindings. */
#include "api/common.h"

/* ---- shapes ---- */

/* The number of dimensions that a caller sees: that of a none array is 0, in numpy-shape mode -1.
 */
static int visible_ndim(const mxl_array *array)
{
    if (array->storage != NULL)
        return array->ndim;
    return mxl_state_get()->numpy_shape ? -1 : 0;
}

/* Checks that every size is at most `limit`. */
static int check_width(const char *function, const mxl_array *array, int64_t limit)
{
    for (int i = 0; i < array->ndim; i++) {
        if (array->shape[i] > limit)
            return mxl_error("%s: extent %lld does not fit; MXNDArrayGetShapeEx64 gives it",
                             function, (long long)array->shape[i]);
    }
    return 0;
}

int MXNDArrayGetShape(NDArrayHandle handle, uint32_t *out_dim, const uint32_t **out_pdata)
{
    mxl_array *array;
    uint32_t *shape = NULL;
    int ndim;

    API_NEED(out_dim);
    API_NEED(out_pdata);
    *out_dim = 0;
    *out_pdata = NULL;
    array = api_pin_for(handle, __func__);
    if (array == NULL)
        return -1;
    ndim = visible_ndim(array);
    if (ndim < 0)
        (void)mxl_error("%s: the array has no shape yet: it was created empty and never written",
                        __func__);
    else if (check_width(__func__, array, UINT32_MAX) == 0)
        shape = api_buffer_get(API_BUFFER_SHAPE_U32, MXL_MAX_NDIM * sizeof(*shape));
    for (int i = 0; i < ndim && shape != NULL; i++)
        shape[i] = (uint32_t)array->shape[i];
    api_unpin(handle);
    if (shape == NULL)
        return -1;
    *out_dim = (uint32_t)ndim;
    *out_pdata = ndim > 0 ? shape : NULL;
    return 0;
}

int MXNDArrayGetShapeEx(NDArrayHandle handle, int *out_dim, const int **out_pdata)
{
    mxl_array *array;
    int *shape = NULL;
    int ndim;

    API_NEED(out_dim);
    API_NEED(out_pdata);
    *out_dim = 0;
    *out_pdata = NULL;
    array = api_pin_for(handle, __func__);
    if (array == NULL)
        return -1;
    ndim = visible_ndim(array);
    if (check_width(__func__, array, INT32_MAX) == 0)
        shape = api_buffer_get(API_BUFFER_SHAPE_I32, MXL_MAX_NDIM * sizeof(*shape));
    for (int i = 0; i < ndim && shape != NULL; i++)
        shape[i] = (int)array->shape[i];
    api_unpin(handle);
    if (shape == NULL)
        return -1;
    *out_dim = ndim;
    *out_pdata = ndim > 0 ? shape : NULL;
    return 0;
}

int MXNDArrayGetShapeEx64(NDArrayHandle handle, int *out_dim, const int64_t **out_pdata)
{
    mxl_array *array;
    int64_t *shape;
    int ndim;

    API_NEED(out_dim);
    API_NEED(out_pdata);
    *out_dim = 0;
    *out_pdata = NULL;
    array = api_pin_for(handle, __func__);
    if (array == NULL)
        return -1;
    ndim = visible_ndim(array);
    shape = api_buffer_get(API_BUFFER_SHAPE_I64, MXL_MAX_NDIM * sizeof(*shape));
    for (int i = 0; i < ndim && shape != NULL; i++)
        shape[i] = array->shape[i];
    api_unpin(handle);
    if (shape == NULL)
        return -1;
    *out_dim = ndim;
    *out_pdata = ndim > 0 ? shape : NULL;
    return 0;
}

int MXLNDArrayGetInfo(NDArrayHandle array, int room, int64_t *shape, int *dtype)
{
    enum { NO_SHAPE = -1, FAILED = -2 };
    mxl_array *a;
    int ndim = FAILED;

    if (dtype != NULL)
        *dtype = MXL_DTYPE_UNKNOWN;
    if (room < 0) {
        (void)mxl_error("%s: room is %d, a negative number", __func__, room);
        return FAILED;
    }
    a = api_pin_for(array, __func__);
    if (a == NULL)
        return FAILED;
    ndim = a->storage == NULL ? NO_SHAPE : a->ndim;
    for (int i = 0; i < ndim && i < room && shape != NULL; i++)
        shape[i] = a->shape[i];
    if (dtype != NULL)
        *dtype = a->dtype;
    api_unpin(array);
    return ndim;
}

/* ---- kinds ---- */

int MXNDArrayGetDType(NDArrayHandle handle, int *out_dtype)
{
    mxl_array *array;

    API_NEED(out_dtype);
    *out_dtype = MXL_DTYPE_UNKNOWN;
    array = api_pin_for(handle, __func__);
    if (array == NULL)
        return -1;
    *out_dtype = array->dtype;
    api_unpin(handle);
    return 0;
}

int MXNDArrayGetContext(NDArrayHandle handle, int *out_dev_type, int *out_dev_id)
{
    mxl_array *array;

    API_NEED(out_dev_type);
    API_NEED(out_dev_id);
    *out_dev_type = 0;
    *out_dev_id = 0;
    array = api_pin_for(handle, __func__);
    if (array == NULL)
        return -1;
    if (array->dtype != MXL_DTYPE_UNKNOWN) {
        *out_dev_type = mxl_array_is_meta(array) ? API_DEVICE_META : mxl_device_type(array->device);
        *out_dev_id = mxl_device_id(array->device);
    }
    api_unpin(handle);
    return 0;
}

int MXNDArrayGetStorageType(NDArrayHandle handle, int *out_storage_type)
{
    mxl_array *array;

    API_NEED(out_storage_type);
    *out_storage_type = -1;
    array = api_pin_for(handle, __func__);
    if (array == NULL)
        return -1;
    *out_storage_type = array->stype;
    api_unpin(handle);
    return 0;
}

/* ---- versions ---- */

int MXLNDArrayBumpVersion(NDArrayHandle array)
{
    mxl_array *a = api_pin_defined(array, __func__);

    if (a == NULL)
        return -1;
    mxl_storage_bump(a->storage);
    api_unpin(array);
    return 0;
}

int MXLNDArrayProtect(NDArrayHandle array)
{
    mxl_array *a = api_pin_defined(array, __func__);
    int status = 0;

    if (a == NULL)
        return -1;
    if (a->storage->foreign == NULL)
        status = mxl_error("%s: the memory is the library's own, which may be written", __func__);
    else
        atomic_store_explicit(&a->storage->foreign->read_only, true, memory_order_relaxed);
    api_unpin(array);
    return status;
}

int MXLNDArrayGetVersion(NDArrayHandle array, uint64_t *out)
{
    mxl_array *a;
    int status = 0;

    API_NEED(out);
    *out = 0;
    a = api_pin_defined(array, __func__);
    if (a == NULL)
        return -1;
    if (mxl_storage_inference(a->storage))
        status = mxl_error("%s: an inference array keeps no version", __func__);
    *out = mxl_storage_version(a->storage);
    api_unpin(array);
    return status;
}

int MXLNDArrayIsInference(NDArrayHandle array)
{
    const mxl_array *a = api_pin_defined(array, __func__);
    int found;

    if (a == NULL)
        return -1;
    found = mxl_storage_inference(a->storage);
    api_unpin(array);
    return found;
}

int MXLNDArrayGetBase(NDArrayHandle array, NDArrayHandle *out)
{
    const mxl_array *a;
    int status = 0;

    API_NEED(out);
    *out = NULL;
    a = api_pin_defined(array, __func__);
    if (a == NULL)
        return -1;
    if (a->base != NULL) {
        mxl_array_retain(a->base);
        *out = api_handle(a->base);
        status = *out != NULL ? 0 : mxl_error_prefix(__func__);
    }
    api_unpin(array);
    return status;
}

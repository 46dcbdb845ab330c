/* MXNDArray*SharedMem*, MXLNDArrayShare: arrays in memory that processes share. Called by bindings.
 */
#include "api/common.h"

#include "array/shared.h"
#include "base/system/process.h"

int MXNDArrayGetSharedMemHandle(NDArrayHandle handle, int *shared_pid, int *shared_id)
{
    mxl_array *array;
    int fd;

    API_NEED(shared_pid);
    API_NEED(shared_id);
    *shared_pid = -1;
    *shared_id = -1;
    array = api_pin_read(handle, __func__);
    if (array == NULL)
        return -1;
    fd = mxl_shared_fd(array);
    api_unpin(handle);
    if (fd < 0)
        return mxl_error_prefix(__func__);
    *shared_pid = (int)mxl_process_id();
    *shared_id = fd;
    return 0;
}

int MXLNDArrayShare(NDArrayHandle handle, int *descriptor)
{
    mxl_array *array;

    API_NEED(descriptor);
    *descriptor = -1;
    array = api_pin_read(handle, __func__);
    if (array == NULL)
        return -1;
    *descriptor = mxl_shared_dup(array);
    api_unpin(handle);
    return *descriptor < 0 ? mxl_error_prefix(__func__) : 0;
}

static int create(const char *function, int fd, int ndim, int64_t *shape, int dtype,
                  NDArrayHandle *out)
{
    mxl_storage *storage;
    mxl_array *array;
    int64_t count;

    if (!mxl_dtype_valid(dtype))
        return mxl_error("%s: unknown dtype %d; 0 to %d are known", function, dtype,
                         MXL_DTYPE_COUNT - 1);
    count = mxl_shape_count(ndim, shape);
    storage = count < 0 ? NULL : mxl_shared_open(fd, (size_t)count * mxl_dtype_size(dtype));
    if (storage == NULL)
        return mxl_error_prefix(function);
    array = mxl_array_over(storage, dtype, ndim, shape);
    if (array != NULL) {
        array->device = MXL_DEVICE_CPU_SHARED;
        *out = api_handle(array);
    }
    if (*out == NULL)
        return mxl_error_prefix(function);
    /* Not earlier: a failing call leaves the descriptor to the caller. */
    mxl_shared_take(storage, fd);
    return 0;
}

static int check_ndim(const char *function, int64_t ndim, const void *shape)
{
    if (ndim < 0 || ndim > MXL_MAX_NDIM)
        return mxl_error("%s: %lld axes; an array has 0 to %d", function, (long long)ndim,
                         MXL_MAX_NDIM);
    return ndim > 0 && shape == NULL ? api_null(function, "shape") : 0;
}

int MXNDArrayCreateFromSharedMem(int shared_pid, int shared_id, const uint32_t *shape,
                                 uint32_t ndim, int dtype, NDArrayHandle *out)
{
    int64_t wide[MXL_MAX_NDIM + 1];

    (void)shared_pid;
    API_NEED(out);
    *out = NULL;
    if (check_ndim(__func__, ndim, shape) != 0)
        return -1;
    for (uint32_t i = 0; i < ndim; i++)
        wide[i] = shape[i];
    return create(__func__, shared_id, (int)ndim, wide, dtype, out);
}

int MXNDArrayCreateFromSharedMemEx(int shared_pid, int shared_id, const int *shape, int ndim,
                                   int dtype, NDArrayHandle *out)
{
    int64_t wide[MXL_MAX_NDIM + 1];

    (void)shared_pid;
    API_NEED(out);
    *out = NULL;
    if (check_ndim(__func__, ndim, shape) != 0)
        return -1;
    for (int i = 0; i < ndim; i++)
        wide[i] = shape[i];
    return create(__func__, shared_id, ndim, wide, dtype, out);
}

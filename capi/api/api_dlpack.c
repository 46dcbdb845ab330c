/* MXNDArray*DLPack: arrays to and from other libraries without a copy, and arrays over foreign
 * memory. Called by bindings. */
#include "api/common.h"

#include <string.h>

#include "api/dlpack.h"
#include "base/memory/mem.h"

/* ---- export ---- */

/* The owner of an exported tensor, followed by its shape and strides. The ABI's struct comes first.
 */
typedef struct outgoing {
    union {
        dl_managed managed;
        dl_versioned versioned;
    } head;
    mxl_array *array; /* kept */
    size_t bytes;
    int64_t dims[];
} outgoing;

static void outgoing_free(outgoing *o)
{
    mxl_array_release(o->array);
    mxl_free(o, o->bytes);
}

static void managed_deleter(dl_managed *self)
{
    if (self != NULL)
        outgoing_free(self->context);
}

static void versioned_deleter(dl_versioned *self)
{
    if (self != NULL)
        outgoing_free(self->context);
}

static dl_type type_of(int dtype)
{
    static const uint8_t codes[MXL_DTYPE_COUNT] = {
        [MXL_F32] = DL_FLOAT,  [MXL_F64] = DL_FLOAT, [MXL_F16] = DL_FLOAT, [MXL_U8] = DL_UINT,
        [MXL_I32] = DL_INT,    [MXL_I8] = DL_INT,    [MXL_I64] = DL_INT,   [MXL_BOOL] = DL_BOOL,
        [MXL_I16] = DL_INT,    [MXL_U16] = DL_UINT,  [MXL_U32] = DL_UINT,  [MXL_U64] = DL_UINT,
        [MXL_BF16] = DL_BFLOAT};

    return (dl_type){codes[dtype], (uint8_t)(8 * mxl_dtype_size(dtype)), 1};
}

static outgoing *outgoing_new(mxl_array *array, dl_tensor *tensor)
{
    size_t axes = (size_t)array->ndim * sizeof(int64_t),
           bytes = sizeof(outgoing) + 2 * axes + sizeof(int64_t);
    outgoing *o = mxl_alloc(bytes);

    if (o == NULL)
        return NULL;
    o->bytes = bytes;
    o->array = array;
    mxl_array_retain(array);
    memcpy(o->dims, array->shape, 2 * axes);
    *tensor = (dl_tensor){.data = mxl_array_address(array),
                          .device = DL_CPU,
                          .ndim = array->ndim,
                          .dtype = type_of(array->dtype),
                          .shape = o->dims,
                          .strides = o->dims + array->ndim};
    return o;
}

/* An exported tensor refers to the storage, not to the graph. */
static outgoing *export_array(const char *function, const void *handle, dl_tensor *tensor)
{
    mxl_array *array = api_pin_read(handle, function), *alias;
    outgoing *o = NULL;

    if (array == NULL)
        return NULL;
    alias = mxl_array_alias(array);
    api_unpin(handle);
    if (alias != NULL)
        o = outgoing_new(alias, tensor);
    mxl_array_release(alias);
    if (o == NULL)
        (void)mxl_error_prefix(function);
    return o;
}

int MXNDArrayToDLPack(NDArrayHandle handle, DLManagedTensorHandle *out_dlpack)
{
    dl_tensor tensor;
    outgoing *o;

    API_NEED(out_dlpack);
    *out_dlpack = NULL;
    o = export_array(__func__, handle, &tensor);
    if (o == NULL)
        return -1;
    o->head.managed = (dl_managed){tensor, o, managed_deleter};
    *out_dlpack = &o->head.managed;
    return 0;
}

int MXLNDArrayToDLPackVersioned(NDArrayHandle array, void **out_dlpack)
{
    dl_tensor tensor;
    outgoing *o;

    API_NEED(out_dlpack);
    *out_dlpack = NULL;
    o = export_array(__func__, array, &tensor);
    if (o == NULL)
        return -1;
    o->head.versioned = (dl_versioned){DL_MAJOR,
                                       DL_MINOR,
                                       o,
                                       versioned_deleter,
                                       mxl_storage_read_only(o->array->storage) ? DL_READ_ONLY : 0,
                                       tensor};
    *out_dlpack = &o->head.versioned;
    return 0;
}

int MXNDArrayCallDLPackDeleter(DLManagedTensorHandle dlpack)
{
    dl_managed *managed = dlpack;

    if (managed != NULL && managed->deleter != NULL)
        managed->deleter(managed);
    return 0;
}

/* ---- import ---- */

static int dtype_of(const char *function, dl_type type)
{
    if (type.lanes == 1) {
        for (int dtype = 0; dtype < MXL_DTYPE_COUNT; dtype++) {
            dl_type builtin = type_of(dtype);

            if (builtin.code == type.code && builtin.bits == type.bits)
                return dtype;
        }
        if (type.code == DL_UINT && type.bits == 1) /* MXNet 1.9.1 exports booleans so */
            return MXL_BOOL;
    }
    return mxl_error(
        "%s: the tensor has elements of type code %d with %d bits and %d lanes; mxlite "
        "has no such dtype",
        function, type.code, type.bits, type.lanes);
}

static int check_shape(const char *function, int ndim, const int64_t *shape)
{
    if (ndim < 0 || ndim > MXL_MAX_NDIM)
        return mxl_error("%s: %d axes; an array has 0 to %d", function, ndim, MXL_MAX_NDIM);
    if (ndim > 0 && shape == NULL)
        return api_null(function, "shape");
    return mxl_shape_count(ndim, shape) < 0 ? mxl_error_prefix(function) : 0;
}

static int check_kind(const char *function, int ndim, const int64_t *shape, int dtype)
{
    if (!mxl_dtype_valid(dtype))
        return mxl_error("%s: unknown dtype %d; 0 to %d are known", function, dtype,
                         MXL_DTYPE_COUNT - 1);
    return check_shape(function, ndim, shape);
}

/* True if the elements are in C order without gaps. */
static bool is_straight(const dl_tensor *t, int64_t count)
{
    int64_t stride = 1;

    for (int i = t->ndim - 1; i >= 0 && t->strides != NULL && count > 0; i--) {
        if (t->shape[i] != 1 && t->strides[i] != stride)
            return false;
        stride *= t->shape[i];
    }
    return true;
}

/* A new array over checked foreign memory. On failure `release` is not called. Without dimensions
 * it is a scalar in numpy-shape mode, and has shape (1,) in legacy mode. */
static NDArrayHandle over_memory(const char *function, void *data, int ndim, const int64_t *shape,
                                 int dtype, bool read_only, void (*release)(void *), void *payload)
{
    static _Alignas(64) char nothing[64];
    int64_t count = mxl_shape_count(ndim, shape);
    mxl_storage *storage;
    mxl_foreign *foreign;
    mxl_array *array;
    NDArrayHandle handle;

    if (count == 0)
        data = nothing;
    if (data == NULL)
        return api_null(function, "data"), NULL;
    if ((uintptr_t)data % mxl_dtype_size(dtype) != 0)
        return mxl_error_null("%s: %p is not aligned to elements of %s", function, data,
                              mxl_dtype_name(dtype));
    storage = mxl_storage_foreign(data, (size_t)count * mxl_dtype_size(dtype), NULL, payload);
    if (storage == NULL)
        return (void)mxl_error_prefix(function), NULL;
    foreign = storage->foreign;
    atomic_init(&foreign->read_only, read_only);
    array = mxl_array_over(storage, dtype, ndim, shape);
    handle = array == NULL ? NULL : api_handle(array);
    if (handle == NULL)
        return (void)mxl_error_prefix(function), NULL;
    foreign->release = release; /* Not earlier: a failing call leaves the memory to the caller. */
    return handle;
}

NDArrayHandle MXLNDArrayFromMemory(void *data, int ndim, const int64_t *shape, int dtype,
                                   MXLReleaseFunction release, void *payload)
{
    if (check_kind(__func__, ndim, shape, dtype) != 0)
        return NULL;
    return over_memory(__func__, data, ndim, shape, dtype, false, release, payload);
}

NDArrayHandle MXLNDArrayFromData(const void *data, int ndim, const int64_t *shape, int dtype)
{
    mxl_array *array;

    if (check_kind(__func__, ndim, shape, dtype) != 0)
        return NULL;
    if (data == NULL && mxl_shape_count(ndim, shape) > 0)
        return api_null(__func__, "data"), NULL;
    array = mxl_array_new(dtype, ndim, shape);
    if (array == NULL)
        return (void)mxl_error_prefix(__func__), NULL;
    if (array->size > 0)
        memcpy(mxl_array_write(array), data, (size_t)array->size * mxl_dtype_size(dtype));
    mxl_storage_set_version(array->storage, 0); /* filling a new array is no edit */
    return api_handle(array);
}

static NDArrayHandle import_tensor(const char *function, const dl_tensor *t, bool read_only,
                                   void (*release)(void *), void *payload)
{
    int dtype;

    if (t->device != DL_CPU && t->device != DL_CUDA_HOST)
        return mxl_error_null("%s: the tensor is on DLPack's device %d; mxlite takes those on the "
                              "CPU, which is 1",
                              function, (int)t->device);
    dtype = dtype_of(function, t->dtype);
    if (dtype < 0 || check_shape(function, t->ndim, t->shape) != 0)
        return NULL;
    if (!is_straight(t, mxl_shape_count(t->ndim, t->shape)))
        return mxl_error_null("%s: the tensor's elements do not lie in C order; copy it first",
                              function);
    return over_memory(function, t->data == NULL ? NULL : (char *)t->data + t->byte_offset, t->ndim,
                       t->shape, dtype, read_only, release, payload);
}

static void give_back(void *payload)
{
    (void)MXNDArrayCallDLPackDeleter(payload);
}

static void give_copy_back(void *payload)
{
    (void)MXNDArrayCallDLPackDeleter(payload);
    mxl_free(payload, sizeof(dl_managed));
}

static void give_versioned_back(void *payload)
{
    dl_versioned *versioned = payload;

    if (versioned->deleter != NULL)
        versioned->deleter(versioned);
}

int MXNDArrayFromDLPackEx(DLManagedTensorHandle dlpack, bool transient_handle,
                          NDArrayHandle *out_handle)
{
    dl_managed *managed = dlpack;

    API_NEED(out_handle);
    *out_handle = NULL;
    API_NEED(dlpack);
    if (transient_handle) {
        managed = mxl_alloc(sizeof(*managed));
        if (managed == NULL)
            return mxl_error_prefix(__func__);
        memcpy(managed, dlpack, sizeof(*managed));
    }
    *out_handle = import_tensor(__func__, &managed->tensor, false,
                                transient_handle ? give_copy_back : give_back, managed);
    if (*out_handle != NULL)
        return 0;
    if (transient_handle)
        mxl_free(managed, sizeof(*managed));
    return -1;
}

int MXNDArrayFromDLPack(DLManagedTensorHandle dlpack, NDArrayHandle *out_handle)
{
    API_NEED(out_handle);
    *out_handle = NULL;
    API_NEED(dlpack);
    return MXNDArrayFromDLPackEx(dlpack, false, out_handle);
}

NDArrayHandle MXLNDArrayFromDLPackVersioned(void *dlpack)
{
    dl_versioned *versioned = dlpack;

    if (versioned == NULL)
        return (void)api_null(__func__, "dlpack"), NULL;
    if (versioned->major != DL_MAJOR)
        return mxl_error_null("%s: the tensor has version %u.%u; versions %d.x are known", __func__,
                              (unsigned)versioned->major, (unsigned)versioned->minor, DL_MAJOR);
    return import_tensor(__func__, &versioned->tensor, (versioned->flags & DL_READ_ONLY) != 0,
                         give_versioned_back, versioned);
}

/* MXNDList*: the arrays of a .params file in memory, for clients of the Predict API. */
#include <string.h>

#include "api/common.h"
#include "array/file.h"
#include "base/memory/mem.h"

typedef struct item {
    const char *name; /* "" if the file has no names */
    const uint32_t *shape;
} item;

typedef struct list {
    mxl_ref ref;
    mxl_file_list file;
    size_t bytes;
    item items[];
} list;

static void list_free(mxl_ref *ref)
{
    list *l = (list *)ref;

    mxl_file_list_clear(&l->file);
    mxl_free(l, l->bytes);
}

/* Takes over the contents of a file; NULL with the error set and the contents freed. */
static list *list_new(mxl_file_list *file)
{
    size_t dims = 0, bytes;
    const char *name = file->names;
    uint32_t *sizes;
    list *l;

    for (int64_t i = 0; i < file->count; i++)
        dims += (size_t)file->arrays[i]->ndim;
    bytes = sizeof(*l) + (size_t)file->count * sizeof(item) + (dims + 1) * sizeof(uint32_t);
    l = mxl_alloc_zero(bytes);
    if (l == NULL) {
        mxl_file_list_clear(file);
        return NULL;
    }
    mxl_ref_init(&l->ref, list_free);
    l->bytes = bytes;
    l->file = *file;
    sizes = (uint32_t *)(void *)(l->items + file->count);
    for (int64_t i = 0; i < file->count; i++) {
        const mxl_array *array = file->arrays[i];

        l->items[i].name = name != NULL ? name : "";
        l->items[i].shape = sizes;
        for (int k = 0; k < array->ndim; k++)
            *sizes++ = (uint32_t)array->shape[k];
        if (name != NULL)
            name += strlen(name) + 1;
    }
    return l;
}

int MXNDListCreate(const char *nd_file_bytes, int nd_file_size, NDListHandle *out,
                   uint32_t *out_length)
{
    mxl_file_list file = {0};
    uint64_t handle = 0;
    uint32_t count = 0;
    list *l = NULL;

    API_NEED(nd_file_bytes);
    API_NEED(out);
    API_NEED(out_length);
    if (nd_file_size < 0)
        return mxl_error("%s: nd_file_size is %d", __func__, nd_file_size);
    if (mxl_file_parse(nd_file_bytes, (size_t)nd_file_size, false, &file) == 0)
        l = list_new(&file);
    if (l != NULL) {
        count = (uint32_t)l->file.count;
        handle = mxl_handle_new(MXL_KIND_LIST, &l->ref);
        if (handle == 0)
            mxl_ref_release(&l->ref);
    }
    if (handle == 0)
        return mxl_error_prefix(__func__);
    *out = (NDListHandle)(uintptr_t)handle;
    *out_length = count;
    return 0;
}

int MXNDListGet(NDListHandle handle, uint32_t index, const char **out_key, const float **out_data,
                const uint32_t **out_shape, uint32_t *out_ndim)
{
    list *l;
    int status = 0;

    API_NEED(out_key);
    API_NEED(out_data);
    API_NEED(out_shape);
    API_NEED(out_ndim);
    l = (list *)mxl_handle_pin(MXL_KIND_LIST, api_number(handle));
    if (l == NULL)
        return mxl_error_prefix(__func__);
    if ((int64_t)index >= l->file.count) {
        status = mxl_error("%s: array %u of %lld", __func__, index, (long long)l->file.count);
    } else {
        mxl_array *array = l->file.arrays[index];

        *out_key = l->items[index].name;
        *out_data = mxl_array_is_dense(array) ? mxl_array_read(array) : NULL;
        *out_shape = l->items[index].shape;
        *out_ndim = (uint32_t)array->ndim;
    }
    mxl_handle_unpin(api_number(handle));
    return status;
}

int MXNDListFree(NDListHandle handle)
{
    return mxl_handle_free(MXL_KIND_LIST, api_number(handle)) == 0 ? 0 : mxl_error_prefix(__func__);
}

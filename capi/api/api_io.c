/* MXNDArraySave and similar functions: arrays to and from files, buffers and raw bytes. Called by
 * bindings. */
#include "api/common.h"

#include <string.h>

#include "array/file.h"
#include "base/memory/mem.h"

static bool numpy_shape(void)
{
    return mxl_state_get()->numpy_shape;
}

int MXNDArraySave(const char *fname, uint32_t num_args, NDArrayHandle *args, const char **keys)
{
    mxl_array **arrays = NULL;
    int status = -1, count = (int)num_args;

    API_NEED(fname);
    if (num_args > INT32_MAX)
        return mxl_error("%s: num_args is %u; at most %d arrays go into a file", __func__, num_args,
                         INT32_MAX);
    if (count > 0) {
        API_NEED(args);
        arrays = mxl_alloc((size_t)count * sizeof(*arrays));
        if (arrays == NULL)
            return mxl_error_prefix(__func__);
    }
    for (int i = 0; keys != NULL && i < count; i++) {
        if (keys[i] == NULL) {
            (void)mxl_error("%s: keys[%d] is NULL", __func__, i);
            goto done;
        }
    }
    if (count == 0 || api_pin_many(__func__, "array", count, args, arrays, false) == 0) {
        status = mxl_file_save(fname, count, arrays, (const char *const *)keys, numpy_shape());
        api_unpin_many(count, args);
    }
    if (status != 0)
        (void)mxl_error_prefix(__func__);
done:
    mxl_free(arrays, (size_t)count * sizeof(*arrays));
    return status;
}

/* ---- loading ---- */

/* The names of a list for the caller: pointers, then the texts, in one buffer. */
static const char **lend_names(const mxl_file_list *list)
{
    size_t table = (size_t)list->count * sizeof(char *);
    const char **names;
    char *text;

    names = api_buffer_get(API_BUFFER_STRINGS, table + list->names_bytes);
    if (names == NULL)
        return NULL;
    text = (char *)names + table;
    memcpy(text, list->names, list->names_bytes);
    for (int64_t i = 0; i < list->count; i++) {
        names[i] = text;
        text += strlen(text) + 1;
    }
    return names;
}

/* Handles for all arrays of a list, or for none. */
static NDArrayHandle *lend_handles(mxl_file_list *list)
{
    NDArrayHandle *handles =
        api_buffer_get(API_BUFFER_HANDLES, (size_t)list->count * sizeof(*handles));

    if (handles == NULL || api_handles(list->arrays, (size_t)list->count, handles) != 0)
        return NULL;
    return handles;
}

/* Returns the contents of a list and clears it. */
static int give_list(mxl_file_list *list, uint32_t *out_size, NDArrayHandle **out_arr,
                     uint32_t *out_name_size, const char ***out_names)
{
    NDArrayHandle *handles;
    const char **names = NULL;
    int status = -1;

    if (list->count > UINT32_MAX) {
        (void)mxl_error("the list has %lld arrays; at most %u can be handed over",
                        (long long)list->count, UINT32_MAX);
        goto done;
    }
    if (list->names != NULL) {
        names = lend_names(list);
        if (names == NULL)
            goto done;
    }
    handles = lend_handles(list);
    if (handles == NULL)
        goto done;
    *out_size = (uint32_t)list->count;
    *out_arr = handles;
    *out_name_size = names == NULL ? 0 : (uint32_t)list->count;
    *out_names = names;
    status = 0;
done:
    mxl_file_list_clear(list);
    return status;
}

#define NEED_LIST_RESULTS()                                                                        \
    do {                                                                                           \
        API_NEED(out_size);                                                                        \
        API_NEED(out_arr);                                                                         \
        API_NEED(out_name_size);                                                                   \
        API_NEED(out_names);                                                                       \
        *out_size = 0;                                                                             \
        *out_arr = NULL;                                                                           \
        *out_name_size = 0;                                                                        \
        *out_names = NULL;                                                                         \
    } while (0)

int MXNDArrayLoad(const char *fname, uint32_t *out_size, NDArrayHandle **out_arr,
                  uint32_t *out_name_size, const char ***out_names)
{
    mxl_file_list list;

    NEED_LIST_RESULTS();
    API_NEED(fname);
    if (mxl_file_load(fname, numpy_shape(), &list) != 0 ||
        give_list(&list, out_size, out_arr, out_name_size, out_names) != 0)
        return mxl_error_prefix(__func__);
    return 0;
}

int MXNDArrayLoadFromBuffer(const void *ndarray_buffer, size_t size, uint32_t *out_size,
                            NDArrayHandle **out_arr, uint32_t *out_name_size,
                            const char ***out_names)
{
    mxl_file_list list;

    NEED_LIST_RESULTS();
    API_NEED(ndarray_buffer);
    if (mxl_file_parse(ndarray_buffer, size, numpy_shape(), &list) != 0 ||
        give_list(&list, out_size, out_arr, out_name_size, out_names) != 0)
        return mxl_error_prefix(__func__);
    return 0;
}

/* ---- raw bytes ---- */

int MXNDArraySaveRawBytes(NDArrayHandle handle, size_t *out_size, const char **out_buf)
{
    mxl_array *array;
    int64_t bytes;
    char *buffer = NULL;

    API_NEED(out_size);
    API_NEED(out_buf);
    *out_size = 0;
    *out_buf = NULL;
    array = api_pin_read_any(handle, __func__);
    if (array == NULL)
        return -1;
    bytes = mxl_file_array_bytes(array, numpy_shape());
    if (bytes >= 0)
        buffer = api_buffer_get(API_BUFFER_TEXT, (size_t)bytes);
    if (buffer != NULL && mxl_file_array_write(array, numpy_shape(), buffer) != 0)
        buffer = NULL;
    api_unpin(handle);
    if (buffer == NULL)
        return mxl_error_prefix(__func__);
    *out_size = (size_t)bytes;
    *out_buf = buffer;
    return 0;
}

int MXNDArrayLoadFromRawBytes(const void *buf, size_t size, NDArrayHandle *out)
{
    mxl_array *array;

    API_NEED(out);
    *out = NULL;
    API_NEED(buf);
    array = mxl_file_array_parse(buf, size, numpy_shape());
    if (array != NULL)
        *out = api_handle(array);
    return *out == NULL ? mxl_error_prefix(__func__) : 0;
}

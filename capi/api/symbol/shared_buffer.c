/* The arrays by name that executors of MXExecutorSimpleBind share. */
#include <string.h>

#include "api/symbol/bind.h"
#include "base/memory/mem.h"

static int add(api_shared_buffer *b, const char *name, mxl_array *array)
{
    size_t bytes = strlen(name) + 1;
    api_shared_array *item;

    if (MXL_GROW(b->item, b->count, b->room) != 0)
        return -1;
    item = &b->item[b->count];
    item->name = mxl_alloc(bytes);
    if (item->name == NULL)
        return -1;
    memcpy(item->name, name, bytes);
    mxl_array_retain(array);
    item->array = array;
    b->count++;
    b->name_bytes += bytes;
    return 0;
}

int api_shared_begin(api_shared_buffer *b, int length, const char *const *names,
                     const NDArrayHandle *handles)
{
    *b = (api_shared_buffer){0};
    if (length > 0 && (names == NULL || handles == NULL))
        return mxl_error("the shared buffer has %d arrays, and a list of them is NULL", length);
    for (int i = 0; i < length; i++) {
        mxl_array *array;
        int status;

        if (names[i] == NULL)
            return mxl_error("name %d of the shared buffer is NULL", i);
        array = api_pin_defined(handles[i], names[i]);
        status = array != NULL ? add(b, names[i], array) : -1;
        if (array != NULL)
            api_unpin(handles[i]);
        if (status != 0)
            return -1;
    }
    return 0;
}

void api_shared_end(api_shared_buffer *b)
{
    for (size_t i = 0; i < b->count; i++) {
        mxl_free(b->item[i].name, strlen(b->item[i].name) + 1);
        mxl_array_release(b->item[i].array);
    }
    mxl_free(b->item, b->room * sizeof(*b->item));
    *b = (api_shared_buffer){0};
}

mxl_array *api_shared_array_for(api_shared_buffer *b, const char *name, int dtype,
                                const mxl_shape *shape, mxl_device device)
{
    api_shared_array *held = NULL;
    mxl_array *found = NULL;

    for (size_t i = 0; i < b->count && held == NULL; i++) {
        if (strcmp(b->item[i].name, name) == 0)
            held = &b->item[i];
    }
    if (held != NULL && held->array->dtype != dtype &&
        held->array->size >= mxl_shape_size(shape->ndim, shape->dim))
        return mxl_error_null("%s: the array of the shared buffer is of %s, not of %s", name,
                              mxl_dtype_name(held->array->dtype), mxl_dtype_name(dtype));
    if (held != NULL && mxl_executor_first_of(held->array, dtype, shape, &found) != 0)
        return NULL;
    if (found != NULL)
        return found;
    found = mxl_array_zeros(dtype, shape->ndim, shape->dim);
    if (found == NULL)
        return NULL;
    found->device = device;
    if (held != NULL) {
        mxl_array_retain(found);
        mxl_array_release(held->array);
        held->array = found;
    } else if (add(b, name, found) != 0) {
        mxl_array_release(found);
        return NULL;
    }
    return found;
}

int api_shared_lend(const api_shared_buffer *b, int *length, const char ***names,
                    NDArrayHandle **handles)
{
    size_t table = b->count * (sizeof(char *) + sizeof(NDArrayHandle));
    NDArrayHandle *lent = api_buffer_get(API_BUFFER_STRINGS, table + b->name_bytes + 1);
    const char **name = (const char **)(void *)(lent + b->count);
    char *text = (char *)(name + b->count);

    if (lent == NULL)
        return -1;
    for (size_t i = 0; i < b->count; i++) {
        size_t bytes = strlen(b->item[i].name) + 1;

        memcpy(text, b->item[i].name, bytes);
        name[i] = text;
        text += bytes;
        mxl_array_retain(b->item[i].array);
        lent[i] = api_handle(b->item[i].array);
        if (lent[i] == NULL) {
            api_handles_free(lent, i);
            return -1;
        }
    }
    *length = (int)b->count;
    *names = name;
    *handles = lent;
    return 0;
}

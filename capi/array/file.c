/* Writing arrays as bytes. (Reading: file_read.c.) The format of a list: magic and a reserved word,
 * the number of arrays, the arrays, the number of names, the names, each after its length. */
#include "array/file.h"
#include "array/failure.h"

#include <stdio.h>
#include <string.h>

#include "array/copy.h"
#include "array/file_format.h"
#include "array/replace.h"
#include "base/error.h"
#include "base/memory/mem.h"

void mxl_file_list_clear(mxl_file_list *list)
{
    for (int64_t i = 0; i < list->count; i++)
        mxl_array_release(list->arrays[i]);
    mxl_free(list->arrays, list->arrays_room * sizeof(*list->arrays));
    mxl_free(list->names, list->names_room);
    memset(list, 0, sizeof(*list));
}

/* ---- one array ---- */

/* Writes the header of an array to `to` (HEADER_MAX bytes). Returns its length. */
static size_t header_write(const mxl_array *array, bool numpy_shape, char *to)
{
    uint32_t magic = numpy_shape ? MAGIC_V3 : MAGIC_V2;
    int32_t words[3] = {STYPE_DENSE, array->ndim, 0},
            tail[3] = {mxl_device_type(array->device), mxl_device_id(array->device), array->dtype};
    size_t axes = (size_t)array->ndim * sizeof(int64_t), at = 0;

    memcpy(to, &magic, sizeof(magic));
    at += sizeof(magic);
    memcpy(to + at, words, 2 * sizeof(int32_t));
    at += 2 * sizeof(int32_t);
    memcpy(to + at, array->shape, axes);
    at += axes;
    memcpy(to + at, tail, sizeof(tail));
    return at + sizeof(tail);
}

static int check_writable(const mxl_array *array, bool numpy_shape)
{
    if (array->storage == NULL)
        return mxl_error("the array has no shape yet: it was created empty and never written");
    if (array->ndim == 0 && !numpy_shape)
        return mxl_error("the array has no axes; it can be saved only in numpy-shape mode");
    return 0;
}

static size_t data_bytes(const mxl_array *array)
{
    return (size_t)array->size * mxl_dtype_size(array->dtype);
}

int64_t mxl_file_array_bytes(const mxl_array *array, bool numpy_shape)
{
    char header[HEADER_MAX];

    if (check_writable(array, numpy_shape) != 0)
        return -1;
    return (int64_t)(header_write(array, numpy_shape, header) + data_bytes(array));
}

int mxl_file_array_write(mxl_array *array, bool numpy_shape, char *to)
{
    mxl_array *straight;

    if (check_writable(array, numpy_shape) != 0)
        return -1;
    straight = mxl_array_contiguous(array);
    if (straight == NULL)
        return -1;
    to += header_write(array, numpy_shape, to);
    memcpy(to, mxl_array_read(straight), data_bytes(array));
    mxl_array_release(straight);
    return 0;
}

/* ---- a list ---- */

static int put_array(mxl_replace *file, mxl_array *array, bool numpy_shape)
{
    char header[HEADER_MAX];
    mxl_array *straight = mxl_array_contiguous(array);
    int status = -1;

    if (straight == NULL)
        return -1;
    if (mxl_replace_put(file, header, header_write(array, numpy_shape, header)) == 0)
        status = mxl_replace_put(file, mxl_array_read(straight), data_bytes(array));
    mxl_array_release(straight);
    return status;
}

static int put_list(mxl_replace *file, int64_t count, mxl_array *const *arrays,
                    const char *const *names, bool numpy_shape)
{
    uint64_t head[3] = {LIST_MAGIC, 0, (uint64_t)count},
             named = names == NULL ? 0 : (uint64_t)count;

    if (mxl_replace_put(file, head, sizeof(head)) != 0)
        return -1;
    for (int64_t i = 0; i < count; i++) {
        if (put_array(file, arrays[i], numpy_shape) != 0)
            return -1;
    }
    if (mxl_replace_put(file, &named, sizeof(named)) != 0)
        return -1;
    for (uint64_t i = 0; i < named; i++) {
        uint64_t length = strlen(names[i]);

        if (mxl_replace_put(file, &length, sizeof(length)) != 0 ||
            mxl_replace_put(file, names[i], (size_t)length) != 0)
            return -1;
    }
    return 0;
}

/* ---- the file ---- */

static int save_to(const char *path, int64_t count, mxl_array *const *arrays,
                   const char *const *names, bool numpy_shape)
{
    mxl_replace replace;

    if (mxl_replace_begin(&replace, path) != 0)
        return -1;
    return mxl_replace_end(&replace, put_list(&replace, count, arrays, names, numpy_shape) == 0);
}

int mxl_file_save(const char *path, int64_t count, mxl_array *const *arrays,
                  const char *const *names, bool numpy_shape)
{
    for (int64_t i = 0; i < count; i++) {
        char where[40];

        if (check_writable(arrays[i], numpy_shape) != 0 || mxl_failure_report(arrays[i]) != 0) {
            (void)snprintf(where, sizeof(where), "array %lld", (long long)i);
            return mxl_error_prefix(where);
        }
    }
    if (save_to(path, count, arrays, names, numpy_shape) != 0)
        return mxl_error_prefix(path);
    return 0;
}

/* Reading arrays from untrusted bytes: every count and shape is compared with the number of bytes
 * left before memory is allocated. */
#include "array/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "array/file_format.h"
#include "array/sparse/sparse.h"
#include "base/content.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/system/file_io.h"

/* The input: a file, or memory. */
typedef struct source {
    FILE *file; /* NULL: memory */
    const char *memory;
    size_t at, size;
    bool numpy_shape;
} source;

static size_t left(const source *s)
{
    return s->size - s->at;
}

static int take(source *s, void *to, size_t bytes)
{
    if (bytes > left(s))
        return mxl_error("it ends too early: at byte %zu, %zu bytes are wanted and %zu are left",
                         s->at, bytes, left(s));
    if (bytes == 0)
        return 0;
    if (s->file == NULL)
        memcpy(to, s->memory + s->at, bytes);
    else if (mxl_file_get(s->file, to, bytes) != bytes)
        return mxl_error("reading failed at byte %zu: %s", s->at,
                         mxl_file_failed(s->file) ? strerror(errno)
                                                  : "it became shorter meanwhile");
    s->at += bytes;
    return 0;
}

/* ---- one array ---- */

static int take_axes_old(source *s, mxl_shape *shape)
{
    uint32_t extents[MXL_MAX_NDIM];

    if (take(s, extents, (size_t)shape->ndim * sizeof(*extents)) != 0)
        return -1;
    for (int i = 0; i < shape->ndim; i++)
        shape->dim[i] = extents[i];
    return 0;
}

/* A shape in the format of V1 and later. */
static int take_shape(source *s, mxl_shape *shape)
{
    int32_t ndim;

    if (take(s, &ndim, sizeof(ndim)) != 0)
        return -1;
    if (ndim < 0 || ndim > MXL_MAX_NDIM)
        return mxl_error("%d axes; an array has 0 to %d", (int)ndim, MXL_MAX_NDIM);
    shape->ndim = ndim;
    return take(s, shape->dim, (size_t)ndim * sizeof(*shape->dim));
}

static int check_mode(const source *s, bool numpy_array)
{
    if (numpy_array && !s->numpy_shape)
        return mxl_error("the array was saved in numpy-shape mode and must be loaded in it: `with "
                         "mx.np_shape(True)`, MXSetIsNumpyShape");
    if (!numpy_array && s->numpy_shape)
        return mxl_error("the array was not saved in numpy-shape mode and cannot be loaded in it: "
                         "`with mx.np_shape(False)`, MXSetIsNumpyShape");
    return 0;
}

/* Reads version, storage type and shape; of a sparse array the shape of its data before. */
static int take_start(source *s, mxl_shape *shape, mxl_shape *stored, int32_t *stype)
{
    uint32_t magic;
    char begins[MXL_BEGINNING_ROOM];
    bool later;

    *stype = MXL_DENSE;
    if (take(s, &magic, sizeof(magic)) != 0 || check_mode(s, magic == MAGIC_V3) != 0)
        return -1;
    later = magic == MAGIC_V2 || magic == MAGIC_V3;
    if (later && take(s, stype, sizeof(*stype)) != 0)
        return -1;
    if (*stype < MXL_DENSE || *stype > MXL_CSR)
        return mxl_error("unknown storage type %d", (int)*stype);
    if (*stype != MXL_DENSE && take_shape(s, stored) != 0)
        return -1;
    if (later || magic == MAGIC_V1)
        return take_shape(s, shape);
    if (magic > MXL_MAX_NDIM)
        return mxl_error("byte %zu is not the beginning of an array: what is there %s", s->at - 4,
                         mxl_beginning(begins, &magic, sizeof(magic)));
    shape->ndim = (int)magic;
    return take_axes_old(s, shape);
}

static int check_dtype(int32_t dtype)
{
    return mxl_dtype_valid(dtype)
               ? 0
               : mxl_error("unknown dtype %d; 0 to %d are known", (int)dtype, MXL_DTYPE_COUNT - 1);
}

/* Device, its number and the dtype; the device is ignored. */
static int take_dtype(source *s, int32_t *dtype)
{
    int32_t tail[3];

    if (take(s, tail, sizeof(tail)) != 0)
        return -1;
    *dtype = tail[2];
    return check_dtype(*dtype);
}

static mxl_array *take_values(source *s, int dtype, const mxl_shape *shape)
{
    int64_t count = mxl_shape_count(shape->ndim, shape->dim);
    mxl_array *array;

    if (count < 0)
        return NULL;
    if ((uint64_t)count > left(s) / mxl_dtype_size(dtype))
        return mxl_error_null("it ends too early: at byte %zu, %lld elements of %s are wanted and "
                              "%zu bytes are left",
                              s->at, (long long)count, mxl_dtype_name(dtype), left(s));
    array = mxl_array_new(dtype, shape->ndim, shape->dim);
    if (array == NULL)
        return NULL;
    if (take(s, array->storage->data, array->storage->bytes) != 0) {
        mxl_array_release(array);
        return NULL;
    }
    return array;
}

/* Makes nonzero bytes of a boolean array 1. */
static void tidy_booleans(mxl_array *array)
{
    unsigned char *bytes = array->storage->data;

    for (int64_t i = 0; i < array->size; i++)
        bytes[i] = bytes[i] != 0;
}

/* The dtype and shape of one index array. */
static int take_index(source *s, int32_t *dtype, mxl_shape *shape)
{
    if (take(s, dtype, sizeof(*dtype)) != 0 || check_dtype(*dtype) != 0)
        return -1;
    if (mxl_dtype_is_float(*dtype) || *dtype == MXL_BOOL)
        return mxl_error("an index array of dtype %s", mxl_dtype_name(*dtype));
    return take_shape(s, shape);
}

/* Indices need not ascend, but must be in range. */
static int check_parts(const mxl_array *array)
{
    mxl_parts *parts = mxl_array_parts(array);
    bool empty = mxl_parts_stored(parts) == 0;

    mxl_parts_release(parts);
    if (empty)
        return mxl_sparse_check(array, false);
    parts = mxl_sparse_read(array);
    mxl_parts_release(parts);
    return parts == NULL ? -1 : 0;
}

/* What follows the shape of a sparse array. Its parts fit together, or it is refused. */
static mxl_array *take_sparse(source *s, mxl_stype stype, const mxl_shape *shape,
                              const mxl_shape *stored)
{
    bool is_csr = stype == MXL_CSR;
    mxl_array *data, *indptr = NULL, *indices = NULL, *array;
    mxl_shape sizes[2];
    int32_t dtype, types[2];

    if (take_dtype(s, &dtype) != 0)
        return NULL;
    for (int i = 0; i <= is_csr; i++) {
        if (take_index(s, &types[i], &sizes[i]) != 0)
            return NULL;
    }
    data = take_values(s, dtype, stored);
    if (data != NULL && is_csr)
        indptr = take_values(s, types[0], &sizes[0]);
    if (data != NULL && (indptr != NULL || !is_csr))
        indices = take_values(s, types[is_csr], &sizes[is_csr]);
    if (data != NULL && dtype == MXL_BOOL)
        tidy_booleans(data);
    array = mxl_array_new_sparse(stype, dtype, shape->ndim, shape->dim,
                                 mxl_parts_new(is_csr, data, indices, indptr));
    if (array != NULL && check_parts(array) != 0) {
        mxl_array_release(array);
        array = NULL;
    }
    return array;
}

static mxl_array *take_array(source *s)
{
    mxl_shape shape, stored;
    int32_t stype, dtype;
    mxl_array *array;

    if (take_start(s, &shape, &stored, &stype) != 0)
        return NULL;
    if (shape.ndim == 0 &&
        !s->numpy_shape) /* In legacy mode this is a none array; no data follow. */
        return mxl_array_new_none();
    if (stype != MXL_DENSE)
        return take_sparse(s, (mxl_stype)stype, &shape, &stored);
    if (take_dtype(s, &dtype) != 0)
        return NULL;
    array = take_values(s, dtype, &shape);
    if (array != NULL && array->dtype == MXL_BOOL)
        tidy_booleans(array);
    return array;
}

/* ---- a list ---- */

static int take_arrays(source *s, mxl_file_list *list)
{
    enum { SMALLEST_ARRAY = 4 };
    uint64_t count;
    char where[40];

    if (take(s, &count, sizeof(count)) != 0)
        return -1;
    if (count > left(s) / SMALLEST_ARRAY)
        return mxl_error("it says that it has %llu arrays, and %zu bytes are left",
                         (unsigned long long)count, left(s));
    list->arrays_room = (size_t)count;
    list->arrays = count == 0 ? NULL : mxl_alloc((size_t)count * sizeof(*list->arrays));
    if (count > 0 && list->arrays == NULL)
        return -1;
    while ((uint64_t)list->count < count) {
        mxl_array *array = take_array(s);

        if (array == NULL) {
            (void)snprintf(where, sizeof(where), "array %lld", (long long)list->count);
            return mxl_error_prefix(where);
        }
        list->arrays[list->count++] = array;
    }
    return 0;
}

static int take_name(source *s, mxl_file_list *list)
{
    uint64_t length;

    if (take(s, &length, sizeof(length)) != 0)
        return -1;
    if (length > left(s))
        return mxl_error(
            "it ends too early: at byte %zu, a name of %llu bytes is wanted and %zu are "
            "left",
            s->at, (unsigned long long)length, left(s));
    /* All names together are at most as long as the rest of the input when the first was read. */
    if (take(s, list->names + list->names_bytes, (size_t)length) != 0)
        return -1;
    list->names[list->names_bytes + length] = '\0';
    list->names_bytes += strlen(list->names + list->names_bytes) + 1;
    return 0;
}

static int take_names(source *s, mxl_file_list *list)
{
    uint64_t count;

    if (take(s, &count, sizeof(count)) != 0)
        return -1;
    if (count == 0)
        return 0;
    if (count != (uint64_t)list->count)
        return mxl_error("it has %lld arrays and %llu names", (long long)list->count,
                         (unsigned long long)count);
    if (count > left(s) / sizeof(uint64_t))
        return mxl_error("it ends too early: %llu names are wanted and %zu bytes are left",
                         (unsigned long long)count, left(s));
    /* The rest includes an 8-byte length for each name, which leaves room for each terminating
     * zero. */
    list->names_room = left(s);
    list->names = mxl_alloc(list->names_room);
    if (list->names == NULL)
        return -1;
    for (uint64_t i = 0; i < count; i++) {
        if (take_name(s, list) != 0)
            return -1;
    }
    return 0;
}

static int take_list(source *s, mxl_file_list *list)
{
    uint64_t head[2] = {0}, magic = LIST_MAGIC;
    size_t size = left(s) < sizeof(head) ? left(s) : sizeof(head);
    int status = take(s, head, size);
    char begins[MXL_BEGINNING_ROOM];

    memset(list, 0, sizeof(*list));
    if (status == 0 && memcmp(head, &magic, size < sizeof(magic) ? size : sizeof(magic)) != 0)
        status = mxl_error("not a file of arrays: it %s", mxl_beginning(begins, head, size));
    if (status == 0)
        status = take(s, head, sizeof(head) - size);
    if (status == 0)
        status = take_arrays(s, list);
    if (status == 0)
        status = take_names(s, list);
    if (status != 0)
        mxl_file_list_clear(list);
    return status;
}

/* ---- inputs ---- */

int mxl_file_parse(const void *bytes, size_t size, bool numpy_shape, mxl_file_list *list)
{
    source s = {.memory = bytes, .size = size, .numpy_shape = numpy_shape};

    return take_list(&s, list);
}

mxl_array *mxl_file_array_parse(const void *bytes, size_t size, bool numpy_shape)
{
    source s = {.memory = bytes, .size = size, .numpy_shape = numpy_shape};

    return take_array(&s);
}

/* Opens a regular file and sets its size. Does not wait for the other end of a pipe. */
static FILE *open_regular(const char *path, size_t *size)
{
    mxl_file_kind kind;
    FILE *file = mxl_file_open(path, false, &kind, size);

    if (file == NULL)
        return mxl_error_null("cannot be opened: %s", mxl_file_why(errno));
    if (kind == MXL_FILE_REGULAR)
        return file;
    (void)mxl_file_close(file);
    return mxl_error_null("is not a regular file; read it and use MXNDArrayLoadFromBuffer");
}

static int load_from(const char *path, bool numpy_shape, mxl_file_list *list)
{
    source s = {.numpy_shape = numpy_shape};
    int status;

    s.file = open_regular(path, &s.size);
    if (s.file == NULL)
        return -1;
    status = take_list(&s, list);
    (void)mxl_file_close(s.file);
    return status;
}

int mxl_file_load(const char *path, bool numpy_shape, mxl_file_list *list)
{
    memset(list, 0, sizeof(*list));
    if (load_from(path, numpy_shape, list) != 0)
        return mxl_error_prefix(path);
    return 0;
}

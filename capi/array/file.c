/* Writing arrays as bytes. (Reading: file_read.c.) The format of a list: magic and a reserved word,
 * the number of arrays, the arrays, the number of names, the names, each after its length. */
#include "array/file.h"
#include "array/failure.h"

#include <stdio.h>
#include <string.h>

#include "array/copy.h"
#include "array/file_format.h"
#include "base/system/replace.h"
#include "array/sparse/sparse.h"
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

/* An array as a file has it: the header, then arrays whose elements follow it. */
typedef struct pieces {
    char header[HEADER_MAX];
    size_t header_bytes;
    mxl_array *body[3]; /* kept; of a sparse array the data and its index arrays */
    int count;
} pieces;

static void pieces_release(pieces *p)
{
    for (int i = 0; i < p->count; i++)
        mxl_array_release(p->body[i]);
}

static void add_word(pieces *p, uint32_t word)
{
    memcpy(p->header + p->header_bytes, &word, sizeof(word));
    p->header_bytes += sizeof(word);
}

static void add_shape(pieces *p, const mxl_array *array)
{
    size_t axes = (size_t)array->ndim * sizeof(int64_t);

    add_word(p, (uint32_t)array->ndim);
    memcpy(p->header + p->header_bytes, array->shape, axes);
    p->header_bytes += axes;
}

static void add_body(pieces *p, mxl_array *array)
{
    mxl_array_retain(array);
    p->body[p->count++] = array;
}

static void add_header(pieces *p, const mxl_array *array, bool numpy_shape)
{
    add_word(p, numpy_shape ? MAGIC_V3 : MAGIC_V2);
    add_word(p, (uint32_t)array->stype);
    if (p->count > 1)
        add_shape(p, p->body[0]);
    add_shape(p, array);
    add_word(p, (uint32_t)mxl_device_type(array->device));
    add_word(p, (uint32_t)mxl_device_id(array->device));
    add_word(p, (uint32_t)array->dtype);
    for (int i = 1; i < p->count; i++) {
        add_word(p, (uint32_t)p->body[i]->dtype);
        add_shape(p, p->body[i]);
    }
}

/* The parts of a sparse array as they are: indices may have other dtypes than int64. */
static void add_parts(pieces *p, const mxl_array *array)
{
    mxl_parts *parts = mxl_array_parts(array);

    add_body(p, parts->data);
    if (parts->indptr != NULL)
        add_body(p, parts->indptr);
    add_body(p, parts->indices);
    mxl_parts_release(parts);
}

static int check_writable(const mxl_array *array, bool numpy_shape)
{
    if (array->storage == NULL)
        return mxl_error("the array has no shape yet: it was created empty and never written");
    if (array->ndim == 0 && !numpy_shape)
        return mxl_error("the array has no axes; it can be saved only in numpy-shape mode");
    return mxl_array_is_sparse(array) ? mxl_sparse_check(array, false)
                                      : mxl_array_refuse_read("a file", array);
}

/* -1 with the error set, and nothing to release. */
static int pieces_of(pieces *p, const mxl_array *array, bool numpy_shape)
{
    p->header_bytes = 0;
    p->count = 0;
    if (check_writable(array, numpy_shape) != 0)
        return -1;
    if (mxl_array_is_dense(array))
        add_body(p, (mxl_array *)(size_t)array);
    else
        add_parts(p, array);
    add_header(p, array, numpy_shape);
    return 0;
}

static size_t data_bytes(const mxl_array *array)
{
    return (size_t)array->size * mxl_dtype_size(array->dtype);
}

int64_t mxl_file_array_bytes(const mxl_array *array, bool numpy_shape)
{
    size_t bytes;
    pieces p;

    if (pieces_of(&p, array, numpy_shape) != 0)
        return -1;
    bytes = p.header_bytes;
    for (int i = 0; i < p.count; i++)
        bytes += data_bytes(p.body[i]);
    pieces_release(&p);
    return (int64_t)bytes;
}

int mxl_file_array_write(mxl_array *array, bool numpy_shape, char *to)
{
    int status = 0;
    pieces p;

    if (pieces_of(&p, array, numpy_shape) != 0)
        return -1;
    memcpy(to, p.header, p.header_bytes);
    to += p.header_bytes;
    for (int i = 0; i < p.count && status == 0; i++) {
        mxl_array *straight = mxl_array_contiguous(p.body[i]);

        if (straight == NULL) {
            status = -1;
            break;
        }
        memcpy(to, mxl_array_read(straight), data_bytes(straight));
        to += data_bytes(straight);
        mxl_array_release(straight);
    }
    pieces_release(&p);
    return status;
}

/* ---- a list ---- */

static int put_body(mxl_replace *file, mxl_array *array)
{
    mxl_array *straight = mxl_array_contiguous(array);
    int status;

    if (straight == NULL)
        return -1;
    status = mxl_replace_put(file, mxl_array_read(straight), data_bytes(straight));
    mxl_array_release(straight);
    return status;
}

static int put_array(mxl_replace *file, mxl_array *array, bool numpy_shape)
{
    pieces p;
    int status;

    if (pieces_of(&p, array, numpy_shape) != 0)
        return -1;
    status = mxl_replace_put(file, p.header, p.header_bytes);
    for (int i = 0; i < p.count && status == 0; i++)
        status = put_body(file, p.body[i]);
    pieces_release(&p);
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

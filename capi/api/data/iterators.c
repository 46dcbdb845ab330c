/* Data iterators: MXListDataIters, MXDataIter*. One kind of handle has makers, which are permanent,
 * and iterators. */
#include "api/common.h"

#include <limits.h>
#include <stdlib.h>

#include "data/whole.h"
#include "data/batches.h"

/* Numbers of makers begin here, at the end of the slots, so that no iterator gets the handle of a
 * maker. */
enum { MAKERS_AT = (1 << MXL_HANDLE_SLOT_BITS) - MXL_BATCHES_KINDS, TYPE_ROOM = 256 };

/* ---- makers ---- */

int MXListDataIters(uint32_t *out_size, DataIterCreator **out_array)
{
    DataIterCreator *list;

    API_NEED(out_size);
    API_NEED(out_array);
    list = api_buffer_get(API_BUFFER_HANDLES, sizeof(*list) * MXL_BATCHES_KINDS);
    if (list == NULL)
        return mxl_error_prefix(__func__);
    for (uint32_t i = 0; i < MXL_BATCHES_KINDS; i++)
        list[i] =
            (DataIterCreator)(uintptr_t)mxl_handle_permanent(MXL_KIND_ITERATOR, MAKERS_AT + i);
    *out_size = MXL_BATCHES_KINDS;
    *out_array = list;
    return 0;
}

/* The kind of a maker; NULL with the error set. */
static const mxl_batches_kind *kind_of(const char *function, const void *maker)
{
    uint64_t handle = api_number(maker);
    int64_t number = mxl_handle_number(MXL_KIND_ITERATOR, handle, 1 << MXL_HANDLE_SLOT_BITS);

    if (number < 0) {
        mxl_error_put_before(function);
        return NULL;
    }
    if (number < MAKERS_AT)
        return mxl_error_null("%s: a handle of MXListDataIters was expected, got 0x%llx", function,
                              (unsigned long long)handle);
    return mxl_batches_kinds[number - MAKERS_AT];
}

/* Names, types and documentation of a kind's parameters: three lists of pointers, then the texts of
 * the types, in a block that is kept for the thread. */
static int describe(const mxl_batches_kind *kind, uint32_t *count, const char ***lists)
{
    const mxl_param *params = mxl_op_params(&kind->op);
    size_t n = 0;
    const char **list;
    char *texts;

    while (params[n].name != NULL && (kind->shown == 0 || n < (size_t)kind->shown))
        n++;
    list = api_buffer_get(API_BUFFER_PARAMS, 3 * n * sizeof(*list) + n * TYPE_ROOM + 1);
    if (list == NULL)
        return -1;
    texts = (char *)(list + 3 * n);
    for (size_t i = 0; i < n; i++) {
        list[i] = params[i].name;
        list[n + i] = mxl_param_type_text(&params[i], texts + i * TYPE_ROOM, TYPE_ROOM);
        list[2 * n + i] = params[i].doc;
    }
    *count = (uint32_t)n;
    *lists = list;
    return 0;
}

int MXDataIterGetIterInfo(DataIterCreator creator, const char **name, const char **description,
                          uint32_t *num_args, const char ***arg_names, const char ***arg_type_infos,
                          const char ***arg_descriptions)
{
    const mxl_batches_kind *kind;
    const char **lists;
    uint32_t count;

    API_NEED(name);
    API_NEED(description);
    API_NEED(num_args);
    API_NEED(arg_names);
    API_NEED(arg_type_infos);
    API_NEED(arg_descriptions);
    kind = kind_of(__func__, creator);
    if (kind == NULL)
        return -1;
    if (describe(kind, &count, &lists) != 0)
        return mxl_error_prefix(__func__);
    *name = kind->op.name;
    *description = kind->op.doc;
    *num_args = count;
    *arg_names = lists;
    *arg_type_infos = lists + count;
    *arg_descriptions = lists + (size_t)2 * count;
    return 0;
}

int MXDataIterCreateIter(DataIterCreator handle, uint32_t num_param, const char **keys,
                         const char **vals, DataIterHandle *out)
{
    const mxl_batches_kind *kind;
    mxl_batches *batches = NULL;
    uint64_t made = 0;

    API_NEED(out);
    if (num_param > 0) {
        API_NEED(keys);
        API_NEED(vals);
    }
    kind = kind_of(__func__, handle);
    if (kind == NULL)
        return -1;
    if (num_param > INT_MAX / 2)
        return mxl_error("%s: %u parameters are too many", __func__, num_param);
    batches = mxl_batches_open(kind, (int)num_param, keys, vals);
    if (batches != NULL)
        made = mxl_handle_new(MXL_KIND_ITERATOR, &batches->ref);
    if (made == 0) {
        if (batches != NULL)
            mxl_ref_release(&batches->ref);
        return mxl_error_prefix(__func__);
    }
    *out = (DataIterHandle)(uintptr_t)made;
    return 0;
}

/* ---- iterators ---- */

/* Begins a call, which a forked process finds whole: the iterator may be one that a thread reads.
 */
static mxl_batches *pin(const char *function, const void *handle)
{
    mxl_batches *batches;

    mxl_whole_begin();
    batches = (mxl_batches *)mxl_handle_pin(MXL_KIND_ITERATOR, api_number(handle));
    if (batches == NULL) {
        mxl_whole_end();
        mxl_error_put_before(function);
    }
    return batches;
}

/* Ends a call that pinned an iterator. */
static int finish(const char *function, const void *handle, int status)
{
    api_unpin(handle);
    mxl_whole_end();
    return status == 0 ? 0 : mxl_error_prefix(function);
}

int MXDataIterFree(DataIterHandle handle)
{
    return mxl_handle_free(MXL_KIND_ITERATOR, api_number(handle)) == 0 ? 0
                                                                       : mxl_error_prefix(__func__);
}

int MXDataIterNext(DataIterHandle handle, int *out)
{
    mxl_batches *batches;
    bool any = false;
    int status;

    API_NEED(out);
    batches = pin(__func__, handle);
    if (batches == NULL)
        return -1;
    status = mxl_batches_next(batches, &any);
    if (status == 0)
        *out = any;
    return finish(__func__, handle, status);
}

int MXDataIterBeforeFirst(DataIterHandle handle)
{
    mxl_batches *batches = pin(__func__, handle);

    if (batches == NULL)
        return -1;
    mxl_batches_restart(batches);
    return finish(__func__, handle, 0);
}

/* A new handle of an array of the present batch. */
static int give(const char *function, const void *handle, mxl_array *(*get)(mxl_batches *),
                NDArrayHandle *out)
{
    mxl_batches *batches;
    NDArrayHandle made = NULL;
    mxl_array *array;

    if (out == NULL)
        return api_null(function, "out");
    batches = pin(function, handle);
    if (batches == NULL)
        return -1;
    array = get(batches);
    if (array != NULL)
        made = api_handle(array);
    if (made != NULL)
        *out = made;
    return finish(function, handle, made != NULL ? 0 : -1);
}

int MXDataIterGetData(DataIterHandle handle, NDArrayHandle *out)
{
    return give(__func__, handle, mxl_batches_data, out);
}

int MXDataIterGetLabel(DataIterHandle handle, NDArrayHandle *out)
{
    return give(__func__, handle, mxl_batches_label, out);
}

int MXDataIterGetIndex(DataIterHandle handle, uint64_t **out_index, uint64_t *out_size)
{
    mxl_batches *batches;
    int status;

    API_NEED(out_index);
    API_NEED(out_size);
    batches = pin(__func__, handle);
    if (batches == NULL)
        return -1;
    status = mxl_batches_index(batches, out_index);
    if (status == 0)
        *out_size = (uint64_t)batches->batch_size;
    return finish(__func__, handle, status);
}

int MXDataIterGetPadNum(DataIterHandle handle, int *pad)
{
    mxl_batches *batches;
    int64_t found = 0;
    int status;

    API_NEED(pad);
    batches = pin(__func__, handle);
    if (batches == NULL)
        return -1;
    status = mxl_batches_pad(batches, &found);
    if (status == 0)
        *pad = (int)found;
    return finish(__func__, handle, status);
}

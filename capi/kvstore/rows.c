/* Pulling some rows of stored row_sparse arrays. */
#include <string.h>

#include "array/copy.h"
#include "array/sparse/sparse.h"
#include "base/error.h"
#include "kernel/sparse/numbers.h"
#include "kvstore/item.h"

/* The rows that are asked for as int64, ascending and without repetition, all of them in the shape;
 * new. NULL with the error set. */
static mxl_array *wanted_rows(const mxl_array *value, const mxl_array *ids)
{
    mxl_array *all, *rows;
    int64_t *number, count;

    if (!mxl_array_is_dense(ids))
        return mxl_error_null("row_ids are %s; they are dense", mxl_stype_name(ids->stype));
    all = mxl_array_copy_as(ids, MXL_I64);
    if (all == NULL)
        return NULL;
    number = mxl_array_write(all);
    count = mxl_sparse_unique(all->size, number);
    if (count > 0 && (number[0] < 0 || number[count - 1] >= value->shape[0])) {
        (void)mxl_error("IndexError: row %lld is asked for of an array of shape %s",
                        (long long)(number[0] < 0 ? number[0] : number[count - 1]),
                        MXL_SHAPE_OF(value));
        mxl_array_release(all);
        return NULL;
    }
    rows = mxl_array_new(MXL_I64, 1, &count);
    if (rows != NULL)
        memcpy(mxl_array_write(rows), number, (size_t)count * sizeof(*number));
    mxl_array_release(all);
    return rows;
}

/* Those rows of the array, as parts; NULL with the error set. */
static mxl_parts *rows_of(const mxl_array *value, mxl_array *rows)
{
    mxl_parts *parts = mxl_sparse_read(value), *made = NULL;
    int64_t shape[MXL_MAX_NDIM];
    mxl_array *data;
    size_t row_bytes;

    if (parts == NULL)
        return NULL;
    memcpy(shape, parts->data->shape, (size_t)parts->data->ndim * sizeof(*shape));
    row_bytes = mxl_dtype_size(value->dtype);
    for (int i = 1; i < value->ndim; i++)
        row_bytes *= (size_t)value->shape[i];
    shape[0] = rows->size;
    data = mxl_array_new(value->dtype, value->ndim, shape);
    if (data != NULL)
        mxl_sparse_take_rows(row_bytes, mxl_parts_stored(parts), mxl_array_read(parts->indices),
                             mxl_array_read(parts->data), rows->size, mxl_array_read(rows),
                             mxl_array_write(data));
    mxl_array_retain(rows);
    made = mxl_parts_new(false, data, rows, NULL);
    mxl_parts_release(parts);
    return made;
}

static int check_rows(const mxl_array *value, const mxl_array *out, const char *key)
{
    if (value->stype != MXL_ROW_SPARSE)
        return mxl_error("key %s is stored as %s; rows are pulled of row_sparse arrays", key,
                         mxl_stype_name(value->stype));
    if (out->stype != MXL_ROW_SPARSE)
        return mxl_error("the array to fill for key %s is %s, not row_sparse", key,
                         mxl_stype_name(out->stype));
    if (out->dtype != value->dtype || !mxl_array_same_shape(out, value))
        return mxl_error("key %s has shape %s and dtype %s, the array to fill %s and %s", key,
                         MXL_SHAPE_OF(value), mxl_dtype_name(value->dtype), MXL_SHAPE_OF(out),
                         mxl_dtype_name(out->dtype));
    return 0;
}

/* The parts for array i, new; NULL with the error set. */
static mxl_parts *rows_for(mxl_store *store, mxl_store_keys keys, uint32_t i, const mxl_array *out,
                           const mxl_array *ids)
{
    mxl_store_item *item = mxl_store_find(store, keys, i);
    char room[MXL_STORE_KEY_ROOM];
    mxl_parts *parts = NULL;
    mxl_array *value, *rows;

    if (item == NULL)
        return NULL;
    value = mxl_store_take(store, item);
    if (check_rows(value, out, mxl_store_key_text(keys, i, room)) == 0) {
        rows = wanted_rows(value, ids);
        if (rows != NULL)
            parts = rows_of(value, rows);
        mxl_array_release(rows);
    }
    mxl_array_release(value);
    mxl_ref_release(&item->ref);
    return parts;
}

int mxl_store_pull_rows(mxl_store *store, mxl_store_keys keys, mxl_array *const *outs,
                        mxl_array *const *row_ids)
{
    int status = 0;

    /* Twice, so that nothing is written where one is refused. */
    for (int writes = 0; writes < 2 && status == 0; writes++) {
        for (uint32_t i = 0; i < keys.count && status == 0; i++) {
            mxl_parts *parts = rows_for(store, keys, i, outs[i], row_ids[i]);

            status = parts == NULL ? -1 : 0;
            if (parts != NULL && writes)
                mxl_array_set_parts(outs[i], parts);
            mxl_parts_release(parts);
        }
    }
    return status;
}

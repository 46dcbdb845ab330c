/* Parts whose indices ascend without repetition; see sparse.h. */
#include "array/sparse/sparse.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory/mem.h"
#include "kernel/sparse/pack.h"

/* An index and its position among those of the array. */
typedef struct place {
    int64_t index, at;
} place;

static int by_index(const void *a, const void *b)
{
    const place *x = a, *y = b;

    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool ascends(const int64_t *indices, int64_t begin, int64_t end)
{
    for (int64_t k = begin + 1; k < end; k++) {
        if (indices[k] <= indices[k - 1])
            return false;
    }
    return true;
}

static bool is_ordered(const mxl_parts *parts)
{
    const int64_t *indices = mxl_array_read(parts->indices), *indptr;

    if (parts->indptr == NULL)
        return ascends(indices, 0, mxl_parts_stored(parts));
    indptr = mxl_array_read(parts->indptr);
    for (int64_t row = 0; row + 1 < parts->indptr->size; row++) {
        if (!ascends(indices, indptr[row], indptr[row + 1]))
            return false;
    }
    return true;
}

/* Sorts places [begin, end) and moves them, of repeated ones the last, to `to`; returns the end. */
static int64_t sort_places(place *places, int64_t begin, int64_t end, int64_t to)
{
    qsort(places + begin, (size_t)(end - begin), sizeof(*places), by_index);
    for (int64_t k = begin; k < end; k++) {
        if (k + 1 == end || places[k].index != places[k + 1].index)
            places[to++] = places[k];
    }
    return to;
}

/* The places in order, and in `indptr` (NULL: one row) where the rows begin then; how many. */
static int64_t order_places(const mxl_parts *parts, place *places, int64_t *indptr)
{
    const int64_t *indices = mxl_array_read(parts->indices), *old;
    int64_t stored = mxl_parts_stored(parts), found = 0;

    for (int64_t k = 0; k < stored; k++)
        places[k] = (place){indices[k], k};
    if (indptr == NULL)
        return sort_places(places, 0, stored, 0);
    old = mxl_array_read(parts->indptr);
    indptr[0] = 0;
    for (int64_t row = 0; row + 1 < parts->indptr->size; row++)
        indptr[row + 1] = found = sort_places(places, old[row], old[row + 1], found);
    return found;
}

static mxl_parts *gather(const mxl_parts *parts, const place *places, int64_t found,
                         mxl_array *indptr)
{
    const mxl_array *data = parts->data;
    int64_t shape[MXL_MAX_NDIM];
    size_t row_bytes = mxl_dtype_size(data->dtype);
    mxl_array *kept, *indices = mxl_array_new(MXL_I64, 1, &found);

    memcpy(shape, data->shape, (size_t)data->ndim * sizeof(*shape));
    shape[0] = found;
    for (int i = 1; i < data->ndim; i++)
        row_bytes *= (size_t)shape[i];
    kept = mxl_array_new(data->dtype, data->ndim, shape);
    if (indices != NULL && kept != NULL) {
        int64_t *at = mxl_array_write(indices);

        for (int64_t k = 0; k < found; k++)
            at[k] = places[k].at;
        mxl_sparse_gather_rows(row_bytes, found, at, mxl_array_read(data), mxl_array_write(kept));
        for (int64_t k = 0; k < found; k++)
            at[k] = places[k].index;
    }
    return mxl_parts_new(parts->indptr != NULL, kept, indices, indptr);
}

static mxl_parts *in_order(const mxl_parts *parts)
{
    size_t bytes = (size_t)mxl_parts_stored(parts) * sizeof(place);
    place *places = mxl_alloc(bytes);
    mxl_array *indptr = NULL;
    mxl_parts *made = NULL;

    if (parts->indptr != NULL)
        indptr = mxl_array_new(MXL_I64, 1, parts->indptr->shape);
    if (places != NULL && (indptr != NULL || parts->indptr == NULL)) {
        int64_t found =
            order_places(parts, places, indptr == NULL ? NULL : mxl_array_write(indptr));

        made = gather(parts, places, found, indptr);
    } else {
        mxl_array_release(indptr);
    }
    if (places != NULL)
        mxl_free(places, bytes);
    return made;
}

mxl_parts *mxl_sparse_ordered(const mxl_array *array)
{
    mxl_parts *parts = mxl_sparse_read(array), *made;

    if (parts == NULL || is_ordered(parts))
        return parts;
    made = in_order(parts);
    mxl_parts_release(parts);
    return made;
}

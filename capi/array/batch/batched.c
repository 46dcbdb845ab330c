/* Making batched arrays; see batched.h. */
#include "array/batch/batched.h"

#include "base/error.h"
#include "base/memory/mem.h"

static void batched_release(mxl_ref *ref)
{
    mxl_batched *batched = (mxl_batched *)ref;

    mxl_array_clear(&batched->array);
    mxl_array_release(batched->whole);
    mxl_free(batched, sizeof(*batched));
}

/* Gives the array the whole's axes, without the first one if `skip` is 1. */
static int take_axes(mxl_array *array, const mxl_array *whole, int skip)
{
    int64_t row = 1;

    if (mxl_array_reserve(array, whole->ndim - skip) != 0)
        return -1;
    array->contiguous = true;
    for (int i = array->ndim - 1; i >= 0; i--) {
        array->shape[i] = whole->shape[i + skip];
        array->strides[i] = whole->strides[i + skip];
        if (array->shape[i] > 1 && array->strides[i] != row)
            array->contiguous = false;
        row *= array->shape[i];
    }
    array->size = row;
    return 0;
}

mxl_array *mxl_batched_new(mxl_array *whole, int level, bool has_axis)
{
    mxl_batched *batched = mxl_alloc(sizeof(*batched));
    mxl_array *array = &batched->array;

    if (batched == NULL)
        return NULL;
    mxl_array_init(array, batched_release);
    batched->whole = whole;
    batched->level = level;
    batched->has_axis = has_axis;
    mxl_array_retain(whole);
    array->dtype = whole->dtype;
    array->stype = MXL_BATCHED;
    array->device = whole->device;
    array->offset = whole->offset;
    array->storage = whole->storage;
    mxl_ref_retain(&array->storage->ref);
    atomic_init(&array->edge_version, mxl_storage_version(array->storage));
    if (take_axes(array, whole, has_axis) != 0) {
        mxl_array_release(array);
        return NULL;
    }
    return array;
}

mxl_array *mxl_batched_like(const mxl_batched *batched, mxl_array *whole, bool has_axis)
{
    return mxl_batched_new(whole, batched->level, has_axis);
}

int mxl_batched_refuse(const char *name, const mxl_array *array)
{
    return !mxl_array_is_batched(array)
               ? 0
               : mxl_error("vmap: %s: values decide here (item(), a condition, a copy to NumPy), "
                           "and each example of the batch has its own",
                           name);
}

/* Batched arrays, for vmap. */
#include "api/common.h"

#include "array/batch/batched.h"
#include "base/state.h"
#include "engine/batch/batch.h"
#include "mxlite/mxlite.h"

int MXLNDArrayBatch(NDArrayHandle whole, int level, int has_axis, NDArrayHandle *out)
{
    mxl_array *array, *made;

    API_NEED(out);
    *out = NULL;
    array = api_pin_defined(whole, __func__);
    if (array == NULL)
        return -1;
    if (level < 1 || (has_axis && array->ndim == 0) ||
        mxl_array_is_sparse(array) > mxl_array_is_batched(array))
        made = mxl_error_null(
            "MXLNDArrayBatch: takes a dense array with an axis, and a level from 1 on");
    else
        made = mxl_batched_new(array, level, has_axis != 0);
    api_unpin(whole);
    *out = made == NULL ? NULL : api_handle(made);
    return *out == NULL ? -1 : 0;
}

int MXLNDArrayBatchOf(NDArrayHandle array, NDArrayHandle *whole, int *has_axis)
{
    mxl_array *value;
    mxl_batched *batched;
    int level = 0;

    API_NEED(has_axis);
    value = api_pin_defined(array, __func__);
    if (value == NULL)
        return -1;
    batched = mxl_batched_of(value, 0);
    *has_axis = batched != NULL && batched->has_axis;
    if (whole != NULL)
        *whole = NULL;
    if (batched != NULL) {
        level = batched->level;
        if (whole != NULL) {
            mxl_array_retain(batched->whole);
            *whole = api_handle(batched->whole);
            level = *whole == NULL ? -1 : level;
        }
    }
    api_unpin(array);
    return level;
}

int MXLBatchLooped(const char **name)
{
    API_NEED(name);
    *name = mxl_batch_looped();
    return 0;
}

int MXLBatchLevels(int count, const int64_t *sizes, const int *randomness)
{
    mxl_batch_levels *levels = &mxl_state_get()->batch;

    if (count < 0 || count > MXL_BATCH_LEVELS)
        return mxl_error("%s: 0 to %d maps in one another, got %d", __func__, MXL_BATCH_LEVELS,
                         count);
    if (count > 0) {
        API_NEED(sizes);
        API_NEED(randomness);
    }
    levels->open = count;
    for (int i = 0; i < count; i++) {
        levels->size[i] = sizes[i];
        levels->randomness[i] = (uint8_t)randomness[i];
    }
    return 0;
}

/* Batched arrays, which vmap gives to the function that it maps: an array without the axis of the
 * batch, over a whole array that has it in front. It shares the storage of the whole, so that
 * versions count the edits of both; its strides lead to the first example, whose elements nobody
 * reads: engine/batch/batch.h runs operators on the wholes. */
#ifndef MXL_ARRAY_BATCH_BATCHED_H
#define MXL_ARRAY_BATCH_BATCHED_H

#include "array/array.h"

typedef struct mxl_batched {
    mxl_array array;
    mxl_array *whole; /* kept */
    int level;        /* of vmap: one within another has the higher number */
    bool has_axis;    /* the whole has the axis; else all examples have the same values */
} mxl_batched;

static inline bool mxl_array_is_batched(const mxl_array *array)
{
    return array->stype == MXL_BATCHED;
}

/* The batched array that the array is, of that level or any (0); NULL where it is none. */
static inline mxl_batched *mxl_batched_of(const mxl_array *array, int level)
{
    mxl_batched *batched = (mxl_batched *)(size_t)array;

    return mxl_array_is_batched(array) && (level == 0 || batched->level == level) ? batched : NULL;
}

/* A new one over `whole`, which has at least one axis if `has_axis`; NULL with the error set. */
mxl_array *mxl_batched_new(mxl_array *whole, int level, bool has_axis);

/* The same over another whole, like `batched`. */
mxl_array *mxl_batched_like(const mxl_batched *batched, mxl_array *whole, bool has_axis);

/* -1 with the error set for a batched array, whose values are not one example's. */
int mxl_batched_refuse(const char *name, const mxl_array *array);

#endif

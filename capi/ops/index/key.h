/* Keys of arrays, x[0, 1:, None, index], as the operators of ops/index/keys.c read them: which
 * elements one selects, and in which order. */
#ifndef MXL_OPS_INDEX_KEY_H
#define MXL_OPS_INDEX_KEY_H

#include "op/plan.h"

/* The parts of a key as numbers: each kind is followed by its operands. */
typedef enum mxl_part_kind {
    MXL_PART_INTEGER, /* the position, which may be negative */
    MXL_PART_SLICE,   /* begin, end and step, each of which may be MXL_NONE */
    MXL_PART_NEW,     /* None: a new axis */
    MXL_PART_DOTS,    /* `...` */
    MXL_PART_ARRAY,   /* an index array or a mask: the next input */
    MXL_PART_KINDS
} mxl_part_kind;

/* Whose rules hold.
 * - A mask is an array of bool; of PyTorch's uint8 too.
 * - MXNet's index arrays may be of any dtype, and are cut towards zero.
 * - PyTorch refuses steps below 1, and takes several `...`.
 * - Where index arrays are not side by side, their axes come first in the result. Integers count as
 *   such; not for PyTorch, which takes them away before. */
typedef enum mxl_key_rules { MXL_KEY_NUMPY, MXL_KEY_TORCH, MXL_KEY_MXNET } mxl_key_rules;

typedef struct mxl_key_params {
    mxl_tuple key;
    int rules; /* mxl_key_rules */
    mxl_tuple shape;
    int accumulate, last, fill;
    double scalar;
} mxl_key_params;

/* What a key selects. An array is seen as `view`, its integers, slices and new axes applied; index
 * k selects positions of `axes` of its axes, from `axis` on, which are not among those of the
 * result. */
typedef struct mxl_key {
    mxl_plan view;
    int count; /* of indices */
    struct {
        mxl_array *array;
        int axis, axes;
        int own; /* the axis of the array that is `axis` of the view */
        bool is_mask;
    } index[MXL_MAX_NDIM];
    mxl_shape group;  /* the common shape of all indices */
    int place;        /* the axis of the result at which the group's begin */
    mxl_shape result; /* the shape of what is selected */
} mxl_key;

/* The key as operators of one part each, as PyTorch records it: the view, and the key of what is
 * left in `rest`, which has room for as many numbers as a key of an array of MXL_MAX_NDIM axes,
 * with the shapes of masks without axes made (1,). `inputs` are the call's; scoped. */
mxl_array *mxl_key_views(mxl_scope *s, const mxl_call *call, mxl_tuple *rest, int64_t *numbers,
                         mxl_array **inputs);

/* Whether axis i of the view is an index's. */
static inline bool mxl_key_takes(const mxl_key *k, int i)
{
    for (int n = 0; n < k->count; n++) {
        if (i >= k->index[n].axis && i < k->index[n].axis + k->index[n].axes)
            return true;
    }
    return false;
}

/* _mxl_index, for prepared calls. */
extern const mxl_op mxl_op_index;

/* Applies a key without index arrays to a plan. -1 with the error set. */
int mxl_key_plan(mxl_plan *p);

/* Reads a key for an array, whose shape and strides `k->view` has, with these index arrays. -1 with
 * the error set. */
int mxl_key_read(mxl_key *k, int num_indices, mxl_array *const *indices);

/* The offset of each element of the group, in elements: room for as many as it has. -1 with the
 * error set for an index out of bounds, which names axis, index and size; or where a mask was
 * written to since the key was read. */
int mxl_key_offsets(const mxl_key *k, int64_t *at);

#endif

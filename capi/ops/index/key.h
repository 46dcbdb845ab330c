/* Keys of arrays, x[0, 1:, None, index], as the operators of ops/index/keys.c read them: which
 * elements one selects, and in which order. */
#ifndef MXL_OPS_INDEX_KEY_H
#define MXL_OPS_INDEX_KEY_H

#include "kernel/index/scatter.h"
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
 * - PyTorch refuses steps below 1. It takes several ellipses (`...`) and expands each to as many
 * axes as the other parts leave: an index after the second one is out of range, unless they leave
 * none.
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
        int64_t found; /* of a mask: the elements that are set */
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

/* _mxl_index and _mxl_index_add. */
extern const mxl_op mxl_op_index, mxl_op_index_add;

/* Applies a key without index arrays to a plan. -1 with the error set. */
int mxl_key_plan(mxl_plan *p);

/* Reads a key for an array, whose shape and strides `k->view` has, with these index arrays. -1 with
 * the error set. */
int mxl_key_read(mxl_key *k, int num_indices, mxl_array *const *indices);

/* Sets the error of an index that an axis does not have; -1. */
int mxl_key_out_of_bounds(const mxl_key_params *p, int axis, int64_t index, int64_t size);

/* ---- elements ---- */

/* What a key selects of an array, element by element: offsets, and strides along the axes of the
 * result. */
typedef struct mxl_selection {
    mxl_key key;
    int64_t *at;
    size_t bytes;
    int64_t one; /* of a group without axes */
    int64_t index_strides[MXL_MAX_NDIM], strides[MXL_MAX_NDIM];
} mxl_selection;

/* Reads the call's key for an array, with index arrays from input `first` on. -1 with the error
 * set, and nothing to end. */
int mxl_selection_begin(mxl_selection *s, const mxl_call *call, const mxl_array *array, int first);
void mxl_selection_end(mxl_selection *s);

/* The operands of the loops over what is selected, with a source of these strides. */
#define MXL_SELECTED(s, from_strides)                                                              \
    (&(mxl_scatter){.ndim = (s)->key.result.ndim,                                                  \
                    .axis = -1,                                                                    \
                    .shape = (s)->key.result.dim,                                                  \
                    .index = (s)->at,                                                              \
                    .index_strides = (s)->index_strides,                                           \
                    .strides = (s)->strides,                                                       \
                    .source_strides = (from_strides)})

/* The element of an array's data from which its offsets count. */
static inline void *mxl_selection_first(const mxl_selection *s, const void *data, size_t width)
{
    return (char *)(size_t)data + s->key.view.skip * (int64_t)width;
}

/* Whether an array has as many elements as are selected; -1 with the error set. A mask may have
 * changed since infer read it. */
int mxl_key_check(const mxl_key *k, const mxl_op *op, const mxl_array *values);

/* Reads pieces that lie side by side, by the loops of take. False: they do not. */
bool mxl_selection_take(const mxl_selection *s, size_t width, const char *from, void *to);

#endif

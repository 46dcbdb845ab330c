/* Movement: a plan says which input element each output element is. A movement operator states its
 * plan; shapes, view, copy and gradient follow from it (here, and in ops/shape/movement). */
#ifndef MXL_OP_PLAN_H
#define MXL_OP_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "op/op.h"

/* A walk over the input by strides, in the order of the result's elements. If it `puts`, a walk
 * over a result of zeros, in the order of the input's elements. */
struct mxl_plan {
    const mxl_op *op;
    const void *params;
    int output;        /* the planned output, if there are several */
    bool legacy_shape; /* as in mxl_infer */
    bool straight;     /* the walk so far is contiguous */
    int like_ndim;     /* of the last input, for operators that take sizes from it */
    const int64_t *like_shape;

    /* At first the input's shape and strides, and no offset. In elements. */
    mxl_shape shape;
    int64_t strides[MXL_MAX_NDIM];
    int64_t skip;

    mxl_shape result; /* the result's shape if it is not `shape`: another shape with as many
                         elements, or that of the zeros */
    bool reshapes;    /* the result has the shape `result` */
    bool puts;
    bool copies; /* the result is never a view */
};

/* Plans one output of an operator. -1 with the error set, which begins with the operator's name, if
 * the input cannot be moved so. */
int mxl_plan_inputs(mxl_plan *p, const mxl_op *op, const void *params, int output,
                    bool legacy_shape, int num_inputs, mxl_array *const *inputs);
/* The plan that moves nothing, for a contiguous array. */
void mxl_plan_begin(mxl_plan *p, const mxl_op *op, const void *params, int ndim,
                    const int64_t *shape);

static inline mxl_shape *mxl_plan_result(mxl_plan *p)
{
    return p->reshapes ? &p->result : &p->shape;
}

/* True if the result may share the input's memory. */
static inline bool mxl_plan_is_view(const mxl_plan *p)
{
    return !(p->reshapes || p->puts || p->copies);
}

/* Copies the planned elements of `in` to `out`, which is contiguous and does not overlap it. If the
 * plan puts, `in` is contiguous too. */
void mxl_plan_copy(const mxl_plan *p, const mxl_array *in, mxl_array *out);

/* ---- stating a plan ---- */

/* Normalises an axis that may be negative; -1 with the error set. */
int mxl_plan_axis(const mxl_plan *p, int64_t axis);
/* Takes `count` positions of an axis, every `step`-th from `begin` on. */
void mxl_plan_cut(mxl_plan *p, int axis, int64_t begin, int64_t count, int64_t step);
/* Removes an axis and takes its first position. */
void mxl_plan_drop(mxl_plan *p, int axis);
/* Inserts an axis before `axis` along which the elements repeat. -1 with the error set for too many
 * axes. */
int mxl_plan_insert(mxl_plan *p, int axis, int64_t extent);
/* Expands an axis of size 1 to `extent`. */
void mxl_plan_repeat(mxl_plan *p, int axis, int64_t extent);
/* Exchanges two axes. */
void mxl_plan_swap(mxl_plan *p, int a, int b);
/* Walks along other axes, with strides that the caller made from the plan's strides. */
void mxl_plan_walk(mxl_plan *p, int ndim, const int64_t *shape, const int64_t *strides);
/* Gives the elements another shape with as many elements; the last statement of a plan. */
void mxl_plan_reshape(mxl_plan *p, int ndim, const int64_t *shape);
/* Puts the input, with a shape of as many elements, into zeros, from offset `skip` on. */
void mxl_plan_put(mxl_plan *p, int ndim, const int64_t *shape, const int64_t *strides, int64_t skip,
                  mxl_tuple zeros);

/* ---- in descriptors ---- */

/* `infer` and `compute` of operators with a plan. */
int mxl_plan_infer(mxl_infer *infer);
int mxl_plan_compute(const mxl_call *call);

#endif

/* Movement: which element of the input each element of a result is. An operator that only moves
 * elements states its plan; the result's shape, the view, the copy and the gradient follow from it
 * (here, and in ops/movement). */
#ifndef MXL_OP_PLAN_H
#define MXL_OP_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "op/op.h"

/* A walk over the input by strides, in the order of the result's elements; or, where it `puts`, a
 * walk over a result of zeros, in the order of the input's elements. */
struct mxl_plan {
    const mxl_op *op;
    const void *params;
    int output;        /* the one that is planned, of several */
    bool legacy_shape; /* as in mxl_infer */
    bool straight;     /* the walk is so far through elements that lie one after another */
    int like_ndim;     /* of the last input, for those that take extents from it */
    const int64_t *like_shape;

    /* Begins as the input: its shape, its strides, no skip. In elements. */
    mxl_shape shape;
    int64_t strides[MXL_MAX_NDIM];
    int64_t skip;

    mxl_shape result; /* where it is not `shape`: of as many elements, or of the zeros */
    bool reshapes;    /* the result has the shape `result` */
    bool puts;
    bool copies; /* the result is never a view */
};

/* Plans one output of an operator. -1 with the error set, which begins with the operator's name:
 * the input cannot be moved so. */
int mxl_plan_inputs(mxl_plan *p, const mxl_op *op, const void *params, int output,
                    bool legacy_shape, int num_inputs, mxl_array *const *inputs);
/* The plan that moves nothing, of an array whose elements lie one after another. */
void mxl_plan_begin(mxl_plan *p, const mxl_op *op, const void *params, int ndim,
                    const int64_t *shape);

static inline mxl_shape *mxl_plan_result(mxl_plan *p)
{
    return p->reshapes ? &p->result : &p->shape;
}

/* Whether the result may share the input's memory. */
static inline bool mxl_plan_is_view(const mxl_plan *p)
{
    return !(p->reshapes || p->puts || p->copies);
}

/* Writes the planned elements of `in` to `out`, which is contiguous and does not overlap it. The
 * input of a plan that puts is contiguous too. */
void mxl_plan_copy(const mxl_plan *p, const mxl_array *in, mxl_array *out);

/* ---- stating a plan ---- */

/* An axis counted from either end; -1 with the error set. */
int mxl_plan_axis(const mxl_plan *p, int64_t axis);
/* Every `step`-th position of an axis, `count` in all, from `begin` on. */
void mxl_plan_cut(mxl_plan *p, int axis, int64_t begin, int64_t count, int64_t step);
/* Takes an axis away; of several positions the first stays. */
void mxl_plan_drop(mxl_plan *p, int axis);
/* A new axis before `axis` along which the elements are repeated. -1: there are too many axes. */
int mxl_plan_insert(mxl_plan *p, int axis, int64_t extent);
/* An axis of extent 1 becomes one of `extent`, along which the elements are repeated. */
void mxl_plan_repeat(mxl_plan *p, int axis, int64_t extent);
/* Exchanges two axes. */
void mxl_plan_swap(mxl_plan *p, int a, int b);
/* A walk along other axes, whose strides are made of those that the plan had. */
void mxl_plan_walk(mxl_plan *p, int ndim, const int64_t *shape, const int64_t *strides);
/* The same elements in another shape of as many; the last statement of a plan. */
void mxl_plan_reshape(mxl_plan *p, int ndim, const int64_t *shape);
/* The input, in a shape of as many elements, as the part of zeros that begins at `skip`. */
void mxl_plan_put(mxl_plan *p, int ndim, const int64_t *shape, const int64_t *strides, int64_t skip,
                  mxl_tuple zeros);

/* ---- in descriptors ---- */

/* `infer` and `compute` of operators that have a plan for each output. */
int mxl_plan_infer(mxl_infer *infer);
int mxl_plan_compute(const mxl_call *call);

#endif

/* Parts along axes: slice_axis, slice_like, and the operators that record views of rows. */
#include <stddef.h>

#include "ops/shape/movement.h"

/* ---- slice_axis ---- */

typedef struct axis_params {
    int64_t axis, begin, end;
} axis_params;

/* The range must lie within the axis and not be empty. For an axis of size 0 any range is accepted.
 */
static int axis_plan(mxl_plan *p)
{
    const axis_params *a = p->params;
    int axis = mxl_plan_axis(p, a->axis);
    int64_t extent, begin, end;

    if (axis < 0)
        return -1;
    extent = p->shape.dim[axis];
    begin = a->begin < 0 ? a->begin + extent : a->begin;
    end = a->end == MXL_NONE ? extent : a->end < 0 ? a->end + extent : a->end;
    if (extent < 0) { /* nothing follows, as in 1.9.1 */
        mxl_plan_cut(p, axis, 0, extent, 1);
        return 0;
    }
    if (extent > 0 && (begin < 0 || end > extent || begin >= end))
        return mxl_error("slice_axis: positions %lld to %lld of an axis of %lld", (long long)begin,
                         (long long)end, (long long)extent);
    mxl_plan_cut(p, axis, begin, extent == 0 ? 0 : end - begin, 1);
    return 0;
}

const mxl_op mxl_op_slice_axis = {
    .name = "slice_axis",
    .doc = "The part of the array between two positions of one axis.",
    MXL_PARAMS_OF(axis_params,
                  MXL_PARAM(axis_params, axis, MXL_P_INT, MXL_REQUIRED,
                            "The axis to cut, counted from either end."),
                  MXL_PARAM(axis_params, begin, MXL_P_INT, MXL_REQUIRED,
                            "The first position; a negative one counts from the end."),
                  MXL_PARAM(axis_params, end, MXL_P_OPT_INT, MXL_REQUIRED,
                            "The position behind the last; None: the end.")),
    MXL_MOVEMENT(axis_plan),
};

/* ---- slice_like ---- */

static int like_cut(mxl_plan *p, int axis)
{
    int64_t extent = p->like_shape[axis];

    if (mxl_size_below(p->shape.dim[axis], extent))
        return mxl_error("slice_like: axis %d has extent %lld, which cannot be cut to %lld", axis,
                         (long long)p->shape.dim[axis], (long long)extent);
    mxl_plan_cut(p, axis, 0, extent, 1);
    return 0;
}

static int like_plan(mxl_plan *p)
{
    const mxl_tuple *axes = p->params;
    int all = axes->n <= 0 ? p->shape.ndim : 0;

    if (all > 0 && all != p->like_ndim)
        return mxl_error("slice_like: data has %d axes, shape_like %d; without `axes` the "
                         "numbers must be equal",
                         all, p->like_ndim);
    for (int i = 0; i < all; i++) {
        if (like_cut(p, i) != 0)
            return -1;
    }
    for (int i = 0; i < axes->n; i++) {
        int axis = mxl_plan_axis(p, axes->v[i]);

        if (axis < 0)
            return -1;
        if (axis >= p->like_ndim)
            return mxl_error("slice_like: shape_like has %d axes, axis %d is asked for",
                             p->like_ndim, axis);
        if (like_cut(p, axis) != 0)
            return -1;
    }
    return 0;
}

static const mxl_op op_slice_like = {
    .name = "slice_like",
    .doc = "The front part of the array with the extents of another along the given axes.",
    MXL_INPUTS(MXL_INPUT(data, "The array to cut."),
               MXL_INPUT(shape_like, "The array with the extents; its elements do not matter.")),
    MXL_ONLY_PARAM(mxl_tuple, axes, MXL_P_SHAPE, "[]",
                   "The axes to cut, counted from either end; none named: all."),
    MXL_MOVEMENT(like_plan),
    .dtypes = "A>A",
};

/* ---- _mxl_slice_rows, _mxl_at, _mxl_select: the operators of recorded views of rows ---- */

static int slice_rows_plan(mxl_plan *p)
{
    const mxl_slice_rows_params *rows = p->params;

    if (p->shape.ndim == 0 || rows->begin < 0 || rows->begin > rows->end ||
        mxl_size_below(p->shape.dim[0], rows->end))
        return mxl_error("%s: rows [%lld,%lld) of an array with %lld", p->op->name,
                         (long long)rows->begin, (long long)rows->end,
                         (long long)(p->shape.ndim == 0 ? 0 : p->shape.dim[0]));
    mxl_plan_cut(p, 0, rows->begin, rows->end - rows->begin, 1);
    return 0;
}

const mxl_op mxl_op_slice_rows = {
    .name = "_mxl_slice_rows",
    .doc = "Rows [begin, end) of the first axis.",
    MXL_PARAMS_OF(
        mxl_slice_rows_params,
        MXL_PARAM(mxl_slice_rows_params, begin, MXL_P_INT, MXL_REQUIRED, "First row."),
        MXL_PARAM(mxl_slice_rows_params, end, MXL_P_INT, MXL_REQUIRED, "The row behind the last.")),
    MXL_MOVEMENT(slice_rows_plan),
};

static int at_plan(mxl_plan *p)
{
    int64_t index = *(const int64_t *)p->params;

    if (p->shape.ndim == 0 || index < 0 || (p->shape.dim[0] >= 0 && index >= p->shape.dim[0]))
        return mxl_error("%s: row %lld of an array with %lld", p->op->name, (long long)index,
                         (long long)(p->shape.ndim == 0 ? 0 : p->shape.dim[0]));
    mxl_plan_cut(p, 0, index, 1, 1);
    mxl_plan_drop(p, 0);
    return 0;
}

const mxl_op mxl_op_row_at = {
    .name = "_mxl_at",
    .doc = "One row of the first axis, without that axis.",
    MXL_ONLY_PARAM(int64_t, index, MXL_P_INT, MXL_REQUIRED, "The row."),
    MXL_MOVEMENT(at_plan),
};

typedef struct select_params {
    int64_t axis, index;
} select_params;

static int select_plan(mxl_plan *p)
{
    const select_params *s = p->params;
    int axis = mxl_plan_axis(p, s->axis);
    int64_t extent;

    if (axis < 0)
        return -1;
    extent = p->shape.dim[axis];
    if (extent >= 0 && (s->index < -extent || s->index >= extent))
        return mxl_error("IndexError: %s: index %lld is out of bounds for axis %d of %lld",
                         p->op->name, (long long)s->index, axis, (long long)extent);
    mxl_plan_cut(p, axis, s->index < 0 ? s->index + extent : s->index, 1, 1);
    mxl_plan_drop(p, axis);
    return 0;
}

const mxl_op mxl_op_select = {
    .name = "_mxl_select",
    .doc = "One position of an axis, which goes.",
    MXL_PARAMS_OF(select_params,
                  MXL_PARAM(select_params, axis, MXL_P_INT, MXL_REQUIRED,
                            "The axis that goes, counted from either end."),
                  MXL_PARAM(select_params, index, MXL_P_INT, MXL_REQUIRED,
                            "The position along it, counted from either end.",
                            .type_name = "long")),
    MXL_MOVEMENT(select_plan),
};

mxl_array *mxl_select_at(mxl_scope *s, mxl_array *a, int axis, int64_t index)
{
    return mxl_scope_call(s, &mxl_op_select, &(select_params){axis, index}, 1, &a);
}

const mxl_op *const mxl_ops_slice_axis[] = {
    &mxl_op_slice_axis, &op_slice_like, &mxl_op_slice_rows, &mxl_op_row_at, &mxl_op_select, NULL,
};

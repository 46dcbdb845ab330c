/* Rules of operators that choose or move elements: the shapes of inputs by those of results; and of
 * broadcasting. */
#include "graph/infer.h"

#include <string.h>

/* Nothing follows before the condition is known, as in 1.9.1. */
int mxl_rule_where(mxl_rule *rule)
{
    mxl_shape *all[] = {mxl_rule_in(rule, 1), mxl_rule_in(rule, 2), mxl_rule_out(rule, 0)};

    if (!mxl_shape_known(mxl_rule_in(rule, 0)))
        return 0;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            if (i != k && mxl_rule_merge(rule, all[i], all[k]) != 0)
                return -1;
        }
    }
    return 0;
}

/* The result without the new axis. */
int mxl_rule_expand_dims(mxl_rule *rule)
{
    const mxl_shape *out = mxl_rule_out(rule, 0);
    int64_t axis = mxl_rule_int(rule, "axis", 0);
    mxl_shape in = {.ndim = 0};

    if (out->ndim < 1)
        return 0;
    axis += axis < 0 ? out->ndim : 0;
    for (int i = 0; i < out->ndim; i++) {
        if (i != axis)
            in.dim[in.ndim++] = out->dim[i];
    }
    return in.ndim == out->ndim ? 0 : mxl_rule_merge(rule, mxl_rule_in(rule, 0), &in);
}

/* The index has the shape of data without the axis. It may have size 1 there instead, which only
 * its rank tells. */
int mxl_rule_pick(mxl_rule *rule)
{
    const mxl_shape *data = mxl_rule_in(rule, 0);
    int64_t axis = mxl_rule_int(rule, "axis", MXL_NONE), dim[MXL_MAX_NDIM] = {1};
    int ndim = 0;

    if (data->ndim < 1 || axis == MXL_NONE || mxl_rule_in(rule, 1)->ndim == data->ndim)
        return 0;
    axis += axis < 0 ? data->ndim : 0;
    for (int i = 0; i < data->ndim; i++) {
        if (i != axis)
            dim[ndim++] = data->dim[i];
    }
    if (ndim == data->ndim)
        return 0; /* the operator's own check has the error */
    return mxl_rule_say(rule, 1, ndim > 0 ? ndim : 1, dim);
}

int mxl_rule_transpose(mxl_rule *rule)
{
    const mxl_shape *out = mxl_rule_out(rule, 0);
    mxl_tuple axes = mxl_rule_tuple(rule, "axes");
    mxl_shape in = {.ndim = out->ndim};

    if (out->ndim < 0 || (axes.n > 0 && axes.n != out->ndim))
        return 0;
    for (int i = 0; i < in.ndim; i++)
        in.dim[i] = -1;
    for (int i = 0; i < in.ndim; i++) {
        int64_t axis = axes.n > 0 ? axes.v[i] : in.ndim - 1 - i;

        axis += axis < 0 ? in.ndim : 0;
        if (axis < 0 || axis >= in.ndim)
            return 0; /* the operator's own check has the error */
        in.dim[axis] = out->dim[i];
    }
    return mxl_rule_merge(rule, mxl_rule_in(rule, 0), &in);
}

/* The input of a split that has a part of this shape. */
static int whole_of(mxl_rule *rule, const mxl_shape *part)
{
    int squeezed = mxl_rule_flag(rule, "squeeze_axis");
    int64_t axis = mxl_rule_int(rule, "axis", 1);
    mxl_shape in = {.ndim = part->ndim + squeezed};

    if (part->ndim < 0 || in.ndim > MXL_MAX_NDIM)
        return 0;
    axis += axis < 0 ? in.ndim : 0;
    for (int i = 0; i < in.ndim; i++) {
        int64_t size = squeezed && i == axis ? 1 : part->dim[i - (squeezed && i > axis)];

        in.dim[i] = i == axis && size >= 0 ? size * rule->num_out : size;
    }
    return mxl_rule_merge(rule, mxl_rule_in(rule, 0), &in);
}

/* As many parts as results, of one size each along the axis. */
int mxl_rule_split(mxl_rule *rule)
{
    for (int i = 0; i < rule->num_out; i++) {
        if (whole_of(rule, mxl_rule_out(rule, i)) != 0)
            return -1;
    }
    return 0;
}

/* Of each pair of parameters an array of samples: their axes are the first ones of the result. */
int mxl_rule_samples(mxl_rule *rule)
{
    const mxl_shape *out = mxl_rule_out(rule, 0);
    mxl_tuple list = mxl_rule_tuple(rule, "shape");
    int ndim = out->ndim - (list.n > 0 ? list.n : 0);

    for (int i = 0; i < rule->num_in; i++) {
        for (int k = 0; k < rule->num_in; k++) {
            if (mxl_rule_merge(rule, mxl_rule_in(rule, i), mxl_rule_in(rule, k)) != 0)
                return -1;
        }
        if (out->ndim >= 0 && ndim > 0 && mxl_rule_say(rule, i, ndim, out->dim) != 0)
            return -1;
    }
    return 0;
}

/* Places in an array of as many axes as the parameter has, and their numbers. */
int mxl_rule_ravel(mxl_rule *rule)
{
    const mxl_shape *out = mxl_rule_out(rule, 0);
    mxl_tuple list = mxl_rule_tuple(rule, "shape");
    mxl_shape in = {.ndim = out->ndim + 1, .dim = {list.n}};

    if (out->ndim < 1 || out->ndim >= MXL_MAX_NDIM || list.n < 1)
        return 0;
    memcpy(in.dim + 1, out->dim, (size_t)out->ndim * sizeof(*in.dim));
    return mxl_rule_merge(rule, mxl_rule_in(rule, 0), &in);
}

int mxl_rule_unravel(mxl_rule *rule)
{
    const mxl_shape *out = mxl_rule_out(rule, 0);

    return out->ndim < 2 ? 0 : mxl_rule_say(rule, 0, out->ndim - 1, out->dim + 1);
}

/* How many positions from begin to end in steps are; -1 where that is not known, or an error that
 * the operator's own function has. */
static int64_t part_of(int64_t size, int64_t begin, int64_t end, int64_t step)
{
    step = step == MXL_NONE || step == 0 ? 1 : step;
    if (begin == MXL_NONE)
        begin = step > 0 ? 0 : size - 1;
    else
        begin += begin < 0 ? size : 0;
    if (end == MXL_NONE)
        end = step > 0 ? size : -1;
    else
        end += end < 0 ? size : 0;
    if (size < 0 || begin < 0 || begin >= size || end < -1 || end > size)
        return -1;
    if (step > 0)
        return end > begin ? (end - begin + step - 1) / step : -1;
    return begin > end ? (begin - end - step - 1) / -step : -1;
}

/* The part that is assigned has the shape of what the parameters select. */
int mxl_rule_slice_assign(mxl_rule *rule)
{
    mxl_shape part = *mxl_rule_in(rule, 0);
    mxl_tuple begin = mxl_rule_tuple(rule, "begin"), end = mxl_rule_tuple(rule, "end");
    mxl_tuple step = mxl_rule_tuple(rule, "step");

    if (begin.n > part.ndim || end.n != begin.n)
        return 0;
    for (int i = 0; i < begin.n; i++)
        part.dim[i] = part_of(part.dim[i], begin.v[i], end.v[i], i < step.n ? step.v[i] : MXL_NONE);
    return mxl_rule_merge(rule, mxl_rule_in(rule, 1), &part);
}

/* What is added to the product of two matrices, of which `axis` is the axis of the rows and the
 * last one that of the columns, has its shape. */
int mxl_rule_gemm(mxl_rule *rule)
{
    const mxl_shape *a = mxl_rule_in(rule, 0), *b = mxl_rule_in(rule, 1);
    int64_t rows = mxl_rule_int(rule, "axis", -2);
    mxl_shape c = *a;

    rows += rows < 0 ? a->ndim : 0;
    if (a->ndim < 2 || b->ndim != a->ndim || rows < 0 || rows >= a->ndim - 1)
        return 0;
    c.dim[rows] = a->dim[mxl_rule_flag(rule, "transpose_a") ? a->ndim - 1 : rows];
    c.dim[c.ndim - 1] = b->dim[mxl_rule_flag(rule, "transpose_b") ? rows : b->ndim - 1];
    return mxl_rule_merge(rule, mxl_rule_in(rule, 2), &c);
}

/* The result is the pseudo-inverse: the last two sizes change places. */
int mxl_rule_pinv(mxl_rule *rule)
{
    mxl_shape *sides[] = {mxl_rule_in(rule, 0), mxl_rule_out(rule, 0)};

    for (int i = 0; i < 2; i++) {
        mxl_shape turned = *sides[i];

        if (turned.ndim < 2)
            continue;
        turned.dim[turned.ndim - 1] = sides[i]->dim[turned.ndim - 2];
        turned.dim[turned.ndim - 2] = sides[i]->dim[turned.ndim - 1];
        if (mxl_rule_merge(rule, sides[1 - i], &turned) != 0)
            return -1;
    }
    return 0;
}

/* The input is square, and the result has one axis less. */
int mxl_rule_eigenvalues(mxl_rule *rule)
{
    mxl_shape square = *mxl_rule_out(rule, 0);

    if (square.ndim < 1 || square.ndim >= MXL_MAX_NDIM)
        return 0;
    square.dim[square.ndim] = square.dim[square.ndim - 1];
    square.ndim++;
    return mxl_rule_merge(rule, mxl_rule_in(rule, 0), &square);
}

/* The scores (images, 2 * anchors, rows, columns) tell the corrections of boxes, and the number of
 * images how many sizes there are. */
int mxl_rule_proposal(mxl_rule *rule)
{
    const mxl_shape *scores = mxl_rule_in(rule, 0);
    const int64_t *dim = scores->dim;
    int64_t numbers = scores->ndim == 4 && dim[1] >= 0 ? 2 * dim[1] : -1;

    if (scores->ndim != 4 || mxl_rule_say(rule, 2, 2, (int64_t[]){dim[0], 3}) != 0)
        return scores->ndim == 4 ? -1 : 0;
    return mxl_rule_say(rule, 1, 4, (int64_t[]){dim[0], numbers, dim[2], dim[3]});
}

/* Means and deviations are one for each of four coordinates. */
int mxl_rule_box_encode(mxl_rule *rule)
{
    static const int64_t four[] = {4};

    return mxl_rule_say(rule, 4, 1, four) != 0 ? -1 : mxl_rule_say(rule, 5, 1, four);
}

/* The triangular matrix beside another one, which is the result's shape. */
int mxl_rule_triangular(mxl_rule *rule)
{
    mxl_shape a = *mxl_rule_in(rule, 1);

    if (a.ndim < 2)
        return 0;
    if (mxl_rule_flag(rule, "rightside"))
        a.dim[a.ndim - 2] = a.dim[a.ndim - 1];
    else
        a.dim[a.ndim - 1] = a.dim[a.ndim - 2];
    return mxl_rule_merge(rule, mxl_rule_in(rule, 0), &a);
}

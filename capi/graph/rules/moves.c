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

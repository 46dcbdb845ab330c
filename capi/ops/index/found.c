/* _mxl_found: an element of each row along an axis, the largest, the smallest or the median, and
 * where it is. */
#include <stddef.h>
#include <string.h>

#include "kernel/reduce/argmax.h"
#include "kernel/sort/select.h"
#include "ops/index/take.h"

enum { LARGEST, SMALLEST, MEDIAN };

static const char *const found_names[] = {"max", "min", "median", NULL};

typedef struct found_params {
    int what;
    int64_t axis;
    int keepdims, alone;
} found_params;

static int found_arity(const void *params, mxl_arity *arity)
{
    *arity = (mxl_arity){1, 2, ((const found_params *)params)->alone ? 1 : 2};
    return 0;
}

/* An array as rows along the axis; without one it is a row itself. */
static mxl_split rows_of(const found_params *p, int ndim, const int64_t *shape)
{
    if (p->axis == MXL_NONE)
        return (mxl_split){.outer = 1, .n = mxl_shape_size(ndim, shape), .inner = 1};
    return mxl_shape_split(p->axis, ndim, shape);
}

static int found_infer(mxl_infer *infer)
{
    const found_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    bool is_row = p->axis == MXL_NONE;
    int axis = is_row ? 0 : mxl_shape_axis(p->axis, x->ndim), kept = 0;
    int64_t shape[MXL_MAX_NDIM];

    if (axis < 0)
        return mxl_error_prefix(infer->op->name);
    if (rows_of(p, x->ndim, x->shape).n == 0)
        return mxl_error("%s: axis %d has no elements", infer->op->name, axis);
    for (int i = 0; i < x->ndim; i++) {
        bool goes = is_row || i == axis;

        if (!goes || p->keepdims)
            shape[kept++] = goes ? 1 : x->shape[i];
    }
    for (int i = 0; i < 2; i++)
        mxl_shape_set(&infer->out_shape[i], kept, shape);
    infer->out_dtype[0] = x->dtype;
    infer->out_dtype[1] = MXL_I64;
    return 0;
}

static int find(const found_params *p, const mxl_array *x, mxl_split along, int64_t *index)
{
    if (p->what != MEDIAN) {
        (p->what == LARGEST ? mxl_argmax : mxl_argmin)(x->dtype, along.outer, along.n, along.inner,
                                                       mxl_array_read(x), index);
        return 0;
    }
    return mxl_select(&(mxl_select_job){.dtype = x->dtype,
                                        .outer = along.outer,
                                        .n = along.n,
                                        .inner = along.inner,
                                        .k = (along.n - 1) / 2,
                                        .in = mxl_array_read(x),
                                        .out = index});
}

static int found_compute(const mxl_call *call)
{
    const found_params *p = call->params;
    const mxl_array *x = call->in[0];
    mxl_split along = rows_of(p, x->ndim, x->shape);
    size_t width = mxl_dtype_size(x->dtype);
    int64_t *index = mxl_array_write(call->out[1]);
    const char *from = mxl_array_read(x);
    char *to = mxl_array_write(call->out[0]);

    if (find(p, x, along, index) != 0)
        return -1;
    for (int64_t o = 0; o < along.outer; o++) {
        for (int64_t i = 0; i < along.inner; i++, index++, to += width)
            memcpy(to, from + ((o * along.n + *index) * along.inner + i) * (int64_t)width, width);
    }
    return 0;
}

/* dx is dy where the element was, else 0. */
static int found_grad(mxl_grad *g)
{
    const found_params *p = g->params;
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    mxl_split along = rows_of(p, x->ndim, x->shape);
    const int64_t rows[] = {along.outer, along.n, along.inner},
                  one[] = {along.outer, 1, along.inner};
    mxl_array *dy = g->grad_output[0], *index = mxl_grad_out(g, 1);

    if (dy == NULL)
        return 0;
    dy = mxl_reshape(g->s, dy, 3, one);
    index = mxl_reshape(g->s, index, 3, one);
    return mxl_grad_set(
        g, 0, mxl_reshape(g->s, mxl_put_along(g->s, dy, index, 1, 3, rows), x->ndim, x->shape));
}

static void found_saves(mxl_saves *saves)
{
    saves->out[1] = true;
}

static const mxl_op op_found = {
    .name = "_mxl_found",
    .doc = "Of each row along an axis the largest element, the smallest or the median (the lower "
           "one of two), and its position as int64: of equal maxima or minima the first. A row "
           "with NaN has its first NaN.",
    MXL_PARAMS_OF(
        found_params,
        MXL_PARAM(found_params, what, MXL_P_ENUM, MXL_REQUIRED, "Which element.",
                  .values = found_names),
        MXL_PARAM(found_params, axis, MXL_P_OPT_INT, "-1",
                  "The axis, counted from either end; None: the array is one row."),
        MXL_PARAM(found_params, keepdims, MXL_P_BOOL, "0", "Whether the axis stays, with size 1."),
        MXL_PARAM(found_params, alone, MXL_P_BOOL, "0", "Whether the position is not returned.",
                  .sets_outputs = true)),
    .arity = found_arity,
    .infer = found_infer,
    .compute = found_compute,
    .grad = found_grad,
    .saves = found_saves,
};

const mxl_op *const mxl_ops_found[] = {&op_found, NULL};

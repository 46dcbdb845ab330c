/* sort, argsort and topk; and _mxl_take_along and _mxl_put_along, which move elements along an axis
 * and are the gradients of the others and of each other. */
#include <stddef.h>

#include "kernel/index/gather.h"
#include "kernel/sort/sort.h"
#include "ops/build.h"

typedef enum topk_result { TOPK_BOTH, TOPK_INDICES, TOPK_MASK, TOPK_VALUE } topk_result;

typedef struct sort_params {
    int64_t axis; /* MXL_NONE: the array counts as one row */
    int64_t k;    /* topk; below 1: all */
    int is_ascend;
    int ret_typ;
    int dtype;
} sort_params;

static const char *const position_dtypes[] = {"float16", "float32", "float64", "int32",
                                              "int64",   "uint8",   NULL};
static const char *const result_names[] = {"both", "indices", "mask", "value", NULL};

#define AXIS_PARAM                                                                                 \
    MXL_PARAM(sort_params, axis, MXL_P_OPT_INT, "-1",                                              \
              "The axis to sort along, counted from either end; None: all elements as one row.")

#define ASCEND_PARAM(text, meaning) MXL_PARAM(sort_params, is_ascend, MXL_P_BOOL, text, meaning)

#define DTYPE_PARAM                                                                                \
    MXL_PARAM(sort_params, dtype, MXL_P_DTYPE, "float32",                                          \
              "dtype of the positions; one that is too small for them gives wrong ones.",          \
              .values = position_dtypes)

static const mxl_param sort_table[] = {
    AXIS_PARAM,
    ASCEND_PARAM("1", "Whether the smallest element comes first, else the largest."),
    {0},
};

static const mxl_param argsort_table[] = {
    AXIS_PARAM,
    ASCEND_PARAM("1", "Whether the smallest element comes first, else the largest."),
    DTYPE_PARAM,
    {0},
};

static const mxl_param topk_table[] = {
    AXIS_PARAM,
    MXL_PARAM(sort_params, k, MXL_P_INT, "1",
              "How many elements of each row, at most its length; below 1: all."),
    MXL_PARAM(sort_params, ret_typ, MXL_P_ENUM, "indices",
              "What is returned: the values, their indices along the axis, both, or a mask in the "
              "shape of data with 1 for the elements chosen.",
              .values = result_names, .sets_outputs = true),
    ASCEND_PARAM("0", "Whether the k smallest are meant, smallest first, else the k largest."),
    DTYPE_PARAM,
    {0},
};

/* The array as (outer, extent, inner); `axis` is 0 for an array that counts as one row. */
typedef struct rows {
    int axis, ndim;
    int64_t shape[MXL_MAX_NDIM];
    int64_t outer, extent, inner;
} rows;

static int find_rows(const char *name, int64_t axis, int ndim, const int64_t *shape, rows *r)
{
    r->ndim = ndim;
    for (int i = 0; i < ndim; i++)
        r->shape[i] = shape[i];
    r->axis = 0;
    if (axis == MXL_NONE) {
        r->ndim = 1;
        r->shape[0] = mxl_shape_size(ndim, shape);
    } else {
        r->axis = mxl_shape_axis(axis, ndim);
        if (r->axis < 0)
            return mxl_error_prefix(name);
    }
    r->outer = mxl_shape_size(r->axis, r->shape);
    r->extent = r->shape[r->axis];
    r->inner = mxl_shape_size(r->ndim - r->axis - 1, r->shape + r->axis + 1);
    return 0;
}

static int find_k(const char *name, const sort_params *p, int64_t extent, int64_t *k)
{
    *k = p->k < 1 ? extent : p->k;
    if (*k > extent)
        return mxl_error("%s: k is %lld, but a row has %lld elements", name, (long long)*k,
                         (long long)extent);
    return 0;
}

/* The output number of each kind of result; -1: not computed. */
typedef struct wanted {
    int values, positions, mask;
} wanted;

static wanted topk_wanted(const sort_params *p)
{
    wanted w = {.values = p->ret_typ == TOPK_BOTH || p->ret_typ == TOPK_VALUE ? 0 : -1,
                .positions = p->ret_typ == TOPK_BOTH      ? 1
                             : p->ret_typ == TOPK_INDICES ? 0
                                                          : -1,
                .mask = p->ret_typ == TOPK_MASK ? 0 : -1};

    return w;
}

/* `p` has k = 0 for sort and argsort. */
static int infer_rows(mxl_infer *infer, const sort_params *p, wanted w)
{
    const mxl_array *x = infer->in[0];
    int64_t k;
    rows r;

    if (find_rows(infer->op->name, p->axis, x->ndim, x->shape, &r) != 0 ||
        find_k(infer->op->name, p, r.extent, &k) != 0)
        return -1;
    r.shape[r.axis] = k;
    for (int i = 0; i < infer->num_outputs; i++) {
        if (i == w.mask)
            mxl_shape_set(&infer->out_shape[i], x->ndim, x->shape);
        else
            mxl_shape_set(&infer->out_shape[i], r.ndim, r.shape);
        infer->out_dtype[i] = i == w.positions ? p->dtype : x->dtype;
    }
    return 0;
}

static int run_rows(const mxl_call *call, const sort_params *p, wanted w)
{
    const mxl_array *x = call->in[0];
    mxl_sort_job job = {.dtype = x->dtype, .descending = !p->is_ascend, .in = mxl_array_read(x)};
    rows r;

    if (find_rows(call->op->name, p->axis, x->ndim, x->shape, &r) != 0 ||
        find_k(call->op->name, p, r.extent, &job.k) != 0)
        return -1;
    job.outer = r.outer;
    job.n = r.extent;
    job.inner = r.inner;
    job.position_dtype = p->dtype;
    if (w.values >= 0)
        job.values = mxl_array_write(call->out[w.values]);
    if (w.positions >= 0)
        job.positions = mxl_array_write(call->out[w.positions]);
    if (w.mask >= 0)
        job.mask = mxl_array_write(call->out[w.mask]);
    return mxl_sort(&job);
}

/* ---- moving along an axis ---- */

typedef struct along_params {
    int64_t axis;
    int64_t extent; /* _mxl_put_along */
} along_params;

static const mxl_input along_inputs[] = {
    MXL_INPUT(data, "What is moved."),
    MXL_INPUT(indices, "int64 positions along the axis."),
    {0},
};

#define ALONG_AXIS                                                                                 \
    MXL_PARAM(along_params, axis, MXL_P_INT, MXL_REQUIRED, "The axis, counted from either end.")

static const mxl_param take_along_table[] = {ALONG_AXIS, {0}};
static const mxl_param put_along_table[] = {
    ALONG_AXIS,
    MXL_PARAM(along_params, extent, MXL_P_INT, MXL_REQUIRED, "Extent of the axis of the result.",
              MXL_AT_LEAST(0), .type_text = "long, required"),
    {0},
};

/* Checks that the shapes agree, except along the axis. */
static int check_along(const mxl_infer *infer, rows *r)
{
    const mxl_array *x = infer->in[0], *indices = infer->in[1];
    const along_params *p = infer->params;
    bool same = x->ndim == indices->ndim;
    char a[128], b[128];

    if (find_rows(infer->op->name, p->axis, x->ndim, x->shape, r) != 0)
        return -1;
    if (indices->dtype != MXL_I64)
        return mxl_error("%s: indices must be int64, got %s", infer->op->name,
                         mxl_dtype_name(indices->dtype));
    for (int i = 0; same && i < x->ndim; i++)
        same = i == r->axis || x->shape[i] == indices->shape[i];
    if (!same)
        return mxl_error(
            "%s: data and indices have shapes %s and %s; they may differ only in axis %d",
            infer->op->name, mxl_shape_text(a, sizeof(a), x->ndim, x->shape),
            mxl_shape_text(b, sizeof(b), indices->ndim, indices->shape), r->axis);
    return 0;
}

static int take_along_infer(mxl_infer *infer)
{
    rows r;

    if (check_along(infer, &r) != 0)
        return -1;
    mxl_shape_set(&infer->out_shape[0], infer->in[1]->ndim, infer->in[1]->shape);
    infer->out_dtype[0] = infer->in[0]->dtype;
    return 0;
}

static int put_along_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0], *indices = infer->in[1];
    int64_t size = ((const along_params *)infer->params)->extent;
    rows r;

    if (check_along(infer, &r) != 0)
        return -1;
    if (x->shape[r.axis] != indices->shape[r.axis])
        return mxl_error("%s: there are %lld elements for %lld indices", infer->op->name,
                         (long long)x->shape[r.axis], (long long)indices->shape[r.axis]);
    r.shape[r.axis] = size;
    if (__builtin_mul_overflow(size, r.outer, &size) ||
        __builtin_mul_overflow(size, r.inner, &size) ||
        __builtin_mul_overflow(size, (int64_t)sizeof(double), &size))
        return mxl_error("%s: the result is too large", infer->op->name);
    mxl_shape_set(&infer->out_shape[0], r.ndim, r.shape);
    infer->out_dtype[0] = x->dtype;
    return 0;
}

/* Checks that the indices are within an axis of `extent`. */
static int check_within(const mxl_call *call, int64_t extent)
{
    const mxl_array *indices = call->in[1];
    const int64_t *index = mxl_array_read(indices);

    for (int64_t i = 0; i < indices->size; i++) {
        if (index[i] < 0 || index[i] >= extent)
            return mxl_error("%s: index %lld is not in an axis of %lld", call->op->name,
                             (long long)index[i], (long long)extent);
    }
    return 0;
}

static int take_along_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0], *indices = call->in[1];
    rows r;

    if (find_rows(call->op->name, ((const along_params *)call->params)->axis, x->ndim, x->shape,
                  &r) != 0 ||
        check_within(call, r.extent) != 0)
        return -1;
    mxl_take_along(mxl_dtype_size(x->dtype), r.outer, r.extent, indices->shape[r.axis], r.inner,
                   mxl_array_read(x), mxl_array_read(indices), mxl_array_write(call->out[0]));
    return 0;
}

static int put_along_compute(const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    mxl_array *out = call->out[0];
    rows r;

    if (find_rows(call->op->name, ((const along_params *)call->params)->axis, out->ndim, out->shape,
                  &r) != 0 ||
        check_within(call, r.extent) != 0)
        return -1;
    mxl_put_along(x->dtype, r.outer, r.extent, x->shape[r.axis], r.inner, mxl_array_read(x),
                  mxl_array_read(call->in[1]), mxl_array_write(out));
    return 0;
}

static const mxl_op op_take_along, op_put_along;

static mxl_array *take_along(mxl_scope *s, mxl_array *a, mxl_array *indices, int64_t axis)
{
    along_params p = {.axis = axis};

    return mxl_scope_call(s, &op_take_along, &p, 2, (mxl_array *[]){a, indices});
}

static mxl_array *put_along(mxl_scope *s, mxl_array *a, mxl_array *indices, int64_t axis,
                            int64_t extent)
{
    along_params p = {.axis = axis, .extent = extent};

    return mxl_scope_call(s, &op_put_along, &p, 2, (mxl_array *[]){a, indices});
}

/* dx = zeros with dy added at the indices */
static int take_along_grad(mxl_grad *g)
{
    int64_t axis = ((const along_params *)g->params)->axis;
    const mxl_meta *x = mxl_grad_in_meta(g, 0);

    if (!mxl_grad_wants(g, 0))
        return 0;
    return mxl_grad_set(g, 0,
                        put_along(g->s, g->grad_output[0], mxl_grad_in(g, 1), axis,
                                  x->shape[mxl_shape_axis(axis, x->ndim)]));
}

/* dx = dy at the indices */
static int put_along_grad(mxl_grad *g)
{
    if (!mxl_grad_wants(g, 0))
        return 0;
    return mxl_grad_set(g, 0,
                        take_along(g->s, g->grad_output[0], mxl_grad_in(g, 1),
                                   ((const along_params *)g->params)->axis));
}

static const mxl_op op_take_along = {
    .name = "_mxl_take_along",
    .doc = "The elements at the indices, along an axis.",
    .inputs = along_inputs,
    MXL_PARAMS(along_params, take_along_table),
    .infer = take_along_infer,
    .compute = take_along_compute,
    .grad = take_along_grad,
    .saves = mxl_saves_index,
};

static const mxl_op op_put_along = {
    .name = "_mxl_put_along",
    .doc = "Zeros with the elements added at the indices, along an axis.",
    .inputs = along_inputs,
    MXL_PARAMS(along_params, put_along_table),
    .infer = put_along_infer,
    .compute = put_along_compute,
    .grad = put_along_grad,
    .saves = mxl_saves_index,
};

/* ---- sort, argsort, topk ---- */

static const mxl_op op_topk;

/* dx = dy at the positions of the values, which are computed again: sorting values without
 * positions costs less in forward, and the index output may have a dtype that cannot hold them. */
static int values_grad(mxl_grad *g, const sort_params *p)
{
    sort_params find = {p->axis, p->k, p->is_ascend, TOPK_INDICES, MXL_I64};
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    mxl_array *saved = mxl_grad_in(g, 0), *indices, *dx;
    rows r;

    if (g->grad_output[0] == NULL)
        return 0;
    if (find_rows(g->op->name, p->axis, x->ndim, x->shape, &r) != 0)
        return -1;
    indices = mxl_scope_call(g->s, &op_topk, &find, 1, &saved);
    dx = put_along(g->s, g->grad_output[0], indices, r.axis, r.extent);
    return mxl_grad_set(g, 0, mxl_reshape(g->s, dx, x->ndim, x->shape));
}

static const wanted only_values = {0, -1, -1}, only_positions = {-1, 0, -1};

static int sort_infer(mxl_infer *infer)
{
    return infer_rows(infer, infer->params, only_values);
}

static int sort_compute(const mxl_call *call)
{
    return run_rows(call, call->params, only_values);
}

static int sort_grad(mxl_grad *g)
{
    return values_grad(g, g->params);
}

static const mxl_op op_sort = {
    .name = "sort",
    .aliases = MXL_ALIASES("_npi_sort"),
    .doc = "The elements of each row along an axis in order; a NaN counts as larger than every "
           "number.",
    .inputs = mxl_inputs_data,
    MXL_PARAMS(sort_params, sort_table),
    .infer = sort_infer,
    .compute = sort_compute,
    .grad = sort_grad,
    .saves = mxl_saves_input,
};

static int argsort_infer(mxl_infer *infer)
{
    return infer_rows(infer, infer->params, only_positions);
}

static int argsort_compute(const mxl_call *call)
{
    return run_rows(call, call->params, only_positions);
}

static const mxl_op op_argsort = {
    .name = "argsort",
    .aliases = MXL_ALIASES("_npi_argsort"),
    .doc = "The indices along an axis that would put each row in order. Equal elements keep their "
           "order; a NaN counts as larger than every number.",
    .inputs = mxl_inputs_data,
    MXL_PARAMS(sort_params, argsort_table),
    .infer = argsort_infer,
    .compute = argsort_compute,
    .grad = mxl_grad_zero,
};

static int topk_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = 1;
    arity->outputs = arity->visible = ((const sort_params *)params)->ret_typ == TOPK_BOTH ? 2 : 1;
    return 0;
}

static int topk_infer(mxl_infer *infer)
{
    return infer_rows(infer, infer->params, topk_wanted(infer->params));
}

static int topk_compute(const mxl_call *call)
{
    return run_rows(call, call->params, topk_wanted(call->params));
}

/* Indices and masks: zero. */
static int topk_grad(mxl_grad *g)
{
    if (topk_wanted(g->params).values < 0)
        return mxl_grad_zero(g);
    return values_grad(g, g->params);
}

static void topk_saves(mxl_saves *saves)
{
    saves->in[0] = topk_wanted(saves->params).values >= 0;
}

static const mxl_op op_topk = {
    .name = "topk",
    .aliases = MXL_ALIASES("_npx_topk"),
    .doc = "The k largest elements of each row along an axis, or the smallest, in order. Of equal "
           "elements the earlier one is chosen first; a NaN counts as larger than every number.",
    .inputs = mxl_inputs_data,
    MXL_PARAMS(sort_params, topk_table),
    .arity = topk_arity,
    .infer = topk_infer,
    .compute = topk_compute,
    .grad = topk_grad,
    .saves = topk_saves,
};

const mxl_op *const mxl_ops_sort[] = {&op_sort,       &op_argsort,   &op_topk,
                                      &op_take_along, &op_put_along, NULL};

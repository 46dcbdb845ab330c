/* sort, argsort and topk. */
#include <stddef.h>

#include "kernel/sort/sort.h"
#include "ops/index/take.h"

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
    dx = mxl_put_along(g->s, g->grad_output[0], indices, r.axis, r.ndim, r.shape);
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

const mxl_op *const mxl_ops_sort[] = {&op_sort, &op_argsort, &op_topk, NULL};

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

/* The rows of an array along an axis. `shape` is the array's; if there is no axis, that of the one
 * row of all elements. */
typedef struct rows {
    mxl_split along;
    mxl_shape shape;
} rows;

static int find_rows(const mxl_op *op, int64_t axis, int ndim, const int64_t *shape, rows *r)
{
    if (axis != MXL_NONE && mxl_shape_axis(axis, ndim) < 0)
        return mxl_error_prefix(op->name);
    r->along = mxl_shape_split(axis, ndim, shape);
    if (axis == MXL_NONE)
        mxl_shape_set(&r->shape, 1, &r->along.n);
    else
        mxl_shape_set(&r->shape, ndim, shape);
    return 0;
}

static const mxl_op op_sort, op_argsort, op_topk;

static int find_k(const char *name, const sort_params *p, int64_t extent, int64_t *k)
{
    *k = p->k < 1 ? extent : p->k;
    if (mxl_size_below(extent, *k))
        return mxl_error("%s: k is %lld, but a row has %lld elements", name, (long long)*k,
                         (long long)extent);
    return 0;
}

/* The output number of each kind of result; -1: not computed. */
typedef struct wanted {
    int values, positions, mask;
} wanted;

static wanted wanted_of(const mxl_op *op, const sort_params *p)
{
    int kind = op == &op_sort ? TOPK_VALUE : op == &op_argsort ? TOPK_INDICES : p->ret_typ;

    return (wanted){.values = kind == TOPK_BOTH || kind == TOPK_VALUE ? 0 : -1,
                    .positions = kind == TOPK_BOTH      ? 1
                                 : kind == TOPK_INDICES ? 0
                                                        : -1,
                    .mask = kind == TOPK_MASK ? 0 : -1};
}

/* ---- infer and compute; sort and argsort have k = 0 ---- */

static int sort_infer(mxl_infer *infer)
{
    const sort_params *p = infer->params;
    const mxl_array *x = infer->in[0];
    wanted w = wanted_of(infer->op, p);
    int64_t k;
    rows r;

    if (find_rows(infer->op, p->axis, x->ndim, x->shape, &r) != 0 ||
        find_k(infer->op->name, p, r.along.n, &k) != 0)
        return -1;
    r.shape.dim[r.along.axis] = k;
    for (int i = 0; i < infer->num_outputs; i++) {
        if (i == w.mask)
            mxl_shape_set(&infer->out_shape[i], x->ndim, x->shape);
        else
            infer->out_shape[i] = r.shape;
        infer->out_dtype[i] = i == w.positions ? p->dtype : x->dtype;
    }
    return 0;
}

static int sort_compute(const mxl_call *call)
{
    const sort_params *p = call->params;
    const mxl_array *x = call->in[0];
    wanted w = wanted_of(call->op, p);
    mxl_split along = mxl_shape_split(p->axis, x->ndim, x->shape);
    mxl_sort_job job = {.dtype = x->dtype,
                        .descending = !p->is_ascend,
                        .outer = along.outer,
                        .n = along.n,
                        .inner = along.inner,
                        .position_dtype = p->dtype,
                        .in = mxl_array_read(x)};

    if (find_k(call->op->name, p, along.n, &job.k) != 0)
        return -1;
    if (w.values >= 0)
        job.values = mxl_array_write(call->out[w.values]);
    if (w.positions >= 0)
        job.positions = mxl_array_write(call->out[w.positions]);
    if (w.mask >= 0)
        job.mask = mxl_array_write(call->out[w.mask]);
    return mxl_sort(&job);
}

/* ---- the operators ---- */

/* Whether an output has the positions of the values, exactly. */
static bool has_positions(const mxl_op *op, const sort_params *p)
{
    wanted w = wanted_of(op, p);

    return w.values >= 0 && w.positions >= 0 && p->dtype == MXL_I64;
}

/* dx = dy at the positions of the values. Where no output has these they are computed again:
 * sorting values without positions costs less in forward, and the index output may have a dtype
 * that cannot hold them. */
static int sort_grad(mxl_grad *g)
{
    const sort_params *p = g->params;
    sort_params find = {p->axis, p->k, p->is_ascend, TOPK_INDICES, MXL_I64};
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    bool known = has_positions(g->op, p);
    mxl_array *saved, *indices, *dx;
    rows r;

    if (wanted_of(g->op, p).values < 0)
        return mxl_grad_zero(g);
    saved = known ? mxl_grad_out(g, 1) : mxl_grad_in(g, 0);
    if (g->grad_output[0] == NULL)
        return 0;
    if (find_rows(g->op, p->axis, x->ndim, x->shape, &r) != 0)
        return -1;
    indices = known ? saved : mxl_scope_call(g->s, &op_topk, &find, 1, &saved);
    dx = mxl_put_along(g->s, g->grad_output[0], indices, r.along.axis, r.shape.ndim, r.shape.dim);
    return mxl_grad_set(g, 0, mxl_reshape(g->s, dx, x->ndim, x->shape));
}

static void sort_saves(mxl_saves *saves)
{
    if (has_positions(saves->op, saves->params))
        saves->out[1] = true;
    else
        saves->in[0] = wanted_of(saves->op, saves->params).values >= 0;
}

static int topk_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = 1;
    arity->outputs = arity->visible = ((const sort_params *)params)->ret_typ == TOPK_BOTH ? 2 : 1;
    return 0;
}

/* Values have the dtype of the data, positions that of the parameter, a mask either. */
static int topk_dtypes(mxl_rule *rule)
{
    const sort_params *p = rule->params;

    if (p->ret_typ == TOPK_INDICES)
        return mxl_rule_say_out_dtypes(rule, p->dtype);
    return mxl_rule_said_dtypes(rule, "B>Bt");
}

/* 1.9.1 keeps the positions where values are the result. */
static int topk_outputs(const void *params)
{
    return ((const sort_params *)params)->ret_typ == TOPK_VALUE ? 2 : 0;
}

#define SORTED(id, op_aliases, op_arity, ...)                                                      \
    static const mxl_op op_##id = {                                                                \
        .name = #id,                                                                               \
        .aliases = op_aliases,                                                                     \
        MXL_PARAMS(sort_params, id##_table),                                                       \
        .arity = op_arity,                                                                         \
        .infer = sort_infer,                                                                       \
        .compute = sort_compute,                                                                   \
        .grad = sort_grad,                                                                         \
        .saves = sort_saves,                                                                       \
        .doc = __VA_ARGS__,                                                                        \
    }

SORTED(sort, MXL_ALIASES("_npi_sort"), NULL,
       "The elements of each row along an axis in order; a NaN counts as larger than every number.",
       .total_outputs = 2, .u64 = MXL_U64_ORDERED);
SORTED(argsort, MXL_ALIASES("_npi_argsort"), NULL,
       "The indices along an axis that would put each row in order. Equal elements keep their "
       "order; a NaN counts as larger than every number.",
       .u64 = MXL_U64_COMPARED);
SORTED(topk, MXL_ALIASES("_npx_topk"), topk_arity,
       "The k largest elements of each row along an axis, or the smallest, in order. Of equal "
       "elements the earlier one is chosen first; a NaN counts as larger than every number.",
       .complete_dtypes = topk_dtypes, .count_outputs = topk_outputs);

mxl_array *mxl_sort_axis(mxl_scope *s, mxl_array *a, int axis)
{
    return mxl_scope_call(s, &op_sort, &(sort_params){.axis = axis, .is_ascend = 1}, 1, &a);
}

const mxl_op *const mxl_ops_sort[] = {&op_sort, &op_argsort, &op_topk, NULL};

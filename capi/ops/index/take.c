/* Elements by index: take, pick, and their gradients, which scatter. Indices are truncated towards
 * zero and have no gradient. */
#include "ops/index/take.h"
#include "ops/batch/rules.h"
#include "ops/sparse/forms.h"

#include <stddef.h>

#include "array/array.h"
#include "base/memory/mem.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/index/gather.h"
#include "kernel/index/scatter.h"

/* In the order of mxl_index_mode; pick has no raise. */
static const char *const take_modes[] = {"clip", "wrap", "raise", NULL};
static const char *const pick_modes[] = {"clip", "wrap", NULL};

static int find_axis(const mxl_op *op, const mxl_take_params *p, int ndim, const int64_t *shape,
                     mxl_split *out)
{
    if (p->axis == MXL_NONE)
        return mxl_error("%s: axis None is not supported; name one axis", op->name);
    if (mxl_shape_axis(p->axis, ndim) < 0)
        return mxl_error_prefix(op->name);
    *out = mxl_shape_split(p->axis, ndim, shape);
    return 0;
}

/* ---- positions ---- */

enum { POSITIONS_ROOM = 32 };

/* A call's indices as positions along an axis of an array; a few need no allocation. */
typedef struct positions {
    mxl_split axis;
    int64_t *at;
    size_t bytes;
    int64_t room[POSITIONS_ROOM];
} positions;

static void positions_end(positions *p)
{
    if (p->at != p->room)
        mxl_free(p->at, p->bytes);
}

static int positions_begin(positions *p, const mxl_call *call, const mxl_array *array)
{
    const mxl_take_params *params = call->params;
    const mxl_array *index = call->in[1];

    if (find_axis(call->op, params, array->ndim, array->shape, &p->axis) != 0)
        return -1;
    p->at = p->room;
    p->bytes = (size_t)index->size * sizeof(int64_t);
    if (index->size > POSITIONS_ROOM) {
        p->at = mxl_alloc(p->bytes);
        if (p->at == NULL)
            return -1;
    }
    if (mxl_index_resolve(index->dtype, mxl_array_read(index), index->size, p->axis.n,
                          (mxl_index_mode)params->mode, p->at) == 0)
        return 0;
    positions_end(p);
    return mxl_error_prefix(call->op->name);
}

static mxl_array *call_at(mxl_scope *s, const mxl_op *op, const mxl_take_params *p, mxl_array *a,
                          mxl_array *index)
{
    return mxl_scope_call(s, op, p, 2, (mxl_array *[]){a, index});
}

static const mxl_op op_take, op_take_grad, op_pick, op_pick_grad;

mxl_array *mxl_take_positions(mxl_scope *s, const mxl_take_params *p, mxl_array *index, int64_t n)
{
    return call_at(s, &op_take, &(mxl_take_params){.mode = p->mode}, mxl_range(s, n, MXL_I64),
                   index);
}

/* The vjps of take and pick put grad_output into zeros at the same indices; the vjps of those take
 * and pick again. */
static int indexed_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    mxl_take_params p = *(const mxl_take_params *)g->params;
    const mxl_op *op = g->op == &op_take        ? &op_take_grad
                       : g->op == &op_take_grad ? &op_take
                       : g->op == &op_pick      ? &op_pick_grad
                                                : &op_pick;

    if (!mxl_grad_wants(g, 0))
        return 0;
    p.shape = (mxl_tuple){x->ndim, x->shape};
    return mxl_grad_set(g, 0, call_at(g->s, op, &p, g->grad_output[0], mxl_grad_in(g, 1)));
}

/* The operator op_ID, with the functions and tables of that name. After its name comes the
 * documentation, then the other fields by their names. */
#define INDEXED(id, op_name, op_inputs, ...)                                                       \
    static const mxl_op op_##id = {                                                                \
        .name = op_name,                                                                           \
        .inputs = op_inputs,                                                                       \
        MXL_PARAMS(mxl_take_params, id##_table),                                                   \
        .compute = id##_compute,                                                                   \
        .u64 = MXL_U64_INDEXED,                                                                    \
        .grad = indexed_grad,                                                                      \
        .saves = mxl_saves_index,                                                                  \
        .doc = __VA_ARGS__,                                                                        \
    }

/* ---- take ---- */

static const mxl_input take_inputs[] = {
    MXL_INPUT(a, "The array to take from."),
    MXL_INPUT(indices, "Positions along the axis, of any dtype and shape."),
    {0},
};

static const mxl_param take_table[] = {
    MXL_PARAM(mxl_take_params, axis, MXL_P_INT, "0", "The axis to take along."),
    MXL_PARAM(mxl_take_params, mode, MXL_P_ENUM, "clip",
              "What an index out of bounds means: the first or last position, a position counted "
              "around, or an error.",
              .values = take_modes),
    {0},
};

static int take_compute(const mxl_call *call)
{
    const mxl_array *a = call->in[0];
    positions p;

    if (positions_begin(&p, call, a) != 0)
        return -1;
    mxl_take(p.axis.outer, p.axis.n, p.axis.inner * (int64_t)mxl_dtype_size(a->dtype),
             mxl_array_read(a), call->in[1]->size, p.at, mxl_array_write(call->out[0]));
    positions_end(&p);
    return 0;
}

/* Rows of a csr matrix are one. */
static bool take_stypes(mxl_stypes *call)
{
    const mxl_take_params *p = call->params;

    call->out[0] = MXL_CSR;
    return call->in[0] == MXL_CSR && call->in[1] == MXL_DENSE && (p->axis == 0 || p->axis == -2) &&
           p->mode != MXL_INDEX_RAISE && (call->arrays == NULL || call->arrays[1]->ndim == 1);
}

static int take_csr(const mxl_call *call)
{
    positions p;
    int status;

    if (positions_begin(&p, call, call->in[0]) != 0)
        return -1;
    status = mxl_sparse_take_into(call->out[0], call->in[0], p.at);
    positions_end(&p);
    return status;
}

static const mxl_sparse_forms take_forms = {.stypes = take_stypes, .compute = take_csr};

/* da = zeros with dy added at the indices */
INDEXED(take, "take", take_inputs,
        "The positions of an axis that the indices name. The shape of the indices takes the axis' "
        "place.",
        .aliases = MXL_ALIASES("_npi_take"), .sparse = &take_forms, MXL_BATCH(mxl_vmap_take),
        MXL_SHAPES("a[*A,N@axis,*B] indices[*I] -> [*A,*I,*B]"), .dtypes = "A.>A");

/* ---- the gradient of take ---- */

static const mxl_input grad_inputs[] = {
    MXL_INPUT(data, "The values to write at the indices."),
    MXL_INPUT(indices, "Positions along the axis."),
    {0},
};

static const mxl_param take_grad_table[] = {
    MXL_PARAM(mxl_take_params, axis, MXL_P_INT, MXL_REQUIRED, "The axis."),
    MXL_PARAM(mxl_take_params, mode, MXL_P_ENUM, MXL_REQUIRED, "As of take.", .values = take_modes),
    MXL_PARAM(mxl_take_params, shape, MXL_P_SHAPE, MXL_REQUIRED, "Shape of the result."),
    {0},
};

/* The result has the requested shape; checks that `data` has the shape that take, or pick, gives
 * with the indices. */
static int put_infer(mxl_infer *infer, bool picks)
{
    const mxl_take_params *p = infer->params;
    const mxl_array *data = infer->in[0], *index = infer->in[1];
    mxl_split v;

    if (mxl_infer_to(infer, p->shape) != 0 ||
        find_axis(infer->op, p, p->shape.n, p->shape.v, &v) != 0)
        return -1;
    if (data->size != (picks ? index->size : index->size * v.outer * v.inner))
        return mxl_error("%s: %lld elements do not fit %lld indices", infer->op->name,
                         (long long)data->size, (long long)index->size);
    if (picks && index->size != v.outer * v.inner)
        return mxl_error("%s: %lld indices for %lld positions", infer->op->name,
                         (long long)index->size, (long long)(v.outer * v.inner));
    return 0;
}

static int take_grad_infer(mxl_infer *infer)
{
    return put_infer(infer, false);
}

static int take_grad_compute(const mxl_call *call)
{
    mxl_array *out = call->out[0];
    uint64_t zero = 0;
    positions p;
    int status;

    if (positions_begin(&p, call, out) != 0)
        return -1;
    mxl_fill(mxl_dtype_size(out->dtype), mxl_array_write(out), &zero, out->size);
    status = mxl_scatter_add(out->dtype, p.axis.outer, p.axis.n, p.axis.inner, mxl_array_write(out),
                             call->in[1]->size, p.at, mxl_array_read(call->in[0]));
    positions_end(&p);
    return status == 0 ? 0 : mxl_error_prefix(call->op->name);
}

/* dx = dy taken at the indices */
INDEXED(take_grad, "_mxl_take_grad", grad_inputs,
        "Zeros of a shape with data added at the indices.", .infer = take_grad_infer,
        MXL_BATCH(mxl_vmap_take_grad));

/* ---- for vjps of other families ---- */

mxl_array *mxl_take_axis(mxl_scope *s, mxl_array *a, mxl_array *at, int axis)
{
    return call_at(s, &op_take, &(mxl_take_params){.axis = axis, .mode = MXL_INDEX_CLIP}, a, at);
}

mxl_array *mxl_take_rows(mxl_scope *s, mxl_array *a, mxl_array *at)
{
    return mxl_take_axis(s, a, at, 0);
}

mxl_array *mxl_take_back(mxl_scope *s, mxl_array *a, mxl_array *at, int64_t axis, int ndim,
                         const int64_t *shape)
{
    mxl_take_params p = {.axis = axis, .mode = MXL_INDEX_CLIP, .shape = {ndim, shape}};

    return call_at(s, &op_take_grad, &p, a, at);
}

/* ---- pick ---- */

static const mxl_input pick_inputs[] = {
    MXL_INPUT(data, "The array to pick from."),
    MXL_INPUT(index, "Positions along the axis, of any dtype, in the shape of data without it."),
    {0},
};

static const mxl_param pick_table[] = {
    MXL_PARAM(mxl_take_params, axis, MXL_P_OPT_INT, "-1",
              "The axis to pick along; None is not supported."),
    MXL_PARAM(mxl_take_params, keepdims, MXL_P_BOOL, "0", "Whether the axis stays, with extent 1."),
    MXL_PARAM(mxl_take_params, mode, MXL_P_ENUM, "clip",
              "What an index out of bounds means: the first or last position, or a position "
              "counted around.",
              .values = pick_modes),
    {0},
};

/* The index may keep the axis, with size 1, which only its rank tells. As for reductions, the
 * result for a vector has shape (1,). */
#define PICKED_INDEX "[*A,*B|1]|[*A,1,*B]"

static const char *pick_shapes(const void *params)
{
    return ((const mxl_take_params *)params)->keepdims ? "data[*A,N@axis,*B] index" PICKED_INDEX
                                                         " -> [*A,1,*B]"
                                                       : NULL;
}

static int pick_check(void *params)
{
    return ((const mxl_take_params *)params)->axis != MXL_NONE
               ? 0
               : mxl_error("pick: axis None is not supported; name one axis");
}

/* The operands of mxl_scatter_*: an array (outer, n, inner), of which one element for each (outer,
 * inner) is at its position along n, and a source (outer, inner). */
#define PICKED(v, position)                                                                        \
    (&(mxl_scatter){.ndim = 3,                                                                     \
                    .axis = 1,                                                                     \
                    .shape = (int64_t[]){(v)->outer, 1, (v)->inner},                               \
                    .index = (position),                                                           \
                    .strides = (int64_t[]){(v)->n * (v)->inner, (v)->inner, 1},                    \
                    .source_strides = (int64_t[]){(v)->inner, (v)->inner, 1}})

static int pick_compute(const mxl_call *call)
{
    const mxl_array *data = call->in[0];
    positions p;

    if (positions_begin(&p, call, data) != 0)
        return -1;
    mxl_scatter_read(mxl_dtype_size(data->dtype), PICKED(&p.axis, p.at), mxl_array_read(data),
                     mxl_array_write(call->out[0]));
    positions_end(&p);
    return 0;
}

/* dx = zeros with dy at the indices */
INDEXED(pick, "pick", pick_inputs,
        "One element along an axis for each position of the other axes, chosen by the index.",
        .along = true, .aliases = MXL_ALIASES("_npx_pick", "choose_element_0index"),
        .check = pick_check, MXL_SHAPES("data[*A,N@axis,*B] index" PICKED_INDEX " -> [*A,*B|1]"),
        .shapes_of = pick_shapes, .dtypes = "A.>A");

/* ---- the gradient of pick ---- */

static const mxl_param pick_grad_table[] = {
    MXL_PARAM(mxl_take_params, axis, MXL_P_INT, MXL_REQUIRED, "The axis."),
    MXL_PARAM(mxl_take_params, mode, MXL_P_ENUM, MXL_REQUIRED, "As of pick.", .values = pick_modes),
    MXL_PARAM(mxl_take_params, keepdims, MXL_P_BOOL, "0", "As of pick."),
    MXL_PARAM(mxl_take_params, shape, MXL_P_SHAPE, MXL_REQUIRED, "Shape of the result."),
    {0},
};

static int pick_grad_infer(mxl_infer *infer)
{
    return put_infer(infer, true);
}

static int pick_grad_compute(const mxl_call *call)
{
    mxl_array *out = call->out[0];
    uint64_t zero = 0;
    positions p;

    if (positions_begin(&p, call, out) != 0)
        return -1;
    mxl_fill(mxl_dtype_size(out->dtype), mxl_array_write(out), &zero, out->size);
    mxl_scatter_write(mxl_dtype_size(out->dtype), PICKED(&p.axis, p.at), mxl_array_write(out),
                      mxl_array_read(call->in[0]));
    positions_end(&p);
    return 0;
}

/* dx = dy at the indices */
INDEXED(pick_grad, "_mxl_pick_grad", grad_inputs, "Zeros of a shape with data put at the indices.",
        .infer = pick_grad_infer, .along = true);

/* ---- for composites ---- */

mxl_array *mxl_pick_last(mxl_scope *s, mxl_array *a, mxl_array *index)
{
    return call_at(s, &op_pick, &(mxl_take_params){.axis = -1, .mode = MXL_INDEX_CLIP}, a, index);
}

const mxl_op *const mxl_ops_take[] = {
    &op_take, &op_take_grad, &op_pick, &op_pick_grad, NULL,
};

/* Elements by index: take, pick, and their gradients, which scatter. Indices are truncated towards
 * zero and have no gradient. */
#include "ops/index/take.h"

#include <stddef.h>

#include "array/array.h"
#include "base/memory/mem.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/index/gather.h"

/* The parameters of take, pick and their gradients; each lists its own. */
typedef struct index_params {
    int64_t axis;
    int mode; /* mxl_index_mode */
    int keepdims;
    mxl_tuple shape; /* of the array whose gradient is computed */
} index_params;

/* In the order of mxl_index_mode; pick has no raise. */
static const char *const take_modes[] = {"clip", "wrap", "raise", NULL};
static const char *const pick_modes[] = {"clip", "wrap", NULL};

#define INDEX_SHAPE                                                                                \
    MXL_PARAM(index_params, shape, MXL_P_SHAPE, MXL_REQUIRED, "Shape of the result.")

static int find_view(const char *name, int64_t axis, int ndim, const int64_t *shape, mxl_split *out)
{
    if (axis == MXL_NONE)
        return mxl_error("%s: axis None is not supported; name one axis", name);
    if (mxl_shape_axis(axis, ndim) < 0)
        return mxl_error_prefix(name);
    *out = mxl_shape_split(axis, ndim, shape);
    return 0;
}

/* ---- positions ---- */

enum { POSITIONS_ROOM = 32 };

/* Indices as positions along an axis; a few need no allocation. */
typedef struct positions {
    int64_t *at;
    size_t bytes;
    int64_t room[POSITIONS_ROOM];
} positions;

static void positions_end(positions *p)
{
    if (p->at != p->room)
        mxl_free(p->at, p->bytes);
}

static int positions_begin(positions *p, const char *name, const mxl_array *index, int64_t extent,
                           mxl_index_mode mode)
{
    p->at = p->room;
    p->bytes = (size_t)index->size * sizeof(int64_t);
    if (index->size > POSITIONS_ROOM) {
        p->at = mxl_alloc(p->bytes);
        if (p->at == NULL)
            return -1;
    }
    if (mxl_index_resolve(index->dtype, mxl_array_read(index), index->size, extent, mode, p->at) ==
        0)
        return 0;
    positions_end(p);
    return mxl_error_prefix(name);
}

/* ---- take ---- */

static const mxl_input take_inputs[] = {
    MXL_INPUT(a, "The array to take from."),
    MXL_INPUT(indices, "Positions along the axis, of any dtype and shape."),
    {0},
};

static const mxl_param take_table[] = {
    MXL_PARAM(index_params, axis, MXL_P_INT, "0", "The axis to take along."),
    MXL_PARAM(index_params, mode, MXL_P_ENUM, "clip",
              "What an index out of bounds means: the first or last position, a position counted "
              "around, or an error.",
              .values = take_modes),
    {0},
};

static int take_infer(mxl_infer *infer)
{
    const index_params *p = infer->params;
    const mxl_array *a = infer->in[0], *index = infer->in[1];
    mxl_shape *out = &infer->out_shape[0];
    int n = 0;
    mxl_split v;

    if (find_view(infer->op->name, p->axis, a->ndim, a->shape, &v) != 0)
        return -1;
    if (a->ndim - 1 + index->ndim > MXL_MAX_NDIM)
        return mxl_error("%s: the result would have more than %d axes", infer->op->name,
                         MXL_MAX_NDIM);
    for (int i = 0; i < v.axis; i++)
        out->dim[n++] = a->shape[i];
    for (int i = 0; i < index->ndim; i++)
        out->dim[n++] = index->shape[i];
    for (int i = v.axis + 1; i < a->ndim; i++)
        out->dim[n++] = a->shape[i];
    out->ndim = n;
    infer->out_dtype[0] = a->dtype;
    return 0;
}

static int take_compute(const mxl_call *call)
{
    const index_params *p = call->params;
    const mxl_array *a = call->in[0], *index = call->in[1];
    positions at;
    mxl_split v;

    if (find_view(call->op->name, p->axis, a->ndim, a->shape, &v) != 0 ||
        positions_begin(&at, call->op->name, index, v.n, (mxl_index_mode)p->mode) != 0)
        return -1;
    mxl_take(v.outer, v.n, v.inner * (int64_t)mxl_dtype_size(a->dtype), mxl_array_read(a),
             index->size, at.at, mxl_array_write(call->out[0]));
    positions_end(&at);
    return 0;
}

/* Applies the operator to grad_output and the indices, for an array of this shape. */
static mxl_array *indexed(mxl_grad *g, const mxl_op *op, const mxl_meta *meta)
{
    index_params p = *(const index_params *)g->params;
    mxl_array *inputs[2] = {g->grad_output[0], mxl_grad_in(g, 1)};

    p.shape = (mxl_tuple){meta->ndim, meta->shape};
    return mxl_scope_call(g->s, op, &p, 2, inputs);
}

static const mxl_op op_take_grad;

/* da = zeros with dy added at the indices */
static int take_grad(mxl_grad *g)
{
    if (!mxl_grad_wants(g, 0))
        return 0;
    return mxl_grad_set(g, 0, indexed(g, &op_take_grad, mxl_grad_in_meta(g, 0)));
}

static const mxl_op op_take = {
    .name = "take",
    .aliases = MXL_ALIASES("_npi_take"),
    .doc = "The positions of an axis that the indices name. The shape of the indices takes the "
           "axis' place.",
    .inputs = take_inputs,
    MXL_PARAMS(index_params, take_table),
    .infer = take_infer,
    .compute = take_compute,
    .grad = take_grad,
    .saves = mxl_saves_index,
};

/* ---- the gradient of take ---- */

static const mxl_input grad_inputs[] = {
    MXL_INPUT(data, "What is put where the indices say."),
    MXL_INPUT(indices, "Positions along the axis."),
    {0},
};

static const mxl_param take_grad_table[] = {
    MXL_PARAM(index_params, axis, MXL_P_INT, MXL_REQUIRED, "The axis."),
    MXL_PARAM(index_params, mode, MXL_P_ENUM, MXL_REQUIRED, "As of take.", .values = take_modes),
    INDEX_SHAPE,
    {0},
};

/* The result has the requested shape; checks that `data` has the shape that take gives with the
 * indices. */
static int put_infer(mxl_infer *infer, int64_t pieces)
{
    const index_params *p = infer->params;
    mxl_split v;

    if (mxl_infer_to(infer, p->shape) != 0 ||
        find_view(infer->op->name, p->axis, p->shape.n, p->shape.v, &v) != 0)
        return -1;
    if (pieces < 0)
        pieces = infer->in[1]->size * v.outer * v.inner;
    if (infer->in[0]->size != pieces)
        return mxl_error("%s: %lld elements do not fit %lld indices", infer->op->name,
                         (long long)infer->in[0]->size, (long long)infer->in[1]->size);
    return 0;
}

static int take_grad_infer(mxl_infer *infer)
{
    return put_infer(infer, -1);
}

static int take_grad_compute(const mxl_call *call)
{
    const index_params *p = call->params;
    const mxl_array *in = call->in[0], *index = call->in[1];
    mxl_array *out = call->out[0];
    uint64_t zero = 0;
    positions at;
    mxl_split v;
    int status;

    if (find_view(call->op->name, p->axis, out->ndim, out->shape, &v) != 0 ||
        positions_begin(&at, call->op->name, index, v.n, (mxl_index_mode)p->mode) != 0)
        return -1;
    mxl_fill(mxl_dtype_size(out->dtype), mxl_array_write(out), &zero, out->size);
    status = mxl_scatter_add(out->dtype, v.outer, v.n, v.inner, mxl_array_write(out), index->size,
                             at.at, mxl_array_read(in));
    positions_end(&at);
    return status == 0 ? 0 : mxl_error_prefix(call->op->name);
}

/* dx = dy taken at the indices */
static int take_grad_grad(mxl_grad *g)
{
    if (!mxl_grad_wants(g, 0))
        return 0;
    return mxl_grad_set(g, 0, indexed(g, &op_take, mxl_grad_in_meta(g, 0)));
}

static const mxl_op op_take_grad = {
    .name = "_mxl_take_grad",
    .doc = "Zeros of a shape with data added at the indices.",
    .inputs = grad_inputs,
    MXL_PARAMS(index_params, take_grad_table),
    .infer = take_grad_infer,
    .compute = take_grad_compute,
    .grad = take_grad_grad,
    .saves = mxl_saves_index,
};

/* ---- for vjps of other families ---- */

mxl_array *mxl_take_rows(mxl_scope *s, mxl_array *a, mxl_array *at)
{
    index_params p = {.axis = 0, .mode = MXL_INDEX_CLIP};
    mxl_array *inputs[2] = {a, at};

    return mxl_scope_call(s, &op_take, &p, 2, inputs);
}

mxl_array *mxl_take_rows_back(mxl_scope *s, mxl_array *a, mxl_array *at, int ndim,
                              const int64_t *shape)
{
    index_params p = {.axis = 0, .mode = MXL_INDEX_CLIP, .shape = {ndim, shape}};
    mxl_array *inputs[2] = {a, at};

    return mxl_scope_call(s, &op_take_grad, &p, 2, inputs);
}

/* ---- pick ---- */

static const mxl_input pick_inputs[] = {
    MXL_INPUT(data, "The array to pick from."),
    MXL_INPUT(index, "Positions along the axis, of any dtype, in the shape of data without it."),
    {0},
};

static const mxl_param pick_table[] = {
    MXL_PARAM(index_params, axis, MXL_P_OPT_INT, "-1",
              "The axis to pick along; None is not supported."),
    MXL_PARAM(index_params, keepdims, MXL_P_BOOL, "0", "Whether the axis stays, with extent 1."),
    MXL_PARAM(index_params, mode, MXL_P_ENUM, "clip",
              "What an index out of bounds means: the first or last position, or a position "
              "counted around.",
              .values = pick_modes),
    {0},
};

/* The shape without the axis, or with size 1 there. */
static void picked_shape(const mxl_array *data, int axis, bool keep, mxl_shape *out)
{
    int n = 0;

    for (int i = 0; i < data->ndim; i++) {
        if (i != axis)
            out->dim[n++] = data->shape[i];
        else if (keep)
            out->dim[n++] = 1;
    }
    out->ndim = n;
}

static int pick_infer(mxl_infer *infer)
{
    const index_params *p = infer->params;
    const mxl_array *data = infer->in[0], *index = infer->in[1];
    mxl_shape kept, cut, *out = &infer->out_shape[0];
    char have[128], want[128];
    mxl_split v;

    if (find_view(infer->op->name, p->axis, data->ndim, data->shape, &v) != 0)
        return -1;
    picked_shape(data, v.axis, true, &kept);
    picked_shape(data, v.axis, false, &cut);
    if (!mxl_shape_same(index->ndim, index->shape, kept.ndim, kept.dim) &&
        !mxl_shape_same(index->ndim, index->shape, cut.ndim, cut.dim))
        return mxl_error("%s: index must have the shape %s, got %s", infer->op->name,
                         mxl_shape_text(want, sizeof(want), cut.ndim, cut.dim),
                         mxl_shape_text(have, sizeof(have), index->ndim, index->shape));
    /* As for reductions, the result for a vector has shape (1,). */
    if (p->keepdims || cut.ndim == 0)
        cut = kept;
    mxl_shape_set(out, cut.ndim, cut.dim);
    infer->out_dtype[0] = data->dtype;
    return 0;
}

static int pick_compute(const mxl_call *call)
{
    const index_params *p = call->params;
    const mxl_array *data = call->in[0];
    positions at;
    mxl_split v;

    if (find_view(call->op->name, p->axis, data->ndim, data->shape, &v) != 0 ||
        positions_begin(&at, call->op->name, call->in[1], v.n, (mxl_index_mode)p->mode) != 0)
        return -1;
    mxl_pick(mxl_dtype_size(data->dtype), v.outer, v.n, v.inner, mxl_array_read(data), at.at,
             mxl_array_write(call->out[0]));
    positions_end(&at);
    return 0;
}

static const mxl_op op_pick_grad;

/* dx = zeros with dy at the indices */
static int pick_grad(mxl_grad *g)
{
    if (!mxl_grad_wants(g, 0))
        return 0;
    return mxl_grad_set(g, 0, indexed(g, &op_pick_grad, mxl_grad_in_meta(g, 0)));
}

static const mxl_op op_pick = {
    .name = "pick",
    .aliases = MXL_ALIASES("_npx_pick", "choose_element_0index"),
    .doc = "One element along an axis for each position of the other axes, chosen by the index.",
    .inputs = pick_inputs,
    MXL_PARAMS(index_params, pick_table),
    .infer = pick_infer,
    .compute = pick_compute,
    .grad = pick_grad,
    .saves = mxl_saves_index,
};

/* ---- the gradient of pick ---- */

static const mxl_param pick_grad_table[] = {
    MXL_PARAM(index_params, axis, MXL_P_INT, MXL_REQUIRED, "The axis."),
    MXL_PARAM(index_params, mode, MXL_P_ENUM, MXL_REQUIRED, "As of pick.", .values = pick_modes),
    MXL_PARAM(index_params, keepdims, MXL_P_BOOL, "0", "As of pick."),
    INDEX_SHAPE,
    {0},
};

static int pick_grad_infer(mxl_infer *infer)
{
    const index_params *p = infer->params;
    mxl_split v;

    if (put_infer(infer, infer->in[1]->size) != 0)
        return -1;
    if (find_view(infer->op->name, p->axis, p->shape.n, p->shape.v, &v) != 0)
        return -1;
    if (v.outer * v.inner != infer->in[1]->size)
        return mxl_error("%s: %lld indices for %lld positions", infer->op->name,
                         (long long)infer->in[1]->size, (long long)(v.outer * v.inner));
    return 0;
}

static int pick_grad_compute(const mxl_call *call)
{
    const index_params *p = call->params;
    mxl_array *out = call->out[0];
    positions at;
    mxl_split v;

    if (find_view(call->op->name, p->axis, out->ndim, out->shape, &v) != 0 ||
        positions_begin(&at, call->op->name, call->in[1], v.n, (mxl_index_mode)p->mode) != 0)
        return -1;
    mxl_pick_scatter(mxl_dtype_size(out->dtype), v.outer, v.n, v.inner, mxl_array_write(out), at.at,
                     mxl_array_read(call->in[0]));
    positions_end(&at);
    return 0;
}

/* dx = dy at the indices */
static int pick_grad_grad(mxl_grad *g)
{
    if (!mxl_grad_wants(g, 0))
        return 0;
    return mxl_grad_set(g, 0, indexed(g, &op_pick, mxl_grad_in_meta(g, 0)));
}

static const mxl_op op_pick_grad = {
    .name = "_mxl_pick_grad",
    .doc = "Zeros of a shape with data put at the indices.",
    .inputs = grad_inputs,
    MXL_PARAMS(index_params, pick_grad_table),
    .infer = pick_grad_infer,
    .compute = pick_grad_compute,
    .grad = pick_grad_grad,
    .saves = mxl_saves_index,
};

/* ---- for composites ---- */

mxl_array *mxl_pick_last(mxl_scope *s, mxl_array *a, mxl_array *index)
{
    index_params p = {.axis = -1, .mode = MXL_INDEX_CLIP};
    mxl_array *inputs[2] = {a, index};

    return mxl_scope_call(s, &op_pick, &p, 2, inputs);
}

const mxl_op *const mxl_ops_index[] = {
    &op_take, &op_take_grad, &op_pick, &op_pick_grad, NULL,
};

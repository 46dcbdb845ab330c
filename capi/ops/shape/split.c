/* Operators that split an array along an axis: SliceChannel, _split_v2. */
#include <stddef.h>

#include "base/memory/mem.h"
#include "ops/shape/movement.h"

/* A limit far above practical numbers of handles, below which sizes cannot overflow. */
enum { MOST_PARTS = 1 << 24 };

/* Of both operators; SliceChannel has no indices. */
typedef struct split_params {
    mxl_tuple indices; /* the first positions of the parts */
    int64_t axis;
    int squeeze_axis;
    int64_t sections; /* if above 0: that many parts, whose lengths differ by at most one */
} split_params;

static int64_t num_parts(const split_params *p)
{
    return p->sections > 0 ? p->sections : p->indices.n;
}

static int split_arity(const void *params, mxl_arity *arity)
{
    int64_t parts = num_parts(params);

    if (parts < 1 || parts > MOST_PARTS)
        return mxl_error("split: makes %lld parts; it must be from 1 to %d", (long long)parts,
                         (int)MOST_PARTS);
    arity->inputs = 1;
    arity->outputs = arity->visible = (int)parts;
    return 0;
}

/* The first position of part i of an axis; i may be the number of parts. */
static int64_t part_begin(const split_params *p, int64_t extent, int64_t i)
{
    if (extent == 0)
        return 0; /* positions beyond the end of an axis without any are its end */
    if (p->sections > 0) {
        int64_t each = extent / p->sections, longer = extent % p->sections;

        return i * each + (i < longer ? i : longer);
    }
    return i < p->indices.n ? p->indices.v[i] : extent;
}

/* dx = the grad_outputs joined, zeros for missing ones; a squeezed axis is restored first */
static int split_grad(mxl_grad *g)
{
    const split_params *p = g->params;
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    int axis = mxl_check_axis(g->op, p->axis, x->ndim);
    size_t bytes = (size_t)g->num_outputs * sizeof(mxl_array *);
    mxl_array **heads = axis < 0 ? NULL : mxl_alloc(bytes);
    mxl_shape shape;
    int status;

    if (heads == NULL)
        return -1;
    mxl_shape_set(&shape, x->ndim, x->shape);
    for (int i = 0; i < g->num_outputs; i++) {
        shape.dim[axis] = part_begin(p, x->shape[axis], i + 1) - part_begin(p, x->shape[axis], i);
        heads[i] = mxl_reshape(g->s, mxl_grad_output_grad(g, i), shape.ndim, shape.dim);
    }
    status = mxl_grad_set(g, 0, mxl_concat(g->s, g->num_outputs, heads, axis));
    mxl_free(heads, bytes);
    return status;
}

/* ---- _split_v2 ---- */

/* The part between two positions of an axis, which is removed if `squeeze_axis` is set. */
static int cut_part(mxl_plan *p, int axis, int64_t begin, int64_t end)
{
    mxl_plan_cut(p, axis, begin, end - begin, 1);
    if (((const split_params *)p->params)->squeeze_axis)
        mxl_plan_drop(p, axis);
    return 0;
}

static int split_plan(mxl_plan *p)
{
    const split_params *s = p->params;
    int axis = mxl_plan_axis(p, s->axis);
    int64_t extent = axis < 0 ? 0 : p->shape.dim[axis], begin, end;

    if (axis < 0)
        return -1;
    begin = part_begin(s, extent, p->output);
    end = part_begin(s, extent, p->output + 1);
    if (extent < 0) /* parts of one size, or between positions of which the last is the end */
        return cut_part(p, axis, 0, s->sections > 0 || end < 0 ? extent : end - begin);
    if (p->output == 0 && begin != 0)
        return mxl_error("%s: the first part begins at %lld, it must be 0", p->op->name,
                         (long long)begin);
    if (begin > end || end > extent)
        return mxl_error("%s: a part from %lld to %lld of an axis of %lld", p->op->name,
                         (long long)begin, (long long)end, (long long)extent);
    if (s->squeeze_axis && end - begin != 1)
        return mxl_error("%s: squeeze_axis needs parts of one position, one has %lld", p->op->name,
                         (long long)(end - begin));
    return cut_part(p, axis, begin, end);
}

static const mxl_param split_v2_table[] = {
    MXL_PARAM(split_params, indices, MXL_P_SHAPE, MXL_REQUIRED,
              "Where the parts begin, the first at 0; of no meaning where `sections` is given.",
              .sets_outputs = true),
    MXL_PARAM(split_params, axis, MXL_P_INT, "1", "The axis to cut, counted from either end."),
    MXL_PARAM(split_params, squeeze_axis, MXL_P_BOOL, "0",
              "Whether the parts go without the axis, of which each then has one position."),
    MXL_PARAM(split_params, sections, MXL_P_INT, "0",
              "How many parts to make; the first ones are longer by one where it does not go even.",
              .sets_outputs = true),
    {0},
};

static const mxl_op op_split_v2 = {
    .name = "_split_v2",
    .aliases = MXL_ALIASES("_npi_split"),
    .inputs = mxl_inputs_data,
    .doc = "Cuts the array along an axis, into equal parts or at given positions.",
    MXL_PARAMS(split_params, split_v2_table),
    .arity = split_arity,
    .keeps_scalars = true,
    MXL_MOVEMENT_BACK(split_plan, split_grad),
};

/* ---- SliceChannel ---- */

static int channel_plan(mxl_plan *p)
{
    const split_params *s = p->params;
    int axis = mxl_plan_axis(p, s->axis);
    int64_t extent = axis < 0 ? 0 : p->shape.dim[axis], each = extent / s->sections;

    if (axis < 0)
        return -1;
    if (extent < 0)
        return cut_part(p, axis, 0, extent);
    if (s->squeeze_axis && extent != s->sections)
        return mxl_error("%s: squeeze_axis needs an axis of num_outputs = %lld, got %lld",
                         p->op->name, (long long)s->sections, (long long)extent);
    if (each * s->sections != extent)
        return mxl_error("%s: an axis of %lld cannot be cut into %lld equal parts", p->op->name,
                         (long long)extent, (long long)s->sections);
    return cut_part(p, axis, p->output * each, (p->output + 1) * each);
}

/* All parts have one shape. */
static int channel_infer(mxl_infer *infer)
{
    mxl_infer first = *infer;
    mxl_shape shape;

    first.num_outputs = 1;
    if (mxl_plan_infer(&first) != 0)
        return -1;
    shape = first.out_shape[0];
    return mxl_infer_set(infer, first.out_dtype[0], shape.ndim, shape.dim);
}

/* The array has as many parts as results, of one size each along the axis. */
static int channel_complete(mxl_rule *rule)
{
    const split_params *p = rule->params;
    int squeezed = p->squeeze_axis > 0;

    for (int k = 0; k < rule->num_out; k++) {
        const mxl_shape *part = mxl_rule_out(rule, k);
        mxl_shape in = {.ndim = part->ndim + squeezed};
        int64_t axis = p->axis + (p->axis < 0 ? in.ndim : 0);

        if (part->ndim < 0 || in.ndim > MXL_MAX_NDIM)
            continue;
        for (int i = 0; i < in.ndim; i++) {
            int64_t size = squeezed && i == axis ? 1 : part->dim[i - (squeezed && i > axis)];

            in.dim[i] = i == axis && size >= 0 ? size * rule->num_out : size;
        }
        if (mxl_rule_merge(rule, mxl_rule_in(rule, 0), &in) != 0)
            return -1;
    }
    return 0;
}

const mxl_op mxl_op_slice_channel = {
    .name = "SliceChannel",
    .aliases = MXL_ALIASES("split"),
    .inputs = mxl_inputs_data,
    .doc = "Cuts the array into num_outputs equal parts along an axis.",
    MXL_PARAMS_OF(
        split_params,
        MXL_PARAM_AS("num_outputs", split_params, sections, MXL_P_INT, MXL_REQUIRED,
                     "How many parts to make; the axis must be a multiple of it.", MXL_AT_LEAST(1),
                     .sets_outputs = true),
        MXL_PARAM(split_params, axis, MXL_P_INT, "1", "The axis to cut."),
        MXL_PARAM(split_params, squeeze_axis, MXL_P_BOOL, "0",
                  "Whether the parts go without the axis, of which each then has one position.")),
    .arity = split_arity,
    .keeps_scalars = true,
    .output_names = "output0",
    .plan = channel_plan,
    .infer = channel_infer,
    .complete_shapes = channel_complete,
    .compute = mxl_plan_compute,
    .any_dtype = true,
    .grad = split_grad,
    .strided = true,
};

/* ---- hsplit, dsplit ---- */

/* _split_v2 along an axis that the operator's name tells. */
static mxl_array *split_along(mxl_scope *s, const mxl_call *call, int axis)
{
    split_params p = *(const split_params *)call->params;

    p.axis = axis;
    return mxl_scope_call_many(s, &op_split_v2, &p, 1, call->in, call->num_outputs, call->out) == 0
               ? call->out[0]
               : NULL;
}

static mxl_array *hsplit_compose(mxl_scope *s, const mxl_call *call)
{
    return split_along(s, call, call->in[0]->ndim > 1 ? 1 : 0);
}

static mxl_array *dsplit_compose(mxl_scope *s, const mxl_call *call)
{
    return split_along(s, call, (int)((const split_params *)call->params)->axis);
}

#define SPLIT_ALONG(id, text)                                                                      \
    static const mxl_op op_##id = {                                                                \
        .name = MXL_NUMPY("_npi_" #id),                                                            \
        .inputs = mxl_inputs_data,                                                                 \
        .doc = text,                                                                               \
        MXL_PARAMS(split_params, split_v2_table),                                                  \
        .arity = split_arity,                                                                      \
        .compose = id##_compose,                                                                   \
    }

SPLIT_ALONG(hsplit, "Cuts the array along its second axis, or its only one.");
SPLIT_ALONG(dsplit, "Cuts the array along an axis, the third one of NumPy's dsplit.");

const mxl_op *const mxl_ops_split[] = {&mxl_op_slice_channel, &op_split_v2, &op_hsplit, &op_dsplit,
                                       NULL};

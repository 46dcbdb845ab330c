/* Parts of arrays by begin, end and step: slice, _slice_assign, _slice_assign_scalar. The bounds
 * are NumPy's; None within them is MXL_NONE. `y[1:3] = v` is _slice_assign(y, v) into y itself. */
#include <stddef.h>

#include "array/copy.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/strided_copy.h"
#include "ops/shape/movement.h"
#include "ops/sparse/forms.h"

/* The parameters of all operators here; each lists its own. */
typedef struct slice_params {
    mxl_tuple begin, end, step;
    double scalar; /* _slice_assign_scalar */
} slice_params;

#define SLICE_BOUNDS                                                                               \
    MXL_PARAM(slice_params, begin, MXL_P_TUPLE_OPT, MXL_REQUIRED,                                  \
              "Where the part begins along each of the first axes; negative numbers count from "   \
              "the end, None is the beginning."),                                                  \
        MXL_PARAM(slice_params, end, MXL_P_TUPLE_OPT, MXL_REQUIRED,                                \
                  "Where it ends, exclusive; None is the end."),                                   \
        MXL_PARAM(slice_params, step, MXL_P_TUPLE_OPT, "[]",                                       \
                  "Step along each of these axes, which may be negative; None is 1.")

/* ---- the part ---- */

/* Normalises a bound that may be negative, and clamps it to [low, high]. */
static int64_t clamp(int64_t bound, int64_t extent, int64_t low, int64_t high)
{
    if (bound < 0)
        bound += extent;
    if (bound < low)
        return low;
    return bound > high ? high : bound;
}

int64_t mxl_slice_part(int64_t extent, int64_t begin, int64_t end, int64_t step, int64_t *first)
{
    *first = 0;
    if (extent < 0)
        return extent;
    if (step > 0) {
        begin = begin == MXL_NONE ? 0 : clamp(begin, extent, 0, extent);
        end = end == MXL_NONE ? extent : clamp(end, extent, 0, extent);
    } else {
        begin = begin == MXL_NONE ? extent - 1 : clamp(begin, extent, -1, extent - 1);
        end = end == MXL_NONE ? -1 : clamp(end, extent, -1, extent - 1);
    }
    *first = begin;
    if (step > 0)
        return begin < end ? (end - begin - 1) / step + 1 : 0;
    return begin > end ? (begin - end - 1) / -step + 1 : 0;
}

static int check_bounds(const char *name, const slice_params *p, int ndim)
{
    if (p->begin.n < 0 || p->begin.n != p->end.n)
        return mxl_error("%s: begin has %d entries, end %d; the numbers must be equal", name,
                         p->begin.n, p->end.n);
    if (p->step.n > 0 && p->step.n != p->begin.n)
        return mxl_error("%s: step has %d entries, begin %d; the numbers must be equal", name,
                         p->step.n, p->begin.n);
    if (p->begin.n > ndim)
        return mxl_error("%s: begin has %d entries, the array %d axes", name, p->begin.n, ndim);
    return 0;
}

static int slice_plan(mxl_plan *p)
{
    const slice_params *s = p->params;

    if (check_bounds(p->op->name, s, p->shape.ndim) != 0)
        return -1;
    for (int i = 0; i < s->begin.n; i++) {
        int64_t step = i < s->step.n && s->step.v[i] != MXL_NONE ? s->step.v[i] : 1, first, count;

        if (step == 0)
            return mxl_error("%s: the step along axis %d is 0", p->op->name, i);
        count = mxl_slice_part(p->shape.dim[i], s->begin.v[i], s->end.v[i], step, &first);
        mxl_plan_cut(p, i, first, count, step);
    }
    return 0;
}

/* ---- slice ---- */

/* Without steps the part of a csr matrix is one. */
static bool csr_stypes(mxl_stypes *call)
{
    const slice_params *s = call->params;

    call->out[0] = MXL_CSR;
    return call->in[0] == MXL_CSR && s->step.n <= 0 && s->begin.n >= 1;
}

static int csr_slice(const mxl_call *call)
{
    const slice_params *s = call->params;
    int64_t first[2] = {0, 0};

    for (int i = 0; i < s->begin.n; i++)
        (void)mxl_slice_part(call->in[0]->shape[i], s->begin.v[i], s->end.v[i], 1, &first[i]);
    return mxl_sparse_cut_into(call->out[0], call->in[0], first[0], first[1]);
}

static const mxl_sparse_forms slice_forms = {.stypes = csr_stypes, .compute = csr_slice};

static const mxl_param slice_table[] = {SLICE_BOUNDS, {0}};

static const mxl_op op_slice = {
    .name = "slice",
    .aliases = MXL_ALIASES("_npi_slice", "_npx_slice", "_sparse_slice", "crop"),
    .doc = "The part of the array from begin to end, in steps.",
    MXL_PARAMS(slice_params, slice_table),
    .sparse = &slice_forms,
    MXL_MOVEMENT(slice_plan),
};

mxl_array *mxl_slice_steps(mxl_scope *s, mxl_array *a, int axis, int64_t begin, int64_t end,
                           int64_t step)
{
    int64_t begins[MXL_MAX_NDIM], ends[MXL_MAX_NDIM], steps[MXL_MAX_NDIM];
    slice_params p = {{axis + 1, begins}, {axis + 1, ends}, {axis + 1, steps}, 0};

    for (int i = 0; i < axis; i++)
        begins[i] = ends[i] = steps[i] = MXL_NONE;
    begins[axis] = begin;
    ends[axis] = end;
    steps[axis] = step;
    return mxl_scope_call(s, &op_slice, &p, 1, &a);
}

mxl_array *mxl_slice_axis(mxl_scope *s, mxl_array *a, int axis, int64_t begin, int64_t end)
{
    return mxl_slice_steps(s, a, axis, begin, end, MXL_NONE);
}

/* ---- writing to a part ---- */

/* The part of a contiguous array; -1 with the error set. */
static int find_part(const mxl_op *op, const void *params, const mxl_array *array, mxl_plan *part)
{
    mxl_plan_begin(part, op, params, array->ndim, array->shape);
    return slice_plan(part);
}

static int64_t size_of(const mxl_plan *part)
{
    return mxl_shape_size(part->shape.ndim, part->shape.dim);
}

/* out[part] = the contiguous values; or one value for all, with strides of 0. */
static void write_part(mxl_array *out, const mxl_plan *part, const void *values,
                       const int64_t *strides)
{
    size_t width = mxl_dtype_size(out->dtype);
    char *data = mxl_array_write(out);

    if (size_of(part) > 0)
        mxl_copy_strided(width, part->shape.ndim, part->shape.dim,
                         data + part->skip * (int64_t)width, part->strides, values, strides);
}

/* Copies the elements outside the part, unless the output is the input. */
static void copy_around(mxl_array *out, const mxl_array *in, const mxl_plan *part)
{
    if (mxl_array_read(in) != mxl_array_read(out) && size_of(part) < out->size)
        mxl_copy_bytes(mxl_array_write(out), mxl_array_read(in),
                       (size_t)in->size * mxl_dtype_size(in->dtype));
}

/* ---- _slice_assign_scalar ---- */

static int assign_scalar_infer(mxl_infer *infer)
{
    const mxl_array *in = infer->in[0];
    mxl_plan part;

    if (find_part(infer->op, infer->params, in, &part) != 0)
        return -1;
    return mxl_infer_like_first(infer);
}

static int assign_scalar_compute(const mxl_call *call)
{
    const slice_params *p = call->params;
    const mxl_array *in = call->in[0];
    const int64_t still[MXL_MAX_NDIM] = {0};
    uint64_t element = 0;
    mxl_plan part;

    if (find_part(call->op, p, in, &part) != 0)
        return -1;
    if (mxl_check_digits(call->op->name, p->scalar, in->dtype) != 0)
        return -1;
    copy_around(call->out[0], in, &part);
    mxl_cast_scalar(p->scalar, in->dtype, &element);
    write_part(call->out[0], &part, &element, still);
    return 0;
}

static const mxl_op op_slice_assign_scalar;

/* The grad_output with zeros at the part. */
static mxl_array *without_part(mxl_grad *g)
{
    slice_params p = *(const slice_params *)g->params;

    p.scalar = 0;
    return mxl_scope_call(g->s, &op_slice_assign_scalar, &p, 1, &g->grad_output[0]);
}

/* dx = dy with zeros at the part */
static int assign_scalar_grad(mxl_grad *g)
{
    return mxl_grad_set(g, 0, without_part(g));
}

static const mxl_op op_slice_assign_scalar = {
    .name = "_slice_assign_scalar",
    .aliases = MXL_ALIASES("_crop_assign_scalar", "_npi_slice_assign_scalar"),
    .doc = "The array with one number at the part from begin to end, in steps.",
    MXL_PARAMS_OF(slice_params,
                  MXL_PARAM(slice_params, scalar, MXL_P_FLOAT, "0",
                            "The number that every element of the part becomes.",
                            .type_name = "double"),
                  SLICE_BOUNDS),
    .infer = assign_scalar_infer,
    .compute = assign_scalar_compute,
    .any_dtype = true,
    .grad = assign_scalar_grad,
    .in_place = true,
};

/* ---- _slice_assign ---- */

static int check_value(const char *name, const mxl_array *value, const mxl_plan *part)
{
    if (mxl_shape_same(value->ndim, value->shape, part->shape.ndim, part->shape.dim))
        return 0;
    return mxl_error("%s: the part has shape %s, the value %s", name,
                     MXL_SHAPE_TEXT(part->shape.ndim, part->shape.dim), MXL_SHAPE_OF(value));
}

static int assign_infer(mxl_infer *infer)
{
    const mxl_array *lhs = infer->in[0], *rhs = infer->in[1];
    mxl_plan part;

    if (mxl_check_dtypes(infer->op, lhs, rhs) != 0)
        return -1;
    if (find_part(infer->op, infer->params, lhs, &part) != 0 ||
        check_value(infer->op->name, rhs, &part) != 0)
        return -1;
    return mxl_infer_like_first(infer);
}

static int assign(const mxl_call *call, const mxl_array *rhs)
{
    const mxl_array *lhs = call->in[0];
    mxl_plan part;

    if (find_part(call->op, call->params, lhs, &part) != 0)
        return -1;
    copy_around(call->out[0], lhs, &part);
    write_part(call->out[0], &part, mxl_array_read(rhs), rhs->strides);
    return 0;
}

static int assign_compute(const mxl_call *call)
{
    mxl_array *rhs = call->in[1], *copy;
    int status;

    if (mxl_array_read(rhs) != mxl_array_read(call->out[0]) || rhs->size == 0)
        return assign(call, rhs);
    /* y[::-1] = y: the value shares memory with the output. */
    copy = mxl_array_new(rhs->dtype, rhs->ndim, rhs->shape);
    if (copy == NULL)
        return -1;
    status = mxl_array_copy_into(copy, rhs);
    if (status == 0)
        status = assign(call, copy);
    mxl_array_release(copy);
    return status;
}

/* da = dy with zeros at the part, db = the part of dy */
static int assign_grad(mxl_grad *g)
{
    if (mxl_grad_wants(g, 0) && mxl_grad_set(g, 0, without_part(g)) != 0)
        return -1;
    if (!mxl_grad_wants(g, 1))
        return 0;
    return mxl_grad_set(g, 1, mxl_scope_call(g->s, &op_slice, g->params, 1, &g->grad_output[0]));
}

/* How many positions from begin to end in steps are; -1 where that is not known, or an error that
 * infer has. */
static int64_t part_size(int64_t size, int64_t begin, int64_t end, int64_t step)
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
static int assign_complete(mxl_rule *rule)
{
    const slice_params *p = rule->params;
    mxl_shape part = *mxl_rule_in(rule, 0);

    if (p->begin.n > part.ndim || p->end.n != p->begin.n)
        return 0;
    for (int i = 0; i < p->begin.n; i++)
        part.dim[i] = part_size(part.dim[i], p->begin.v[i], p->end.v[i],
                                i < p->step.n ? p->step.v[i] : MXL_NONE);
    return mxl_rule_merge(rule, mxl_rule_in(rule, 1), &part);
}

static const mxl_op op_slice_assign = {
    .name = "_slice_assign",
    .aliases = MXL_ALIASES("_crop_assign", "_npi_slice_assign"),
    .doc = "The array with rhs, of the part's shape, at the part from begin to end, in steps.",
    .inputs = mxl_inputs_lhs_rhs,
    MXL_PARAMS(slice_params, slice_table),
    .infer = assign_infer,
    .shapes = "A.>A",
    .complete_shapes = assign_complete,
    .compute = assign_compute,
    .any_dtype = true,
    .grad = assign_grad,
    .in_place = true,
};

const mxl_op *const mxl_ops_slice[] = {
    &op_slice,
    &op_slice_assign_scalar,
    &op_slice_assign,
    NULL,
};

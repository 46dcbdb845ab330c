/* Reading and writing by keys, x[1:, None, index] and x[1:, None, index] = y: one operator each,
 * whatever the key has. A key without index arrays is a movement with a plan. */
#include "ops/index/key.h"

#include <stddef.h>
#include <string.h>

#include "array/copy.h"
#include "base/memory/mem.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/index/gather.h"
#include "kernel/index/scatter.h"
#include "op/rule.h"
#include "ops/batch/rules.h"
#include "ops/shape/movement.h"

static const char *const rules_names[] = {"numpy", "torch", "mxnet", NULL};

#define KEY                                                                                        \
    MXL_PARAM(mxl_key_params, key, MXL_P_TUPLE_OPT, MXL_REQUIRED,                                  \
              "The parts of the key: 0 and a position; 1, begin, end and step; 2 for a new axis; " \
              "3 for `...`; 4 for the next index array or mask."),                                 \
        MXL_PARAM(mxl_key_params, rules, MXL_P_ENUM, "numpy",                                      \
                  "Whose rules hold for masks, steps and the order of axes.",                      \
                  .values = rules_names)

static const mxl_op op_index_put;

/* ---- reading: _mxl_index ---- */

/* Reads the call's key for an array of this shape; its index arrays are inputs from `first` on. */
static int read_key(mxl_key *k, const mxl_op *op, const mxl_key_params *params, int ndim,
                    const int64_t *shape, int num_inputs, mxl_array *const *inputs, int first)
{
    mxl_plan_begin(&k->view, op, params, ndim, shape);
    return mxl_key_read(k, num_inputs - first, inputs + first);
}

static int index_infer(mxl_infer *infer)
{
    const mxl_array *x = infer->in[0];
    mxl_key k;

    if (read_key(&k, infer->op, infer->params, x->ndim, x->shape, infer->num_inputs, infer->in,
                 1) != 0)
        return -1;
    return mxl_infer_set(infer, x->dtype, k.result.ndim, k.result.dim);
}

/* Reads, from the last element to the first, and leaves zeros: of several indices of one element
 * the last one gets it. `x` is contiguous. */
static int take_last(const mxl_selection *s, const mxl_array *x, mxl_array *out)
{
    size_t width = mxl_dtype_size(x->dtype);
    const mxl_shape *shape = &s->key.result;
    mxl_array *left = mxl_array_copy(x);
    int64_t position[MXL_MAX_NDIM];
    char *from, *to;

    if (left == NULL)
        return -1;
    from = mxl_selection_first(s, mxl_array_write(left), width);
    to = mxl_array_write(out);
    for (int i = 0; i < shape->ndim; i++)
        position[i] = shape->dim[i] - 1;
    for (int64_t j = out->size - 1; j >= 0; j--) {
        int64_t far = 0, index = 0;

        for (int i = 0; i < shape->ndim; i++) {
            far += position[i] * s->strides[i];
            index += position[i] * s->index_strides[i];
        }
        far = (far + s->at[index]) * (int64_t)width;
        memcpy(to + j * (int64_t)width, from + far, width);
        memset(from + far, 0, width);
        for (int i = shape->ndim - 1; i >= 0 && position[i]-- == 0; i--)
            position[i] = shape->dim[i] - 1;
    }
    mxl_array_release(left);
    return 0;
}

static int read_selected(const mxl_call *call, mxl_array *x)
{
    mxl_array *out = call->out[0];
    size_t width = mxl_dtype_size(x->dtype);
    int64_t strides[MXL_MAX_NDIM];
    const void *from;
    int status = 0;
    mxl_selection s;

    if (mxl_selection_begin(&s, call, x, 1) != 0)
        return -1;
    if (mxl_key_check(&s.key, call->op, out) != 0) {
        mxl_selection_end(&s);
        return -1;
    }
    from = mxl_selection_first(&s, mxl_array_read(x), width);
    mxl_shape_strides(s.key.result.ndim, s.key.result.dim, strides);
    if (((const mxl_key_params *)call->params)->last)
        status = take_last(&s, x, out);
    else if (out->size > 0 && !mxl_selection_take(&s, width, from, mxl_array_write(out)))
        mxl_scatter_read(width, MXL_SELECTED(&s, strides), from, mxl_array_write(out));
    mxl_selection_end(&s);
    return status;
}

static int index_compute(const mxl_call *call)
{
    mxl_array *x = call->in[0];
    int status;

    if (call->num_inputs == 1)
        return mxl_plan_compute(call);
    if (!((const mxl_key_params *)call->params)->last)
        return read_selected(call, x);
    x = mxl_array_contiguous(x);
    status = x == NULL ? -1 : read_selected(call, x);
    mxl_array_release(x);
    return status;
}

/* The index arrays, from the first to the last input, after an array. */
static mxl_array *with_indices(mxl_grad *g, const mxl_op *op, const mxl_key_params *p,
                               mxl_array *array, int first)
{
    mxl_array *inputs[MXL_MAX_NDIM + 1] = {array};
    int count = g->num_inputs - first;

    for (int i = 0; i < count; i++)
        inputs[1 + i] = mxl_grad_in(g, first + i);
    return mxl_scope_call(g->s, op, p, 1 + count, inputs);
}

/* Zeros at what the key selects of an array. */
static mxl_array *cleared(mxl_grad *g, mxl_array *array, int first)
{
    mxl_key_params p = *(const mxl_key_params *)g->params;

    p.fill = 1;
    p.scalar = 0;
    p.accumulate = p.last = 0;
    return with_indices(g, &op_index_put, &p, array, first);
}

/* What the key selects of an array. */
static mxl_array *selected(mxl_grad *g, mxl_array *array, int first, bool last)
{
    mxl_key_params p = *(const mxl_key_params *)g->params;

    p.last = last && g->num_inputs > first;
    p.fill = p.accumulate = 0;
    p.shape = (mxl_tuple){0, NULL};
    return with_indices(g, &mxl_op_index, &p, array, first);
}

/* dx = zeros with dy added at what is selected; of the last ones, written there. */
static int index_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    mxl_key_params p = *(const mxl_key_params *)g->params;

    if (!mxl_grad_wants(g, 0))
        return 0;
    if (g->num_inputs == 1)
        return mxl_movement_grad(g);
    p.shape = (mxl_tuple){x->ndim, x->shape};
    p.accumulate = !p.last;
    return mxl_grad_set(g, 0, with_indices(g, &mxl_op_index_add, &p, g->grad_output[0], 1));
}

static void saves_indices(mxl_saves *saves)
{
    for (int i = 1; i < saves->num_inputs; i++)
        saves->in[i] = saves->wants[0];
}

static const mxl_input index_inputs[] = {
    MXL_INPUT(data, "The array to read from."),
    {0},
};

const mxl_op mxl_op_index = {
    .name = "_mxl_index",
    .doc = "What a key selects: integers, slices, new axes, index arrays and masks, which are "
           "further inputs.",
    .inputs = index_inputs,
    MXL_PARAMS_OF(mxl_key_params, KEY,
                  MXL_PARAM(mxl_key_params, last, MXL_P_BOOL, "0",
                            "Whether of several indices of one element all but the last give "
                            "zero.")),
    .arity = mxl_arity_given,
    .plan = mxl_key_plan,
    .infer = index_infer,
    .dtypes = "A>A",
    .by_values = 2,
    .by_masks = true,
    .compute = index_compute,
    .any_dtype = true,
    .grad = index_grad,
    .saves = saves_indices,
    MXL_BATCH(mxl_vmap_index),
    .strided = true,
    .node_slots = "0",
};

/* The same as operators of one part each, which PyTorch's graph has. */
static mxl_array *parts_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *inputs[MXL_MAX_NDIM + 1];
    int64_t numbers[4 * MXL_MAX_NDIM + MXL_MAX_NDIM];
    mxl_key_params p = *(const mxl_key_params *)call->params;
    mxl_array *x = mxl_key_views(s, call, &p.key, numbers, inputs);

    return call->num_inputs == 1 || x == NULL
               ? x
               : mxl_scope_call(s, &mxl_op_index, &p, call->num_inputs, inputs);
}

static const mxl_op op_index_parts = {
    .name = "_mxl_index_parts",
    .doc = "As _mxl_index; recorded as a node for each part of the key.",
    .inputs = index_inputs,
    MXL_PARAMS_OF(mxl_key_params, KEY),
    .arity = mxl_arity_given,
    .plan = mxl_key_plan,
    .infer = index_infer,
    .dtypes = "A>A",
    .by_values = 2,
    .by_masks = true,
    .compute = index_compute,
    .any_dtype = true,
    .compose = parts_compose,
    .strided = true,
};

/* ---- the gradient of reading: _mxl_index_add ---- */

static int add_infer(mxl_infer *infer)
{
    const mxl_key_params *p = infer->params;
    mxl_key k;

    if (mxl_infer_to(infer, p->shape) != 0 ||
        read_key(&k, infer->op, p, p->shape.n, p->shape.v, infer->num_inputs, infer->in, 1) != 0)
        return -1;
    return mxl_key_check(&k, infer->op, infer->in[0]);
}

static int add_compute(const mxl_call *call)
{
    mxl_array *values = call->in[0], *out = call->out[0];
    size_t width = mxl_dtype_size(out->dtype);
    int64_t strides[MXL_MAX_NDIM];
    uint64_t zero = 0;
    void *to;
    mxl_selection s;

    if (mxl_selection_begin(&s, call, out, 1) != 0)
        return -1;
    if (mxl_key_check(&s.key, call->op, values) != 0) {
        mxl_selection_end(&s);
        return -1;
    }
    to = mxl_array_write(out);
    mxl_fill(width, to, &zero, out->size);
    mxl_shape_strides(s.key.result.ndim, s.key.result.dim, strides);
    if (values->size > 0 && ((const mxl_key_params *)call->params)->accumulate)
        mxl_scatter_sum(out->dtype, MXL_SELECTED(&s, strides), mxl_selection_first(&s, to, width),
                        mxl_array_read(values));
    else if (values->size > 0)
        mxl_scatter_write(width, MXL_SELECTED(&s, strides), mxl_selection_first(&s, to, width),
                          mxl_array_read(values));
    mxl_selection_end(&s);
    return 0;
}

/* dvalues = dy at what is selected */
static int add_grad(mxl_grad *g)
{
    bool last = !((const mxl_key_params *)g->params)->accumulate;

    return mxl_grad_wants(g, 0) ? mxl_grad_set(g, 0, selected(g, g->grad_output[0], 1, last)) : 0;
}

static const mxl_input add_inputs[] = {
    MXL_INPUT(data, "The values to add, in the shape of what is selected."),
    {0},
};

const mxl_op mxl_op_index_add = {
    .name = "_mxl_index_add",
    .doc = "Zeros of a shape with data added at what a key selects.",
    .inputs = add_inputs,
    MXL_PARAMS_OF(
        mxl_key_params, KEY,
        MXL_PARAM(mxl_key_params, shape, MXL_P_SHAPE, MXL_REQUIRED, "Shape of the result."),
        MXL_PARAM(mxl_key_params, accumulate, MXL_P_BOOL, "1",
                  "Whether elements that are selected twice get the sum, else the last "
                  "value.")),
    .arity = mxl_arity_given,
    .infer = add_infer,
    .dtypes = "A>A",
    .complete_shapes = mxl_rule_by_parameter,
    .completes_alone = true,
    .compute = add_compute,
    .u64 = MXL_U64_INDEXED,
    .grad = add_grad,
    .saves = saves_indices,
    MXL_BATCH(mxl_vmap_index_add),
};

/* ---- writing: _mxl_index_put ---- */

/* The first input that is an index array. */
static int first_index(const mxl_key_params *p)
{
    return p->fill ? 1 : 2;
}

static int put_arity(const void *params, mxl_arity *arity)
{
    int least = first_index(params);

    if (arity->inputs < least)
        arity->inputs = least;
    return 0;
}

/* The strides of a value that is broadcast to what is selected; -1 with the error set. */
static int value_strides(const mxl_key *k, const mxl_array *value, int64_t *strides)
{
    const mxl_key_params *p = k->view.params;
    int ones = 0;
    bool fits;

    while (value->ndim - ones > k->result.ndim && value->shape[ones] == 1)
        ones++;
    fits = value->ndim - ones <= k->result.ndim;
    for (int i = 1; fits && i <= k->result.ndim; i++) {
        int from = value->ndim - i, to = k->result.ndim - i;
        int64_t size = from >= ones ? value->shape[from] : 1;

        fits = size == 1 || size == k->result.dim[to];
        strides[to] = size == 1 ? 0 : value->strides[from];
    }
    if (fits)
        return 0;
    return mxl_error("%sa value of shape %s does not fit the selected elements, of shape %s",
                     p->rules == MXL_KEY_TORCH ? "" : "ValueError: ", MXL_SHAPE_OF(value),
                     MXL_SHAPE_TEXT(k->result.ndim, k->result.dim));
}

/* PyTorch refuses a value that shares a part of its memory with the elements to write. */
static int check_apart(const mxl_key *k, mxl_array *x, const mxl_array *value)
{
    const mxl_key_params *p = k->view.params;
    mxl_plan part;
    mxl_array *view;
    int status = 0;

    if (p->rules != MXL_KEY_TORCH || k->count > 0 || x->storage != value->storage)
        return 0;
    if (mxl_plan_inputs(&part, &mxl_op_index, p, 0, false, 1, &x) != 0)
        return -1;
    view = mxl_array_strided(x, part.skip, part.shape.ndim, part.shape.dim, part.strides);
    if (view == NULL)
        return -1;
    if (mxl_array_overlaps_partly(view, value))
        status = mxl_error("the array that is written shares a part of its memory with an input; "
                           "copy the input first");
    mxl_array_release(view);
    return status;
}

static int put_infer(mxl_infer *infer)
{
    const mxl_key_params *p = infer->params;
    mxl_array *x = infer->in[0];
    int64_t strides[MXL_MAX_NDIM];
    mxl_key k;

    if (read_key(&k, infer->op, p, x->ndim, x->shape, infer->num_inputs, infer->in,
                 first_index(p)) != 0)
        return -1;
    if (!p->fill &&
        (value_strides(&k, infer->in[1], strides) != 0 || check_apart(&k, x, infer->in[1]) != 0))
        return -1;
    return mxl_infer_set(infer, x->dtype, x->ndim, x->shape);
}

/* The result has the shape of data. */
static int put_shapes(mxl_rule *rule)
{
    return mxl_rule_same(rule, mxl_rule_in(rule, 0), mxl_rule_out(rule, 0));
}

/* The value in x's dtype, apart from the output's memory: itself (retained), or a copy. */
static mxl_array *value_of(const mxl_call *call)
{
    mxl_array *value = call->in[1];
    const mxl_array *out = call->out[0];

    if (value->dtype == out->dtype && value->storage != out->storage) {
        mxl_array_retain(value);
        return value;
    }
    return mxl_array_copy_as(value, out->dtype);
}

/* Copies x to the output, unless they are the same elements. */
static int copy_rest(const mxl_array *x, mxl_array *out)
{
    bool same = x->storage == out->storage && x->offset == out->offset;
    mxl_array *copy;
    int status;

    for (int i = 0; same && i < x->ndim; i++)
        same = x->strides[i] == out->strides[i] || x->shape[i] == 1;
    if (same || out->size == 0)
        return 0;
    if (x->storage != out->storage)
        return mxl_array_copy_into(out, x);
    copy = mxl_array_copy(x);
    status = copy == NULL ? -1 : mxl_array_copy_into(out, copy);
    mxl_array_release(copy);
    return status;
}

static int put_compute(const mxl_call *call)
{
    const mxl_key_params *p = call->params;
    mxl_array *out = call->out[0], *value = NULL;
    int64_t strides[MXL_MAX_NDIM] = {0};
    size_t width = mxl_dtype_size(out->dtype);
    uint64_t element = 0;
    const void *from = &element;
    int status = 0;
    mxl_selection s;
    void *to;

    if (p->accumulate && mxl_dtype_is_carried(out->dtype))
        return mxl_error("%s: adding to what a key selects is not supported of %s", call->op->name,
                         mxl_dtype_name(out->dtype));
    if (p->fill && mxl_check_digits(call->op->name, p->scalar, out->dtype) != 0)
        return -1;
    if (mxl_selection_begin(&s, call, out, first_index(p)) != 0)
        return -1;
    mxl_cast_scalar(p->scalar, out->dtype, &element);
    if (!p->fill) {
        value = value_of(call);
        from = value == NULL ? NULL : mxl_array_read(value);
        status = value == NULL ? -1 : value_strides(&s.key, value, strides);
    }
    if (status == 0)
        status = copy_rest(call->in[0], out);
    if (status == 0 && mxl_shape_size(s.key.result.ndim, s.key.result.dim) > 0) {
        to = mxl_selection_first(&s, mxl_array_write(out), width);
        if (p->accumulate)
            mxl_scatter_sum(out->dtype, MXL_SELECTED(&s, strides), to, from);
        else
            mxl_scatter_write(width, MXL_SELECTED(&s, strides), to, from);
    }
    mxl_array_release(value);
    mxl_selection_end(&s);
    return status;
}

/* dx = dy with zeros at what is selected (where values are added: dy); dvalue = dy there. For an
 * element that is selected twice every value gets the gradient in PyTorch, else the last. */
static int put_grad(mxl_grad *g)
{
    const mxl_key_params *p = g->params;
    mxl_array *dy = g->grad_output[0];
    bool last = p->rules != MXL_KEY_TORCH && !p->accumulate;

    if (mxl_grad_wants(g, 0) &&
        mxl_grad_set(g, 0, p->accumulate ? dy : cleared(g, dy, first_index(p))) != 0)
        return -1;
    if (p->fill || !mxl_grad_wants(g, 1))
        return 0;
    return mxl_grad_set(g, 1, selected(g, dy, 2, last));
}

static void put_saves(mxl_saves *saves)
{
    int first = first_index(saves->params);

    for (int i = first; i < saves->num_inputs; i++)
        saves->in[i] = saves->wants[0] || (first == 2 && saves->wants[1]);
}

static const mxl_input put_inputs[] = {
    MXL_INPUT(data, "The array to copy."),
    {0},
};

static const mxl_op op_index_put = {
    .name = "_mxl_index_put",
    .doc = "The array with a value, broadcast, at what a key selects; the value is the second "
           "input, and index arrays and masks follow.",
    .inputs = put_inputs,
    MXL_PARAMS_OF(
        mxl_key_params, KEY,
        MXL_PARAM(mxl_key_params, accumulate, MXL_P_BOOL, "0", "Whether the value is added."),
        MXL_PARAM(mxl_key_params, fill, MXL_P_BOOL, "0",
                  "Whether the value is the number `scalar`, and no input."),
        MXL_PARAM(mxl_key_params, scalar, MXL_P_FLOAT, "0", "The number.", .type_name = "double")),
    .arity = put_arity,
    .infer = put_infer,
    .dtypes = "A>A",
    .complete_shapes = put_shapes,
    .completes_alone = true,
    .compute = put_compute,
    .any_dtype = true,
    .grad = put_grad,
    .saves = put_saves,
    MXL_BATCH(mxl_vmap_index_put),
    .strided = true,
    .in_place = true,
    .writes_last = true,
};

const mxl_op *const mxl_ops_keys[] = {&mxl_op_index, &op_index_parts, &mxl_op_index_add,
                                      &op_index_put, NULL};

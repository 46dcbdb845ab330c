/* Sequences of different lengths along axis 0 or 1, one for each position of the other:
 * SequenceMask, SequenceLast, SequenceReverse; and _mxl_sequence_put, the gradient of the second.
 */
#include <stddef.h>

#include "base/memory/mem.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/index/gather.h"
#include "kernel/index/index_offsets.h"
#include "ops/build.h"

/* The parameters of all operators here; each lists its own. */
typedef struct sequence_params {
    int use_sequence_length;
    double value;
    int64_t axis;
    int64_t steps; /* _mxl_sequence_put */
} sequence_params;

static const mxl_input sequence_inputs[] = {
    MXL_INPUT(data, "The sequences, of two axes or more."),
    MXL_INPUT(sequence_length,
              "How long each sequence is, of any dtype; only with use_sequence_length."),
    {0},
};

#define USE_LENGTH                                                                                 \
    MXL_PARAM(sequence_params, use_sequence_length, MXL_P_BOOL, "0",                               \
              "Whether lengths are given; else each sequence fills its axis.")
#define AXIS(text) MXL_PARAM(sequence_params, axis, MXL_P_INT, "0", text)

static int sequence_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = ((const sequence_params *)params)->use_sequence_length ? 2 : 1;
    return 0;
}

/* ---- layout and lengths ---- */

/* An array as pieces of `inner` elements: step t of sequence b is piece t * of_step + b * of_batch.
 */
typedef struct layout {
    int64_t steps, batch, inner, of_step, of_batch;
} layout;

static int find_layout(const char *name, const sequence_params *p, int ndim, const int64_t *shape,
                       layout *out)
{
    if (ndim < 2)
        return mxl_error("%s: data must have two axes or more, got %d", name, ndim);
    if (p->axis != 0 && p->axis != 1)
        return mxl_error("%s: axis must be 0 or 1, got %lld", name, (long long)p->axis);
    out->steps = shape[p->axis];
    out->batch = shape[1 - p->axis];
    out->inner = mxl_shape_size(ndim - 2, shape + 2);
    out->of_step = p->axis == 0 ? out->batch : 1;
    out->of_batch = p->axis == 0 ? 1 : out->steps;
    return 0;
}

static int check_lengths(const mxl_infer *infer, int64_t batch)
{
    const mxl_array *lengths = infer->num_inputs == 2 ? infer->in[1] : NULL;
    char text[128];

    if (lengths == NULL || mxl_shape_same(lengths->ndim, lengths->shape, 1, &batch))
        return 0;
    return mxl_error("%s: sequence_length must have shape (%lld,), got %s", infer->op->name,
                     (long long)batch,
                     mxl_shape_text(text, sizeof(text), lengths->ndim, lengths->shape));
}

/* The length of each sequence, clamped to [low, number of steps]. Freed with lengths_end. NULL with
 * the error set. */
static int64_t *lengths_begin(const mxl_call *call, const layout *at, int64_t low)
{
    const mxl_array *given = call->num_inputs == 2 ? call->in[1] : NULL;
    int64_t *lengths = mxl_alloc((size_t)at->batch * sizeof(*lengths)), step = 1;

    if (lengths == NULL)
        return NULL;
    if (given != NULL) {
        const void *from = mxl_array_read(given);

        mxl_cast_loop(given->dtype, MXL_I64)(lengths, &from, &step, at->batch, NULL);
    }
    for (int64_t b = 0; b < at->batch; b++) {
        if (given == NULL)
            lengths[b] = at->steps;
        if (lengths[b] < low || lengths[b] > at->steps) {
            mxl_error("ValueError: %s: sequence %lld has length %lld, it must be from %lld to %lld",
                      call->op->name, (long long)b, (long long)lengths[b], (long long)low,
                      (long long)at->steps);
            mxl_free(lengths, (size_t)at->batch * sizeof(*lengths));
            return NULL;
        }
    }
    return lengths;
}

static void lengths_end(int64_t *lengths, const layout *at)
{
    mxl_free(lengths, (size_t)at->batch * sizeof(*lengths));
}

/* The vjps read only the lengths. */
static void saves_lengths(mxl_saves *saves)
{
    if (saves->num_inputs == 2)
        saves->in[1] = saves->wants[0];
}

/* Applies the operator to grad_output, with the same lengths. */
static mxl_array *again(mxl_grad *g, const mxl_op *op, const sequence_params *p)
{
    mxl_array *inputs[2] = {g->grad_output[0], NULL};

    if (g->num_inputs == 2)
        inputs[1] = mxl_grad_in(g, 1);
    return mxl_scope_call(g->s, op, p, g->num_inputs, inputs);
}

/* Outputs are like the data, whose layout is checked. */
static int sequence_infer(mxl_infer *infer)
{
    layout at = {0};

    if (find_layout(infer->op->name, infer->params, infer->in[0]->ndim, infer->in[0]->shape, &at) !=
            0 ||
        check_lengths(infer, at.batch) != 0)
        return -1;
    return mxl_infer_like_first(infer);
}

/* ---- SequenceMask ---- */

static const mxl_param mask_table[] = {
    USE_LENGTH,
    MXL_PARAM(sequence_params, value, MXL_P_FLOAT, "0",
              "Value of the elements behind the end of a sequence."),
    AXIS("The axis of the sequences' steps: 0 or 1; the other one counts the sequences."),
    {0},
};

/* Fills the steps after the end of each sequence. Lengths are clamped to the axis. */
static int fill_behind(const mxl_call *call, const layout *at, char *out)
{
    const mxl_array *given = call->in[1];
    size_t width = mxl_dtype_size(call->in[0]->dtype);
    int64_t *lengths = mxl_alloc((size_t)at->batch * sizeof(*lengths)), step = 1;
    const void *from = mxl_array_read(given);
    uint64_t value = 0;

    if (lengths == NULL)
        return -1;
    mxl_cast_loop(given->dtype, MXL_I64)(lengths, &from, &step, at->batch, NULL);
    mxl_cast_scalar(((const sequence_params *)call->params)->value, call->in[0]->dtype, &value);
    for (int64_t b = 0; b < at->batch; b++) {
        for (int64_t t = lengths[b] < 0 ? 0 : lengths[b]; t < at->steps; t++)
            mxl_fill(width, out + (t * at->of_step + b * at->of_batch) * at->inner * (int64_t)width,
                     &value, at->inner);
    }
    lengths_end(lengths, at);
    return 0;
}

static int mask_compute(const mxl_call *call)
{
    const mxl_array *data = call->in[0];
    char *out = mxl_array_write(call->out[0]);
    layout at;

    if (find_layout(call->op->name, call->params, data->ndim, data->shape, &at) != 0)
        return -1;
    if (mxl_array_read(data) != out)
        mxl_copy_bytes(out, mxl_array_read(data), (size_t)data->size * mxl_dtype_size(data->dtype));
    return call->num_inputs == 1 || data->size == 0 ? 0 : fill_behind(call, &at, out);
}

static const mxl_op op_sequence_mask;

/* dx = dy within the sequences, zeros after them */
static int mask_grad(mxl_grad *g)
{
    sequence_params p = *(const sequence_params *)g->params;

    if (!mxl_grad_wants(g, 0))
        return 0;
    p.value = 0;
    return mxl_grad_set(g, 0, again(g, &op_sequence_mask, &p));
}

static const mxl_op op_sequence_mask = {
    .name = "SequenceMask",
    .aliases = MXL_ALIASES("_npx_sequence_mask"),
    .doc = "The sequences with one value at all steps behind their ends.",
    .inputs = sequence_inputs,
    MXL_PARAMS(sequence_params, mask_table),
    .arity = sequence_arity,
    .infer = sequence_infer,
    .compute = mask_compute,
    .grad = mask_grad,
    .saves = saves_lengths,
    .in_place = true,
};

/* ---- SequenceLast ---- */

static const mxl_param last_table[] = {
    USE_LENGTH,
    AXIS("The axis of the sequences' steps: 0 or 1; the other one counts the sequences."),
    {0},
};

static int last_infer(mxl_infer *infer)
{
    const sequence_params *p = infer->params;
    const mxl_array *data = infer->in[0];
    mxl_shape *out = &infer->out_shape[0];
    layout at;
    int n = 0;

    if (find_layout(infer->op->name, p, data->ndim, data->shape, &at) != 0 ||
        check_lengths(infer, at.batch) != 0)
        return -1;
    for (int i = 0; i < data->ndim; i++) {
        if (i != p->axis)
            out->dim[n++] = data->shape[i];
    }
    out->ndim = n;
    infer->out_dtype[0] = data->dtype;
    return 0;
}

/* The piece of each sequence's last step, replacing its length. */
static int64_t *last_pieces(const mxl_call *call, const layout *at)
{
    int64_t *lengths = lengths_begin(call, at, 1);

    for (int64_t b = 0; lengths != NULL && b < at->batch; b++)
        lengths[b] = (lengths[b] - 1) * at->of_step + b * at->of_batch;
    return lengths;
}

static int last_compute(const mxl_call *call)
{
    const mxl_array *data = call->in[0];
    int64_t *pieces;
    layout at;

    if (find_layout(call->op->name, call->params, data->ndim, data->shape, &at) != 0)
        return -1;
    if (call->num_inputs == 1 && at.steps > 0 && data->size == 0)
        return 0;
    pieces = last_pieces(call, &at);
    if (pieces == NULL)
        return -1;
    mxl_take(1, at.steps * at.batch, at.inner * (int64_t)mxl_dtype_size(data->dtype),
             mxl_array_read(data), at.batch, pieces, mxl_array_write(call->out[0]));
    lengths_end(pieces, &at);
    return 0;
}

static const mxl_op op_sequence_last, op_sequence_put;

/* dx = dy at the last steps, zeros elsewhere */
static int last_grad(mxl_grad *g)
{
    sequence_params p = *(const sequence_params *)g->params;

    if (!mxl_grad_wants(g, 0))
        return 0;
    p.steps = mxl_grad_in_meta(g, 0)->shape[p.axis];
    return mxl_grad_set(g, 0, again(g, &op_sequence_put, &p));
}

static const mxl_op op_sequence_last = {
    .name = "SequenceLast",
    .doc = "The last step of each sequence.",
    .inputs = sequence_inputs,
    MXL_PARAMS(sequence_params, last_table),
    .arity = sequence_arity,
    .infer = last_infer,
    .compute = last_compute,
    .grad = last_grad,
    .saves = saves_lengths,
};

/* ---- _mxl_sequence_put ---- */

static const mxl_param put_table[] = {
    USE_LENGTH,
    AXIS("The axis of the sequences' steps."),
    MXL_PARAM(sequence_params, steps, MXL_P_INT, MXL_REQUIRED, "Extent of that axis."),
    {0},
};

static int put_infer(mxl_infer *infer)
{
    const sequence_params *p = infer->params;
    const mxl_array *data = infer->in[0];
    mxl_shape *out = &infer->out_shape[0];
    layout at = {0};
    int n = 0;

    if (data->ndim < 1 || data->ndim == MXL_MAX_NDIM || p->steps < 0)
        return mxl_error("%s: %d axes, %lld steps", infer->op->name, data->ndim,
                         (long long)p->steps);
    for (int i = 0; i <= data->ndim; i++)
        out->dim[i] = i == p->axis ? p->steps : data->shape[n++];
    out->ndim = data->ndim + 1;
    if (find_layout(infer->op->name, p, out->ndim, out->dim, &at) != 0 ||
        check_lengths(infer, at.batch) != 0)
        return -1;
    infer->out_dtype[0] = data->dtype;
    return 0;
}

static int put_compute(const mxl_call *call)
{
    mxl_array *out = call->out[0];
    int64_t width = (int64_t)mxl_dtype_size(out->dtype);
    uint64_t zero = 0;
    int64_t *pieces;
    layout at;

    if (find_layout(call->op->name, call->params, out->ndim, out->shape, &at) != 0)
        return -1;
    pieces = last_pieces(call, &at);
    if (pieces == NULL)
        return -1;
    mxl_fill((size_t)width, mxl_array_write(out), &zero, out->size);
    mxl_index_offsets_put(at.inner * width, mxl_array_write(out), at.batch, pieces,
                          mxl_array_read(call->in[0]));
    lengths_end(pieces, &at);
    return 0;
}

/* dx = the last steps of dy */
static int put_grad(mxl_grad *g)
{
    return mxl_grad_wants(g, 0) ? mxl_grad_set(g, 0, again(g, &op_sequence_last, g->params)) : 0;
}

static const mxl_op op_sequence_put = {
    .name = "_mxl_sequence_put",
    .doc = "Zeros with data at the last step of each sequence.",
    .inputs = sequence_inputs,
    MXL_PARAMS(sequence_params, put_table),
    .arity = sequence_arity,
    .infer = put_infer,
    .compute = put_compute,
    .grad = put_grad,
    .saves = saves_lengths,
};

/* ---- SequenceReverse ---- */

static const mxl_param reverse_table[] = {
    USE_LENGTH,
    AXIS("The axis of the sequences' steps: 0."),
    {0},
};

static int reverse_infer(mxl_infer *infer)
{
    const sequence_params *p = infer->params;

    if (p->axis != 0)
        return mxl_error("%s: axis must be 0, got %lld", infer->op->name, (long long)p->axis);
    return sequence_infer(infer);
}

static int reverse_compute(const mxl_call *call)
{
    const mxl_array *data = call->in[0];
    int64_t *lengths, *from, count;
    layout at;

    if (find_layout(call->op->name, call->params, data->ndim, data->shape, &at) != 0)
        return -1;
    if (call->num_inputs == 1 && data->size == 0)
        return 0;
    lengths = lengths_begin(call, &at, 0);
    if (lengths == NULL)
        return -1;
    count = data->size == 0 ? 0 : at.steps * at.batch;
    from = mxl_alloc((size_t)count * sizeof(*from));
    for (int64_t i = 0; from != NULL && i < count; i++) {
        int64_t t = i / at.batch, b = i % at.batch;

        from[i] = t < lengths[b] ? (lengths[b] - 1 - t) * at.batch + b : i;
    }
    if (from != NULL)
        mxl_take(1, count, at.inner * (int64_t)mxl_dtype_size(data->dtype), mxl_array_read(data),
                 count, from, mxl_array_write(call->out[0]));
    mxl_free(from, (size_t)count * sizeof(*from));
    lengths_end(lengths, &at);
    return from == NULL ? -1 : 0;
}

static const mxl_op op_sequence_reverse;

/* dx = dy with the same steps reversed */
static int reverse_grad(mxl_grad *g)
{
    return mxl_grad_wants(g, 0) ? mxl_grad_set(g, 0, again(g, &op_sequence_reverse, g->params)) : 0;
}

static const mxl_op op_sequence_reverse = {
    .name = "SequenceReverse",
    .doc = "The steps of each sequence in reverse order; elements behind its end stay.",
    .inputs = sequence_inputs,
    MXL_PARAMS(sequence_params, reverse_table),
    .arity = sequence_arity,
    .infer = reverse_infer,
    .compute = reverse_compute,
    .grad = reverse_grad,
    .saves = saves_lengths,
};

const mxl_op *const mxl_ops_sequence[] = {
    &op_sequence_mask, &op_sequence_last, &op_sequence_put, &op_sequence_reverse, NULL,
};

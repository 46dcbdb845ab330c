/* Sequences of different lengths along axis 0 or 1, one for each position of the other:
 * SequenceMask, SequenceLast, SequenceReverse. */
#include <stddef.h>
#include <string.h>

#include "base/memory/mem.h"
#include "kernel/copy/cast.h"
#include "kernel/copy/strided_copy.h"
#include "kernel/index/gather.h"
#include "ops/build.h"

/* The parameters of all operators here; each lists its own. */
typedef struct sequence_params {
    int use_sequence_length;
    double value;
    int64_t axis;
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

/* The axis is that of the steps; the other one counts the sequences. */
static const char *sequence_shapes(const void *params)
{
    return ((const sequence_params *)params)->axis == 0
               ? NULL
               : "data[N,T,*S] sequence_length[N] -> [N,T,*S]";
}

#define SEQUENCES MXL_SHAPES("data[T,N,*S] sequence_length[N] -> [T,N,*S]"), .dtypes = "Aa>A"

static int sequence_check(void *params)
{
    int64_t axis = ((const sequence_params *)params)->axis;

    return axis == 0 || axis == 1
               ? 0
               : mxl_error("sequences: axis must be 0 or 1, got %lld", (long long)axis);
}

/* ---- layout and lengths ---- */

/* An array as pieces of `inner` elements: step t of sequence b is piece t * of_step + b * of_batch.
 */
typedef struct layout {
    int64_t steps, batch, inner, of_step, of_batch;
} layout;

static void find_layout(const sequence_params *p, const mxl_array *data, layout *out)
{
    const int64_t *shape = data->shape;

    out->steps = shape[p->axis];
    out->batch = shape[1 - p->axis];
    out->inner = mxl_shape_size(data->ndim - 2, shape + 2);
    out->of_step = p->axis == 0 ? out->batch : 1;
    out->of_batch = p->axis == 0 ? 1 : out->steps;
}

/* The length of each sequence, which must be in [low, number of steps]; -1 with the error set. */
static int read_lengths(const mxl_call *call, const layout *at, int64_t low, int64_t *lengths)
{
    const mxl_array *given = call->num_inputs == 2 ? call->in[1] : NULL;
    int64_t step = 1;

    if (given != NULL) {
        const void *from = mxl_array_read(given);

        mxl_cast_loop(given->dtype, MXL_I64)(lengths, &from, &step, at->batch, NULL);
    }
    for (int64_t b = 0; b < at->batch; b++) {
        if (given == NULL)
            lengths[b] = at->steps;
        if (lengths[b] < low || lengths[b] > at->steps)
            return mxl_error(
                "ValueError: %s: sequence %lld has length %lld, it must be from %lld to %lld",
                call->op->name, (long long)b, (long long)lengths[b], (long long)low,
                (long long)at->steps);
    }
    return 0;
}

/* The vjps read only the lengths. */
static void saves_lengths(mxl_saves *saves)
{
    if (saves->num_inputs == 2)
        saves->in[1] = saves->wants[0];
}

/* SequenceMask: dx = dy within the sequences, zeros after them. SequenceReverse: dx = dy with the
 * same steps reversed. */
static int sequence_grad(mxl_grad *g)
{
    sequence_params p = *(const sequence_params *)g->params;
    mxl_array *inputs[2] = {g->grad_output[0], NULL};

    if (!mxl_grad_wants(g, 0))
        return 0;
    if (g->num_inputs == 2)
        inputs[1] = mxl_grad_in(g, 1);
    p.value = 0;
    return mxl_grad_set(g, 0, mxl_scope_call(g->s, g->op, &p, g->num_inputs, inputs));
}

/* ---- SequenceMask ---- */

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
    mxl_free(lengths, (size_t)at->batch * sizeof(*lengths));
    return 0;
}

static int mask_compute(const mxl_call *call)
{
    const mxl_array *data = call->in[0];
    char *out = mxl_array_write(call->out[0]);
    layout at;

    find_layout(call->params, data, &at);
    if (mxl_array_read(data) != out)
        mxl_copy_bytes(out, mxl_array_read(data), (size_t)data->size * mxl_dtype_size(data->dtype));
    return call->num_inputs == 1 || data->size == 0 ? 0 : fill_behind(call, &at, out);
}

static const mxl_op op_sequence_mask = {
    .name = "SequenceMask",
    .output_names = "output",
    .aliases = MXL_ALIASES("_npx_sequence_mask"),
    .doc = "The sequences with one value at all steps behind their ends.",
    .inputs = sequence_inputs,
    MXL_PARAMS_OF(
        sequence_params, USE_LENGTH,
        MXL_PARAM(sequence_params, value, MXL_P_FLOAT, "0",
                  "Value of the elements behind the end of a sequence."),
        AXIS("The axis of the sequences' steps: 0 or 1; the other one counts the sequences.")),
    .arity = sequence_arity,
    .check = sequence_check,
    SEQUENCES,
    .shapes_of = sequence_shapes,
    .compute = mask_compute,
    .grad = sequence_grad,
    .saves = saves_lengths,
    .in_place = true,
};

/* ---- SequenceLast ---- */

/* The second output, hidden, is the place of each sequence's last step: the position in the first
 * two axes together. */
static int last_arity(const void *params, mxl_arity *arity)
{
    arity->outputs = 2;
    arity->visible = 1;
    return sequence_arity(params, arity);
}

/* Without lengths to check, sequences whose steps are empty need no places. */
static bool selects_nothing(int num_inputs, const layout *at)
{
    return num_inputs == 1 && at->steps > 0 && at->batch * at->inner == 0;
}

static const char *last_shapes(const void *params)
{
    return ((const sequence_params *)params)->axis == 0
               ? NULL
               : "data[N,T,*S] sequence_length[N] -> [N,*S] [N]";
}

static int last_infer(mxl_infer *infer)
{
    layout at;

    if (mxl_infer_said(infer) != 0)
        return -1;
    find_layout(infer->params, infer->in[0], &at);
    if (selects_nothing(infer->num_inputs, &at))
        infer->out_shape[1].dim[0] = 0;
    return 0;
}

static int last_compute(const mxl_call *call)
{
    const mxl_array *data = call->in[0];
    int64_t *place = mxl_array_write(call->out[1]);
    layout at;

    find_layout(call->params, data, &at);
    if (selects_nothing(call->num_inputs, &at))
        return 0;
    if (read_lengths(call, &at, 1, place) != 0)
        return -1;
    for (int64_t b = 0; b < at.batch; b++)
        place[b] = (place[b] - 1) * at.of_step + b * at.of_batch;
    mxl_take(1, at.steps * at.batch, at.inner * (int64_t)mxl_dtype_size(data->dtype),
             mxl_array_read(data), at.batch, place, mxl_array_write(call->out[0]));
    return 0;
}

/* dx = dy at the last steps, zeros elsewhere */
static int last_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);
    int64_t places[MXL_MAX_NDIM];
    mxl_array *dx;

    if (!mxl_grad_wants(g, 0) || g->grad_output[0] == NULL)
        return 0;
    places[0] = x->shape[0] * x->shape[1];
    memcpy(places + 1, x->shape + 2, (size_t)(x->ndim - 2) * sizeof(*places));
    dx = mxl_take_back(g->s, g->grad_output[0], mxl_grad_out(g, 1), 0, x->ndim - 1, places);
    return mxl_grad_set(g, 0, mxl_reshape(g->s, dx, x->ndim, x->shape));
}

static void last_saves(mxl_saves *saves)
{
    saves->out[1] = saves->wants[0];
}

static const mxl_op op_sequence_last = {
    .name = "SequenceLast",
    .doc = "The last step of each sequence.",
    .inputs = sequence_inputs,
    MXL_PARAMS_OF(
        sequence_params, USE_LENGTH,
        AXIS("The axis of the sequences' steps: 0 or 1; the other one counts the sequences.")),
    .arity = last_arity,
    .output_names = "output",
    .total_outputs = 1,
    .check = sequence_check,
    .infer = last_infer,
    MXL_SHAPES_TABLE("data[T,N,*S] sequence_length[N] -> [N,*S] [N]"),
    .shapes_of = last_shapes,
    .dtypes = "Aa>Al",
    .compute = last_compute,
    .u64 = MXL_U64_WRAPS,
    .grad = last_grad,
    .saves = last_saves,
};

/* ---- SequenceReverse ---- */

static int reverse_check(void *params)
{
    int64_t axis = ((const sequence_params *)params)->axis;

    return axis == 0 ? 0 : mxl_error("SequenceReverse: axis must be 0, got %lld", (long long)axis);
}

static int reverse_compute(const mxl_call *call)
{
    const mxl_array *data = call->in[0];
    int64_t *lengths, *from, count;
    size_t bytes;
    int status;
    layout at;

    find_layout(call->params, data, &at);
    if (call->num_inputs == 1 && data->size == 0)
        return 0;
    count = data->size == 0 ? 0 : at.steps * at.batch;
    bytes = (size_t)(at.batch + count) * sizeof(*lengths);
    lengths = mxl_alloc(bytes);
    if (lengths == NULL)
        return -1;
    status = read_lengths(call, &at, 0, lengths);
    from = lengths + at.batch;
    for (int64_t i = 0; status == 0 && i < count; i++) {
        int64_t t = i / at.batch, b = i % at.batch;

        from[i] = t < lengths[b] ? (lengths[b] - 1 - t) * at.batch + b : i;
    }
    if (status == 0)
        mxl_take(1, count, at.inner * (int64_t)mxl_dtype_size(data->dtype), mxl_array_read(data),
                 count, from, mxl_array_write(call->out[0]));
    mxl_free(lengths, bytes);
    return status;
}

static const mxl_op op_sequence_reverse = {
    .name = "SequenceReverse",
    .output_names = "output",
    .doc = "The steps of each sequence in reverse order; elements behind its end stay.",
    .inputs = sequence_inputs,
    MXL_PARAMS_OF(sequence_params, USE_LENGTH, AXIS("The axis of the sequences' steps: 0.")),
    .arity = sequence_arity,
    .check = reverse_check,
    SEQUENCES,
    .compute = reverse_compute,
    .u64 = MXL_U64_WRAPS,
    .grad = sequence_grad,
    .saves = saves_lengths,
};

const mxl_op *const mxl_ops_sequence[] = {
    &op_sequence_mask,
    &op_sequence_last,
    &op_sequence_reverse,
    NULL,
};

/* _contrib_hawkesll: the likelihood of a self-exciting point process. The forward of _mxl_hawkes
 * leaves the derivatives; if its backward is recorded, it is that of the composition. */
#include <math.h>
#include <stddef.h>

#include "array/copy.h"
#include "engine/backward/composite.h"
#include "kernel/rnn/hawkes.h"
#include "ops/elementwise/elementwise.h"
#include "ops/shape/movement.h"

enum { MU, ALPHA, BETA, STATE, LAGS, MARKS, LENGTH, UNTIL, INPUTS };

static const mxl_input hawkes_inputs[] = {
    MXL_INPUT(lda, "The intensities without any event, of shape (batch, kind)."),
    MXL_INPUT(alpha, "How many events an event of each kind brings, of shape (kind,)."),
    MXL_INPUT(beta, "How fast that decays, of shape (kind,)."),
    MXL_INPUT(state, "The excitation at time 0, of shape (batch, kind)."),
    MXL_INPUT(lags, "From each event to the next, of shape (batch, event)."),
    MXL_INPUT(marks, "The kind of each event, int32 in the shape of lags."),
    MXL_INPUT(valid_length, "Events of each row, of shape (batch,)."),
    MXL_INPUT(max_time, "When the observation of each row ends, of shape (batch,)."),
    {0},
};

/* The events of each row, rounded up, as new int64; NULL with the error set, also if a length or
 * the mark of an event is out of range. */
static mxl_array *read_lengths(mxl_array *const *in)
{
    int64_t batch = in[LAGS]->shape[0], steps = in[LAGS]->shape[1], kinds = in[MU]->shape[1];
    mxl_array *wide = mxl_array_new(MXL_F64, 1, &batch), *to = mxl_array_new(MXL_I64, 1, &batch);
    mxl_array *marks = mxl_array_contiguous(in[MARKS]);
    int status = wide == NULL || to == NULL || marks == NULL ? -1 : 0;

    if (status == 0)
        status = mxl_array_copy_into(wide, in[LENGTH]);
    for (int64_t b = 0; b < batch && status == 0; b++) {
        double length = ceil(((const double *)mxl_array_read(wide))[b]);
        const int32_t *mark = (const int32_t *)mxl_array_read(marks) + b * steps;

        if (!(length >= 0 && length <= (double)steps)) {
            status = mxl_error("_contrib_hawkesll: valid_length must be from 0 to %lld, got %g",
                               (long long)steps, length);
            break;
        }
        ((int64_t *)mxl_array_write(to))[b] = (int64_t)length;
        for (int64_t j = 0; j < (int64_t)length && status == 0; j++) {
            if (mark[j] < 0 || mark[j] >= kinds)
                status = mxl_error("_contrib_hawkesll: marks must be from 0 to %lld, got %d",
                                   (long long)kinds - 1, mark[j]);
        }
    }
    mxl_array_release(wide);
    mxl_array_release(marks);
    if (status == 0)
        return to;
    mxl_array_release(to);
    return NULL;
}

/* ---- composition ---- */

typedef struct process {
    mxl_array *s, *at, *sum; /* (batch, kind): excitation, last event, likelihood */
} process;

/* All kinds from their last events to a time: the compensator, and the decayed excitation. */
static mxl_array *decay(mxl_scope *s, mxl_array *const *in, mxl_array *excitation, mxl_array *d,
                        mxl_array **decayed)
{
    mxl_array *left = mxl_exp(s, mxl_negative(s, mxl_mul(s, d, in[BETA])));
    mxl_array *gone = mxl_mul(s, in[ALPHA], mxl_mul(s, excitation, mxl_one_minus(s, left)));

    *decayed = mxl_mul(s, excitation, left);
    return mxl_add(s, mxl_mul(s, in[MU], d), gone);
}

/* 1 for the kind of event j of each row that has one. */
static mxl_array *marked(mxl_scope *s, mxl_array *const *in, const mxl_array *lengths,
                         const mxl_array *marks, int64_t j)
{
    mxl_array *flags = mxl_scope_own(s, mxl_array_new(MXL_BOOL, 2, in[MU]->shape));
    int64_t kinds = in[MU]->shape[1];
    uint8_t *flag;

    if (flags == NULL)
        return NULL;
    flag = mxl_array_write(flags);
    for (int64_t i = 0; i < flags->size; i++) {
        int64_t b = i / kinds;
        int32_t mark = ((const int32_t *)mxl_array_read(marks))[b * marks->shape[1] + j];

        flag[i] = j < ((const int64_t *)mxl_array_read(lengths))[b] && mark == i % kinds;
    }
    return flags;
}

static void event(mxl_scope *s, mxl_array *const *in, mxl_array *here, mxl_array *now, process *p)
{
    mxl_array *decayed, *passed, *intensity, *zeros = mxl_zeros_like(s, p->s);
    mxl_array *ones = mxl_add_scalar(s, zeros, 1), *gain;

    passed = decay(s, in, p->s, mxl_sub(s, now, p->at), &decayed);
    intensity = mxl_add(s, in[MU], mxl_mul(s, mxl_mul(s, in[ALPHA], in[BETA]), decayed));
    intensity = mxl_where(s, here, intensity, ones);
    gain = mxl_sub(s, mxl_apply(s, &mxl_op_log, intensity), mxl_where(s, here, passed, zeros));
    p->sum = mxl_add(s, p->sum, gain);
    p->s = mxl_where(s, here, mxl_add_scalar(s, decayed, 1), p->s);
    p->at = mxl_where(s, here, now, p->at);
}

static mxl_array *hawkes_parts(mxl_scope *s, const mxl_call *call)
{
    mxl_array *const *in = call->in;
    const int64_t *shape = in[MU]->shape, column[2] = {shape[0], 1};
    mxl_array *lengths = mxl_scope_own(s, read_lengths(in));
    mxl_array *marks = mxl_scope_own(s, mxl_array_contiguous(in[MARKS]));
    mxl_array *now = mxl_zeros_like(s, in[MU]), *last, *passed;
    process p = {in[STATE], now, now};

    if (lengths == NULL || marks == NULL)
        return NULL;
    for (int64_t j = 0; j < in[LAGS]->shape[1] && p.sum != NULL; j++) {
        now = mxl_add(s, now, mxl_slice_axis(s, in[LAGS], 1, j, j + 1));
        event(s, in, marked(s, in, lengths, marks, j), now, &p);
    }
    now = mxl_broadcast_to(s, mxl_reshape(s, in[UNTIL], 2, column), 2, shape);
    passed = decay(s, in, p.s, mxl_sub(s, now, p.at), &last);
    call->out[1] = last;
    p.sum = mxl_sub(s, p.sum, passed);
    return mxl_reshape(s, mxl_sum_axis(s, p.sum, 1), 1, shape);
}

/* ---- _mxl_hawkes ---- */

static int fused_arity(const void *params, mxl_arity *arity)
{
    (void)params;
    *arity = (mxl_arity){INPUTS, 3, 2};
    return 0;
}

#define HAWKES                                                                                     \
    "lda[N,K] alpha[K] beta[K] state[N,K] lags[N,T] marks[N,T] valid_length[N] max_time[N] -> "    \
    "[N] [N,K]"

static int fused_infer(mxl_infer *infer)
{
    if (mxl_infer_said(infer) != 0)
        return -1;
    mxl_shape_set(&infer->out_shape[2], 3,
                  (int64_t[]){MXL_HAWKES_KEPT, infer->in[MU]->shape[0], infer->in[MU]->shape[1]});
    return 0;
}

static int fused_compute(const mxl_call *call)
{
    mxl_array **in = call->in, *lengths = read_lengths(in), *room;

    if (lengths == NULL)
        return -1;
    room = mxl_array_new(in[MU]->dtype, 2, in[MU]->shape);
    if (room != NULL)
        mxl_hawkes_run(&(mxl_hawkes){.dtype = in[MU]->dtype,
                                     .batch = in[LAGS]->shape[0],
                                     .steps = in[LAGS]->shape[1],
                                     .kinds = in[MU]->shape[1],
                                     .mu = mxl_array_read(in[MU]),
                                     .alpha = mxl_array_read(in[ALPHA]),
                                     .beta = mxl_array_read(in[BETA]),
                                     .state = mxl_array_read(in[STATE]),
                                     .lags = mxl_array_read(in[LAGS]),
                                     .marks = mxl_array_read(in[MARKS]),
                                     .lengths = mxl_array_read(lengths),
                                     .until = mxl_array_read(in[UNTIL]),
                                     .likelihood = mxl_array_write(call->out[0]),
                                     .last = mxl_array_write(call->out[1]),
                                     .kept = mxl_array_write(call->out[2]),
                                     .room = mxl_array_write(room)});
    mxl_array_release(lengths);
    mxl_array_release(room);
    return room == NULL ? -1 : 0;
}

static const mxl_op op_parts = {.name = "_mxl_hawkes", .compose = hawkes_parts};

static int fused_grad(mxl_grad *g)
{
    mxl_grad parts = *g;

    parts.op = &op_parts;
    parts.num_outputs = 2;
    return mxl_composite_grad(&parts);
}

/* dL times the derivatives that the forward left, and the last state's by beta and the state. */
static int fused_grad_kernel(mxl_grad *g)
{
    static const int of_last[4] = {-1, -1, 4, 5};
    const int64_t *shape = mxl_grad_in_meta(g, MU)->shape, column[2] = {shape[0], 1};
    mxl_array *kept, *dy, *dlast;

    if (mxl_grad_wants(g, LAGS) || mxl_grad_wants(g, UNTIL))
        return fused_grad(g);
    kept = mxl_grad_out(g, 2);
    dy = mxl_reshape(g->s, mxl_grad_output_grad(g, 0), 2, column);
    dlast = mxl_grad_output_grad(g, 1);
    for (int i = MU; i <= STATE; i++) {
        mxl_array *part = mxl_slice_axis(g->s, kept, 0, i, i + 1), *sum;

        sum = mxl_mul(g->s, mxl_reshape(g->s, part, 2, shape), dy);
        if (of_last[i] >= 0) {
            part = mxl_slice_axis(g->s, kept, 0, of_last[i], of_last[i] + 1);
            sum = mxl_add(g->s, sum, mxl_mul(g->s, mxl_reshape(g->s, part, 2, shape), dlast));
        }
        if (mxl_grad_wants(g, i) && mxl_grad_set(g, i, sum) != 0)
            return -1;
    }
    return 0;
}

static void fused_saves(mxl_saves *saves)
{
    mxl_saves_inputs(saves);
    saves->out[2] = true;
}

static const mxl_op op_fused = {
    .name = "_mxl_hawkes",
    .doc = "_contrib_hawkesll in float32 or float64. Its last output, which is hidden, has the "
           "derivatives.",
    .inputs = hawkes_inputs,
    .arity = fused_arity,
    .infer = fused_infer,
    MXL_SHAPES_TABLE(HAWKES),
    .dtypes = "WWWWWiWW>W*",
    .compute = fused_compute,
    .grad = fused_grad,
    .grad_kernel = fused_grad_kernel,
    .saves = fused_saves,
};

/* ---- _contrib_hawkesll ---- */

static int hawkes_arity(const void *params, mxl_arity *arity)
{
    (void)params;
    *arity = (mxl_arity){INPUTS, 2, 2};
    return 0;
}

/* float16 is computed in float32. */
static mxl_array *hawkes_compose(mxl_scope *s, const mxl_call *call)
{
    int dtype = call->in[MU]->dtype;
    mxl_array *in[INPUTS], *out[2];

    for (int i = 0; i < INPUTS; i++) {
        bool wide = i == MARKS || dtype != MXL_F16;

        in[i] = wide ? call->in[i] : mxl_cast(s, call->in[i], MXL_F32);
    }
    if (mxl_scope_call_many(s, &op_fused, NULL, INPUTS, in, 2, out) != 0)
        return NULL;
    call->out[1] = mxl_cast(s, out[1], dtype);
    return mxl_cast(s, out[0], dtype);
}

static const mxl_op op_hawkesll = {
    .name = "_contrib_hawkesll",
    .doc =
        "The logarithm of the likelihood of events of several kinds, each of which excites its "
        "own kind: the intensity is lda + alpha beta times a sum of e^(-beta t) over the times t "
        "since the events before. And the excitation at the end.",
    .inputs = hawkes_inputs,
    .arity = hawkes_arity,
    .output_names = "output out_state",
    MXL_SHAPES(HAWKES),
    .dtypes = "FFFFFiFF>F*",
    .compose = hawkes_compose,
};

const mxl_op *const mxl_ops_hawkes[] = {&op_hawkesll, &op_fused, NULL};

/* A recurrent network composed of other operators, step by step. */
#include <math.h>
#include <stddef.h>

#include "array/copy.h"
#include "base/memory/mem.h"
#include "ops/elementwise/elementwise.h"
#include "ops/nn/rnn_net.h"
#include "ops/shape/movement.h"

typedef struct parts {
    mxl_scope *s;
    const mxl_rnn_params *p;
    mxl_rnn_net net;
    mxl_array *parameters;
    mxl_array *length; /* int64, or NULL */
} parts;

/* The weights of a direction. */
typedef struct weights {
    mxl_array *x, *h, *project, *x_bias, *h_bias;
} weights;

/* A matrix of the parameters; a vector, if it has 0 columns. */
static mxl_array *part_of(const parts *r, int64_t begin, int64_t rows, int64_t columns)
{
    int64_t count = rows * (columns > 0 ? columns : 1);
    mxl_array *part = mxl_slice_axis(r->s, r->parameters, 0, begin, begin + count);

    return columns > 0 ? mxl_reshape(r->s, part, 2, (int64_t[]){rows, columns}) : part;
}

static weights weights_of(const parts *r, int64_t layer, int64_t direction)
{
    const mxl_rnn_net *net = &r->net;
    mxl_rnn_packed at = mxl_rnn_find(net, layer, direction);
    int64_t gates = mxl_rnn_gates(net->mode) * net->hidden, in = mxl_rnn_layer_in(net, layer);
    weights w = {.h = part_of(r, at.h, gates, net->out),
                 .x_bias = part_of(r, at.x_bias, gates, 0),
                 .h_bias = part_of(r, at.h_bias, gates, 0)};

    if (in > 0)
        w.x = part_of(r, at.x, gates, in);
    if (net->projects)
        w.project = part_of(r, at.project, net->out, net->hidden);
    return w;
}

/* Row `index` of the first axis of a, as a matrix. */
static mxl_array *row_of(const parts *r, mxl_array *a, int64_t index)
{
    mxl_array *row = mxl_slice_axis(r->s, a, 0, index, index + 1);

    return row == NULL ? NULL : mxl_reshape(r->s, row, 2, a->shape + 1);
}

/* Part k of the gates' columns. */
static mxl_array *gate(const parts *r, mxl_array *all, int64_t k)
{
    return mxl_slice_axis(r->s, all, 1, k * r->net.hidden, (k + 1) * r->net.hidden);
}

static mxl_array *sigmoid(const parts *r, mxl_array *a)
{
    return mxl_apply(r->s, &mxl_op_sigmoid, a);
}

static mxl_array *tanh_of(const parts *r, mxl_array *a)
{
    return mxl_apply(r->s, &mxl_op_tanh, a);
}

/* 1 where the sequence of a row goes on at step t, in `columns` columns; NULL: there are no
 * lengths. */
static mxl_array *active_at(const parts *r, int64_t t, int64_t columns)
{
    mxl_array *flags;
    const int64_t *length;
    uint8_t *flag;

    flags = mxl_scope_own(r->s, mxl_array_new(MXL_BOOL, 2, (int64_t[]){r->net.batch, columns}));
    if (flags == NULL)
        return NULL;
    length = mxl_array_read(r->length);
    flag = mxl_array_write(flags);
    for (int64_t i = 0; i < flags->size; i++)
        flag[i] = t < length[i / columns];
    return flags;
}

static mxl_array *clipped(const parts *r, mxl_array *c)
{
    double low = r->p->lstm_state_clip_min, high = r->p->lstm_state_clip_max;

    if (isnan(low) && isnan(high))
        return c;
    if (r->p->lstm_state_clip_nan && !isnan(low) && c != NULL) {
        mxl_array *least = mxl_add_scalar(r->s, mxl_zeros_like(r->s, c), low);

        c = mxl_where(r->s, mxl_apply2(r->s, &mxl_op_equal, c, c), c, least);
    }
    return mxl_clip(r->s, c, isnan(low) ? -INFINITY : low, isnan(high) ? INFINITY : high);
}

/* One step from the gates' share of the inputs, (batch, gates). Replaces the states. */
static mxl_array *step(const parts *r, const weights *w, mxl_array *x, mxl_array *h,
                       mxl_array **cell)
{
    mxl_scope *s = r->s;
    mxl_array *from = mxl_add(s, mxl_dot(s, h, w->h, false, true), w->h_bias), *all, *z, *n;

    if (r->net.mode == MXL_RNN_GRU) {
        z = sigmoid(r, mxl_add(s, gate(r, x, 1), gate(r, from, 1)));
        n = sigmoid(r, mxl_add(s, gate(r, x, 0), gate(r, from, 0)));
        n = tanh_of(r, mxl_add(s, gate(r, x, 2), mxl_mul(s, n, gate(r, from, 2))));
        return mxl_add(s, mxl_mul(s, mxl_one_minus(s, z), n), mxl_mul(s, z, h));
    }
    all = mxl_add(s, x, from);
    if (r->net.mode == MXL_RNN_RELU)
        return mxl_apply(s, &mxl_op_relu, all);
    if (r->net.mode == MXL_RNN_TANH)
        return tanh_of(r, all);
    z = mxl_mul(s, sigmoid(r, gate(r, all, 1)), *cell);
    n = mxl_mul(s, sigmoid(r, gate(r, all, 0)), tanh_of(r, gate(r, all, 2)));
    *cell = clipped(r, mxl_add(s, z, n));
    n = mxl_mul(s, sigmoid(r, gate(r, all, 3)), tanh_of(r, *cell));
    return w->project == NULL ? n : mxl_dot(s, n, w->project, false, true);
}

/* The gates' share of the inputs of all steps, (steps, batch, gates). */
static mxl_array *from_inputs(const parts *r, const weights *w, mxl_array *x)
{
    int64_t rows = r->net.steps * r->net.batch, gates = mxl_rnn_gates(r->net.mode) * r->net.hidden;
    const int64_t shape[3] = {r->net.steps, r->net.batch, gates};
    mxl_array *all;

    if (w->x == NULL)
        return mxl_broadcast_to(r->s, w->x_bias, 3, shape);
    x = mxl_reshape(r->s, x, 2, (int64_t[]){rows, w->x->shape[1]});
    all = mxl_add(r->s, mxl_dot(r->s, x, w->x, false, true), w->x_bias);
    return mxl_reshape(r->s, all, 3, shape);
}

/* All steps of one direction: its results, (steps, batch, out); the states become the last ones. */
static mxl_array *run(const parts *r, const weights *w, mxl_array *x, bool reverse, mxl_array **h,
                      mxl_array **cell)
{
    int64_t steps = r->net.steps, shape[3] = {steps, r->net.batch, r->net.out};
    size_t bytes = (size_t)steps * sizeof(mxl_array *);
    mxl_array **y = mxl_alloc(bytes), *all = from_inputs(r, w, x);

    for (int64_t i = 0; i < steps && y != NULL; i++) {
        int64_t t = reverse ? steps - 1 - i : i;
        mxl_array *c = *cell, *next = step(r, w, row_of(r, all, t), *h, &c), *active;

        y[t] = next;
        if (r->length != NULL) {
            active = active_at(r, t, r->net.out);
            next = mxl_where(r->s, active, next, *h);
            y[t] = next == NULL ? NULL : mxl_where(r->s, active, next, mxl_zeros_like(r->s, next));
            if (r->net.lstm)
                c = mxl_where(r->s, active_at(r, t, r->net.hidden), c, *cell);
        }
        *h = next;
        *cell = c;
    }
    if (y == NULL)
        r->s->failed = true;
    else
        all = mxl_concat(r->s, (int)steps, y, 0);
    mxl_free(y, bytes);
    return mxl_reshape(r->s, all, 3, shape);
}

/* The network without steps or rows: states pass through. */
static mxl_array *nothing(const parts *r, const mxl_call *call)
{
    const mxl_rnn_net *net = &r->net;
    mxl_array *y = mxl_scope_own(
        r->s, mxl_array_new(call->in[0]->dtype, 3,
                            (int64_t[]){net->steps, net->batch, net->directions * net->out}));

    call->out[1] = mxl_apply(r->s, &mxl_op_copy, call->in[2]);
    if (net->lstm)
        call->out[2] = mxl_apply(r->s, &mxl_op_copy, call->in[net->cell_input]);
    return y;
}

static int read_length(parts *r, const mxl_call *call)
{
    mxl_array *given = call->in[r->net.length_input];

    r->length = mxl_scope_own(r->s, mxl_array_new(MXL_I64, 1, given->shape));
    return r->length == NULL ? -1 : mxl_array_copy_into(r->length, given);
}

/* One layer; the last states of its directions go to h and cell, as (1, batch, ...). */
static mxl_array *layer(const parts *r, const mxl_call *call, int64_t l, mxl_array *x,
                        mxl_array **h, mxl_array **cell)
{
    const mxl_rnn_net *net = &r->net;
    mxl_array *y[2];

    for (int64_t d = 0; d < net->directions; d++) {
        int64_t k = l * net->directions + d;
        weights w = weights_of(r, l, d);

        h[d] = row_of(r, call->in[2], k);
        cell[d] = net->lstm ? row_of(r, call->in[net->cell_input], k) : NULL;
        y[d] = run(r, &w, x, d == 1, &h[d], &cell[d]);
        h[d] = mxl_reshape(r->s, h[d], 3, (int64_t[]){1, net->batch, net->out});
        if (net->lstm)
            cell[d] = mxl_reshape(r->s, cell[d], 3, (int64_t[]){1, net->batch, net->hidden});
    }
    return net->directions == 1 ? y[0] : mxl_concat(r->s, 2, y, 2);
}

/* The last states of all layers in one array, where `joined` are those of the layers before. */
static mxl_array *join(const parts *r, mxl_array *joined, mxl_array *const *next)
{
    mxl_array *all[3] = {joined, next[0], next[1]};
    int skip = joined == NULL;

    return mxl_concat(r->s, (int)r->net.directions + 1 - skip, all + skip, 0);
}

mxl_array *mxl_rnn_parts(mxl_scope *s, const mxl_call *call)
{
    parts r = {.s = s, .p = call->params, .parameters = call->in[1]};
    mxl_array *x = call->in[0], *h[2], *cell[2];

    r.net = mxl_rnn_net_of(r.p, x->shape);
    if (r.net.steps == 0 || r.net.batch == 0)
        return nothing(&r, call);
    if (r.net.length_input >= 0 && read_length(&r, call) != 0)
        return NULL;
    for (int64_t l = 0; l < r.net.layers && x != NULL; l++) {
        x = layer(&r, call, l, x, h, cell);
        call->out[1] = join(&r, call->out[1], h);
        if (r.net.lstm)
            call->out[2] = join(&r, call->out[2], cell);
        if (r.net.mask_input >= 0 && l + 1 < r.net.layers && x != NULL) {
            mxl_array *factors = mxl_slice_axis(s, call->in[r.net.mask_input], 0, l, l + 1);

            x = mxl_mul(s, x, mxl_reshape(s, factors, 3, x->shape));
        }
    }
    return x;
}

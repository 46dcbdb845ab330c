/* Recurrent networks in one call: layer by layer by the kernel, and the backward from what that
 * kept. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "array/copy.h"
#include "base/memory/mem.h"
#include "ops/nn/rnn_net.h"

/* ---- what is kept ---- */

/* Where a layer's values are in the array of kept ones: elements of one direction, which begin at
 * 0, and then the layer's results, which the next layer reads; the last layer's are output 0. */
typedef struct places {
    int64_t h, cell, wide, direction, y, layer;
} places;

static places places_of(const mxl_rnn_net *net)
{
    int64_t rows = net->steps * net->batch, states = rows + net->batch;
    places at = {.h = rows * mxl_rnn_kept(net->mode) * net->hidden};

    at.cell = at.h + states * net->out;
    at.wide = at.cell + (net->lstm ? states * net->hidden : 0);
    at.direction = at.wide + (net->projects ? rows * net->hidden : 0);
    at.y = net->directions * at.direction;
    at.layer = at.y + rows * net->directions * net->out;
    return at;
}

int64_t mxl_rnn_kept_size(const mxl_rnn_net *net)
{
    return net->layers * places_of(net).layer;
}

/* ---- a network at work ---- */

typedef struct work {
    mxl_rnn_net net;
    const mxl_rnn_params *p;
    int dtype;
    places places;
    const char *x, *parameters;
    const int64_t *lengths;
    char *kept, *y; /* y: results of the last layer; NULL in the backward */
    bool reuses;    /* two layers' values at a time are kept, not all */
} work;

static int64_t bytes_of(const work *w, int64_t elements)
{
    return elements * (int64_t)mxl_dtype_size(w->dtype);
}

static char *layer_at(const work *w, int64_t l)
{
    return w->kept + bytes_of(w, (w->reuses ? l % 2 : l) * w->places.layer);
}

/* What layer l reads. */
static char *input_of(const work *w, int64_t l)
{
    return l == 0 ? (char *)(uintptr_t)w->x : layer_at(w, l - 1) + bytes_of(w, w->places.y);
}

static mxl_rnn_weights weights_at(const work *w, char *parameters, int64_t l, int64_t d)
{
    mxl_rnn_packed at = mxl_rnn_find(&w->net, l, d);

    return (mxl_rnn_weights){parameters + bytes_of(w, at.x), parameters + bytes_of(w, at.h),
                             at.project < 0 ? NULL : parameters + bytes_of(w, at.project),
                             parameters + bytes_of(w, at.x_bias),
                             parameters + bytes_of(w, at.h_bias)};
}

static mxl_rnn direction_of(const work *w, int64_t l, int64_t d)
{
    const mxl_rnn_net *net = &w->net;
    const places *at = &w->places;
    const mxl_rnn_params *p = w->p;
    char *layer = layer_at(w, l), *base = layer + bytes_of(w, d * at->direction);
    char *y = l + 1 < net->layers ? layer + bytes_of(w, at->y) : w->y;

    return (mxl_rnn){
        .mode = net->mode,
        .dtype = w->dtype,
        .steps = net->steps,
        .batch = net->batch,
        .in = mxl_rnn_layer_in(net, l),
        .hidden = net->hidden,
        .out = net->out,
        .reverse = d == 1,
        .lengths = w->lengths,
        .clips = !isnan(p->lstm_state_clip_min) || !isnan(p->lstm_state_clip_max),
        .clips_nan = p->lstm_state_clip_nan && !isnan(p->lstm_state_clip_min),
        .clip_min = isnan(p->lstm_state_clip_min) ? -INFINITY : p->lstm_state_clip_min,
        .clip_max = isnan(p->lstm_state_clip_max) ? INFINITY : p->lstm_state_clip_max,
        .weights = weights_at(w, (char *)(uintptr_t)w->parameters, l, d),
        .x = input_of(w, l),
        .y = y == NULL ? NULL : y + bytes_of(w, d * net->out),
        .y_row = net->directions * net->out,
        .kept = base,
        .h = base + bytes_of(w, at->h),
        .cell = net->lstm ? base + bytes_of(w, at->cell) : NULL,
        .wide = net->projects ? base + bytes_of(w, at->wide) : NULL,
    };
}

/* The lengths as int64; new. NULL with the error set, also if one is out of range. */
static mxl_array *read_lengths(mxl_array *given, int64_t steps)
{
    mxl_array *lengths = mxl_array_new(MXL_I64, 1, given->shape);
    const int64_t *value;

    if (lengths == NULL)
        return NULL;
    if (mxl_array_copy_into(lengths, given) != 0)
        goto failed;
    value = mxl_array_read(lengths);
    for (int64_t b = 0; b < given->size; b++) {
        if (value[b] < 0 || value[b] > steps) {
            mxl_error("RNN: sequence_length must be from 0 to %lld, got %lld", (long long)steps,
                      (long long)value[b]);
            goto failed;
        }
    }
    return lengths;
failed:
    mxl_array_release(lengths);
    return NULL;
}

/* Layer l's results, or the gradients of the next layer's inputs, times the dropout's factors. */
static void drop(const work *w, const mxl_array *mask, int64_t l, char *y)
{
    int64_t n = w->net.steps * w->net.batch * w->net.directions * w->net.out;
    const char *factors = (const char *)mxl_array_read(mask) + bytes_of(w, l * n);
    const mxl_kernels *multiply = mxl_op_broadcast_mul.kernels;
    const void *in[2] = {y, factors};
    const int64_t step[2] = {1, 1};
    const size_t size[2] = {mxl_dtype_size(w->dtype), mxl_dtype_size(w->dtype)};

    if (n > 0)
        mxl_loop_run(multiply->row[w->dtype], multiply->weight, n, y, size[0], 2, in, step, size,
                     NULL);
}

/* ---- forward ---- */

/* The state of direction d of layer l in an array of all. */
static char *state_at(const work *w, void *states, int64_t l, int64_t d, int64_t size)
{
    return (char *)states + bytes_of(w, (l * w->net.directions + d) * w->net.batch * size);
}

static int run_direction(const work *w, const mxl_call *call, int64_t l, int64_t d)
{
    mxl_rnn r = direction_of(w, l, d);
    size_t h = (size_t)bytes_of(w, r.batch * r.out), c = (size_t)bytes_of(w, r.batch * r.hidden);
    int64_t first = mxl_rnn_first(&r, r.out), last = mxl_rnn_last(&r, r.out);
    void *states = (void *)(uintptr_t)mxl_array_read(call->in[2]);

    memcpy((char *)r.h + bytes_of(w, first), state_at(w, states, l, d, r.out), h);
    if (r.cell != NULL) {
        states = (void *)(uintptr_t)mxl_array_read(call->in[w->net.cell_input]);
        memcpy((char *)r.cell + bytes_of(w, mxl_rnn_first(&r, r.hidden)),
               state_at(w, states, l, d, r.hidden), c);
    }
    if (mxl_rnn_forward(&r) != 0)
        return -1;
    memcpy(state_at(w, mxl_array_write(call->out[1]), l, d, r.out), (char *)r.h + bytes_of(w, last),
           h);
    if (r.cell != NULL)
        memcpy(state_at(w, mxl_array_write(call->out[2]), l, d, r.hidden),
               (char *)r.cell + bytes_of(w, mxl_rnn_last(&r, r.hidden)), c);
    return 0;
}

static int run_layers(const work *w, const mxl_call *call)
{
    for (int64_t l = 0; l < w->net.layers; l++) {
        for (int64_t d = 0; d < w->net.directions; d++) {
            if (run_direction(w, call, l, d) != 0)
                return -1;
        }
        if (w->net.mask_input >= 0 && l + 1 < w->net.layers)
            drop(w, call->in[w->net.mask_input], l, input_of(w, l + 1));
    }
    return 0;
}

int mxl_rnn_compute(const mxl_call *call)
{
    const mxl_rnn_params *p = call->params;
    const mxl_array *x = call->in[0];
    work w = {.net = mxl_rnn_net_of(p, x->shape),
              .p = p,
              .dtype = x->dtype,
              .x = mxl_array_read(x),
              .parameters = mxl_array_read(call->in[1])};
    mxl_array *kept = call->out[call->num_outputs - 1], *lengths = NULL, *own = NULL;
    int status = -1;

    w.places = places_of(&w.net);
    w.reuses = !p->keeps;
    if (w.net.length_input >= 0) {
        lengths = read_lengths(call->in[w.net.length_input], w.net.steps);
        if (lengths == NULL)
            return -1;
        w.lengths = mxl_array_read(lengths);
    }
    if (w.reuses) {
        int64_t two = (w.net.layers > 1 ? 2 : 1) * w.places.layer;

        kept = own = mxl_array_new(w.dtype, 1, &two);
    }
    if (kept != NULL) {
        w.kept = mxl_array_write(kept);
        w.y = mxl_array_write(call->out[0]);
        status = run_layers(&w, call);
    }
    mxl_array_release(own);
    mxl_array_release(lengths);
    return status;
}

/* ---- backward ---- */

/* A gradient that may be absent: contiguous, scoped; *failed if there is no memory. */
static mxl_array *arrived(mxl_grad *g, int i, bool *failed)
{
    mxl_array *grad = g->grad_output[i];

    if (grad == NULL)
        return NULL;
    grad = mxl_scope_own(g->s, mxl_array_contiguous(grad));
    *failed = *failed || grad == NULL;
    return grad;
}

/* The gradient of the last states, or zeros, in a new array: the backward turns them into that of
 * the first ones. Scoped. */
static mxl_array *states_back(mxl_grad *g, int output, int input)
{
    const mxl_meta *meta = mxl_grad_in_meta(g, input);
    mxl_array *grad = g->grad_output[output];
    mxl_array *copy;

    if (grad == NULL)
        return mxl_scope_own(g->s, mxl_array_zeros(meta->dtype, meta->ndim, meta->shape));
    copy = mxl_scope_own(g->s, mxl_array_new(meta->dtype, meta->ndim, meta->shape));
    return copy != NULL && mxl_array_copy_into(copy, grad) == 0 ? copy : NULL;
}

static mxl_array *like_input(mxl_grad *g, int i)
{
    const mxl_meta *meta = mxl_grad_in_meta(g, i);

    return mxl_scope_own(g->s, mxl_array_new(meta->dtype, meta->ndim, meta->shape));
}

typedef struct gradients {
    mxl_array *x, *parameters, *state, *cell; /* x, parameters: NULL if unwanted */
    mxl_array *mask;
} gradients;

/* One layer: from dy, which may be NULL, to dx, which may be. */
static int layer_back(const work *w, const gradients *to, int64_t l, const char *dy, char *dx)
{
    for (int64_t d = 0; d < w->net.directions; d++) {
        mxl_rnn r = direction_of(w, l, d);
        mxl_rnn_back back = {.dy = dy == NULL ? NULL : dy + bytes_of(w, d * r.out),
                             .dx = dx,
                             .add_dx = d > 0,
                             .dh = state_at(w, mxl_array_write(to->state), l, d, r.out)};

        if (to->parameters != NULL)
            back.dw = weights_at(w, mxl_array_write(to->parameters), l, d);
        if (r.cell != NULL)
            back.dcell = state_at(w, mxl_array_write(to->cell), l, d, r.hidden);
        if (mxl_rnn_backward(&r, &back) != 0)
            return -1;
    }
    return 0;
}

/* All layers, from the last to the first. Two arrays take turns for the gradients between them. */
static int layers_back(const work *w, const gradients *to, const char *dy)
{
    int64_t rows = w->net.steps * w->net.batch, width = w->net.directions * w->net.out;
    size_t bytes = (size_t)bytes_of(w, rows * width);
    bool wants_first = to->x != NULL;
    char *between[2] = {NULL, NULL};
    int status = 0;

    for (int i = 0; i < 2 && i < w->net.layers - 1 && status == 0; i++) {
        between[i] = mxl_alloc(bytes);
        status = between[i] == NULL ? -1 : 0;
    }
    for (int64_t l = w->net.layers - 1; l >= 0 && status == 0; l--) {
        char *dx = l > 0         ? between[(w->net.layers - 1 - l) % 2]
                   : wants_first ? mxl_array_write(to->x)
                                 : NULL;

        status = layer_back(w, to, l, dy, dx);
        if (status == 0 && l > 0 && to->mask != NULL)
            drop(w, to->mask, l - 1, dx);
        dy = dx;
    }
    for (int i = 0; i < 2; i++)
        mxl_free(between[i], bytes);
    return status;
}

static int grads_set(mxl_grad *g, const gradients *to, const mxl_rnn_net *net)
{
    if (to->x != NULL && mxl_grad_set(g, 0, to->x) != 0)
        return -1;
    if (to->parameters != NULL && mxl_grad_set(g, 1, to->parameters) != 0)
        return -1;
    if (mxl_grad_set(g, 2, to->state) != 0)
        return -1;
    return net->lstm ? mxl_grad_set(g, net->cell_input, to->cell) : 0;
}

/* The arrays that the backward writes, as far as they are wanted. */
static int grads_begin(mxl_grad *g, gradients *to, const mxl_rnn_net *net)
{
    bool wants_x = mxl_grad_wants(g, 0), wants_parameters = mxl_grad_wants(g, 1);

    to->x = wants_x ? like_input(g, 0) : NULL;
    to->parameters = wants_parameters ? like_input(g, 1) : NULL;
    to->state = states_back(g, 1, 2);
    to->cell = net->lstm ? states_back(g, 2, net->cell_input) : NULL;
    to->mask = net->mask_input >= 0 ? mxl_grad_in(g, net->mask_input) : NULL;
    if ((wants_x && to->x == NULL) || (wants_parameters && to->parameters == NULL) ||
        to->state == NULL || (net->lstm && to->cell == NULL) ||
        (net->mask_input >= 0 && to->mask == NULL))
        return -1;
    return 0;
}

int mxl_rnn_grad_kernel(mxl_grad *g)
{
    const mxl_rnn_params *p = g->params;
    mxl_rnn_net net = mxl_rnn_net_of(p, mxl_grad_in_meta(g, 0)->shape);
    mxl_array *x = mxl_grad_in(g, 0), *parameters = mxl_grad_in(g, 1), *lengths = NULL;
    mxl_array *kept = mxl_grad_out(g, g->num_outputs - 1), *dy;
    bool failed = x == NULL || parameters == NULL || kept == NULL;
    gradients to;
    work w;

    dy = arrived(g, 0, &failed);
    if (!failed && !p->keeps)
        return mxl_error("_mxl_rnn: nothing was kept for a backward");
    x = failed ? NULL : mxl_scope_own(g->s, mxl_array_contiguous(x));
    parameters = failed ? NULL : mxl_scope_own(g->s, mxl_array_contiguous(parameters));
    if (x == NULL || parameters == NULL || grads_begin(g, &to, &net) != 0)
        return -1;
    if (net.length_input >= 0) {
        mxl_array *given = mxl_grad_in(g, net.length_input);

        lengths = given == NULL ? NULL : mxl_scope_own(g->s, read_lengths(given, net.steps));
        if (lengths == NULL)
            return -1;
    }
    w = (work){.net = net,
               .p = p,
               .dtype = x->dtype,
               .places = places_of(&net),
               .x = mxl_array_read(x),
               .parameters = mxl_array_read(parameters),
               .lengths = lengths == NULL ? NULL : mxl_array_read(lengths),
               .kept = (char *)(uintptr_t)mxl_array_read(kept)};
    if (layers_back(&w, &to, dy == NULL ? NULL : mxl_array_read(dy)) != 0)
        return -1;
    return grads_set(g, &to, &net);
}

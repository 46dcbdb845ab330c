/* RNN: recurrent networks of several layers. RNN draws the dropout and calls _mxl_rnn, which
 * computes all steps in one call (rnn_fused.c). If its backward is recorded, it is the backward of
 * the same network composed of other operators (rnn_parts.c). */
#include "op/shapes/shapes.h"
#include "ops/nn/rnn_net.h"

#include <math.h>
#include <stddef.h>

#include "array/batch/batched.h"
#include "engine/backward/composite.h"
#include "ops/batch/rules.h"

static const char *const modes[] = {"gru", "lstm", "rnn_relu", "rnn_tanh", NULL};

/* ---- sizes ---- */

mxl_rnn_net mxl_rnn_net_of(const mxl_rnn_params *p, const int64_t *data)
{
    mxl_rnn_net net = {.mode = (mxl_rnn_mode)p->mode,
                       .lstm = p->mode == MXL_RNN_LSTM,
                       .projects = p->projection_size != MXL_NONE,
                       .layers = p->num_layers,
                       .directions = p->bidirectional ? 2 : 1,
                       .steps = data[0],
                       .batch = data[1],
                       .in = data[2],
                       .hidden = p->state_size,
                       .out = p->state_size,
                       .inputs = 3};

    if (net.projects)
        net.out = p->projection_size;
    net.cell_input = net.lstm ? net.inputs++ : -1;
    net.length_input = p->use_sequence_length ? net.inputs++ : -1;
    net.mask_input = p->drops ? net.inputs++ : -1;
    return net;
}

/* Numbers of weights and of biases of one direction. */
static int64_t weights_of(const mxl_rnn_net *net, int64_t layer)
{
    int64_t gates = mxl_rnn_gates(net->mode) * net->hidden;

    return gates * (mxl_rnn_layer_in(net, layer) + net->out) +
           (net->projects ? net->out * net->hidden : 0);
}

static int64_t biases_of(const mxl_rnn_net *net)
{
    return 2 * mxl_rnn_gates(net->mode) * net->hidden;
}

/* The weights of the layers before one. */
static int64_t weights_before(const mxl_rnn_net *net, int64_t layer)
{
    if (layer == 0)
        return 0;
    return net->directions * (weights_of(net, 0) + (layer - 1) * weights_of(net, 1));
}

int64_t mxl_rnn_parameters(const mxl_rnn_net *net)
{
    return weights_before(net, net->layers) + net->layers * net->directions * biases_of(net);
}

mxl_rnn_packed mxl_rnn_find(const mxl_rnn_net *net, int64_t layer, int64_t direction)
{
    int64_t gates = mxl_rnn_gates(net->mode) * net->hidden;
    mxl_rnn_packed at = {.x = weights_before(net, layer) + direction * weights_of(net, layer)};

    at.h = at.x + gates * mxl_rnn_layer_in(net, layer);
    at.project = net->projects ? at.h + gates * net->out : -1;
    at.x_bias =
        weights_before(net, net->layers) + (layer * net->directions + direction) * biases_of(net);
    at.h_bias = at.x_bias + gates;
    return at;
}

/* ---- checks ---- */

static int rnn_check(void *params)
{
    const mxl_rnn_params *p = params;

    if (!(p->p >= 0 && p->p <= 1))
        return mxl_error("RNN: p must be in [0, 1], got %g", p->p);
    if (p->projection_size != MXL_NONE && p->mode != MXL_RNN_LSTM)
        return mxl_error("RNN: projection_size is for lstm, got mode %s", modes[p->mode]);
    if (p->projection_size != MXL_NONE && p->projection_size < 1)
        return mxl_error("RNN: projection_size must be 1 or more, got %lld",
                         (long long)p->projection_size);
    if (p->lstm_state_clip_min > p->lstm_state_clip_max)
        return mxl_error("RNN: lstm_state_clip_min %g is above lstm_state_clip_max %g",
                         p->lstm_state_clip_min, p->lstm_state_clip_max);
    return 0;
}

/* An upper bound, in doubles, of every number of elements in use. */
static double bound_of(const mxl_rnn_net *net)
{
    double width = (double)(net->hidden > net->out ? net->hidden : net->out), depth;
    double runs = (double)net->layers * (double)net->directions;

    depth = (double)net->in + (double)net->directions * width + width + 2;
    return runs * 8 * width * (depth + ((double)net->steps + 1) * ((double)net->batch + 1));
}

/* The network of a call, of data with these sizes; -1 with the error set. */
static int net_of(const mxl_op *op, const mxl_rnn_params *p, const int64_t *data, mxl_rnn_net *net)
{
    *net = mxl_rnn_net_of(p, data);
    if (net->layers < 1 || net->hidden < 1)
        return mxl_error("%s: num_layers and state_size must be 1 or more, got %lld and %lld",
                         op->name, (long long)net->layers, (long long)net->hidden);
    return bound_of(net) <= 0x1p60
               ? 0
               : mxl_error("%s: a state of %lld and %lld layers is too large", op->name,
                           (long long)net->hidden, (long long)net->layers);
}

/* The sizes that texts name: of all weights for so many features, how many states there are, of how
 * many units, and the units of a result. */
static int weights(const mxl_size_ask *ask, int64_t *size)
{
    mxl_rnn_net net;

    if (net_of(ask->op, ask->params, (int64_t[]){0, 0, ask->arg[0]}, &net) != 0)
        return -1;
    *size = mxl_rnn_parameters(&net);
    return 0;
}

static mxl_rnn_net net_of_any(const mxl_size_ask *ask)
{
    return mxl_rnn_net_of(ask->params, (int64_t[]){0, 0, 0});
}

static int states(const mxl_size_ask *ask, int64_t *size)
{
    *size = ask->arg[0] * net_of_any(ask).directions;
    return 0;
}

static int units(const mxl_size_ask *ask, int64_t *size)
{
    *size = net_of_any(ask).out;
    return 0;
}

static int width(const mxl_size_ask *ask, int64_t *size)
{
    mxl_rnn_net net = net_of_any(ask);

    *size = net.out * net.directions;
    return 0;
}

static const mxl_size_function rnn_sizes[] = {
    {"weights", weights, NULL},
    {"states", states, NULL},
    {"units", units, NULL},
    {"width", width, NULL},
    {0},
};

#define RNN_STATE  "[states(num_layers),N,units(state_size)]"
#define RNN_CELL   "[states(num_layers),N,state_size]"
#define RNN_LENGTH "sequence_length[N] "
#define RNN_TEXT(more, cell)                                                                       \
    "data[T,N,I] parameters[weights(I)] state" RNN_STATE " " more                                  \
    "-> [T,N,width(state_size)] " RNN_STATE " " cell
#define RNN_LSTM "state_cell" RNN_CELL " "

/* With lstm there are cells, with use_sequence_length lengths. */
static const char *rnn_shapes(const void *params)
{
    static const char *const texts[2][2] = {{RNN_TEXT("", ""), RNN_TEXT(RNN_LENGTH, "")},
                                            {NULL, RNN_TEXT(RNN_LSTM RNN_LENGTH, RNN_CELL)}};
    const mxl_rnn_params *p = params;

    return texts[p->mode == MXL_RNN_LSTM][p->use_sequence_length != 0];
}

/* Lengths of sequences have any dtype. */
static const char *rnn_dtypes(const void *params)
{
    const mxl_rnn_params *p = params;
    bool lstm = p->mode == MXL_RNN_LSTM;

    return !p->use_sequence_length ? NULL : lstm ? "FFFFaF>F*" : "FFFaF>F*";
}

#define RNN_SHAPES                                                                                 \
    MXL_SHAPES_TABLE(RNN_TEXT(RNN_LSTM, RNN_CELL)), .shapes_of = rnn_shapes,                       \
        .size_functions = rnn_sizes, .dtypes = "F*>F*", .dtypes_of = rnn_dtypes

static int rnn_infer(mxl_infer *infer)
{
    mxl_rnn_net net;

    return mxl_infer_said(infer) != 0 ? -1
                                      : net_of(infer->op, infer->params, infer->in[0]->shape, &net);
}

/* ---- RNN ---- */

static int rnn_arity(const void *params, mxl_arity *arity)
{
    const mxl_rnn_params *p = params;
    int lstm = p->mode == MXL_RNN_LSTM;

    arity->inputs = 3 + lstm + (p->use_sequence_length != 0);
    arity->outputs = arity->visible = p->state_outputs ? 2 + lstm : 1;
    return 0;
}

static const mxl_op op_rnn_fused;

/* Casts the floating inputs. */
static int widen(mxl_scope *s, const mxl_call *call, const mxl_rnn_net *net, mxl_array **in)
{
    int dtype = call->in[0]->dtype == MXL_F16 ? MXL_F32 : call->in[0]->dtype;

    for (int i = 0; i < call->num_inputs; i++) {
        in[i] = i == net->length_input ? call->in[i] : mxl_cast(s, call->in[i], dtype);
        if (in[i] == NULL)
            return -1;
    }
    return 0;
}

/* How a batch of networks runs (array/batch/batched.h). */
typedef struct batched_call {
    bool any;   /* it is one */
    bool parts; /* by parts, as each example has its own parameters */
} batched_call;

/* Lengths, which parts read as numbers, must be the same for all. */
static batched_call batched_call_of(const mxl_call *call, const mxl_rnn_net *net)
{
    batched_call found = {false};

    for (int i = 0; i < call->num_inputs; i++) {
        const mxl_batched *in = mxl_batched_of(call->in[i], 0);

        if (in == NULL)
            continue;
        found.any = true;
        if (i == net->length_input && (in->has_axis || mxl_array_is_batched(in->whole)))
            return (batched_call){.any = true};
        found.parts = found.parts || (i == 1 && in->has_axis);
    }
    return found;
}

/* The parts of the network, whose results are in `out`. */
static int run_parts(mxl_scope *s, const mxl_call *call, const mxl_rnn_params *p, mxl_array **in,
                     mxl_array **out)
{
    mxl_call parts = *call;

    parts.params = p;
    parts.in = in;
    parts.out = out;
    out[0] = out[1] = out[2] = NULL;
    out[0] = mxl_rnn_parts(s, &parts);
    return out[0] == NULL ? -1 : 0;
}

/* float16 is computed in float32. */
static mxl_array *rnn_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_rnn_params p = *(const mxl_rnn_params *)call->params;
    mxl_rnn_net net = mxl_rnn_net_of(&p, call->in[0]->shape);
    mxl_array *in[6], *out[3];
    batched_call batch = batched_call_of(call, &net);
    int status;

    p.keeps = s->mode.record && !batch.any;
    p.drops = p.p > 0 && call->training && net.layers > 1;
    if (widen(s, call, &net, in) != 0)
        return NULL;
    if (p.drops)
        in[call->num_inputs] = mxl_dropout_factors(
            s, p.p, in[0]->dtype, 4,
            (int64_t[]){net.layers - 1, net.steps, net.batch, net.directions * net.out});
    if (batch.parts)
        status = run_parts(s, call, &p, in, out);
    else
        status = mxl_scope_call_many(s, &op_rnn_fused, &p, call->num_inputs + p.drops, in,
                                     2 + net.lstm, out);
    if (status != 0)
        return NULL;
    for (int i = 1; i < call->num_outputs; i++)
        call->out[i] = mxl_cast(s, out[i], call->in[0]->dtype);
    return mxl_cast(s, out[0], call->in[0]->dtype);
}

#define FIELD(field, kind, ...) MXL_PARAM(mxl_rnn_params, field, kind, __VA_ARGS__)

#define RNN_PARAMS                                                                                 \
    FIELD(state_size, MXL_P_INT, MXL_REQUIRED, "Units of a state, in each layer and direction.",   \
          .type_name = "int (non-negative)", MXL_AT_LEAST(0)),                                     \
        FIELD(num_layers, MXL_P_INT, MXL_REQUIRED, "Layers, each of which reads the one below.",   \
              .type_name = "int (non-negative)", MXL_AT_LEAST(0)),                                 \
        FIELD(bidirectional, MXL_P_BOOL, "0",                                                      \
              "Whether each layer also runs from the last step to the first, with weights of its " \
              "own; the results of both directions are one behind the other."),                    \
        FIELD(mode, MXL_P_ENUM, MXL_REQUIRED, "The function of a step.", .values = modes,          \
              .sets_outputs = true),                                                               \
        FIELD(p, MXL_P_FLOAT, "0",                                                                 \
              "Probability that an element between two layers becomes 0 while training."),         \
        FIELD(state_outputs, MXL_P_BOOL, "0", "Whether the last states are outputs too.",          \
              .sets_outputs = true),                                                               \
        FIELD(projection_size, MXL_P_OPT_INT, "None",                                              \
              "For lstm: the size that a matrix maps the states to; None: it does not."),          \
        FIELD(lstm_state_clip_min, MXL_P_OPT_FLOAT, "None",                                        \
              "The smallest value of a cell of lstm; None: any.",                                  \
              .type_text = "double or None, optional, default=None"),                              \
        FIELD(lstm_state_clip_max, MXL_P_OPT_FLOAT, "None",                                        \
              "The largest value of a cell of lstm; None: any.",                                   \
              .type_text = "double or None, optional, default=None"),                              \
        FIELD(lstm_state_clip_nan, MXL_P_BOOL, "0",                                                \
              "Whether a cell that is NaN becomes lstm_state_clip_min, if there is one."),         \
        FIELD(use_sequence_length, MXL_P_BOOL, "0", "Whether there is an input sequence_length.")

static const mxl_input rnn_inputs[] = {
    MXL_INPUT(data, "The steps, of shape (step, batch, feature)."),
    MXL_INPUT(parameters,
              "All weights in one vector: of each layer and direction the matrices of the input, "
              "of the state and of the projection, gate by gate; then of each layer and direction "
              "the biases of the input and of the state. Gates of lstm: input, forget, cell, "
              "output; of gru: reset, update, new."),
    MXL_INPUT(state, "States before the first step, of shape (layer and direction, batch, unit)."),
    MXL_INPUT(state_cell, "The same for the cells of lstm; only with that mode."),
    MXL_INPUT(sequence_length,
              "Steps of each row of the batch; only with use_sequence_length. Results behind them "
              "are 0, and the last states are those of a row's last step."),
    {0},
};

/* Without a state of cells the lengths come in its place. */
static const char *rnn_input(const void *params, int i)
{
    bool lstm = ((const mxl_rnn_params *)params)->mode == MXL_RNN_LSTM;

    return i == 3 && !lstm ? "sequence_length" : NULL;
}

static const mxl_op op_rnn = {
    .name = "RNN",
    .aliases = MXL_ALIASES("_npx_rnn"),
    .doc = "A recurrent network of several layers over all steps. One step of rnn_relu and "
           "rnn_tanh: h' = f(W x + b + R h + d). lstm: c' = f c + i g, h' = o tanh(c'). gru: "
           "h' = (1 - z) n + z h with n = tanh(W x + b + r (R h + d)).",
    .inputs = rnn_inputs,
    MXL_PARAMS_OF(mxl_rnn_params, RNN_PARAMS),
    .check = rnn_check,
    .arity = rnn_arity,
    .output_names = "output state_output statecell_output",
    .infer = rnn_infer,
    RNN_SHAPES,
    .compose = rnn_compose,
    .draws = true,
    .input_name = rnn_input,
};

/* ---- _mxl_rnn ---- */

static int fused_arity(const void *params, mxl_arity *arity)
{
    const mxl_rnn_params *p = params;

    arity->visible = 2 + (p->mode == MXL_RNN_LSTM);
    arity->outputs = arity->visible + 1;
    arity->inputs = arity->visible + 1 + (p->use_sequence_length != 0) + (p->drops != 0);
    return 0;
}

/* The factors of the dropout, behind the inputs of RNN. */
static int check_factors(const mxl_infer *infer, const mxl_rnn_net *net)
{
    const int64_t shape[4] = {net->layers - 1, net->steps, net->batch, net->directions * net->out};
    const mxl_array *in = infer->in[net->mask_input];

    if (mxl_check_dtypes(infer->op, infer->in[0], in) != 0)
        return -1;
    return mxl_shape_same(in->ndim, in->shape, 4, shape)
               ? 0
               : mxl_error("RNN: factors must have shape %s, got %s", MXL_SHAPE_TEXT(4, shape),
                           MXL_SHAPE_OF(in));
}

static int fused_infer(mxl_infer *infer)
{
    const mxl_rnn_params *p = infer->params;
    int last = infer->num_outputs - 1;
    mxl_rnn_net net;

    if (rnn_check((void *)(uintptr_t)p) != 0 || mxl_check_full_float(infer->op, infer->in[0]) != 0)
        return -1;
    if (rnn_infer(infer) != 0)
        return -1;
    net = mxl_rnn_net_of(p, infer->in[0]->shape);
    mxl_shape_set(&infer->out_shape[last], 1, (int64_t[]){p->keeps ? mxl_rnn_kept_size(&net) : 0});
    return p->drops ? check_factors(infer, &net) : 0;
}

static const mxl_op op_rnn_parts = {.name = "_mxl_rnn", .compose = mxl_rnn_parts};

/* The backward of the composition, which has no output of what is kept. */
static int fused_grad(mxl_grad *g)
{
    mxl_grad parts = *g;

    parts.op = &op_rnn_parts;
    parts.num_outputs = g->num_outputs - 1;
    return mxl_composite_grad(&parts);
}

static void fused_saves(mxl_saves *saves)
{
    mxl_saves_inputs(saves);
    saves->out[saves->num_outputs - 1] = true;
}

static const mxl_op op_rnn_fused = {
    .name = "_mxl_rnn",
    .doc = "RNN with the factors of its dropout as the last input, in float32 or float64. Its last "
           "output, which is hidden, is what the backward reads.",
    MXL_INPUTS(MXL_INPUT(data, "As in RNN, and so are the others.")),
    MXL_PARAMS_OF(mxl_rnn_params, RNN_PARAMS,
                  FIELD(keeps, MXL_P_BOOL, "1", "Whether a backward may follow."),
                  FIELD(drops, MXL_P_BOOL, "0", "Whether there are factors.")),
    .arity = fused_arity,
    .infer = fused_infer,
    RNN_SHAPES,
    .compute = mxl_rnn_compute,
    .grad = fused_grad,
    .grad_kernel = mxl_rnn_grad_kernel,
    .saves = fused_saves,
    MXL_BATCH(mxl_vmap_rnn),
};

const mxl_op *const mxl_ops_rnn[] = {&op_rnn, &op_rnn_fused, NULL};

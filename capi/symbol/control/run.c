/* Running loops and branches: each step runs a program, recorded as the rest of the graph. */
#include "symbol/control/control.h"

#include <string.h>

#include "base/memory/mem.h"
#include "symbol/control/loop_steps.h"
#include "ops/build.h"
#include "ops/control_ops.h"
#include "base/system/threads.h"

struct mxl_control {
    const mxl_graph_node *node; /* kept */
    int graphs;
    mxl_program program[];
};

static size_t control_bytes(int graphs)
{
    return sizeof(mxl_control) + (size_t)graphs * sizeof(mxl_program);
}

mxl_control *mxl_control_new(const mxl_graph_node *node)
{
    mxl_control *control;

    if (node->graphs == NULL)
        return mxl_error_null("%s: has no graphs yet; compose it with %d first", node->op->name,
                              node->op->graphs);
    control = mxl_alloc_zero(control_bytes(node->op->graphs));
    if (control == NULL)
        return NULL;
    control->node = node;
    mxl_ref_retain(&((mxl_graph_node *)(uintptr_t)node)->ref);
    control->graphs = node->op->graphs;
    for (int g = 0; g < control->graphs; g++) {
        if (mxl_program_begin(&control->program[g], node->graphs[g]) != 0) {
            mxl_control_free(control);
            return NULL;
        }
    }
    return control;
}

void mxl_control_free(mxl_control *control)
{
    if (control == NULL)
        return;
    for (int g = 0; g < control->graphs; g++)
        mxl_program_end(&control->program[g]);
    mxl_ref_release(&((mxl_graph_node *)(uintptr_t)control->node)->ref);
    mxl_free(control, control_bytes(control->graphs));
}

int mxl_control_keep(mxl_control *control)
{
    for (int g = 0; g < control->graphs; g++) {
        if (mxl_program_keep(&control->program[g]) != 0)
            return -1;
    }
    return 0;
}

bool mxl_control_calls_out(const mxl_control *control)
{
    bool calls = false;

    for (int g = 0; g < control->graphs; g++)
        calls |= control->program[g].calls_out;
    return calls;
}

/* ---- _foreach ---- */

/* The arrays of a loop over parts of data. */
typedef struct parts_loop {
    const mxl_control *control;
    const mxl_foreach_params *p;
    int64_t steps;
    mxl_array **part;  /* [data, steps] */
    mxl_array **state; /* [states]: as the last step left them */
    mxl_array **arg;   /* [variables]: of a step, borrowed */
    mxl_array **made;  /* [outputs]: of a step */
    mxl_array **piece; /* [num_out_data, steps] */
    size_t count;
} parts_loop;

static int parts_begin(parts_loop *l, const mxl_control *control, mxl_array *const *in)
{
    const mxl_foreach_params *p = control->node->params;
    size_t data = (size_t)p->in_data_locs.n, states = (size_t)p->in_state_locs.n;
    size_t outputs = (size_t)p->num_outputs;

    *l = (parts_loop){.control = control, .p = p, .steps = in[0]->ndim > 0 ? in[0]->shape[0] : 0};
    if (l->steps < 1)
        return mxl_error("data has no steps: its shape is %s", MXL_SHAPE_OF(in[0]));
    for (size_t i = 1; i < data; i++) {
        if (in[i]->ndim < 1 || in[i]->shape[0] != l->steps)
            return mxl_error("data must have first axes of one size: shapes %s and %s",
                             MXL_SHAPE_OF(in[0]), MXL_SHAPE_OF(in[i]));
    }
    l->count = (data + (size_t)p->num_out_data) * (size_t)l->steps + states +
               (size_t)control->node->num_inputs + outputs;
    l->part = mxl_alloc_zero(l->count * sizeof(mxl_array *));
    if (l->part == NULL)
        return -1;
    l->piece = l->part + data * (size_t)l->steps;
    l->state = l->piece + (size_t)p->num_out_data * (size_t)l->steps;
    l->made = l->state + states;
    l->arg = l->made + outputs;
    return 0;
}

static void parts_end(parts_loop *l)
{
    if (l->part == NULL)
        return;
    for (size_t i = 0; i < l->count - (size_t)l->control->node->num_inputs; i++)
        mxl_array_release(l->part[i]);
    mxl_free(l->part, l->count * sizeof(mxl_array *));
}

/* Step i: the variables get their arrays, and what the graph makes goes to its places. */
static int parts_step(parts_loop *l, mxl_array *const *in, int64_t i, mxl_mode mode)
{
    const mxl_foreach_params *p = l->p;
    int data = p->in_data_locs.n, states = p->in_state_locs.n;

    for (int k = 0; k < data; k++)
        l->arg[p->in_data_locs.v[k]] = l->part[k * l->steps + i];
    for (int k = 0; k < states; k++)
        l->arg[p->in_state_locs.v[k]] = l->state[k];
    for (int k = 0; k < p->remain_locs.n; k++)
        l->arg[p->remain_locs.v[k]] = in[data + states + k];
    if (mxl_program_run(&l->control->program[0], l->arg, l->made, mode, NULL) != 0)
        return -1;
    for (int64_t k = 0; k < p->num_out_data; k++)
        l->piece[k * l->steps + i] = l->made[k];
    for (int k = 0; k < states; k++) {
        mxl_array_release(l->state[k]);
        l->state[k] = l->made[p->num_out_data + k];
    }
    memset(l->made, 0, (size_t)p->num_outputs * sizeof(*l->made));
    for (int k = 0; k < data; k++) { /* no other step reads them */
        mxl_array_release(l->part[k * l->steps + i]);
        l->part[k * l->steps + i] = NULL;
    }
    return 0;
}

static int run_foreach(const mxl_control *control, mxl_array *const *in, mxl_array **out,
                       mxl_mode mode)
{
    parts_loop l;
    const mxl_foreach_params *p = control->node->params;
    int data = p->in_data_locs.n, status = parts_begin(&l, control, in);

    for (int k = 0; k < data && status == 0; k++)
        status = mxl_steps_split(in[k], l.steps, l.part + k * l.steps, mode);
    for (int k = 0; k < p->in_state_locs.n && status == 0; k++) {
        l.state[k] = in[data + k];
        mxl_array_retain(l.state[k]);
    }
    for (int64_t i = 0; i < l.steps && status == 0; i++)
        status = parts_step(&l, in, i, mode);
    for (int64_t k = 0; k < p->num_out_data && status == 0; k++)
        status = mxl_steps_stack(l.piece + k * l.steps, l.steps, l.steps, &out[k], mode);
    for (int k = 0; k < p->in_state_locs.n && status == 0; k++) {
        out[p->num_out_data + k] = l.state[k];
        l.state[k] = NULL;
    }
    parts_end(&l);
    return status;
}

/* ---- _while_loop ---- */

/* Runs graph g on the inputs at the positions of its variables. */
static int run_graph(const mxl_control *control, int g, mxl_tuple places, mxl_array *const *in,
                     mxl_array **out, mxl_mode mode)
{
    size_t bytes = ((size_t)places.n + 1) * sizeof(mxl_array *);
    mxl_array **args = mxl_alloc(bytes);
    int status;

    if (args == NULL)
        return -1;
    for (int i = 0; i < places.n; i++)
        args[i] = in[places.v[i]];
    status = mxl_program_run(&control->program[g], args, out, mode, NULL);
    mxl_free(args, bytes);
    return status;
}

/* Whether the first graph gives a number other than 0; -1 with the error set. No gradient flows
 * through it. */
static int holds(const mxl_control *control, mxl_tuple places, mxl_array *const *in, mxl_mode mode)
{
    mxl_array *condition = NULL;
    int truth;

    mode.record = false;
    if (run_graph(control, 0, places, in, &condition, mode) != 0)
        return -1;
    truth = mxl_steps_truth(condition, mode);
    mxl_array_release(condition);
    return truth;
}

/* The arrays of a loop with a condition. */
typedef struct while_loop {
    const mxl_control *control;
    const mxl_while_params *p;
    mxl_array **current; /* [inputs]: kept */
    mxl_array **made;    /* [outputs]: of a step */
    mxl_array **piece;   /* [room, num_out_data]: of all steps */
    int64_t steps, room;
} while_loop;

static size_t while_bytes(const while_loop *l)
{
    return ((size_t)l->control->node->num_inputs + (size_t)l->p->num_outputs) * sizeof(mxl_array *);
}

static int while_begin(while_loop *l, const mxl_control *control, mxl_array *const *in)
{
    *l = (while_loop){.control = control, .p = control->node->params};
    l->current = mxl_alloc_zero(while_bytes(l));
    if (l->current == NULL)
        return -1;
    l->made = l->current + control->node->num_inputs;
    for (int i = 0; i < control->node->num_inputs; i++) {
        l->current[i] = in[i];
        mxl_array_retain(in[i]);
    }
    return 0;
}

static size_t piece_bytes(const while_loop *l, int64_t room)
{
    return (size_t)room * (size_t)l->p->num_out_data * sizeof(mxl_array *);
}

static void while_end(while_loop *l)
{
    if (l->current == NULL)
        return;
    for (int64_t i = 0; i < l->steps * l->p->num_out_data; i++)
        mxl_array_release(l->piece[i]);
    mxl_free(l->piece, piece_bytes(l, l->room));
    for (int i = 0; i < l->control->node->num_inputs; i++)
        mxl_array_release(l->current[i]);
    mxl_free(l->current, while_bytes(l));
}

/* Room for another step. */
static int while_grow(while_loop *l)
{
    int64_t room = l->room == 0 ? 8 : 2 * l->room;
    mxl_array **piece;

    if (l->steps < l->room || l->p->num_out_data == 0)
        return 0;
    piece = mxl_alloc(piece_bytes(l, room));
    if (piece == NULL)
        return -1;
    if (l->room > 0)
        memcpy(piece, l->piece, piece_bytes(l, l->room));
    mxl_free(l->piece, piece_bytes(l, l->room));
    l->piece = piece;
    l->room = room;
    return 0;
}

/* The input that variable k of the loop begins with. */
static int64_t input_of(const mxl_while_params *p, int k)
{
    return p->func_input_locs.v[p->func_var_locs.v[k]];
}

static int while_step(while_loop *l, mxl_mode mode)
{
    const mxl_while_params *p = l->p;

    if (while_grow(l) != 0 ||
        run_graph(l->control, 1, p->func_input_locs, l->current, l->made, mode) != 0)
        return -1;
    for (int64_t k = 0; k < p->num_out_data; k++)
        l->piece[l->steps * p->num_out_data + k] = l->made[k];
    l->steps++;
    for (int k = 0; k < p->func_var_locs.n; k++) {
        mxl_array_release(l->current[input_of(p, k)]);
        l->current[input_of(p, k)] = l->made[p->num_out_data + k];
    }
    return 0;
}

/* Result k of all steps, with zeros behind; without a step zeros of the shape that it would have.
 */
static int while_stack(const while_loop *l, int k, mxl_array **out, mxl_mode mode)
{
    size_t bytes = ((size_t)l->steps + 1) * sizeof(mxl_array *);
    mxl_array **list;
    int status;

    if (l->steps == 0)
        return mxl_steps_none(l->control->node, l->current, k, out, mode);
    list = mxl_alloc(bytes);
    if (list == NULL)
        return -1;
    for (int64_t i = 0; i < l->steps; i++)
        list[i] = l->piece[i * l->p->num_out_data + k];
    status = mxl_steps_stack(list, l->steps, l->p->max_iterations, out, mode);
    mxl_free(list, bytes);
    return status;
}

static int run_while(const mxl_control *control, mxl_array *const *in, mxl_array **out,
                     mxl_mode mode)
{
    const mxl_while_params *p = control->node->params;
    int status, on = 1;
    while_loop l;

    status = while_begin(&l, control, in);
    while (status == 0 && l.steps < p->max_iterations && on > 0) {
        on = holds(control, p->cond_input_locs, l.current, mode);
        status = on < 0 ? -1 : on > 0 ? while_step(&l, mode) : 0;
    }
    for (int k = 0; k < p->num_out_data && status == 0; k++)
        status = while_stack(&l, k, &out[k], mode);
    for (int k = 0; k < p->func_var_locs.n && status == 0; k++) {
        int64_t input = input_of(p, k);

        if (l.steps == 0) { /* a result is no input */
            status = mxl_invoke(&mxl_op_copy, NULL, 1, &l.current[input], 1,
                                &out[p->num_out_data + k], mode);
        } else {
            out[p->num_out_data + k] = l.current[input];
            mxl_array_retain(l.current[input]);
        }
    }
    while_end(&l);
    return status;
}

/* ---- _cond ---- */

static int run_branch(const mxl_control *control, mxl_array *const *in, mxl_array **out,
                      mxl_mode mode)
{
    const mxl_cond_params *p = control->node->params;
    int truth = holds(control, p->cond_input_locs, in, mode);

    if (truth < 0)
        return -1;
    return truth > 0 ? run_graph(control, 1, p->then_input_locs, in, out, mode)
                     : run_graph(control, 2, p->else_input_locs, in, out, mode);
}

int mxl_control_run(const mxl_control *control, mxl_array *const *in, mxl_array **out,
                    mxl_mode mode)
{
    int status;

    if (control->graphs == MXL_FOREACH)
        status = run_foreach(control, in, out, mode);
    else if (control->graphs == MXL_WHILE)
        status = run_while(control, in, out, mode);
    else
        status = run_branch(control, in, out, mode);
    for (int i = 0; i < control->node->outputs && status != 0; i++) {
        mxl_array_release(out[i]);
        out[i] = NULL;
    }
    return status;
}

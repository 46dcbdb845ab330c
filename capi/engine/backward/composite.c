/* Nodes of composite operators: a second, recorded run of the composition gives the gradients. Its
 * counterpart for compositions in Python is mxlite/autograd/_composition.py. */
#include "engine/backward/composite.h"

#include <string.h>

#include "base/memory/mem.h"
#include "engine/backward/backward.h"
#include "engine/run/builtin_ops.h"
#include "engine/tape/record_hooks.h"

/* The second run: inputs and outputs of the composition, and the lists of its backward. */
typedef struct second {
    mxl_call call;
    int num_roots, num_variables;
    mxl_array **roots, **root_grads; /* the outputs that gradients arrived at, and these */
    mxl_array **variables, **grads;  /* the inputs whose gradients are wanted, and these */
    size_t bytes;
} second;

static int second_begin(second *run, const mxl_grad *g)
{
    size_t in = (size_t)g->num_inputs, out = (size_t)g->num_outputs;

    *run = (second){.call = {.op = g->op,
                             .params = g->params,
                             .num_inputs = g->num_inputs,
                             .num_outputs = g->num_outputs,
                             .training = g->training},
                    .bytes = 3 * (in + out) * sizeof(mxl_array *)};
    run->call.in = mxl_alloc_zero(run->bytes);
    if (run->call.in == NULL)
        return -1;
    run->variables = run->call.in + in;
    run->grads = run->variables + in;
    run->call.out = run->grads + in;
    run->roots = run->call.out + out;
    run->root_grads = run->roots + out;
    return 0;
}

/* An input of the second run whose gradient is wanted: an alias of the saved one, as inputs may be
 * the same array or depend on one another. With create_graph the alias is attached to the saved
 * input, else it is a variable by itself. Scoped. */
static mxl_array *variable_of(mxl_grad *g, mxl_array *saved)
{
    mxl_array *alias = saved == NULL ? NULL : mxl_scope_own(g->s, mxl_array_alias(saved));
    const mxl_builtin_ops *builtin = mxl_builtin_ops_get();
    mxl_leaf *spare = NULL;

    if (alias == NULL || builtin == NULL)
        return NULL;
    if (g->s->mode.record &&
        mxl_tape_view(builtin->copy, NULL, saved, alias, g->training, g->node->dialect->plain) != 0)
        return NULL;
    if (mxl_array_has_target(alias))
        return alias;
    if (mxl_array_reserve_leaf(alias, &spare) != 0)
        return NULL;
    mxl_array_set_leaf(alias, MXL_GRAD_WRITE, NULL, spare);
    return alias;
}

static int second_inputs(second *run, mxl_grad *g)
{
    for (int i = 0; i < g->num_inputs; i++) {
        mxl_array *saved = mxl_grad_in(g, i);

        run->call.in[i] = mxl_grad_wants(g, i) ? variable_of(g, saved) : saved;
        if (run->call.in[i] == NULL)
            return -1;
        if (mxl_grad_wants(g, i))
            run->variables[run->num_variables++] = run->call.in[i];
    }
    return 0;
}

/* Runs the composition. Hooks of the caller's do not see what is recorded for this backward alone.
 */
static int second_run(second *run, const mxl_grad *g, mxl_scope *scope)
{
    bool create_graph = g->s->mode.record;
    bool paused = create_graph ? false : mxl_record_hook_pause();
    int status = mxl_compose(scope, &run->call);

    if (!create_graph)
        mxl_record_hook_resume(paused);
    for (int i = 0; i < g->num_outputs && status == 0; i++) {
        if (g->grad_output[i] == NULL || !mxl_tape_recorded(run->call.out[i], scope->mode.dialect))
            continue;
        run->roots[run->num_roots] = run->call.out[i];
        run->root_grads[run->num_roots++] = g->grad_output[i];
    }
    return status;
}

static int second_backward(second *run, mxl_grad *g)
{
    mxl_backward_args args = {.num_heads = run->num_roots,
                              .heads = run->roots,
                              .head_grads = run->root_grads,
                              .num_variables = run->num_variables,
                              .variables = run->variables,
                              .grads = run->grads,
                              .retain_graph = g->s->mode.record,
                              .create_graph = g->s->mode.record,
                              .training = g->s->mode.training,
                              .allow_unreachable = true,
                              .as_arrived = true,
                              .dialect = g->s->mode.dialect};
    int status = 0;

    if (run->num_roots == 0 || run->num_variables == 0)
        return 0;
    if (mxl_backward(&args) != 0)
        return -1;
    for (int i = 0; i < run->num_variables; i++) {
        if (run->grads[i] != NULL && mxl_scope_own(g->s, run->grads[i]) == NULL)
            status = -1;
    }
    for (int i = 0, k = 0; i < g->num_inputs && status == 0; i++) {
        mxl_array *grad = mxl_grad_wants(g, i) ? run->grads[k++] : NULL;

        if (grad != NULL)
            status = mxl_grad_set(g, i, grad);
    }
    return status;
}

int mxl_composite_grad(mxl_grad *g)
{
    mxl_mode mode = g->s->mode;
    mxl_scope scope;
    second run;
    int status;

    if (second_begin(&run, g) != 0)
        return -1;
    mode.record = true;
    mode.dialect = g->node->dialect->plain;
    mxl_scope_begin(&scope, mode);
    status = second_inputs(&run, g);
    if (status == 0)
        status = second_run(&run, g, &scope);
    if (status == 0)
        status = second_backward(&run, g);
    mxl_scope_end(&scope);
    mxl_free(run.call.in, run.bytes);
    return status;
}

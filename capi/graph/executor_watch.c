/* Monitors of an executor's backward. */
#include <string.h>

#include "base/memory/mem.h"
#include "graph/executor.h"

static size_t list_bytes(const mxl_executor *e)
{
    return ((size_t)e->program.graph.entries + (size_t)e->args + 1) * sizeof(void *);
}

static mxl_array *zeros_like(const mxl_array *array)
{
    mxl_array *made = mxl_array_new(array->dtype, array->ndim, array->shape);

    if (made != NULL)
        memset(mxl_array_write(made), 0, (size_t)made->size * mxl_dtype_size(made->dtype));
    return made;
}

/* Gradients for the arguments without one. */
static int ask_for_all(mxl_executor *e)
{
    for (int i = 0; i < e->args; i++) {
        if (e->variable[i] != NULL || !mxl_dtype_is_float(e->arg[i]->dtype))
            continue;
        e->unasked[i] = zeros_like(e->arg[i]);
        if (e->unasked[i] == NULL)
            return -1;
        e->variable[i] = mxl_executor_leaf(e->arg[i], e->unasked[i], MXL_GRAD_WRITE);
        if (e->variable[i] == NULL)
            return -1;
    }
    mxl_executor_list_inputs(e);
    return 0;
}

mxl_grad_watch **mxl_executor_watches(mxl_executor *e)
{
    e->watch = mxl_alloc_zero(list_bytes(e));
    if (e->watch == NULL)
        return NULL;
    e->unasked = (mxl_array **)(e->watch + e->program.graph.entries);
    if (ask_for_all(e) == 0)
        return e->watch;
    mxl_executor_drop_watches(e);
    return NULL;
}

void mxl_executor_drop_watches(mxl_executor *e)
{
    if (e->watch == NULL)
        return;
    for (int i = 0; i < e->program.graph.entries; i++)
        mxl_grad_watch_release(e->watch[i]);
    for (int i = 0; i < e->args; i++) {
        if (e->unasked[i] == NULL)
            continue;
        mxl_array_release(e->unasked[i]);
        mxl_array_release(e->variable[i]);
        e->variable[i] = NULL;
    }
    mxl_free(e->watch, list_bytes(e));
    e->watch = NULL;
    mxl_executor_list_inputs(e);
}

/* The argument that is a variable's, or -1. */
static int argument_of(const mxl_executor *e, const mxl_graph_node *variable)
{
    for (int i = 0; i < e->args; i++) {
        if (mxl_executor_variable(e, i, false) == variable)
            return i;
    }
    return -1;
}

/* The gradient of an input of a node, or zeros where none arrived; a new reference. NULL: nothing
 * is known of it. */
static mxl_array *gradient_of(const mxl_executor *e, int entry, const mxl_graph_node *from)
{
    int i = from->op == NULL ? argument_of(e, from) : -1;
    mxl_array *grad = NULL;

    if (from->op != NULL)
        grad = e->watch[entry] != NULL ? e->watch[entry]->grad : NULL;
    else if (i >= 0)
        grad = e->unasked[i] != NULL ? e->unasked[i] : e->grad[i];
    if (grad != NULL) {
        mxl_array_retain(grad);
        return grad;
    }
    return i >= 0 ? zeros_like(e->arg[i]) : NULL;
}

/* Whether a gradient arrived at any result of node n. */
static bool was_reached(const mxl_executor *e, int n)
{
    for (int i = e->program.graph.first[n]; i < e->program.graph.first[n + 1]; i++) {
        if (e->watch[i] != NULL && e->watch[i]->grad != NULL)
            return true;
    }
    return false;
}

static void show_node(const mxl_executor *e, int n, const mxl_monitor *monitor)
{
    const mxl_indexed *graph = &e->program.graph;
    const mxl_graph_node *node = graph->walk.node[n];
    int count = 0, at = 0;

    for (int i = 0; i < node->num_inputs; i++)
        count += !mxl_graph_node_mutates(node, i);
    for (int i = 0; i < node->num_inputs; i++) {
        mxl_array *grad;
        mxl_str name = {0};

        if (mxl_graph_node_mutates(node, i))
            continue;
        grad = gradient_of(e, graph->input[graph->args[n] + i], node->inputs[i].node);
        mxl_str_addf(&name, "%s_backward_output", node->name);
        if (count > 1)
            mxl_str_addf(&name, "%d", at);
        at++;
        if (grad != NULL && !name.failed)
            monitor->call(monitor->payload, node, name.text, grad);
        mxl_array_release(grad);
        mxl_str_clear(&name);
    }
}

void mxl_executor_show_gradients(const mxl_executor *e, const mxl_monitor *monitor)
{
    const mxl_walk *walk = &e->program.graph.walk;

    for (int n = walk->count; n-- > 0 && e->watch != NULL;) {
        if (walk->node[n]->op != NULL && was_reached(e, n))
            show_node(e, n, monitor);
    }
}

/* Monitors of an executor's backward. */
#include "base/memory/mem.h"
#include "symbol/executor/executor.h"

static size_t list_bytes(const mxl_executor *e)
{
    return ((size_t)e->program.graph.entries + (size_t)e->args + 1) * sizeof(void *);
}

/* Gradients for the arguments without one. */
static int ask_for_all(mxl_executor *e)
{
    for (int i = 0; i < e->args; i++) {
        if (e->variable[i] != NULL || !mxl_dtype_is_float(e->arg[i]->dtype))
            continue;
        e->unasked[i] = mxl_array_zeros_like(e->arg[i]);
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

/* Sets *grad to the gradient of an input of a node, or to zeros where none arrived, a new
 * reference; to NULL where nothing is known of it. -1 with the error set. */
static int gradient_of(const mxl_executor *e, int entry, const mxl_graph_node *from,
                       mxl_array **grad)
{
    int i = from->op == NULL ? argument_of(e, from) : -1;

    *grad = NULL;
    if (from->op != NULL)
        *grad = e->watch[entry] != NULL ? e->watch[entry]->grad : NULL;
    else if (i >= 0)
        *grad = e->unasked[i] != NULL ? e->unasked[i] : e->grad[i];
    if (*grad != NULL)
        mxl_array_retain(*grad);
    else if (i >= 0 && (*grad = mxl_array_zeros_like(e->arg[i])) == NULL)
        return -1;
    return 0;
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

/* Shows the gradient of input i of node n, which is the one of number `at` of `count`. */
static int show_input(const mxl_executor *e, int n, int i, int at, int count,
                      const mxl_monitor *monitor)
{
    const mxl_indexed *graph = &e->program.graph;
    const mxl_graph_node *node = graph->walk.node[n];
    mxl_array *grad;
    mxl_str name = {0};
    int status = gradient_of(e, graph->input[graph->args[n] + i], node->inputs[i].node, &grad);

    if (status != 0 || grad == NULL)
        return status;
    mxl_str_addf(&name, "%s_backward_output", node->name);
    if (count > 1)
        mxl_str_addf(&name, "%d", at);
    if (name.failed)
        status = mxl_error_memory(name.capacity);
    else
        monitor->call(monitor->payload, node, name.text, grad);
    mxl_array_release(grad);
    mxl_str_clear(&name);
    return status;
}

static int show_node(const mxl_executor *e, int n, const mxl_monitor *monitor)
{
    const mxl_graph_node *node = e->program.graph.walk.node[n];
    int count = 0, at = 0;

    for (int i = 0; i < node->num_inputs; i++)
        count += !mxl_graph_node_mutates(node, i);
    for (int i = 0; i < node->num_inputs; i++) {
        if (!mxl_graph_node_mutates(node, i) && show_input(e, n, i, at++, count, monitor) != 0)
            return -1;
    }
    return 0;
}

int mxl_executor_show_gradients(const mxl_executor *e, const mxl_monitor *monitor)
{
    const mxl_node_walk *walk = &e->program.graph.walk;

    for (int n = walk->count; n-- > 0 && e->watch != NULL;) {
        if (walk->node[n]->op != NULL && was_reached(e, n) && show_node(e, n, monitor) != 0)
            return -1;
    }
    return 0;
}

/* Storage types of the entries of a graph; see stypes.h. */
#include "symbol/stypes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/mem.h"
#include "op/sparse_forms.h"

int mxl_stype_of_variable(const mxl_graph_node *variable, int otherwise)
{
    const char *text = mxl_attrs_get(&variable->attrs, "__storage_type__");
    long stype = text == NULL ? otherwise : strtol(text, NULL, 10);

    return stype >= MXL_DENSE && stype <= MXL_CSR ? (int)stype : otherwise;
}

/* The storage types around a node: inputs, no given outputs, outputs; gradients of outputs and of
 * inputs. One block. */
typedef struct around {
    mxl_stypes call;
    int8_t *in, *out, *out_grad, *in_grad;
    size_t bytes;
} around;

static int around_begin(around *a, const mxl_indexed *graph, int n, const int8_t *stypes)
{
    const mxl_graph_node *node = graph->walk.node[n];
    size_t in = (size_t)node->num_inputs, out = (size_t)node->outputs;
    int8_t *given;

    a->bytes = 2 * in + 3 * out + 1;
    a->in = mxl_alloc_zero(a->bytes);
    if (a->in == NULL)
        return -1;
    given = a->in + in;
    a->out = given + out;
    a->out_grad = a->out + out;
    a->in_grad = a->out_grad + out;
    memset(given, MXL_STYPE_NONE, out);
    for (size_t i = 0; i < in; i++)
        a->in[i] = stypes[graph->input[graph->args[n] + (int)i]];
    a->call = (mxl_stypes){node->op, node->params, (int)in, (int)out, a->in, given, a->out, NULL};
    return 0;
}

static void around_end(around *a)
{
    mxl_free(a->in, a->bytes);
}

/* Whether the operator's form runs for these inputs, which sets the types of the outputs. */
static bool has_form(around *a)
{
    const mxl_op *op = a->call.op;
    bool asked = mxl_op_may_make_sparse(op, a->call.params);

    for (int i = 0; i < a->call.num_inputs; i++)
        asked = asked || a->in[i] > MXL_DENSE;
    if (op->sparse != NULL && asked && op->sparse->stypes(&a->call))
        return true;
    memset(a->out, MXL_DENSE, (size_t)a->call.num_outputs);
    return false;
}

int mxl_stypes_infer(const mxl_indexed *graph, int8_t *stypes)
{
    for (int n = 0; n < graph->walk.count; n++) {
        const mxl_graph_node *node = graph->walk.node[n];
        around a;

        if (node->op == NULL)
            continue;
        if (around_begin(&a, graph, n, stypes) != 0)
            return -1;
        (void)has_form(&a);
        memcpy(stypes + graph->first[n], a.out, (size_t)node->outputs);
        around_end(&a);
    }
    return 0;
}

/* The gradient that also arrives at an entry: a sum of two storage types is dense. */
static void arrive(int8_t *grad, int8_t stype)
{
    *grad = *grad == MXL_STYPE_NONE || *grad == stype ? stype : (int8_t)MXL_DENSE;
}

/* Whether a gradient arrives at an output of the node; one that does not is dense zeros. */
static bool take_grads(const mxl_indexed *graph, int n, const int8_t *grads, around *a)
{
    bool any = false;

    for (int i = 0; i < a->call.num_outputs; i++) {
        int8_t stype = grads[graph->first[n] + i];

        any = any || stype != MXL_STYPE_NONE;
        a->out_grad[i] = stype != MXL_STYPE_NONE ? stype : MXL_DENSE;
    }
    return any;
}

int mxl_stypes_infer_grads(const mxl_indexed *graph, const int8_t *stypes, int8_t *grads)
{
    memset(grads, MXL_STYPE_NONE, (size_t)graph->entries);
    for (int i = 0; i < graph->symbol->count; i++)
        grads[graph->head[i]] = stypes[graph->head[i]];
    for (int n = graph->walk.count - 1; n >= 0; n--) {
        const mxl_graph_node *node = graph->walk.node[n];
        around a;

        if (node->op == NULL)
            continue;
        if (around_begin(&a, graph, n, stypes) != 0)
            return -1;
        if (take_grads(graph, n, grads, &a)) {
            (void)has_form(&a);
            if (node->op->sparse != NULL && node->op->sparse->grad_stypes != NULL)
                node->op->sparse->grad_stypes(&a.call, a.out_grad, a.in_grad);
            for (int i = 0; i < node->num_inputs; i++)
                arrive(&grads[graph->input[graph->args[n] + i]], a.in_grad[i]);
        }
        around_end(&a);
    }
    return 0;
}

/* Names of outputs, as 1.9.1 lists them. */
#include "graph/symbol.h"

int mxl_graph_node_total(const mxl_graph_node *node)
{
    return node->op == NULL ? node->outputs
                            : mxl_op_total_outputs(node->op, node->params, node->outputs);
}

void mxl_entry_name(const mxl_entry *entry, mxl_str *out)
{
    const mxl_graph_node *node = entry->node;
    char room[MXL_NAME];
    const char *name;

    if (node->op == NULL) {
        mxl_str_add(out, node->name);
        return;
    }
    name = mxl_op_output_name(node->op, node->params, entry->output, room);
    if (name != NULL)
        mxl_str_addf(out, "%s_%s", node->name, name);
    else if (mxl_graph_node_total(node) == 1)
        mxl_str_addf(out, "%s_output", node->name);
    else
        mxl_str_addf(out, "%s_output%d", node->name, entry->output);
}

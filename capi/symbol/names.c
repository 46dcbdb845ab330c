/* Names of inputs, under which 1.9.1 makes variables for those that are missing, and of outputs. */
#include <stdio.h>

#include "symbol/symbol.h"

const char *mxl_graph_node_input(const mxl_graph_node *node, int i, char room[MXL_NAME])
{
    int count = node->num_inputs;

    if (count == 0 && node->op->input_names != NULL)
        count = mxl_graph_node_needs(node, 1);
    return mxl_op_input_name(node->op, node->params, count, i, room);
}

const char *mxl_graph_node_operand(const mxl_graph_node *node, int i, char room[MXL_NAME])
{
    if (node->op->inputs != NULL && !node->op->numbers_inputs)
        return mxl_graph_node_input(node, i, room);
    (void)snprintf(room, MXL_NAME, "input%d", i);
    return room;
}

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

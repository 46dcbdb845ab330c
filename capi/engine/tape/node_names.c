/* Names and slots of nodes: those of the label, of a row, or made of the operator's name. */
#include "engine/tape/node_names.h"

#include <string.h>

/* The operator's row, or NULL. */
static const mxl_node_row *find(const mxl_node *node)
{
    for (const mxl_node_row *row = mxl_node_rows; row->op != NULL; row++) {
        if (strcmp(node->op->name, row->op) == 0)
            return row;
    }
    return NULL;
}

/* "_maximum_scalar": "MaximumBackward0". */
static const char *name_from(const char *op, char room[MXL_NAME_ROOM])
{
    static const char ours[] = "_mxl_", scalar[] = "_scalar", end[] = "Backward0";
    size_t length, n = 0;
    bool up = true;

    if (strncmp(op, ours, sizeof(ours) - 1) == 0)
        op += sizeof(ours) - 1;
    length = strlen(op);
    if (length >= sizeof(scalar) && strcmp(op + length - (sizeof(scalar) - 1), scalar) == 0)
        length -= sizeof(scalar) - 1;
    for (size_t i = 0; i < length && n + sizeof(end) < MXL_NAME_ROOM; i++) {
        if (op[i] == '_') {
            up = true;
            continue;
        }
        room[n++] = (char)(up && op[i] >= 'a' && op[i] <= 'z' ? op[i] - 'a' + 'A' : op[i]);
        up = false;
    }
    memcpy(room + n, end, sizeof(end));
    return room;
}

const char *mxl_node_name(const mxl_node *node, char room[MXL_NAME_ROOM])
{
    const mxl_node_row *row;

    if (node->op->wraps_node) /* its label is that of the node within */
        return node->op->name;
    if (node->dialect->label != NULL)
        return node->dialect->label;
    row = find(node);
    return row != NULL ? row->node : name_from(node->op->name, room);
}

const char *mxl_node_slots(const mxl_node *node)
{
    const mxl_node_row *row;

    if (node->dialect->label != NULL || node->dialect->slots != NULL || node->op->wraps_node)
        return node->dialect->slots;
    row = find(node);
    return row == NULL ? NULL : row->slots;
}

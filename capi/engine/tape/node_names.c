/* Names and slots of nodes: those of the label, of the operator, or made of its name. */
#include "engine/tape/node_names.h"

#include <string.h>

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
    if (node->op->wraps_node) /* its label is that of the node within */
        return node->op->name;
    if (node->dialect->label != NULL)
        return node->dialect->label;
    return node->op->node_name != NULL ? node->op->node_name : name_from(node->op->name, room);
}

const char *mxl_node_slots(const mxl_node *node)
{
    bool own =
        node->dialect->label == NULL && node->dialect->slots == NULL && !node->op->wraps_node;

    return own ? node->op->node_slots : node->dialect->slots;
}

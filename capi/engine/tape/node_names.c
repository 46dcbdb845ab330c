/* What nodes are called that were recorded without a label. */
#include "engine/tape/node_names.h"

#include <string.h>

typedef struct builtin {
    const char *op, *name;
    const char *slots; /* NULL: the inputs in order */
} builtin;

/* Operators that PyTorch calls something else than what name_from makes of ours, or shows with a
 * slot for a number. */
static const builtin table[] = {
    {"_mxl_as_strided", "AsStridedBackward0", NULL},
    {"_copy", "CopyBackwards", NULL},
    {"Cast", "ToCopyBackward0", NULL},
    {"_mxl_sum_to", "SumBackward1", NULL},
    {"elemwise_add", "AddBackward0", NULL},
    {"broadcast_add", "AddBackward0", NULL},
    {"_grad_add", "AddBackward0", NULL},
    {"_plus_scalar", "AddBackward0", "0-"},
    {"elemwise_sub", "SubBackward0", NULL},
    {"broadcast_sub", "SubBackward0", NULL},
    {"_minus_scalar", "SubBackward0", "0-"},
    {"_rminus_scalar", "RsubBackward1", NULL},
    {"elemwise_mul", "MulBackward0", NULL},
    {"broadcast_mul", "MulBackward0", NULL},
    {"_mul_scalar", "MulBackward0", "0-"},
    {"elemwise_div", "DivBackward0", NULL},
    {"broadcast_div", "DivBackward0", NULL},
    {"_div_scalar", "DivBackward0", "0-"},
    {"_power_scalar", "PowBackward0", NULL},
    {"broadcast_power", "PowBackward1", NULL},
    {"_rpower_scalar", "PowBackward2", NULL},
    {"_mod_scalar", "RemainderBackward0", NULL},
    {"broadcast_mod", "RemainderBackward1", NULL},
    {"broadcast_maximum", "MaximumBackward0", NULL},
    {"broadcast_minimum", "MinimumBackward0", NULL},
    {"negative", "NegBackward0", NULL},
    {"arcsin", "AsinBackward0", NULL},
    {"arccos", "AcosBackward0", NULL},
    {"arctan", "AtanBackward0", NULL},
    {"arcsinh", "AsinhBackward0", NULL},
    {"arccosh", "AcoshBackward0", NULL},
    {"arctanh", "AtanhBackward0", NULL},
    {"clip", "ClampBackward1", NULL},
    {"batch_dot", "BmmBackward0", NULL},
    {"transpose", "PermuteBackward0", NULL},
    {"expand_dims", "UnsqueezeBackward0", NULL},
    {"Concat", "CatBackward0", NULL},
};

static const builtin *find(const mxl_node *node)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        if (strcmp(node->op->name, table[i].op) == 0)
            return &table[i];
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
    const builtin *k;

    if (node->op->wraps_node) /* its label is that of the node within */
        return node->op->name;
    if (node->dialect->label != NULL)
        return node->dialect->label;
    k = find(node);
    return k != NULL ? k->name : name_from(node->op->name, room);
}

const char *mxl_node_slots(const mxl_node *node)
{
    const builtin *k;

    if (node->dialect->label != NULL || node->dialect->slots != NULL || node->op->wraps_node)
        return node->dialect->slots;
    k = find(node);
    return k == NULL ? NULL : k->slots;
}

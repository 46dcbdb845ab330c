/* Names of inputs, under which 1.9.1 makes variables for those that are missing. */
#include <stdio.h>
#include <string.h>

#include "graph/symbol.h"
#include "ops/custom.h"

/* Operators of several arrays, whose names end with a number: those of each group, and those that
 * follow all groups. (1.9.1 fails on some of these names; they have the same form here.) */
static const struct {
    const char *op;
    const char *group[6], *rest[3]; /* end with NULL */
} grouped[] = {
    {"multi_sgd_update", {"weight", "grad"}, {NULL}},
    {"multi_sgd_mom_update", {"weight", "grad", "mom"}, {NULL}},
    {"multi_mp_sgd_update", {"weight", "grad", "weight32"}, {NULL}},
    {"multi_mp_sgd_mom_update", {"weight", "grad", "mom", "weight32"}, {NULL}},
    {"preloaded_multi_sgd_update", {"weight", "grad"}, {"lrs", "wds"}},
    {"preloaded_multi_sgd_mom_update", {"weight", "grad", "mom"}, {"lrs", "wds"}},
    {"preloaded_multi_mp_sgd_update", {"weight", "grad", "weight32"}, {"lrs", "wds"}},
    {"preloaded_multi_mp_sgd_mom_update", {"weight", "grad", "mom", "weight32"}, {"lrs", "wds"}},
    {"_multi_adamw_update", {"weight", "grad", "mean", "var"}, {"rescale_grad"}},
    {"_multi_mp_adamw_update", {"weight", "grad", "mean", "var", "weight32"}, {"rescale_grad"}},
    {"_multi_lamb_update", {"weight", "grad", "mean", "var"}, {NULL}},
    {"_multi_mp_lamb_update", {"weight", "grad", "mean", "var", "weight32"}, {NULL}},
    {"multi_sum_sq", {"array"}, {NULL}},
    {"multi_all_finite", {"array"}, {NULL}},
    {"reset_arrays", {"array"}, {NULL}},
    {"amp_multicast", {"data"}, {NULL}},
};

static int length_of(const char *const *names)
{
    int count = 0;

    while (names[count] != NULL)
        count++;
    return count;
}

/* The name of input i of such an operator, in `room` if it has a number; NULL for others. */
static const char *grouped_name(const mxl_graph_node *node, int i, char room[32])
{
    for (size_t k = 0; k < sizeof(grouped) / sizeof(grouped[0]); k++) {
        int each = length_of(grouped[k].group), rest = length_of(grouped[k].rest), first;

        if (strcmp(grouped[k].op, node->op->name) != 0)
            continue;
        first = (node->num_inputs > 0 ? node->num_inputs : mxl_graph_node_needs(node, 1)) - rest;
        if (i >= first && i < first + rest)
            return grouped[k].rest[i - first];
        snprintf(room, 32, "%s_%d", grouped[k].group[i % each], i / each);
        return room;
    }
    return NULL;
}

bool mxl_graph_node_has(const mxl_graph_node *node, const char *param, const char *value)
{
    mxl_str text = {0};
    bool has = mxl_param_print(mxl_param_find(node->op, param), node->params, &text) == 0 &&
               text.text != NULL && strcmp(text.text, value) == 0;

    mxl_str_clear(&text);
    return has;
}

/* Operators whose inputs depend on a parameter, which are left out of the list of names without
 * it. */
static bool is_left_out(const mxl_graph_node *node, const char *input)
{
    static const struct {
        const char *op, *input, *param, *value; /* there while the parameter has that value */
    } optional[] = {
        {"RNN", "state_cell", "mode", "lstm"},
        {"RNN", "sequence_length", "use_sequence_length", "True"},
        {"CTCLoss", "data_lengths", "use_data_lengths", "True"},
        {"CTCLoss", "label_lengths", "use_label_lengths", "True"},
    };
    bool out = false;

    for (size_t k = 0; k < sizeof(optional) / sizeof(optional[0]); k++) {
        if (strcmp(optional[k].op, node->op->name) != 0 || strcmp(optional[k].input, input) != 0)
            continue;
        out = !mxl_graph_node_has(node, optional[k].param, optional[k].value);
    }
    return out;
}

/* The name of an input that its operator does not list, or NULL. */
static const char *unlisted_name(const mxl_graph_node *node, int i)
{
    static const struct {
        const char *op;
        int input;
        const char *name;
    } states[] = {{"BatchNorm_v1", 3, "moving_mean"},
                  {"BatchNorm_v1", 4, "moving_var"},
                  {"IdentityAttachKLSparseReg", 1, "moving_avg"}};

    for (size_t k = 0; k < sizeof(states) / sizeof(states[0]); k++) {
        if (states[k].input == i && strcmp(states[k].op, node->op->name) == 0)
            return states[k].name;
    }
    return NULL;
}

const char *mxl_graph_node_input(const mxl_graph_node *node, int i, char room[32])
{
    const mxl_custom *custom = mxl_custom_of(node->op, node->params);
    const mxl_input *inputs = mxl_op_inputs(node->op);
    const char *name = grouped_name(node, i, room);

    if (name == NULL)
        name = unlisted_name(node, i);
    if (custom != NULL && i < custom->num_arguments + custom->num_aux)
        return mxl_custom_name(custom, i < custom->num_arguments ? i : i + custom->num_outputs);
    if (name != NULL)
        return name;
    if (strcmp(node->op->name, "UpSampling") == 0 &&
        mxl_graph_node_has(node, "sample_type", "bilinear"))
        return i == 0 ? "data" : "weight";
    for (int k = 0; node->op->key_var_num_args == NULL && inputs[k].name != NULL; k++) {
        if (is_left_out(node, inputs[k].name))
            continue;
        if (i-- == 0)
            return inputs[k].name;
    }
    snprintf(room, 32, "arg%d", i);
    return room;
}

/* Which passes run; see passes.h. */
#include "symbol/passes/passes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/mem.h"
#include "ops/elementwise/elementwise.h"

static const char *const names[] = {
    [MXL_PASS_REPEATS] = "repeats",     [MXL_PASS_CONSTANTS] = "constants",
    [MXL_PASS_LAYERS] = "layers",       [MXL_PASS_SWAP] = "swap",
    [MXL_PASS_FUSE] = "fuse",           [MXL_PASS_DENSE] = "dense",
    [MXL_PASS_ATTENTION] = "attention", [MXL_PASS_QUANTIZED] = "quantized",
    [MXL_PASS_JOIN] = "join",           [MXL_PASS_TILES] = "tiles"};

enum { PASSES = sizeof(names) / sizeof(*names) };

/* The bits of the passes that the environment turns off; -1: it names something else. */
static int turned_off(void)
{
    const char *text = getenv("MXLITE_GRAPH");
    int off = 0;

    if (text == NULL || strcmp(text, "none") == 0)
        return text == NULL ? 0 : (1 << PASSES) - 1;
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        int i = 0;

        while (i < PASSES && (*text != '-' || strlen(names[i]) != length - 1 ||
                              strncmp(text + 1, names[i], length - 1) != 0))
            i++;
        if (i == PASSES)
            return -1;
        off |= 1 << i;
        text += length + (text[length] == ',');
    }
    return off;
}

bool mxl_pass_is_on(mxl_which_pass pass)
{
    return (turned_off() >> pass & 1) == 0;
}

int mxl_pass_check(void)
{
    mxl_str list = {0};

    if (turned_off() >= 0)
        return 0;
    for (int i = 0; i < PASSES; i++)
        mxl_str_addf(&list, ", -%s", names[i]);
    (void)mxl_error("MXLITE_GRAPH is \"%.100s\"; none or a list of these is expected%s",
                    getenv("MXLITE_GRAPH"), list.text != NULL ? list.text : "");
    mxl_str_clear(&list);
    return -1;
}

int mxl_pass_set_inputs(mxl_graph_node *node, const mxl_entry *inputs, int count)
{
    mxl_entry *list = mxl_alloc((size_t)count * sizeof(*list)), *old = node->inputs;
    int had = node->num_inputs;

    if (list == NULL)
        return -1;
    for (int i = 0; i < count; i++)
        mxl_entry_set(&list[i], inputs[i]);
    for (int i = 0; i < had; i++)
        mxl_ref_release(&old[i].node->ref);
    mxl_free(old, (size_t)had * sizeof(*old));
    node->inputs = list;
    node->num_inputs = count;
    return mxl_graph_node_parse(node, count);
}

void mxl_pass_entry_name(const mxl_entry *entry, mxl_str *out)
{
    const mxl_op *op = entry->node->op;

    if (op == NULL || op->output_names != NULL || op->output_name != NULL || op == mxl_op_add_alike)
        mxl_entry_name(entry, out);
    else
        mxl_str_addf(out, "%s_%d", entry->node->name, entry->output);
}

bool mxl_pass_is_listed(int count, const char *const *list, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(list[i], name) == 0)
            return true;
    }
    return false;
}

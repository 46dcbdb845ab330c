/* Which passes run; see passes.h. */
#include "symbol/passes/passes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/mem.h"

bool mxl_pass_is_on(const char *name)
{
    const char *text = getenv("MXLITE_GRAPH");
    size_t length = strlen(name);

    if (text == NULL)
        return true;
    if (strcmp(text, "none") == 0)
        return false;
    for (; *text != 0; text += strcspn(text, ","), text += *text == ',') {
        if (text[0] == '-' && strncmp(text + 1, name, length) == 0 &&
            (text[length + 1] == ',' || text[length + 1] == 0))
            return false;
    }
    return true;
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

/* Devices of nodes by their groups: group2ctx. */
#include "symbol/executor/place.h"

#include <string.h>

#include "base/error.h"
#include "symbol/attrs.h"

int mxl_place_of_group(const mxl_places *places, const mxl_graph_node *node, mxl_device *device)
{
    const char *group = places->count == 0 ? NULL : mxl_attrs_get(&node->attrs, "__ctx_group__");

    if (group == NULL)
        return 0;
    for (uint32_t i = 0; i < places->count; i++) {
        if (strcmp(places->group[i], group) != 0)
            continue;
        return mxl_device_of(places->types[i], places->ids[i], device) == 0
                   ? 0
                   : mxl_error_prefix(group);
    }
    return mxl_error("group2ctx has no device for %.100s, the group of %.100s", group, node->name);
}

int mxl_place_entries(const mxl_places *places, const mxl_indexed *graph,
                      mxl_array *const *variables, mxl_device *devices)
{
    for (int n = 0; n < graph->walk.count; n++) {
        const mxl_graph_node *node = graph->walk.node[n];
        mxl_device device = places->own;

        if (node->op == NULL)
            device = (*variables++)->device;
        else if (node->num_inputs > 0)
            device = devices[graph->input[graph->args[n]]];
        if (mxl_place_of_group(places, node, &device) != 0)
            return -1;
        for (int i = graph->first[n]; i < graph->first[n + 1]; i++)
            devices[i] = device;
    }
    return 0;
}

/* Numbering a symbol. */
#include "symbol/indexed.h"

#include "base/map.h"
#include "base/memory/mem.h"

/* Of one block at `first`. */
static size_t list_bytes(const mxl_indexed *graph)
{
    size_t inputs = 0;

    for (int n = 0; n < graph->walk.count; n++)
        inputs += (size_t)graph->walk.node[n]->num_inputs;
    return (2 * ((size_t)graph->walk.count + 1) + inputs + (size_t)graph->symbol->count) *
           sizeof(int);
}

static int number_nodes(mxl_indexed *graph, mxl_map *first)
{
    for (int n = 0; n < graph->walk.count; n++) {
        void **entry = mxl_map_put(first, graph->walk.node[n]);

        if (entry == NULL)
            return -1;
        *entry = (void *)(intptr_t)graph->entries;
        graph->first[n] = graph->entries;
        graph->entries += graph->walk.node[n]->outputs;
    }
    graph->first[graph->walk.count] = graph->entries;
    return 0;
}

static int entry_of(const mxl_map *first, const mxl_entry *entry)
{
    return (int)(intptr_t)*mxl_map_find(first, entry->node) + entry->output;
}

static void number_inputs(mxl_indexed *graph, const mxl_map *first)
{
    int at = 0;

    for (int n = 0; n < graph->walk.count; n++) {
        const mxl_graph_node *node = graph->walk.node[n];

        graph->args[n] = at;
        for (int i = 0; i < node->num_inputs; i++)
            graph->input[at++] = entry_of(first, &node->inputs[i]);
    }
    graph->args[graph->walk.count] = at;
    graph->head = graph->input + at;
    for (int i = 0; i < graph->symbol->count; i++)
        graph->head[i] = entry_of(first, &graph->symbol->entry[i]);
}

int mxl_indexed_begin(mxl_indexed *graph, mxl_symbol *symbol)
{
    mxl_map first = {0};
    int status = -1;

    *graph = (mxl_indexed){.symbol = symbol};
    mxl_ref_retain(&symbol->ref);
    if (mxl_walk_begin(&graph->walk, symbol) == 0) {
        graph->bytes = list_bytes(graph);
        graph->first = mxl_alloc(graph->bytes);
    }
    if (graph->first != NULL) {
        graph->args = graph->first + graph->walk.count + 1;
        graph->input = graph->args + graph->walk.count + 1;
        status = number_nodes(graph, &first);
        if (status == 0)
            number_inputs(graph, &first);
    }
    mxl_map_clear(&first);
    if (status != 0)
        mxl_indexed_end(graph);
    return status;
}

void mxl_indexed_end(mxl_indexed *graph)
{
    if (graph->symbol == NULL)
        return;
    mxl_free(graph->first, graph->first != NULL ? graph->bytes : 0);
    mxl_walk_end(&graph->walk);
    mxl_symbol_release(graph->symbol);
    *graph = (mxl_indexed){0};
}

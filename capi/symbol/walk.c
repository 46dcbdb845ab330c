/* Walks over symbols: each node after its inputs, without recursion. */
#include <string.h>

#include "base/map.h"
#include "base/memory/mem.h"
#include "symbol/symbol.h"

/* A node whose inputs are being visited. */
typedef struct frame {
    mxl_graph_node *node;
    int next;
} frame;

typedef struct visit {
    mxl_node_walk *walk;
    mxl_map seen;
    frame *stack;
    int depth, room;
} visit;

/* Doubles the room of a list of `size` bytes each; -1 with the list unchanged. */
static int grow(void **list, int *room, size_t size)
{
    int more = *room == 0 ? 32 : 2 * *room;
    void *block = mxl_alloc((size_t)more * size);

    if (block == NULL)
        return -1;
    if (*room > 0)
        memcpy(block, *list, (size_t)*room * size);
    mxl_free(*list, (size_t)*room * size);
    *list = block;
    *room = more;
    return 0;
}

/* Begins a node that was not seen before. */
static int enter(visit *v, mxl_graph_node *node)
{
    void **mark;

    if (mxl_map_find(&v->seen, node) != NULL)
        return 0;
    mark = mxl_map_put(&v->seen, node);
    if (mark == NULL)
        return -1;
    *mark = node;
    if (v->depth == v->room && grow((void **)&v->stack, &v->room, sizeof(*v->stack)) != 0)
        return -1;
    v->stack[v->depth++] = (frame){node, 0};
    return 0;
}

static int leave(visit *v)
{
    mxl_node_walk *walk = v->walk;

    if (walk->count == walk->room &&
        grow((void **)&walk->node, &walk->room, sizeof(*walk->node)) != 0)
        return -1;
    walk->node[walk->count++] = v->stack[--v->depth].node;
    return 0;
}

/* Visits everything below a node. */
static int visit_node(visit *v, mxl_graph_node *node)
{
    int status = enter(v, node);

    while (status == 0 && v->depth > 0) {
        frame *top = &v->stack[v->depth - 1];

        status = top->next < top->node->num_inputs ? enter(v, top->node->inputs[top->next++].node)
                                                   : leave(v);
    }
    return status;
}

int mxl_walk_begin(mxl_node_walk *walk, const mxl_symbol *symbol)
{
    visit v = {.walk = walk};
    int status = 0;

    *walk = (mxl_node_walk){0};
    for (int i = 0; i < symbol->count && status == 0; i++)
        status = visit_node(&v, symbol->entry[i].node);
    mxl_map_clear(&v.seen);
    mxl_free(v.stack, (size_t)v.room * sizeof(*v.stack));
    if (status != 0)
        mxl_walk_end(walk);
    return status;
}

void mxl_walk_end(mxl_node_walk *walk)
{
    mxl_free(walk->node, (size_t)walk->room * sizeof(*walk->node));
    *walk = (mxl_node_walk){0};
}

int mxl_walk_variables(mxl_node_walk *walk, mxl_which which)
{
    mxl_map mutated = {0};
    int kept = 0, status = 0;

    for (int n = 0; n < walk->count && status == 0; n++) {
        const mxl_graph_node *node = walk->node[n];

        for (int i = 0; i < node->num_inputs && status == 0; i++) {
            if (mxl_graph_node_mutates(node, i) &&
                mxl_map_put(&mutated, node->inputs[i].node) == NULL)
                status = -1;
        }
    }
    for (int n = 0; n < walk->count && status == 0; n++) {
        mxl_graph_node *node = walk->node[n];
        bool auxiliary = mxl_map_find(&mutated, node) != NULL;

        if (node->op == NULL && (which == MXL_ALL_INPUTS || auxiliary == (which == MXL_AUXILIARY)))
            walk->node[kept++] = node;
    }
    walk->count = kept;
    mxl_map_clear(&mutated);
    return status;
}

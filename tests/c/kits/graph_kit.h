/* Shared by the tests of the graph, on top of engine_kit.h: edges, nodes, hooks that count. */
#ifndef GRAPH_KIT_H
#define GRAPH_KIT_H

#include "engine_kit.h"

typedef MXLNodeHandle N;

/* The node that an array leads to, and which output it is. */
KIT N edge_of(H array, int *output)
{
    N node = NULL;
    int number = -1;

    CHECK_INT(MXLNDArrayGetEdge(array, &node, &number), 0);
    if (output != NULL)
        *output = number;
    return node;
}

/* The node in a slot; frees `node`. */
KIT N step(N node, int slot)
{
    N next = NULL;
    int output = -1;

    CHECK_INT(MXLNodeGetInput(node, slot, &next, &output), 0);
    CHECK_INT(MXLNodeFree(node), 0);
    return next;
}

KIT uint64_t node_id(N node)
{
    uint64_t id = 0;

    CHECK_INT(MXLNodeGetId(node, &id), 0);
    return id;
}

KIT uint64_t array_id(H array)
{
    uint64_t id = 0;

    CHECK_INT(MXLNDArrayGetId(array, &id), 0);
    return id;
}

KIT const char *name_of(N node)
{
    const char *name = NULL;

    CHECK_INT(MXLNodeGetName(node, &name), 0);
    return name == NULL ? "" : name;
}

/* A variable whose gradients add up. */
KIT H leaf(H array)
{
    CHECK_INT(MXLNDArraySetRequiresGrad(array, 1), 0);
    return array;
}

/* A gradient that is NULL where there is none; its element i, -1 without one. */
KIT double grad_or(H array, int64_t i)
{
    H grad = grad_of(array);
    double value = grad == NULL ? -1 : at(grad, i);

    if (grad != NULL)
        drop(grad);
    return value;
}

/* MXLBackward from one array into all variables. */
KIT int run_from(H head, const MXLBackwardOptions *options)
{
    int output = 0;
    N node = edge_of(head, &output);
    int status = MXLBackward(1, &node, &output, NULL, options, 0, NULL, NULL, NULL);

    CHECK_INT(MXLNodeFree(node), 0);
    return status;
}

#endif

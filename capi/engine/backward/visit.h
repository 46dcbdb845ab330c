/* The part of the graph that one backward visits: a task for every node and variable that the roots
 * reach, and the order in which nodes run. */
#ifndef MXL_ENGINE_BACKWARD_VISIT_H
#define MXL_ENGINE_BACKWARD_VISIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/map.h"
#include "engine/tape/tape.h"

/* A node or a variable during one backward. */
typedef struct mxl_task {
    mxl_node *node;      /* kept; NULL: the task is a variable's */
    mxl_array *variable; /* kept; NULL: a node's */
    bool needed;         /* leads to a wanted variable, or is one */
    bool visited;
    bool queued; /* in the heap, or already taken from it */
    bool ran; /* of a node: its vjp was called, or would have been for gradients that are wanted */
    bool own; /* of a variable: the gradient shares no memory, and may become its buffer */
    bool wanted;   /* a variable, or a node of which an output's gradient is asked for */
    bool hooked;   /* a variable that has, or had, hooks */
    bool constant; /* a caller's function or hook gave a gradient that is not recorded */
    bool done;     /* of a hooked variable: its hooks have been called */
    bool stored;   /* of a variable: its gradient is where it belongs */
    int pending;   /* of a variable: edges that lead to it from nodes that have not run */
    int count; /* gradient slots: the number of outputs of a node; of a variable 2, the second for
                  the sum with what its buffer holds */
    uint64_t version;   /* of a variable's buffer when that sum was made */
    mxl_array *grads[]; /* kept; sums so far; NULL: none */
} mxl_task;

typedef struct mxl_visit {
    mxl_map map; /* target -> task */
    mxl_task **tasks;
    size_t num_tasks, room_tasks;
    mxl_task **heap; /* ready nodes, the latest recorded first */
    size_t num_heap, room_heap;
    mxl_edge *asked; /* edges of the variables asked for before the visit (their tasks keep the
                        targets): a callback may mark them anew */
    size_t num_asked;
    mxl_edge *heads; /* edges of the roots, targets kept */
    size_t num_heads;
    bool only_wanted; /* variables are needed only where `wanted` was set before the walk */
    bool all_or_none; /* a failure must not release the caller's graph */
    bool keep_all;    /* so something may: release saved values only at the end */
    bool hooked;      /* there are hooked variables */
    bool updates;     /* there are nodes whose vjps update inputs */
    uint8_t anomaly;  /* checks of the vjps' results: the thread's flag */
} mxl_visit;

/* An empty walk is {0}. Drops everything it holds. */
void mxl_visit_clear(mxl_visit *walk);

/* The task of an edge's target, made when absent; NULL with the error set. */
mxl_task *mxl_visit_task(mxl_visit *walk, mxl_edge edge);

/* The task of an edge's target if it was visited, or NULL. */
mxl_task *mxl_visit_find(const mxl_visit *walk, mxl_edge edge);

/* Visits everything that the edge leads to and sets `needed`. -1 with the error set: a released
 * node, or no memory. */
int mxl_visit_edge(mxl_visit *walk, mxl_edge head);

/* Puts a node's task in the heap unless it has been there; -1 without memory. */
int mxl_visit_push(mxl_visit *walk, mxl_task *task);

/* The ready node that was recorded last; NULL when none is left. */
mxl_task *mxl_visit_pop(mxl_visit *walk);

#endif

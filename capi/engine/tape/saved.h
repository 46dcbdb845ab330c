/* What a node saves of its inputs and outputs for its rule. */
#ifndef MXL_ENGINE_TAPE_SAVED_H
#define MXL_ENGINE_TAPE_SAVED_H

#include "engine/tape/tape.h"

/* Keeps what the rule of a new node will read of the call, at its present version. -1 with the
 * error set. */
int mxl_node_save(mxl_node *node, const mxl_call *call);

/* Before input `index` is overwritten: what is saved of it becomes a copy of its own. -1 with the
 * error set. */
int mxl_node_copy_saved_input(mxl_node *node, int index);

/* Saves an output, without place; -1 with the error set. */
int mxl_node_save_output(mxl_node *node, int index, mxl_array *array);

/* A new reference to a saved value with the place it had when saved; NULL with the error set: it
 * was released, or edited since. */
mxl_array *mxl_node_saved_input(mxl_node *node, int index, bool with_edge);
mxl_array *mxl_node_saved_output(mxl_node *node, int index, bool with_edge);

/* How many saved values there are now, and where the index-th of them is: position, and whether
 * among the outputs. -1: there is none such. */
int mxl_node_num_saved(mxl_node *node);
int mxl_node_find_saved(mxl_node *node, int index, bool *is_output);

/* Whether a saved value was edited since. */
bool mxl_node_stale(mxl_node *node);

/* Drops the saved values of a node that nobody holds any more. */
void mxl_node_free_saved(mxl_node *node);

/* Drops the saved values and hooks and marks the node released. */
void mxl_node_release_saved(mxl_node *node);

#endif

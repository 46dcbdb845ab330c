/* The saved tensors of a node. */
#ifndef MXL_ENGINE_TAPE_SAVED_H
#define MXL_ENGINE_TAPE_SAVED_H

#include "engine/tape/tape.h"

/* Saves the inputs and outputs that the vjp of a new node reads, at their present version. -1 with
 * the error set. */
int mxl_node_save(mxl_node *node, const mxl_call *call);

/* Before input `index` is overwritten: replaces its saved tensor by a copy. -1 with the error set.
 * */
int mxl_node_copy_saved_input(mxl_node *node, int index);

/* Saves an output, without its edge; -1 with the error set. */
int mxl_node_save_output(mxl_node *node, int index, mxl_array *array);

/* A new reference to a saved tensor with the edge it had when saved; NULL with the error set: it
 * was released, or edited since. */
mxl_array *mxl_node_saved_input(mxl_node *node, int index, bool with_edge);
mxl_array *mxl_node_saved_output(mxl_node *node, int index, bool with_edge);

/* Whether the node keeps the variable that it has an edge to as a saved input too. */
bool mxl_node_saves_variable(mxl_node *node, int index);

/* A new reference to the array of a saved input that the vjp updates, whatever was written to it
 * since; NULL without an error where it is not there any more. */
mxl_array *mxl_node_saved_state(mxl_node *node, int index);

/* How many saved values there are now, and where the index-th of them is: position, and whether
 * among the outputs. -1: there is none such. */
int mxl_node_num_saved(mxl_node *node);
int mxl_node_find_saved(mxl_node *node, int index, bool *is_output);

/* Whether a saved value was edited since. */
bool mxl_node_stale(mxl_node *node);

/* Drops the saved tensors of a node that is being freed. */
void mxl_node_free_saved(mxl_node *node);

/* Drops the saved values and hooks and marks the node released. */
void mxl_node_release_saved(mxl_node *node);

#endif

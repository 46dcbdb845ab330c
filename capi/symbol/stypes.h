/* Storage types of the entries of a graph, and of their gradients, before it runs. */
#ifndef MXL_SYMBOL_STYPES_H
#define MXL_SYMBOL_STYPES_H

#include <stdint.h>

#include "symbol/indexed.h"

/* The storage type that a variable asks for by its attribute __storage_type__, or `otherwise`. */
int mxl_stype_of_variable(const mxl_graph_node *variable, int otherwise);

/* Fills stypes [entries], of which those of variables are set. -1 with the error set. */
int mxl_stypes_infer(const mxl_indexed *graph, int8_t *stypes);

/* Fills grads [entries] with the storage types in which gradients arrive, where those of the heads
 * have the heads' own; MXL_STYPE_NONE where none does. -1 with the error set. */
int mxl_stypes_infer_grads(const mxl_indexed *graph, const int8_t *stypes, int8_t *grads);

#endif

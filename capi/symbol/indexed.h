/* A symbol as numbered lists, for passes over it: nodes in the order in which they run, and entries
 * (outputs of nodes) in one list. */
#ifndef MXL_SYMBOL_INDEXED_H
#define MXL_SYMBOL_INDEXED_H

#include "symbol/symbol.h"

typedef struct mxl_indexed {
    mxl_symbol *symbol; /* kept */
    mxl_node_walk walk;
    int *first;   /* [nodes + 1]: the entry that output 0 of a node is */
    int *args;    /* [nodes + 1]: where the inputs of a node begin in `input` */
    int *input;   /* entries */
    int *head;    /* [symbol->count]: entries */
    int entries;  /* outputs of all nodes */
    size_t bytes; /* of the lists, in one block */
} mxl_indexed;

/* Numbers a symbol, which must not be composed meanwhile. -1 with the error set. */
int mxl_indexed_begin(mxl_indexed *graph, mxl_symbol *symbol);
void mxl_indexed_end(mxl_indexed *graph);

#endif

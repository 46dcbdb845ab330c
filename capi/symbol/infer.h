/* Shapes and dtypes of a graph, from those that are known, forward through the operators and
 * backward where an operator's inputs follow from each other or from its outputs. */
#ifndef MXL_SYMBOL_INFER_H
#define MXL_SYMBOL_INFER_H

#include "symbol/indexed.h"
#include "op/rule.h"

/* What is known of each entry: shapes with ndim -1 and sizes -1, and MXL_DTYPE_UNKNOWN, are not. */
typedef struct mxl_facts {
    const mxl_indexed *graph;
    mxl_shape *shape; /* [entries] */
    int *dtype;       /* [entries] */
    bool legacy_shape;
} mxl_facts;

/* All unknown. -1 with the error set. */
int mxl_facts_begin(mxl_facts *facts, const mxl_indexed *graph, bool legacy_shape);
void mxl_facts_end(mxl_facts *facts);

/* Adds what is known of an entry; -1 with the error set where it contradicts. */
int mxl_facts_say_shape(mxl_facts *facts, int entry, const mxl_shape *shape);
int mxl_facts_say_dtype(mxl_facts *facts, int entry, int dtype);

/* Makes all dtypes unknown. */
void mxl_facts_forget_dtypes(mxl_facts *facts);

/* Finds what follows; of a variable of which nothing was said, its attribute __shape__ (__dtype__)
 * counts. -1 with the error set, which names the node: "Error in operator fc1: ...". */
int mxl_infer_shapes(mxl_facts *facts);
int mxl_infer_dtypes(mxl_facts *facts);

/* ---- one node ---- */

/* Completes outputs by the operator's own infer function, or a meta run of its composition, which
 * gets arrays without memory, some sizes of which may be unknown. It says nothing where a rank is,
 * or where the operator refuses unknown sizes. -1 with the error set. */
int mxl_rule_own_shapes(mxl_rule *rule);

/* Rewrites a variable's attribute __shape__ of a file that was not written in numpy-shape mode: 0
 * is a size that is not known, and () a shape. -1 with the error set. */
int mxl_note_in_numpy_shape(mxl_graph_node *node);

#endif

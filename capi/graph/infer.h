/* Shapes and dtypes of a graph, from those that are known, forward through the operators and
 * backward where an operator's inputs follow from each other or from its outputs. */
#ifndef MXL_GRAPH_INFER_H
#define MXL_GRAPH_INFER_H

#include "graph/indexed.h"

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

bool mxl_shape_known(const mxl_shape *shape);
/* A shape of the C API: there sizes of -1, and in MXNet's legacy mode 0 and (), are unknown. */
void mxl_shape_from_caller(mxl_shape *shape, bool legacy_shape);

/* ---- rules ---- */

/* One node: shapes (or dtypes) of its inputs and outputs, which a rule completes. */
typedef struct mxl_rule {
    const mxl_graph_node *node;
    mxl_facts *facts;
    const int *in; /* entries */
    int num_in, out, num_out;
    bool changed;
    bool other_outputs; /* of dtypes: results have another dtype than the inputs */
} mxl_rule;

static inline mxl_shape *mxl_rule_in(const mxl_rule *rule, int i)
{
    return &rule->facts->shape[rule->in[i]];
}

static inline mxl_shape *mxl_rule_out(const mxl_rule *rule, int i)
{
    return &rule->facts->shape[rule->out + i];
}

/* Fills the unknown of `to` by `from`; -1 with the error set where they contradict. */
int mxl_rule_merge(mxl_rule *rule, mxl_shape *to, const mxl_shape *from);
/* The same of input i, with sizes. An error names the input. */
int mxl_rule_say(mxl_rule *rule, int i, int ndim, const int64_t *dim);

/* Adds the dtype of an entry; unknown says nothing. -1 with the error set where it contradicts. */
int mxl_rule_say_dtype(mxl_rule *rule, int entry, int dtype);

/* Completes the inputs of operators with weights, labels or states, and of element-wise ones. */
int mxl_rule_shapes(mxl_rule *rule);
int mxl_rule_dtypes(mxl_rule *rule);

/* Completes outputs by the operator's own infer function, which gets arrays without memory, with
 * several sizes, ranks and dtypes in place of unknown ones: what stays the same is known. If not
 * all dtypes of inputs are, dtypes may stay unknown; then it notes whether results have the dtype
 * of the inputs. *found: the dtypes of all outputs are known. */
int mxl_rule_own_shapes(mxl_rule *rule);
int mxl_rule_own_dtypes(mxl_rule *rule, bool *found);

/* What the texts `shapes` and `dtypes` of a descriptor say. */
int mxl_rule_said_shapes(mxl_rule *rule, const char *text);
int mxl_rule_said_dtypes(mxl_rule *rule, const char *text);

/* Of operators that choose or move elements: inputs by results. */
int mxl_rule_where(mxl_rule *rule);
int mxl_rule_broadcast(mxl_rule *rule);
int mxl_rule_reshape(mxl_rule *rule);
int mxl_rule_expand_dims(mxl_rule *rule);
int mxl_rule_pick(mxl_rule *rule);
int mxl_rule_transpose(mxl_rule *rule);
int mxl_rule_split(mxl_rule *rule);
int mxl_rule_by_parameter(mxl_rule *rule);
int mxl_rule_samples(mxl_rule *rule);
int mxl_rule_ravel(mxl_rule *rule);
int mxl_rule_unravel(mxl_rule *rule);
int mxl_rule_gemm(mxl_rule *rule);
int mxl_rule_pinv(mxl_rule *rule);
int mxl_rule_slice_assign(mxl_rule *rule);
int mxl_rule_box_encode(mxl_rule *rule);
int mxl_rule_eigenvalues(mxl_rule *rule);
int mxl_rule_proposal(mxl_rule *rule);
int mxl_rule_triangular(mxl_rule *rule);

/* The same of Custom, by the user's operator. */
int mxl_rule_custom_shapes(mxl_rule *rule);
int mxl_rule_custom_dtypes(mxl_rule *rule);

/* Whether shapes of results depend on values; whether the operator makes an array whose shape may
 * be written with unknown sizes. */
bool mxl_rule_by_values(const mxl_graph_node *node);
/* Whether nothing follows before all sizes of the inputs are known. */
bool mxl_rule_needs_all(const mxl_op *op);
bool mxl_rule_creates(const mxl_op *op);
/* Whether nothing follows by the operator's infer: of those two, and of what writes into an array
 * that is given. */
bool mxl_rule_says_all(const mxl_graph_node *node);

/* Parameters by their names; `missing` where the operator has none of that name. */
int64_t mxl_rule_int(const mxl_rule *rule, const char *name, int64_t missing);
bool mxl_rule_flag(const mxl_rule *rule, const char *name);       /* false if there is none */
mxl_tuple mxl_rule_tuple(const mxl_rule *rule, const char *name); /* n -1: none */
/* Whether the text of a parameter with a default is `value`. */
bool mxl_rule_is(const mxl_rule *rule, const char *name, const char *value);

#endif

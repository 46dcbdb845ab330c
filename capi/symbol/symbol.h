/* Symbols: graphs of operators as data, over the operator descriptors. A symbol is a list of
 * entries (outputs of graph nodes); a graph node is a variable, or an operator with its attributes
 * as text and its inputs as entries. Unlike nodes of the tape, graph nodes hold no arrays.
 *
 * A symbol and its nodes may be changed by mxl_symbol_compose and mxl_symbol_set_attr only; callers
 * do not change one while another thread uses it. */
#ifndef MXL_SYMBOL_SYMBOL_H
#define MXL_SYMBOL_SYMBOL_H

#include "base/ref.h"
#include "base/text/str.h"
#include "symbol/attrs.h"
#include "op/op.h"

typedef struct mxl_graph_node mxl_graph_node;

/* Output `output` of a node. `version` counts, for a variable, the operators composed before that
 * write into it. */
typedef struct mxl_entry {
    mxl_graph_node *node; /* kept */
    int output;
    int version;
} mxl_entry;

struct mxl_graph_node {
    mxl_ref ref;
    const mxl_op *op; /* NULL: a variable */
    bool is_numpys;   /* by the operator's `numpy_name` */
    char *name;       /* owned; "" until an operator is composed */
    mxl_attrs attrs;
    void *params; /* the struct of `op`, parsed from attrs; owned, with what it points to */
    size_t params_bytes;
    mxl_ref *held; /* kept; what the parameters point to (Custom). NULL: none */
    mxl_entry *inputs;
    int num_inputs;
    struct mxl_symbol **graphs; /* [op->graphs]: kept, and never composed; NULL: none yet */
    int depth;                  /* of graphs within graphs; 0: has none */
    int outputs, visible;       /* all, and those that a caller sees */
    int version;                /* of a variable */
};

typedef struct mxl_symbol {
    mxl_ref ref;
    int count;
    mxl_entry entry[];
} mxl_symbol;

/* ---- making; all return NULL with the error set, or a new reference ---- */

mxl_symbol *mxl_symbol_variable(const char *name);
/* An operator whose inputs are missing. Errors name the operator: unknown, malformed and missing
 * parameters. */
mxl_symbol *mxl_symbol_atomic(const mxl_op *op, int count, const char *const *keys,
                              const char *const *values);
/* The name of a node's operator, as a file has it. */
const char *mxl_graph_node_op_name(const mxl_graph_node *node);
/* The outputs of all. */
mxl_symbol *mxl_symbol_group(int count, mxl_symbol *const *symbols);
/* Over copies of all nodes; or over the same nodes. */
mxl_symbol *mxl_symbol_copy(const mxl_symbol *symbol);
mxl_symbol *mxl_symbol_share(const mxl_symbol *symbol);
mxl_symbol *mxl_symbol_output(const mxl_symbol *symbol, int i);
/* The visible outputs of all nodes; the inputs of the symbol's nodes. */
mxl_symbol *mxl_symbol_internals(const mxl_symbol *symbol);
mxl_symbol *mxl_symbol_children(const mxl_symbol *symbol);

/* ---- composing ---- */

/* Applies a symbol to arguments, in place. An atomic symbol takes them as its inputs, by position
 * (keys NULL) or by input name; missing ones become variables called name_input. In any other one
 * the variables of those names are replaced. -1 with the error set and the symbol unchanged. */
int mxl_symbol_compose(mxl_symbol *symbol, const char *name, int count, const char *const *keys,
                       mxl_symbol *const *args);

/* A copy without amp_cast and amp_multicast between operators; those that are outputs stay. */
mxl_symbol *mxl_symbol_without_casts(const mxl_symbol *symbol);

/* Makes the nodes that have the attribute __subgraph_name__ of the first output's node a graph by
 * themselves, in place: variables, named as outputs are, take the place of inputs that other nodes
 * make, variables among them. The symbol of these inputs, in the order of the walk and as often as
 * they are read; without outputs where there is no attribute. NULL with the error set and nothing
 * changed. */
mxl_symbol *mxl_symbol_cut(mxl_symbol *symbol);

/* ---- attributes ---- */

/* Of the symbol's only node. -1 with the error set. */
int mxl_symbol_set_attr(mxl_symbol *symbol, const char *key, const char *value);
const char *mxl_symbol_get_attr(const mxl_symbol *symbol, const char *key); /* NULL: none */
/* Appends which outputs of the only node the symbol has: "0, 1". Nothing if there are several. */
void mxl_symbol_places(const mxl_symbol *symbol, mxl_str *out);

/* ---- lists ---- */

/* All nodes, each after its inputs; borrowed, in a new block of `room` pointers. */
typedef struct mxl_node_walk {
    mxl_graph_node **node;
    int count, room;
} mxl_node_walk;

int mxl_walk_begin(mxl_node_walk *walk, const mxl_symbol *symbol); /* -1 with the error set */
void mxl_walk_end(mxl_node_walk *walk);

/* Which variables: those that an operator writes into are auxiliary states, the others arguments.
 */
typedef enum mxl_which { MXL_ALL_INPUTS, MXL_ARGUMENTS, MXL_AUXILIARY } mxl_which;

/* Keeps the variables of a walk that are asked for, in its order. */
int mxl_walk_variables(mxl_node_walk *walk, mxl_which which);

/* Appends the name of an entry, as 1.9.1 lists outputs: fc_output, split_output1, data. */
void mxl_entry_name(const mxl_entry *entry, mxl_str *out);
/* How many outputs 1.9.1 counts, which here need not be all there. */
int mxl_graph_node_total(const mxl_graph_node *node);

/* ---- nodes; for the files of this folder ---- */

/* New, without inputs; takes over `name`, also on failure. */
mxl_graph_node *mxl_graph_node_new(const mxl_op *op, char *name);
/* The variable name_input for an operator that lacks input i, with the operator's attributes. */
mxl_graph_node *mxl_graph_missing_input(const mxl_graph_node *node, const char *name, int i);
/* Gives a node the graphs that it runs, kept; -1 with the error set. The next parse checks that its
 * parameters fit them. The graphs must not be composed afterwards. */
int mxl_graph_node_set_graphs(mxl_graph_node *node, mxl_symbol *const *graphs);
void mxl_graph_node_drop_graphs(mxl_graph_node *node);
/* Whether the parameters fit the graphs and the number of inputs; -1 with the error set. Sets the
 * node's depth. */
int mxl_graph_node_check_graphs(mxl_graph_node *node, const void *params, int num_inputs);
/* Parses the attributes again; `num_inputs` counts the inputs where the operator takes any number.
 * -1 with the error set and the parameters unchanged. */
int mxl_graph_node_parse(mxl_graph_node *node, int num_inputs);
/* The parameters of one call of a node whose struct points to an object (`held`: Custom), with an
 * object of that call's own, which the arena keeps. NULL with the error set. */
const void *mxl_graph_node_call_params(const mxl_graph_node *node, mxl_arena *arena);
/* How many inputs the attribute num_args, or what the operator has in its place, says; 0: there is
 * none. */
int mxl_graph_node_said(const mxl_graph_node *node);
/* How many inputs the operator takes, with `given` where it takes any number; -1 with the error
 * set. */
int mxl_graph_node_needs(const mxl_graph_node *node, int given);
/* Whether the node writes into input i. */
bool mxl_graph_node_mutates(const mxl_graph_node *node, int i);
/* The name of input i: "weight", or "arg2" where the operator takes any number; in `room`. */
const char *mxl_graph_node_input(const mxl_graph_node *node, int i, char room[MXL_NAME]);
/* The same for monitors, which number the inputs of some operators: input0. */
const char *mxl_graph_node_operand(const mxl_graph_node *node, int i, char room[MXL_NAME]);

mxl_symbol *mxl_symbol_new(int count); /* entries are zero */
static inline void mxl_entry_set(mxl_entry *to, mxl_entry from)
{
    *to = from;
    mxl_ref_retain(&from.node->ref);
}

static inline void mxl_symbol_release(mxl_symbol *symbol)
{
    if (symbol != NULL)
        mxl_ref_release(&symbol->ref);
}

#endif

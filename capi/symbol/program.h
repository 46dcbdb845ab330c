/* A symbol that runs: its operators are invoked in order, as a front end would. Under recording
 * each is recorded, so that gradients of any order follow. */
#ifndef MXL_SYMBOL_PROGRAM_H
#define MXL_SYMBOL_PROGRAM_H

#include "engine/run/invoke.h"
#include "symbol/grad_watch.h"
#include "symbol/indexed.h"
#include "op/kept.h"

typedef struct mxl_control mxl_control; /* symbol/control: the graphs that a node runs */

typedef struct mxl_program {
    mxl_indexed graph;
    mxl_control **control;     /* [nodes]: of nodes that run graphs; NULL: there are none */
    _Atomic(mxl_kept *) *kept; /* [nodes]: what a node keeps of its variables, while no run has
                                * taken it, or NULL; NULL where nothing is kept */
    _Atomic(struct mxl_known_shapes *) shapes; /* of the last run, where arrays are created by them;
                                                * while no run has taken them, or NULL */
    int *last;      /* [entries]: the node that reads the entry last; nodes for heads, -1: none */
    int *wanted;    /* [nodes]: how many outputs of a node are made */
    bool calls_out; /* nodes call functions of the user's (Custom), here or in their graphs */
    bool lasting;   /* set by its maker: states of operators last from one run to the next */
    bool by_shape;  /* arrays are created whose shapes follow from the inputs */
    bool exact;     /* set by its maker: results have the bits of its nodes, `fast` does not run */
    struct mxl_remat
        *remat; /* symbol/passes/remat.h, or NULL: backward reads what recorded runs keep */
    struct mxl_fast_program *fast; /* what runs in its place without recording and training mode, or
                                    * NULL: symbol/fast.h */
    bool loose; /* set by its maker, before mxl_program_keep: training may have other roundings */
    struct mxl_fast_program *trains; /* what runs in its place under recording and in training mode,
                                      * or NULL: symbol/passes/train.h */
} mxl_program;

/* Called with each result, by its name (fc1_output). */
typedef struct mxl_monitor {
    void (*call)(void *payload, const mxl_graph_node *node, const char *name, mxl_array *array);
    void *payload;
    bool operands;  /* also with each input of an operator, by its name there (fc1_weight) */
    bool variables; /* with those that are variables by their own names too, before */
    bool visible;   /* without recording, not with outputs that are hidden (bn_mean) */
    mxl_grad_watch **watch; /* [entries]: set on the results that are recorded; NULL: on none */
} mxl_monitor;

/* Over a symbol, which must not be composed afterwards. -1 with the error set. */
int mxl_program_begin(mxl_program *program, mxl_symbol *symbol);
/* Makes nodes keep forms of variables (packed weights) from one run without recording to the next,
 * and passes over the graph that change roundings (passes.h): for programs that run often with the
 * same ones; and passes for training (train.h). -1 with the error set. */
int mxl_program_keep(mxl_program *program);
/* The same without the passes. */
int mxl_program_keep_forms(mxl_program *program);
void mxl_program_end(mxl_program *program);

/* Runs it. `inputs`: an array for each variable, in the order of the walk, borrowed. `out`: set to
 * a new reference for each output. `monitor` may be NULL. -1 with the error set, which names the
 * node; then no output is set. Several threads may run one program. */
int mxl_program_run(const mxl_program *program, mxl_array *const *inputs, mxl_array **out,
                    mxl_mode mode, const mxl_monitor *monitor);

#endif

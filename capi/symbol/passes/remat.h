/* Results that backward computes again instead of keeping them, where the graph chooses so: of
 * cheap operators (op.h: element-wise ones, activations, normalisation, pooling, movements) whose
 * inputs are there anyway, because another node saves them. Their storages let go of their bytes
 * once the last node has read them (array/remake.h), and get the same bits back where a rule reads
 * them, so that nodes, gradients of any order and callers notice nothing. */
#ifndef MXL_SYMBOL_PASSES_REMAT_H
#define MXL_SYMBOL_PASSES_REMAT_H

#include "symbol/program.h"

/* What is known of the graph. */
typedef struct mxl_remat mxl_remat;

/* Makes recorded runs of the program, and of the one that trains in its place, let results go. -1
 * with the error set. */
int mxl_remat_begin(mxl_program *program);
void mxl_remat_end(mxl_remat *remat);

/* Whether MXNET_BACKWARD_DO_MIRROR asks executors for it. */
bool mxl_remat_wanted(void);

/* ---- one run ---- */

typedef struct mxl_remat_run mxl_remat_run;

/* NULL with the error set. */
mxl_remat_run *mxl_remat_run_begin(const mxl_program *program, mxl_mode mode);

/* Node n has run, with these inputs and these values of entries. -1 with the error set. */
int mxl_remat_ran(mxl_remat_run *run, int n, mxl_array *const *in, mxl_array *const *value);

/* No node reads the entry any more; the caller will release the array. */
void mxl_remat_left(mxl_remat_run *run, int entry, mxl_array *array);

/* All nodes have run: what waited for expressions is let go. Frees the run; NULL is legal. */
void mxl_remat_run_end(mxl_remat_run *run);

#endif

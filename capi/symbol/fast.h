/* A second program for a program's predictions, over a graph that passes have made faster. */
#ifndef MXL_SYMBOL_FAST_H
#define MXL_SYMBOL_FAST_H

#include "symbol/program.h"

/* A program over a copy of a program's graph that `passes` have changed (1; 0: they have not, -1),
 * in *made; nothing is made if they change nothing, or nodes write into inputs or call functions of
 * the user's. -1 with the error set. */
int mxl_fast_make(const mxl_program *program, int (*passes)(mxl_symbol *symbol),
                  struct mxl_fast_program **made);
void mxl_fast_free(struct mxl_fast_program *fast); /* NULL is legal */

/* Runs it on the inputs of the first program. Returns whether `out` is set; if not, nothing has
 * happened: an input is sparse, or it has failed. */
bool mxl_fast_call(const struct mxl_fast_program *fast, mxl_array *const *inputs, mxl_array **out,
                   mxl_mode mode);

/* The one of predictions, program->fast. */
int mxl_fast_begin(mxl_program *program);
void mxl_fast_end(mxl_program *program);
/* The graph that predictions run: this one, or the program's own. Borrowed. */
const mxl_symbol *mxl_fast_symbol(const mxl_program *program);

/* Runs it, if this call allows: without recording, training mode, monitor and sparse arrays.
 * Returns whether `out` is set; if not, nothing has happened, and the program itself says what is
 * wrong, if something is. */
bool mxl_fast_run(const mxl_program *program, mxl_array *const *inputs, mxl_array **out,
                  mxl_mode mode, const mxl_monitor *monitor);

#endif

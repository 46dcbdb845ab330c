/* A second program for a program's predictions, over a graph that passes have made faster. */
#ifndef MXL_SYMBOL_FAST_H
#define MXL_SYMBOL_FAST_H

#include "symbol/program.h"

/* A program over a copy of a program's graph that `passes` have changed (1; 0: they have not, -1),
 * in *made; `folds`: what depends on no variable is computed by the first run. Nothing is made if
 * they change nothing, or nodes write into inputs or call functions of
 * the user's. -1 with the error set. */
int mxl_fast_make(const mxl_program *program, int (*passes)(mxl_symbol *symbol), bool folds,
                  struct mxl_fast_program **made);
void mxl_fast_free(struct mxl_fast_program *fast); /* NULL is legal */

typedef enum mxl_fast_result { MXL_FAST_DONE, MXL_FAST_NOT, MXL_FAST_FAILED } mxl_fast_result;

/* What runs. */
mxl_program *mxl_fast_inner(struct mxl_fast_program *fast);

/* Runs it on the inputs of the first program. `out` is set if that is done; else nothing has
 * happened: an input is sparse (NOT), or it has failed. */
mxl_fast_result mxl_fast_call(struct mxl_fast_program *fast, mxl_array *const *inputs,
                              mxl_array **out, mxl_mode mode);

/* The one of predictions, program->fast. */
int mxl_fast_begin(mxl_program *program);
void mxl_fast_end(mxl_program *program);
/* The graph that predictions run: this one, or the program's own. Borrowed. */
const mxl_symbol *mxl_fast_symbol(const mxl_program *program);

/* Runs it, if this call allows: without recording, training mode, monitor and sparse arrays. `out`
 * is set if that is done; else nothing has happened, and the program itself says what is wrong, if
 * something is. */
mxl_fast_result mxl_fast_run(const mxl_program *program, mxl_array *const *inputs, mxl_array **out,
                             mxl_mode mode, const mxl_monitor *monitor);

/* Ends it: it failed where the program did not. Shapes are known when it runs, passes guess them.
 */
void mxl_fast_turn_off(const mxl_program *program);

#endif

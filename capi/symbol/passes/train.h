/* A second program for a program's training, over a graph that passes have made faster. */
#ifndef MXL_SYMBOL_PASSES_TRAIN_H
#define MXL_SYMBOL_PASSES_TRAIN_H

#include "symbol/program.h"

/* Makes program->trains, unless the passes change nothing; those that change bits run where the
 * program is `loose`. -1 with the error set. */
int mxl_train_begin(mxl_program *program);
void mxl_train_end(mxl_program *program);

/* As mxl_fast_run, under recording or in training mode. Statistics of normalisations are written by
 * backward alone, so a run that fails has written nothing. */
bool mxl_train_run(const mxl_program *program, mxl_array *const *inputs, mxl_array **out,
                   mxl_mode mode, const mxl_monitor *monitor);

#endif

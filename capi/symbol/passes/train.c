/* See train.h. */
#include "symbol/passes/train.h"

#include "symbol/fast.h"
#include "symbol/passes/passes.h"

/* 1: something has changed. */
static int same_bits(mxl_symbol *symbol)
{
    return mxl_pass_join(symbol);
}

static int other_bits(mxl_symbol *symbol)
{
    int changed = mxl_pass_join(symbol);
    int more = changed < 0 ? -1 : mxl_pass_tiles(symbol);

    return more < 0 ? -1 : changed | more;
}

int mxl_train_begin(mxl_program *program)
{
    return mxl_fast_make(program, program->loose ? other_bits : same_bits, false, &program->trains);
}

void mxl_train_end(mxl_program *program)
{
    mxl_fast_free(program->trains);
    program->trains = NULL;
}

bool mxl_train_run(const mxl_program *program, mxl_array *const *inputs, mxl_array **out,
                   mxl_mode mode, const mxl_monitor *monitor)
{
    return program->trains != NULL && (mode.record || mode.training) && monitor == NULL &&
           mxl_fast_call(program->trains, inputs, out, mode) == MXL_FAST_DONE;
}

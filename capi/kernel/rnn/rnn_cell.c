/* Gates of recurrent layers, from rnn_cell.tmpl.h. */
#include "kernel/rnn/rnn_cell.h"

#include <string.h>

#include "base/dtype.h"
#include "base/thread.h"
#include "kernel/math/math.h"
#include "kernel/target.h"

enum { UNIT = 2048 }; /* units whose gates are worth a spinning thread; thrice for a sleeping one */

/* Whether step t is within the sequence of row b. */
static bool is_active(const mxl_rnn *r, int64_t t, int64_t b)
{
    return r->lengths == NULL || t < r->lengths[b];
}

#define NAME(x) f32_##x
#define T       float
#define LEVELS  MXL_FROM_AVX2
#include "kernel/rnn/rnn_cell.tmpl.h"
#undef NAME
#undef T
#undef LEVELS

#define NAME(x) f64_##x
#define T       double
#define LEVELS  MXL_UP_TO_AVX2
#include "kernel/rnn/rnn_cell.tmpl.h"
#undef NAME
#undef T
#undef LEVELS

static void run(const mxl_rnn_step *step, mxl_range_fn f32, mxl_range_fn f64)
{
    int64_t rows = 1 + UNIT / (1 + step->layer->hidden);

    mxl_parallel_fine(step->layer->batch, rows, 3 * rows, step->layer->dtype == MXL_F32 ? f32 : f64,
                      (void *)(uintptr_t)step);
}

void mxl_rnn_step_forward(const mxl_rnn_step *step)
{
    run(step, f32_forward_rows, f64_forward_rows);
}

void mxl_rnn_step_put(const mxl_rnn_step *step)
{
    run(step, f32_put_rows, f64_put_rows);
}

void mxl_rnn_step_arrive(const mxl_rnn_step *step)
{
    run(step, f32_arrive_rows, f64_arrive_rows);
}

void mxl_rnn_step_backward(const mxl_rnn_step *step)
{
    run(step, f32_backward_rows, f64_backward_rows);
}

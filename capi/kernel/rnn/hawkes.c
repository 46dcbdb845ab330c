/* Self-exciting point processes, from hawkes.tmpl.h: rows of a batch are independent. */
#include "kernel/rnn/hawkes.h"

#include <math.h>

#include "base/dtype.h"
#include "base/thread.h"

enum { GRAIN = 512 }; /* events that are worth a thread */

#define NAME(x) f32_##x
#define T       float
#include "kernel/rnn/hawkes.tmpl.h"
#undef NAME
#undef T

#define NAME(x) f64_##x
#define T       double
#include "kernel/rnn/hawkes.tmpl.h"
#undef NAME
#undef T

void mxl_hawkes_run(const mxl_hawkes *job)
{
    mxl_parallel_for(job->batch, 1 + GRAIN / (1 + job->steps + job->kinds),
                     job->dtype == MXL_F32 ? f32_rows : f64_rows, (void *)(uintptr_t)job);
}

/* Connectionist temporal classification, from ctc.tmpl.h: rows of a batch are independent. */
#include "kernel/rnn/ctc.h"

#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/math/math.h"
#include "kernel/target.h"

enum {
    FIXED_ROWS = 6, /* of scratch memory, besides those of alpha */
    GRAIN = 2048    /* positions that are worth a thread */
};

typedef struct ctc_job {
    const mxl_ctc_path *path;
    int64_t batch, classes;
    int64_t kept; /* rows of alpha: of all steps for the gradient, else two */
    const void *logs;
    void *loss, *grad, *room;
} ctc_job;

#define NAME(x) f32_##x
#define T       float
#include "kernel/rnn/ctc.tmpl.h"
#undef NAME
#undef T

#define NAME(x) f64_##x
#define T       double
#include "kernel/rnn/ctc.tmpl.h"
#undef NAME
#undef T

int mxl_ctc(int dtype, int64_t steps, int64_t batch, int64_t classes, const mxl_ctc_path *path,
            const void *logs, void *loss, void *grad)
{
    ctc_job job = {.path = path,
                   .batch = batch,
                   .classes = classes,
                   .kept = grad != NULL && steps > 2 ? steps : 2,
                   .logs = logs,
                   .loss = loss,
                   .grad = grad};
    int64_t width = (int64_t)mxl_dtype_size(dtype), each = path->width * (steps + 1), bytes;

    if (__builtin_mul_overflow(batch * width, path->width + 4, &bytes) ||
        __builtin_mul_overflow(bytes, FIXED_ROWS + job.kept, &bytes))
        return mxl_error("CTCLoss: %lld rows of %lld steps are too large", (long long)batch,
                         (long long)steps);
    if (batch == 0)
        return 0;
    job.room = mxl_alloc((size_t)bytes);
    if (job.room == NULL)
        return -1;
    if (grad != NULL)
        memset(grad, 0, (size_t)(steps * batch * classes * width));
    mxl_parallel_for(batch, 1 + GRAIN / each, dtype == MXL_F32 ? f32_chunk : f64_chunk, &job);
    mxl_free(job.room, (size_t)bytes);
    return 0;
}

/* softmax and log_softmax, from softmax.tmpl.h. */
#include "kernel/softmax.h"

#include <math.h>
#include <stddef.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/half.h"
#include "base/thread.h"
#include "kernel/math.h"
#include "kernel/target.h"

enum { GRAIN = 8192, LANES = 64, COLUMNS = 128 };

typedef struct softmax_job {
    bool take_log;
    int64_t n, inner;
    double temperature;
    const int64_t *length;
    const void *in;
    void *out;
} softmax_job;

#define NAME(x)  f32_##x
#define T        float
#define C        float
#define LOAD(v)  (v)
#define STORE(v) (v)
#include "kernel/softmax.tmpl.h"

#define NAME(x)  f64_##x
#define T        double
#define C        double
#define LOAD(v)  (v)
#define STORE(v) (v)
#include "kernel/softmax.tmpl.h"

#define NAME(x)  f16_##x
#define T        mxl_half
#define C        float
#define LOAD(v)  mxl_half_to_float(v)
#define STORE(v) mxl_half_from_float(v)
#include "kernel/softmax.tmpl.h"

int mxl_softmax(bool take_log, int dtype, int64_t outer, int64_t n, int64_t inner,
                double temperature, const int64_t *length, const void *in, void *out)
{
    softmax_job job = {take_log, n, inner, temperature, length, in, out};
    int64_t weight = n * inner;
    mxl_range_fn run = dtype == MXL_F32   ? f32_share
                       : dtype == MXL_F64 ? f64_share
                       : dtype == MXL_F16 ? f16_share
                                          : NULL;

    if (run == NULL)
        return mxl_error("dtype %s is not supported, only floating ones are",
                         mxl_dtype_name(dtype));
    if (outer * weight > 0)
        mxl_parallel_for(outer, (GRAIN + weight - 1) / weight, run, &job);
    return 0;
}

/* Windows as columns; see columns.h. The loops are in columns.tmpl.h. */
#include "kernel/spatial/columns.h"

#include <string.h>

#include "base/dtype.h"
#include "base/thread.h"
#include "kernel/target.h"

enum { GRAIN = 32768 };

typedef struct columns_job {
    const mxl_columns *c;
    int64_t in, windows, elements; /* of a plane; of a window */
    const void *from;
    void *to;
} columns_job;

typedef struct columns_range {
    int64_t begin, end;
} columns_range;

/* The windows of which element k is not padding: all between them too. */
static columns_range windows_inside(const mxl_column_axis *a, int64_t k)
{
    int64_t first = a->pad - k * a->dilate, last = a->in - 1 + first;
    columns_range r = {first > 0 ? (first + a->stride - 1) / a->stride : 0, 0};

    if (last >= 0)
        r.end = last / a->stride + 1 < a->out ? last / a->stride + 1 : a->out;
    if (r.end < r.begin)
        r.begin = r.end = r.end < 0 ? 0 : r.end;
    return r;
}

#define NAME(x) f32_##x
#define T       float
#include "kernel/spatial/columns.tmpl.h"

#define NAME(x) f64_##x
#define T       double
#include "kernel/spatial/columns.tmpl.h"

static void run(const mxl_columns *c, mxl_range_fn chunk, const void *from, void *to)
{
    columns_job job = {c, 1, 1, 1, from, to};

    for (int i = 0; i < 3; i++) {
        job.in *= c->axis[i].in;
        job.windows *= c->axis[i].out;
        job.elements *= c->axis[i].kernel;
    }
    if (c->planes > 0)
        mxl_parallel_for(c->planes, GRAIN / (job.in + job.windows * job.elements + 1) + 1, chunk,
                         &job);
}

void mxl_columns_take(const mxl_columns *c, const void *image, void *columns)
{
    run(c, c->dtype == MXL_F64 ? f64_take : f32_take, image, columns);
}

void mxl_columns_put(const mxl_columns *c, const void *columns, void *image)
{
    run(c, c->dtype == MXL_F64 ? f64_put : f32_put, columns, image);
}

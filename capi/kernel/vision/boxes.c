/* Overlaps of boxes and non-maximum suppression: divides the work; boxes.tmpl.h has the loops. */
#include "kernel/vision/boxes.h"

#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/sort/sort.h"
#include "kernel/target.h"

enum {
    LISTS = 7,      /* of a candidate's numbers: four sides, area, kind, lost */
    BLOCK = 64,     /* candidates that are decided together before the rest competes with them */
    UNIT = 256,     /* candidates that are worth a thread that is awake, */
    GRAIN = 2048,   /* and one that sleeps */
    PAIRS = 1 << 14 /* overlaps that are worth a thread */
};

typedef struct overlap_job {
    int64_t columns;
    const void *a, *list; /* list: five lists of b: sides and areas */
    void *out;
    mxl_box_format format;
} overlap_job;

/* The candidates of one block that are kept, and those that come after the block. */
typedef struct strike_job {
    const mxl_candidates *list;
    const mxl_contest *contest;
    const int64_t *winners;
    int64_t num_winners, begin;
} strike_job;

typedef struct nms_run {
    const mxl_nms_job *job;
    const void *scores;
    const int64_t *order;
    char *room;
    size_t bytes; /* of room for one batch */
} nms_run;

#define NAME(x) f32_##x
#define T       float
#define MASK    int32_t
#define DTYPE   MXL_F32
#include "kernel/vision/boxes.tmpl.h"

#define NAME(x) f64_##x
#define T       double
#define MASK    int64_t
#define DTYPE   MXL_F64
#include "kernel/vision/boxes.tmpl.h"

int mxl_box_overlaps(int dtype, mxl_box_format format, int64_t rows, const void *a, int64_t columns,
                     const void *b, void *out)
{
    overlap_job job = {.columns = columns, .a = a, .out = out, .format = format};
    size_t bytes = (size_t)columns * 5 * mxl_dtype_size(dtype);
    void *list;

    if (rows == 0 || columns == 0)
        return 0;
    list = mxl_alloc(bytes);
    if (list == NULL)
        return -1;
    job.list = list;
    if (dtype == MXL_F32) {
        f32_spread(format, columns, b, list);
        mxl_parallel_for(rows, PAIRS / columns + 1, f32_overlap_rows, &job);
    } else {
        f64_spread(format, columns, b, list);
        mxl_parallel_for(rows, PAIRS / columns + 1, f64_overlap_rows, &job);
    }
    mxl_free(list, bytes);
    return 0;
}

/* ---- candidates ---- */

/* A list begins at a multiple of 64 bytes. */
static size_t list_bytes(int dtype, int64_t count)
{
    return ((size_t)count * mxl_dtype_size(dtype) + 63) / 64 * 64;
}

size_t mxl_candidates_bytes(int dtype, int64_t count)
{
    return LISTS * list_bytes(dtype, count) + list_bytes(MXL_I64, count);
}

void mxl_candidates_place(mxl_candidates *list, int dtype, int64_t count, bool kinds, void *room)
{
    size_t step = list_bytes(dtype, count);
    char *next = room;

    list->count = count;
    list->at = room;
    next += list_bytes(MXL_I64, count);
    for (int i = 0; i < 4; i++, next += step)
        list->side[i] = next;
    list->area = next;
    list->lost = next + step;
    list->kind = kinds ? next + 2 * step : NULL;
}

int64_t mxl_candidates_keep(mxl_candidates *list, int dtype, const mxl_contest *contest)
{
    return dtype == MXL_F32 ? f32_keep(list, contest) : f64_keep(list, contest);
}

/* ---- suppression ---- */

int mxl_nms(const mxl_nms_job *job)
{
    bool narrow = job->dtype == MXL_F32;
    size_t width = mxl_dtype_size(job->dtype), rows = (size_t)(job->batch * job->rows);
    size_t scores = rows * width, order = (size_t)(job->batch * job->most) * sizeof(int64_t);
    nms_run run = {.job = job, .bytes = mxl_candidates_bytes(job->dtype, job->most)};
    size_t bytes = scores + (size_t)job->batch * run.bytes;
    mxl_sort_job sort = {.dtype = job->dtype,
                         .descending = true,
                         .outer = job->batch,
                         .n = job->rows,
                         .inner = 1,
                         .k = job->most,
                         .position_dtype = MXL_I64};
    int status = -1;

    if (rows == 0)
        return 0;
    run.room = mxl_alloc(bytes);
    sort.positions = run.room == NULL ? NULL : mxl_alloc(order);
    if (sort.positions == NULL)
        goto done;
    run.order = sort.positions;
    run.scores = sort.in = run.room + (size_t)job->batch * run.bytes;
    (narrow ? f32_take_scores : f64_take_scores)(job, run.room + (size_t)job->batch * run.bytes);
    status = mxl_sort(&sort);
    if (status == 0)
        mxl_parallel_for(job->batch, 1, narrow ? f32_suppress : f64_suppress, &run);
    mxl_free(sort.positions, order);
done:
    if (run.room != NULL)
        mxl_free(run.room, bytes);
    return status;
}

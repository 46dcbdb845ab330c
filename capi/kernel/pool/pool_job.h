/* Shared by the loops of pooling: the windows of a call, and their ranges. */
#ifndef MXL_KERNEL_POOL_POOL_JOB_H
#define MXL_KERNEL_POOL_POOL_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/pool/pool.h"

enum {
    POOL_SPAN = 1024,  /* columns of the input that are joined together */
    POOL_WIDEST = 512, /* the widest window, or stride, that is joined by rows first */
    POOL_GRAIN = 16384 /* elements that are worth another thread */
};

typedef enum pool_kind { POOL_MAX, POOL_SUM, POOL_POWERS } pool_kind; /* powers: 2 and 3 */

/* How the loops go: inner elements side by side; rows of outputs; one window for a plane. */
typedef enum pool_way { POOL_POSITIONS, POOL_ROWS, POOL_PLANES } pool_way;

/* Positions [begin, end) of an axis; empty if begin >= end. */
typedef struct pool_range {
    int64_t begin, end;
} pool_range;

typedef struct pool_job {
    const mxl_pool *p;
    pool_kind kind;
    pool_way way;
    double lowest;
    int64_t in_plane, out_plane; /* positions of a plane */
    pool_range whole;            /* outputs along the last axis whose windows count in full */
    int64_t blocks;              /* of inner elements, for each of which a thread has one plane */
    bool abut;                   /* windows along the last axis lie side by side, short rows */
    bool pairs;                  /* so do those of 2 x 2 of a plane, of a maximum's gradient */
    const void *x, *dy, *from;
    void *y, *dx; /* of mxl_pool_max_pick y, of the other gradients dx */
} pool_job;

static inline int64_t pool_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The positions of window o that are not padding. */
static inline pool_range pool_inside(const mxl_window *w, int64_t o)
{
    int64_t begin = o * w->stride - w->pad;

    return (pool_range){begin > 0 ? begin : 0, pool_least(begin + w->kernel, w->in)};
}

/* Which of `span` columns from `begin` on lie within [0, in). */
static inline pool_range pool_clip(int64_t begin, int64_t span, int64_t in)
{
    return (pool_range){begin < 0 ? -begin : 0, pool_least(span, in - begin)};
}

/* How many positions of window o count for the mean; 0 without one. */
static inline int64_t pool_count(const mxl_window *w, int64_t o, mxl_pool_divide divide)
{
    int64_t begin = o * w->stride - w->pad, count;
    pool_range inside = pool_inside(w, o);

    count = divide == MXL_POOL_MEAN_PADDED ? pool_least(w->kernel, w->in + w->pad - begin)
                                           : inside.end - inside.begin;
    return count > 0 ? count : 0;
}

/* The divisor of a window; 0: none. */
static inline int64_t pool_count_at(const mxl_pool *p, int64_t od, int64_t oh, int64_t ow)
{
    if (p->divide == MXL_POOL_SUM)
        return 0;
    return pool_count(&p->axis[0], od, p->divide) * pool_count(&p->axis[1], oh, p->divide) *
           pool_count(&p->axis[2], ow, p->divide);
}

pool_job mxl_pool_job(const mxl_pool *p);

#endif

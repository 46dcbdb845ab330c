/* One reduction while it runs: which outputs and elements a share of it has, and how a share is
 * gone over, block by block. For reduce.c and moments.c. */
#ifndef MXL_KERNEL_REDUCE_REDUCE_JOB_H
#define MXL_KERNEL_REDUCE_REDUCE_JOB_H

#include <stddef.h>

#include "base/thread.h"
#include "kernel/reduce/reduce_loops.h"
#include "kernel/elementwise/strided_walk.h"

enum { REDUCE_ACC = 8 /* bytes of an accumulator */ };

/* Outputs are made in tiles of neighbours along the last kept axis. */
typedef struct mxl_reduce_job {
    const mxl_reduce_loops *loops;
    mxl_reduction kind;
    int dtype;
    int wide;    /* the dtype of the loops, and so of the accumulators */
    size_t size; /* bytes of one element */
    mxl_walk kept, reduced;
    const char *in;
    bool by_rows;  /* elements that go into one output are neighbours, or closer than outputs are */
    bool direct;   /* the loops can read the input as it lies */
    int64_t width; /* of the last kept axis */
    int64_t tile;  /* outputs in a tile */
    int64_t tiles; /* of one row of outputs */
    int64_t chunk; /* reduced positions per share */
    int64_t chunks; /* shares of one output */
} mxl_reduce_job;

/* A tile, or one share of it: the outputs [at, at + n), the reduced positions [begin, end). */
typedef struct mxl_reduce_unit {
    int64_t at, n;
    int64_t chunk, begin, end;
    const char *in; /* the first output's elements */
} mxl_reduce_unit;

/* Where the elements of a unit go: by the job's kind into `acc`; or, where there are `squares`, as
 * sums and as sums of squares, of what is left of them less about[output] (of the dtype of the
 * loops; NULL: 0). */
typedef struct mxl_reduce_into {
    char *acc, *squares;
    const char *about;
} mxl_reduce_into;

/* The axes, not the plan: false where there is nothing to reduce (kept.size says how many outputs
 * there are nevertheless). */
bool mxl_reduce_job_init(mxl_reduce_job *job, mxl_reduction kind, int dtype, int ndim,
                         const int64_t *shape, const int64_t *strides, const bool *reduced,
                         const void *in);

/* Which elements make a share, from the shape alone: so the bits are the same on any number of
 * threads. With loops of the dtype `wide`. */
void mxl_reduce_job_plan(mxl_reduce_job *job, int wide);

/* Shares of at most this many reduced positions. */
void mxl_reduce_job_limit(mxl_reduce_job *job, int64_t most);

/* Runs share(data, ...) over all units. */
void mxl_reduce_job_run(const mxl_reduce_job *job, mxl_range_fn share, void *data);

mxl_reduce_unit mxl_reduce_unit_at(const mxl_reduce_job *job, int64_t number);
void mxl_reduce_span(const mxl_reduce_job *job, const mxl_reduce_unit *unit,
                     const mxl_reduce_into *to);

/* Joins `rows` rows of n accumulators into n others. */
void mxl_reduce_join(const mxl_reduce_job *job, void *acc, const void *more, int64_t n,
                     int64_t rows);

/* Whether some of n floats are not finite: four may have overflowed where their sum with the others
 * does not. */
bool mxl_reduce_unbounded(const float *x, int64_t n);

#endif

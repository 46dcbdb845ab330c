/* The state of one reduction: which outputs and elements a chunk of it has, and how a chunk is
 * read, block by block. For reduce.c and moments.c. */
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
    int wide;    /* the dtype of the loops, which determines the accumulators */
    size_t size; /* bytes of one element */
    mxl_walk kept, reduced;
    const char *in;
    bool by_rows;  /* the elements of one output are neighbours, or closer together than outputs are
                    */
    bool direct;   /* the loops can read the input in place */
    int64_t width; /* size of the last kept dimension */
    int64_t tile;  /* outputs in a tile */
    int64_t tiles; /* tiles in one row of outputs */
    int64_t chunk; /* reduced positions per chunk */
    int64_t chunks; /* chunks of one output */
} mxl_reduce_job;

/* A tile, or one chunk of it: the outputs [at, at + n), the reduced positions [begin, end). */
typedef struct mxl_reduce_unit {
    int64_t at, n;
    int64_t chunk, begin, end;
    const char *in; /* the first output's elements */
} mxl_reduce_unit;

/* The destination of a unit's elements. Without `squares` the job's kind accumulates them into
 * `acc`. With `squares`, `acc` gets sums and `squares` sums of squares of the elements minus
 * about[output] (of the loops' dtype; NULL: 0). */
typedef struct mxl_reduce_into {
    char *acc, *squares;
    const char *about;
} mxl_reduce_into;

/* Sorts the dimensions, without a plan. False if there is nothing to reduce; kept.size is then
 * still the number of outputs. */
bool mxl_reduce_job_init(mxl_reduce_job *job, mxl_reduction kind, int dtype, int ndim,
                         const int64_t *shape, const int64_t *strides, const bool *reduced,
                         const void *in);

/* Divides the elements into chunks, depending only on the shape, so that the bits are the same for
 * any number of threads. The loops have the dtype `wide`. */
void mxl_reduce_job_plan(mxl_reduce_job *job, int wide);

/* Limits chunks to this many reduced positions. */
void mxl_reduce_job_limit(mxl_reduce_job *job, int64_t most);

/* Runs share(data, ...) over all units. */
void mxl_reduce_job_run(const mxl_reduce_job *job, mxl_range_fn share, void *data);

mxl_reduce_unit mxl_reduce_unit_at(const mxl_reduce_job *job, int64_t number);
void mxl_reduce_span(const mxl_reduce_job *job, const mxl_reduce_unit *unit,
                     const mxl_reduce_into *to);

/* Combines `rows` rows of n accumulators of loops of the dtype `wide` with n others. */
void mxl_reduce_join(mxl_reduction kind, int wide, void *acc, const void *more, int64_t n,
                     int64_t rows);

/* [chunks][outputs] accumulators into outputs; the first outputs' are overwritten. */
void mxl_reduce_end(mxl_reduction kind, int dtype, int wide, void *out, void *acc, int64_t outputs,
                    int64_t chunks, int64_t count);

/* Whether float32 outputs are to be computed once more, in float64 throughout. */
bool mxl_reduce_again(mxl_reduction kind, int dtype, const void *out, int64_t n);

/* The bytes that mxl_reduce_in needs for an initialised job, which is left with its plan. */
size_t mxl_reduce_room(mxl_reduce_job *job);

/* mxl_reduce in memory that the caller has; it does not fail. NULL: it allocates. */
int mxl_reduce_in(mxl_reduction kind, int dtype, int ndim, const int64_t *shape,
                  const int64_t *strides, const bool *reduced, const void *in, void *out,
                  void *room);

/* True if one of n floats is not finite: a group of four may have overflowed although the whole sum
 * does not. */
bool mxl_reduce_unbounded(const float *x, int64_t n);

#endif

/* Deferred element-wise calls, and reductions and softmax of their results. A large call is
 * checked, recorded and given its memory at once; only its loop waits, as an expression that the
 * output's storage holds. Expressions that read each other's results run together, in one pass over
 * memory, when bytes of one of them are needed. A result that only these expressions read is never
 * stored. Every way to a storage's bytes (mxl_array_read, mxl_array_write, mxl_array_address) runs
 * what must have run before; there is no other. docs/architecture.md explains the rules. */
#ifndef MXL_ARRAY_EXPRESSION_H
#define MXL_ARRAY_EXPRESSION_H

#include "array/array.h"
#include "kernel/elementwise/loop.h"
#include "kernel/reduce/reduce.h"
#include "kernel/reduce/reduce_tiles.h"

/* A call that may be deferred. All inputs have one dtype and broadcast to the output. The output
 * may be an input. */
typedef struct mxl_deferral {
    mxl_loop row;
    mxl_opcode opcode; /* what the loop computes, if it is an instruction */
    const char *name;  /* of what it computes; lives as long as the process */
    int weight;
    int num_in;
    mxl_array *const *in;
    mxl_array *out;
    bool is_new;  /* no other thread can see `out`: its block may be exchanged */
    bool reduces; /* instead of the loop there is a taker, mxl_reduce_tiles, whose memory
                     copy_params sets up in `params` */
    size_t params_bytes;
    const void *params;
    void (*copy_params)(const void *op, void *to, const void *params);
    const void *op;
} mxl_deferral;

/* The elements of a call that is deferred, at least: MXLITE_DEFER in the environment (0: none is),
 * else 20,000. Deferring costs a call 0.3 us. With 20,000 elements relu(a * b + c) * d - a
 * takes 7.0 us in place of 12.6, with its gradients 52 us in place of 59, and a + b that is read at
 * once 3.4 in place of 3.0; with 5,000 elements and gradients it takes 37 us in place of 35. */
extern int64_t mxl_defer_least;

/* Whether calls of so many elements are deferred on this thread. */
bool mxl_defers_here(void);

static inline bool mxl_defers(int64_t size)
{
    return size >= mxl_defer_least && mxl_defers_here();
}

/* Defers the call: true. False, with nothing changed: it cannot be, and the caller runs the loop.
 */
bool mxl_defer(const mxl_deferral *call);

/* Defers a reduction of an array that waits itself, over the dimensions marked in `reduced`; as
 * mxl_reduce. False, with nothing changed: the caller runs it. */
bool mxl_defer_reduction(mxl_reduction kind, const char *name, mxl_array *in, const bool *reduced,
                         mxl_array *out);

/* Defers a call of one array that waits itself, whose result has its shape and is computed by whole
 * rows of `count` elements. `params` of the call, of so many bytes, are the context of `compute`,
 * which gets a copy. False, with nothing changed: the caller runs it. */
bool mxl_defer_rows(mxl_deferral call, mxl_rows_fn compute, int64_t count);

/* Runs all that waits, in every thread's arrays. */
void mxl_expressions_run(void);

#endif

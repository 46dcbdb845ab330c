/* Calls with batched arrays (array/batch/batched.h): run.c asks whether a call is one, batch.c runs
 * it as calls on the whole arrays, by the first rule of batch_rules.c that knows the operator. */
#ifndef MXL_ENGINE_BATCH_BATCH_H
#define MXL_ENGINE_BATCH_BATCH_H

#include "array/batch/batched.h"
#include "engine/run/builtin_ops.h"
#include "engine/run/run.h"
#include "engine/run/scope.h"

/* One such call. Wholes are those of the level that is taken apart, which is the highest; arrays of
 * other levels, and plain ones, are values that all examples have. */
struct mxl_batch {
    mxl_run *r;
    mxl_scope *s; /* of the calls on wholes */
    const mxl_builtin_ops *ops;
    int64_t size; /* of the batch */
    int count;    /* inputs */
    mxl_batched **in;
    bool has_axis;     /* any of them */
    bool same;         /* what is drawn is the same for all examples */
    mxl_array *target; /* a whole array that an element-wise operator writes to; NULL: a new one */
};

/* Whether the call reads or writes a batched array; and such a call as a whole, -1 with the error
 * set. A library without the part has no batched arrays. */
#ifndef MXL_WITHOUT_BATCHES
bool mxl_run_is_batched(const mxl_run *r);
int mxl_run_batched(mxl_run *r);
#else
static inline bool mxl_run_is_batched(const mxl_run *r)
{
    return r == NULL;
}

static inline int mxl_run_batched(mxl_run *r)
{
    return r == NULL ? 0 : -1;
}
#endif

/* Sets all outputs of the call, of any shape with as many elements, scoped; they have the axis in
 * front if an input has. -1 with the error set. */
int mxl_batch_apply(mxl_batch *b, mxl_array **out);

/* The whole array in another shape behind the axis, scoped; or in any shape. */
mxl_array *mxl_batch_shaped(mxl_batch *b, mxl_array *whole, int ndim, const int64_t *shape);
mxl_array *mxl_batch_as(mxl_batch *b, mxl_array *whole, int ndim, const int64_t *shape);

/* The whole array with an axis of the batch in front: its own, or one along which it repeats. And
 * that of input i with axes of size 1 behind it, up to `ndim`; `expand`: broadcast to `shape`; else
 * one without the axis stays as it is. */
mxl_array *mxl_batch_fronted(mxl_batch *b, mxl_array *whole, bool has_axis);
mxl_array *mxl_batch_aligned(mxl_batch *b, int i, int ndim, const int64_t *shape, bool expand);

/* Whether operators follow the array, in the graph or as batched arrays of a lower level: views of
 * it are made by operators, which do not see its strides. */
bool mxl_batch_follows(const mxl_mode *mode, mxl_array *array);

/* An operator on whole arrays, with the parameters of its struct by their names, 0 where none is
 * given; scoped. */
mxl_array *mxl_batch_call(mxl_batch *b, const mxl_op *op, int count, mxl_array **in, int given,
                          const char *const *names, const int64_t *values);

/* A flag among the call's parameters; NULL: it has none of that name. */
const int *mxl_batch_flag(const mxl_batch *b, const char *name);

/* The name of the last operator of this thread that ran example by example, NULL: none has. Asking
 * forgets it. */
const char *mxl_batch_looped(void);
void mxl_batch_note_loop(const char *name);

#endif

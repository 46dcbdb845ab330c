/* Operators of 1.9's NumPy arrays that are composed of ours: their dtypes are promoted, results
 * without dimensions have none in MXNet's legacy mode too, and comparisons answer bool. */
#ifndef MXL_OPS_NUMPY_NUMPY_H
#define MXL_OPS_NUMPY_NUMPY_H

#include "ops/build.h"

/* A descriptor with the name of the operator that it is composed of; the descriptor comes first, so
 * that a call's `op` leads to both. */
typedef struct mxl_np_op {
    mxl_op op;
    const char *of;
} mxl_np_op;

/* The name that an operator is composed of. */
static inline const char *mxl_np_of(const mxl_call *call)
{
    return ((const mxl_np_op *)(const void *)call->op)->of;
}

/* Shapes in this scope are NumPy's, whatever the thread's mode is. Returns the scope. */
mxl_scope *mxl_np_scope(mxl_scope *s);

/* An operator by name: with parameters in its struct (NULL: the defaults) and `count` inputs; of
 * one array, of two, of an array and a number. Scoped. */
mxl_array *mxl_np_call(mxl_scope *s, const char *op, const void *params, int count,
                       mxl_array *const *in);
mxl_array *mxl_np_one(mxl_scope *s, const char *op, mxl_array *a);
mxl_array *mxl_np_two(mxl_scope *s, const char *op, mxl_array *a, mxl_array *b);
mxl_array *mxl_np_scalar(mxl_scope *s, const char *op, mxl_array *a, double b);

/* The same with parameters as text, "axis=1 begin=2 end=None", made by printf from the format. */
mxl_array *mxl_np_text(mxl_scope *s, const char *op, int count, mxl_array *const *in,
                       const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Ends a composition with an error: NULL. */
mxl_array *mxl_np_fail(mxl_scope *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The parts at positions of an axis, which `at` (one axis, int64) counts from 0. */
mxl_array *mxl_np_take(mxl_scope *s, mxl_array *x, int axis, mxl_array *at);

/* All elements in one line. Scoped. */
mxl_array *mxl_np_line(mxl_scope *s, mxl_array *x);

/* An array of the shape of x but for one axis; zeros. Without elements it is a part of x, so that a
 * recorded x has a gradient. Scoped. */
mxl_array *mxl_np_empty(mxl_scope *s, mxl_array *x, int axis, int64_t size);

/* Numbers of an array of any dtype, as float64 or int64: a contiguous copy. Scoped. */
mxl_array *mxl_np_read(mxl_scope *s, mxl_array *x, int dtype);

/* An array without dimensions; scoped. */
mxl_array *mxl_np_number(mxl_scope *s, double value, int dtype);

/* The array in a dtype; itself if it has it. */
mxl_array *mxl_np_as(mxl_scope *s, mxl_array *a, int dtype);

/* The elements of an array as doubles, for the caller to free with mxl_free, 8 bytes each; NULL
 * with the error set. */
double *mxl_np_doubles(const mxl_array *a);

#endif

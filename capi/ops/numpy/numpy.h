/* Operators of 1.9's NumPy arrays that are composed of ours: their dtypes are promoted, and
 * comparisons answer bool. Each begins with MXL_NUMPY (ops/build.h). A composition may begin an
 * error with what is wrong (mxl_error_null): the operator's name is put before it. */
#ifndef MXL_OPS_NUMPY_NUMPY_H
#define MXL_OPS_NUMPY_NUMPY_H

#include "ops/build.h"

/* The descriptor op_ID of a composite, whose composition is ID_compose. After its name come its
 * documentation, then the other fields by their names. */
#define MXL_NP(id, op_name, ...)                                                                   \
    static const mxl_op op_##id = {                                                                \
        .name = MXL_NUMPY(op_name),                                                                \
        .compose = id##_compose,                                                                   \
        .doc = __VA_ARGS__,                                                                        \
    }

/* A descriptor with the operator that it is composed of; the descriptor comes first, so
 * that a call's `op` leads to both. */
typedef struct mxl_np_op {
    mxl_op op;
    const mxl_op *of;
} mxl_np_op;

/* What an operator is composed of. */
static inline const mxl_op *mxl_np_of(const mxl_call *call)
{
    return ((const mxl_np_op *)(const void *)call->op)->of;
}

/* One of these reductions over axes (n -1: all). And whether all elements are not 0. Scoped. */
extern const mxl_np_op mxl_op_np_sum, mxl_op_np_mean, mxl_op_np_prod, mxl_op_np_max, mxl_op_np_min;
mxl_array *mxl_np_reduce(mxl_scope *s, const mxl_np_op *op, mxl_array *x, mxl_tuple axis,
                         bool keepdims);
/* The mean in x's own dtype. Scoped. */
mxl_array *mxl_np_mean(mxl_scope *s, mxl_array *x, mxl_tuple axis);
mxl_array *mxl_np_all(mxl_scope *s, mxl_array *x);

extern const mxl_op mxl_op_np_svd;

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

/* Sorts the axes of an array into those that are kept and the listed ones, counted from 0. Returns
 * how many are kept; -1 with the error set. */
int mxl_np_sort_axes(const mxl_op *op, const mxl_array *x, mxl_tuple list, int64_t *kept,
                     int64_t *listed);

/* Whether arrays are of the dtypes of solvers: float32, float64 and integers, which count as
 * float64. Returns the wider dtype; -1 with the error set, without the operator's name. */
int mxl_np_solver_dtype(int count, mxl_array *const *arrays);

/* The elements of an array as doubles, for the caller to free with mxl_free, 8 bytes each; NULL
 * with the error set. */
double *mxl_np_doubles(const mxl_array *a);

/* Where element i of a result of this shape lies in an array that broadcasts to it. */
int64_t mxl_np_position(int ndim, const int64_t *shape, const mxl_array *in, int64_t i);

#endif

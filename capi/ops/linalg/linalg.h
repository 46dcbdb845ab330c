/* Shared by linalg_*: a matrix is the last two dimensions, the others are the batch. */
#ifndef MXL_OPS_LINALG_LINALG_H
#define MXL_OPS_LINALG_LINALG_H

#include "ops/build.h"

extern const mxl_input mxl_inputs_a[];  /* A */
extern const mxl_input mxl_inputs_ab[]; /* A, B */

/* ---- infer; errors begin with the operator's name ---- */

/* Checks that all inputs are float32, or all float64, and have the same number of dimensions, at
 * least `ndim`. */
int mxl_linalg_check(const mxl_infer *infer, int ndim);
/* The same, and that input 0's matrices are square. */
int mxl_linalg_check_square(const mxl_infer *infer);
/* An infer rule: one square input, one output like it. */
int mxl_linalg_infer_square(mxl_infer *infer);

/* Sets the error "shapes (2,3) and (4,) do not match" about the first two inputs, followed by
 * `what`. Returns -1. */
int mxl_linalg_differ(const mxl_infer *infer, const char *what);

/* array *= factor */
void mxl_linalg_scale(mxl_array *array, double factor);

/* The number of matrices in an array. */
static inline int64_t mxl_linalg_count(const mxl_array *a)
{
    return mxl_shape_size(a->ndim - 2, a->shape);
}

/* ---- scope; matrix by matrix ---- */

/* alpha op(A) op(B) */
mxl_array *mxl_matmul(mxl_scope *s, mxl_array *a, mxl_array *b, bool transpose_a, bool transpose_b,
                      double alpha);
/* alpha op(A)^-1 B, or alpha B op(A)^-1 with `right`, A triangular. */
mxl_array *mxl_trsm(mxl_scope *s, mxl_array *a, mxl_array *b, bool right, bool lower,
                    bool transpose, double alpha);
/* Multiplies the elements below, on and above the diagonal by a factor each. */
mxl_array *mxl_triangle(mxl_scope *s, mxl_array *a, double below, double diagonal, double above);
mxl_array *mxl_transposed(mxl_scope *s, mxl_array *a);
/* A + A' */
mxl_array *mxl_plus_transposed(mxl_scope *s, mxl_array *a);
/* Diagonal k as the last dimension; and zeros with such a diagonal. */
mxl_array *mxl_diagonal(mxl_scope *s, mxl_array *a, int64_t k);
mxl_array *mxl_diagonal_put(mxl_scope *s, mxl_array *a, int64_t k);
/* Numbers, one for each matrix or row, with `more` dimensions of size 1 appended. */
mxl_array *mxl_with_axes(mxl_scope *s, mxl_array *a, int ndim, const int64_t *shape, int more);

#endif

/* What the families of linalg_* share: matrices are the last two axes, all others count them. */
#ifndef MXL_OPS_LINALG_LINALG_H
#define MXL_OPS_LINALG_LINALG_H

#include "ops/build.h"

extern const mxl_input mxl_inputs_a[];  /* A */
extern const mxl_input mxl_inputs_ab[]; /* A, B */

/* ---- infer; errors begin with the operator's name ---- */

/* All inputs are float32, or all float64, and have as many axes, at least `ndim`. */
int mxl_linalg_check(const mxl_infer *infer, int ndim);
/* The same, and the last two axes of input 0 are equal. */
int mxl_linalg_check_square(const mxl_infer *infer);
/* An infer rule: one square input, one output like it. */
int mxl_linalg_infer_square(mxl_infer *infer);

/* "shapes (2,3) and (4,) do not match", with `what` behind it; of the first two inputs. -1. */
int mxl_linalg_differ(const mxl_infer *infer, const char *what);

/* array *= factor */
void mxl_linalg_scale(mxl_array *array, double factor);

/* How many matrices an array holds. */
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
/* What is below the diagonal, on it and above it, each times a factor. */
mxl_array *mxl_triangle(mxl_scope *s, mxl_array *a, double below, double diagonal, double above);
mxl_array *mxl_transposed(mxl_scope *s, mxl_array *a);
/* A + A' */
mxl_array *mxl_plus_transposed(mxl_scope *s, mxl_array *a);
/* Diagonal k as the last axis, and back among zeros. */
mxl_array *mxl_diagonal(mxl_scope *s, mxl_array *a, int64_t k);
mxl_array *mxl_diagonal_put(mxl_scope *s, mxl_array *a, int64_t k);
/* Numbers, one for each matrix or row, with `more` axes of extent 1 behind them. */
mxl_array *mxl_with_axes(mxl_scope *s, mxl_array *a, int ndim, const int64_t *shape, int more);

#endif

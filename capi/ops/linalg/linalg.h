/* Shared by linalg_*: a matrix is the last two dimensions, the others are the batch. */
#ifndef MXL_OPS_LINALG_LINALG_H
#define MXL_OPS_LINALG_LINALG_H

#include "op/shapes/shapes.h"
#include "ops/build.h"

extern const mxl_op mxl_op_mm; /* of two matrices: _mxl_mm */
extern const mxl_op mxl_op_batch_dot;
extern const mxl_op *const mxl_op_stacked_product; /* NumPy's matmul; in the part numpy */

extern const mxl_input mxl_inputs_a[];  /* A */
extern const mxl_input mxl_inputs_ab[]; /* A, B */

/* The fields of _linalg_ID, alias linalg_ID, with an input table. */
#define MXL_LINALG(id, table)                                                                      \
    .name = "_linalg_" #id, .aliases = MXL_ALIASES("linalg_" #id), .inputs = table

/* Of operators that make square matrices of square ones. */
#define MXL_SQUARES MXL_SHAPES("A[*X,N,N] -> [*X,N,N]"), .dtypes = "W>W"

/* ---- infer; errors begin with the operator's name ---- */

/* What the text says, of matrices with no more rows than columns. */
int mxl_linalg_infer_wide(mxl_infer *infer);

/* Products of the matrices of two inputs into output 0; `row` is the axis of rows. If dimensions
 * lie between rows and columns, the rows of a matrix are apart by the product of their sizes. */
int mxl_linalg_multiply(const mxl_call *call, bool transpose_a, bool transpose_b, int row);
/* array *= factor */
void mxl_linalg_scale(mxl_array *array, double factor);

/* The number of matrices in an array. */
static inline int64_t mxl_linalg_count(const mxl_array *a)
{
    return mxl_shape_size(a->ndim - 2, a->shape);
}

/* One matrix of input 0, and the matrix of each output that is computed from it. */
typedef struct mxl_matrix {
    const mxl_call *call;
    int dtype;
    int64_t index; /* the number of matrices before it */
    int64_t rows, columns;
    void *a, *out[2];
} mxl_matrix;

/* Computes the outputs matrix by matrix. Output 0 begins as a copy of `start`, an input with as
 * many elements, or NULL. With `late` the outputs are written only after all matrices have
 * succeeded, and `each` may overwrite `a`, a copy (input 0 itself if that is `start` and the only
 * input: then `each` works in out[0]). Without `late`, `each` only reads `a`. */
int mxl_linalg_each(const mxl_call *call, const mxl_array *start, bool late,
                    int (*each)(const mxl_matrix *matrix));

/* Defines the compute function `id`_compute, which calls mxl_linalg_each with `id`_matrix; `start`
 * may use `call`. */
#define MXL_EACH_MATRIX(id, start, late)                                                           \
    static int id##_compute(const mxl_call *call)                                                  \
    {                                                                                              \
        return mxl_linalg_each(call, start, late, id##_matrix);                                    \
    }

/* ---- scope; matrix by matrix ---- */

/* alpha op(A) op(B) */
mxl_array *mxl_matmul(mxl_scope *s, mxl_array *a, mxl_array *b, bool transpose_a, bool transpose_b,
                      double alpha);
/* op(A) op(B) of stacks of one shape, in three axes or more: batch_dot. */
mxl_array *mxl_batch_dot(mxl_scope *s, mxl_array *a, mxl_array *b, bool transpose_a,
                         bool transpose_b);
/* X of A X = B. */
mxl_array *mxl_solve(mxl_scope *s, mxl_array *a, mxl_array *b);
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

extern const mxl_op mxl_op_inverse, mxl_op_syevd;

#endif

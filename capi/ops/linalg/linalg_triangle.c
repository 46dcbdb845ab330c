/* Diagonals and triangles of matrices: linalg_extractdiag, makediag, sumlogdiag, extracttrian,
 * maketrian; and _mxl_triangle, which vjps use to scale the parts of a matrix. */
#include <stddef.h>
#include <string.h>

#include "ops/elementwise/elementwise.h"
#include "ops/linalg/linalg.h"

typedef struct part_params {
    int64_t offset;
    int lower;
} part_params;

#define OFFSET                                                                                     \
    MXL_PARAM(part_params, offset, MXL_P_INT, "0",                                                 \
              "Which diagonal: 0 the main one, positive above it, negative below.")

static const mxl_param diag_table[] = {OFFSET, {0}};
static const mxl_param trian_table[] = {
    OFFSET,
    MXL_PARAM(part_params, lower, MXL_P_BOOL, "1",
              "Which triangle the main diagonal bounds; another bounds the one on its side."),
    {0},
};

/* ---- extractdiag and makediag ---- */

/* The length of the diagonal of n x n matrices. */
static int diagonal(const mxl_size_ask *ask, int64_t *size)
{
    int64_t offset = ((const part_params *)ask->params)->offset, n = ask->arg[0];

    if (offset >= n || offset <= -n)
        return mxl_error("%s: a matrix of %lld x %lld has no diagonal %lld", ask->op->name,
                         (long long)n, (long long)n, (long long)offset);
    *size = offset < 0 ? n + offset : n - offset;
    return 0;
}

/* The side of matrices that have a diagonal of this length. */
static int side(const mxl_size_ask *ask, int64_t *size)
{
    int64_t offset = ((const part_params *)ask->params)->offset;

    if (offset == INT64_MIN ||
        __builtin_add_overflow(ask->arg[0], offset < 0 ? -offset : offset, size))
        return mxl_error("%s: a matrix with diagonal %lld is too large", ask->op->name,
                         (long long)offset);
    return 0;
}

static int triangle(const mxl_size_ask *ask, int64_t *size)
{
    if (diagonal(ask, size) != 0)
        return -1;
    *size = *size * (*size + 1) / 2;
    return 0;
}

/* The side of matrices whose triangle has so many elements: k (k + 1) / 2, at its diagonal. */
static int side_of_triangle(const mxl_size_ask *ask, int64_t *size)
{
    int64_t low = 0, high = INT64_C(1) << 32, count = ask->arg[0];
    mxl_size_ask at = *ask;

    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;

        if (middle * (middle + 1) / 2 <= count)
            low = middle;
        else
            high = middle;
    }
    if (low * (low + 1) / 2 != count)
        return mxl_error("%s: no triangle has %lld elements", ask->op->name, (long long)count);
    at.arg[0] = low;
    return side(&at, size);
}

static const mxl_size_function part_sizes[] = {
    {"diagonal", diagonal, NULL},
    {"side", side, NULL},
    {"triangle", triangle, NULL},
    {"side_of_triangle", side_of_triangle, NULL},
    {0},
};

#define PART(text) MXL_SHAPES(text), .size_functions = part_sizes, .dtypes = "W>W"

static mxl_array *extractdiag_compose(mxl_scope *s, const mxl_call *call)
{
    return mxl_diagonal(s, call->in[0], ((const part_params *)call->params)->offset);
}

static const mxl_op op_extractdiag = {
    .doc = "A diagonal of each matrix.",
    MXL_LINALG(extractdiag, mxl_inputs_a),
    MXL_PARAMS(part_params, diag_table),
    PART("A[*X,N,N] -> [*X,diagonal(N)]"),
    .compose = extractdiag_compose,
};

static const mxl_input vector_inputs[] = {
    MXL_INPUT(A, "Vectors along the last axis, float32 or float64."), {0}};

static mxl_array *makediag_compose(mxl_scope *s, const mxl_call *call)
{
    return mxl_diagonal_put(s, call->in[0], ((const part_params *)call->params)->offset);
}

static const mxl_op op_makediag = {
    .doc = "Square matrices with the vectors on a diagonal, zeros elsewhere.",
    MXL_LINALG(makediag, vector_inputs),
    MXL_PARAMS(part_params, diag_table),
    PART("A[*X,N] -> [*X,side(N),side(N)]"),
    .compose = makediag_compose,
};

/* ---- sumlogdiag ---- */

/* One number for each matrix; a single matrix gives shape (1,), in NumPy's shapes too. */
static mxl_array *sumlogdiag_compose(mxl_scope *s, const mxl_call *call)
{
    mxl_array *a = call->in[0], *sum;
    const int64_t one = 1;

    sum = mxl_sum_axis(s, mxl_apply(s, &mxl_op_log, mxl_diagonal(s, a, 0)), -1);
    return a->ndim == 2 ? mxl_reshape(s, sum, 1, &one) : mxl_reshape(s, sum, a->ndim - 2, a->shape);
}

static const mxl_op op_sumlogdiag = {
    .doc = "Of each matrix the sum of the logarithms of its diagonal.",
    MXL_LINALG(sumlogdiag, mxl_inputs_a),
    MXL_SHAPES("A[*X,N,N] -> [*X|1]"),
    .dtypes = "W>W",
    .compose = sumlogdiag_compose,
};

/* ---- extracttrian and maketrian ---- */

/* Moves a triangle of n x n matrices row by row to or from vectors: columns [0, offset + i] of row
 * i of the lower one, [i + offset, n) of the upper one. */
static bool is_lower(const part_params *p)
{
    return p->offset < 0 || (p->offset == 0 && p->lower);
}

/* Copies between `count` matrices and their triangles. A lower triangle is stored by rows, an upper
 * one by columns, that is, as the rows of its transpose. */
static void move(const part_params *p, size_t width, int64_t count, int64_t n, char *matrix,
                 char *vector, bool extract)
{
    int64_t away = p->offset < 0 ? -p->offset : p->offset, side = n - away;
    bool lower = is_lower(p);

    for (int64_t m = 0; m < count; m++) {
        char *base = matrix + (size_t)(m * n * n) * width;

        for (int64_t i = 0; i < side; i++) {
            for (int64_t j = 0; j <= i; j++) {
                int64_t at = lower ? (i + away) * n + j : j * n + i + away;
                char *element = base + (size_t)at * width;

                memcpy(extract ? vector : element, extract ? element : vector, width);
                vector += width;
            }
        }
    }
}

static int extracttrian_compute(const mxl_call *call)
{
    const mxl_array *a = call->in[0];

    /* The input of an extraction is only read. */
    move(call->params, mxl_dtype_size(a->dtype), mxl_linalg_count(a), a->shape[a->ndim - 1],
         (char *)(uintptr_t)mxl_array_read(a), mxl_array_write(call->out[0]), true);
    return 0;
}

static int maketrian_compute(const mxl_call *call)
{
    const mxl_array *a = call->in[0];
    mxl_array *out = call->out[0];
    size_t width = mxl_dtype_size(a->dtype);
    char *to = mxl_array_write(out);

    memset(to, 0, (size_t)out->size * width);
    if (out->size > 0)
        move(call->params, width, mxl_linalg_count(out), out->shape[out->ndim - 1], to,
             (char *)(uintptr_t)mxl_array_read(a), false);
    return 0;
}

static const mxl_op op_extracttrian, op_maketrian;

/* Each is the inverse of the other. */
MXL_DX(extracttrian, mxl_scope_call(s, &op_maketrian, g->params, 1, &dy))

static int maketrian_grad(mxl_grad *g)
{
    const mxl_meta *x = mxl_grad_in_meta(g, 0);

    /* Matrices without a triangle, which extracttrian refuses. */
    if (mxl_shape_size(x->ndim, x->shape) == 0)
        return mxl_grad_set_zeros(g, 0);
    return mxl_grad_set(g, 0, mxl_scope_call(g->s, &op_extracttrian, g->params, 1, g->grad_output));
}

static const mxl_op op_extracttrian = {
    .doc = "A triangle of each matrix as a vector: the lower one row by row, the upper one column "
           "by column.",
    MXL_LINALG(extracttrian, mxl_inputs_a),
    MXL_PARAMS(part_params, trian_table),
    PART("A[*X,N,N] -> [*X,triangle(N)]"),
    .compute = extracttrian_compute,
    .grad = extracttrian_grad,
};

static const mxl_op op_maketrian = {
    .doc = "Square matrices with the vectors as a triangle, zeros elsewhere: the inverse of "
           "extracttrian.",
    MXL_LINALG(maketrian, vector_inputs),
    MXL_PARAMS(part_params, trian_table),
    PART("A[*X,N] -> [*X,side_of_triangle(N),side_of_triangle(N)]"),
    .compute = maketrian_compute,
    .grad = maketrian_grad,
};

/* ---- _mxl_triangle ---- */

typedef struct triangle_params {
    double below, diagonal, above;
} triangle_params;

#define WEIGHT(field, text) MXL_PARAM(triangle_params, field, MXL_P_FLOAT, "1", text)

static double weigh(double value, double factor)
{
    return factor == 0 ? 0 : value * factor;
}

static int triangle_compute(const mxl_call *call)
{
    const triangle_params *p = call->params;
    const mxl_array *a = call->in[0];
    const void *from = mxl_array_read(a);
    void *to = mxl_array_write(call->out[0]);
    int64_t n = a->shape[a->ndim - 1];

    for (int64_t at = 0; at < a->size; at++) {
        int64_t i = at / n % n, j = at % n;
        double factor = j < i ? p->below : j == i ? p->diagonal : p->above;

        if (a->dtype == MXL_F32)
            ((float *)to)[at] = (float)weigh((double)((const float *)from)[at], factor);
        else
            ((double *)to)[at] = weigh(((const double *)from)[at], factor);
    }
    return 0;
}

/* dx = dy with the same factors */
MXL_DX(triangle, mxl_scope_call(s, g->op, g->params, 1, &dy))

static const mxl_op op_triangle = {
    .name = "_mxl_triangle",
    .doc = "Square matrices whose elements below the diagonal, on it and above it are multiplied "
           "by a factor each.",
    .inputs = mxl_inputs_a,
    MXL_PARAMS_OF(triangle_params,
                  WEIGHT(below, "Factor of the elements below the diagonal; 0 makes them 0."),
                  WEIGHT(diagonal, "Factor of the diagonal."),
                  WEIGHT(above, "Factor of the elements above the diagonal.")),
    MXL_SQUARES,
    .compute = triangle_compute,
    .grad = triangle_grad,
};

mxl_array *mxl_triangle(mxl_scope *s, mxl_array *a, double below, double diagonal, double above)
{
    triangle_params params = {below, diagonal, above};

    return mxl_scope_call(s, &op_triangle, &params, 1, &a);
}

const mxl_op *const mxl_ops_linalg_triangle[] = {
    &op_extractdiag, &op_makediag, &op_sumlogdiag, &op_extracttrian, &op_maketrian,
    &op_triangle,    NULL};

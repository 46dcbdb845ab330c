/* Products of matrices: linalg_gemm, gemm2, syrk; and functions shared by linalg_*. */
#include "ops/linalg/linalg.h"

#include <string.h>

#include "base/memory/mem.h"
#include "kernel/gemm/gemm.h"

const mxl_input mxl_inputs_a[] = {
    MXL_INPUT(A, "Matrices along the last two axes, float32 or float64."), {0}};
const mxl_input mxl_inputs_ab[] = {
    MXL_INPUT(A, "Matrices along the last two axes, float32 or float64."),
    MXL_INPUT(B, "As many matrices of the same dtype."),
    {0},
};

/* ---- shared ---- */

int mxl_linalg_infer_wide(mxl_infer *infer)
{
    const mxl_array *a = infer->in[0];

    if (mxl_infer_said(infer) != 0)
        return -1;
    if (a->shape[a->ndim - 2] <= a->shape[a->ndim - 1])
        return 0;
    return mxl_error("%s: takes matrices with no more rows than columns, got shape %s",
                     infer->op->name, MXL_SHAPE_OF(a));
}

mxl_array *mxl_plus_transposed(mxl_scope *s, mxl_array *a)
{
    return mxl_add(s, a, mxl_transposed(s, a));
}

mxl_array *mxl_with_axes(mxl_scope *s, mxl_array *a, int ndim, const int64_t *shape, int more)
{
    mxl_shape all;

    mxl_shape_set(&all, ndim, shape);
    while (more-- > 0)
        all.dim[all.ndim++] = 1;
    return mxl_reshape(s, a, all.ndim, all.dim);
}

void mxl_linalg_scale(mxl_array *array, double factor)
{
    void *data = mxl_array_write(array);

    for (int64_t i = 0; i < array->size && factor != 1; i++) {
        if (array->dtype == MXL_F32)
            ((float *)data)[i] *= (float)factor;
        else
            ((double *)data)[i] *= factor;
    }
}

int mxl_linalg_each(const mxl_call *call, const mxl_array *start, bool late,
                    int (*each)(const mxl_matrix *matrix))
{
    const mxl_array *a = call->in[0];
    int64_t count = mxl_linalg_count(a), width = (int64_t)mxl_dtype_size(a->dtype), step[2];
    mxl_matrix m = {.call = call,
                    .dtype = a->dtype,
                    .rows = a->shape[a->ndim - 2],
                    .columns = a->shape[a->ndim - 1]};
    bool copies = late && (start != a || call->num_inputs > 1); /* one array may be both inputs */
    int64_t size = m.rows * m.columns * width, bytes = copies ? size : 0;
    char *work = NULL, *to[2], *next;
    int status = 0;

    if (count == 0 || (size == 0 && call->out[0]->size == 0))
        return 0;
    for (int k = 0; k < call->num_outputs; k++) {
        step[k] = (count == 1 ? call->out[k]->size : call->out[k]->size / count) * width;
        bytes += late ? count * step[k] : 0;
    }
    if (late && (work = mxl_alloc((size_t)bytes)) == NULL)
        return -1;
    next = copies ? work + size : work;
    for (int k = 0; k < call->num_outputs; k++) {
        to[k] = late ? next : mxl_array_write(call->out[k]);
        next = late ? next + count * step[k] : NULL;
    }
    if (start != NULL && start->size > 0)
        memcpy(to[0], mxl_array_read(start), (size_t)(start->size * width));
    for (; m.index < count && status == 0; m.index++) {
        m.a = (char *)(uintptr_t)mxl_array_read(a) + m.index * size;
        if (copies)
            m.a = memcpy(work, m.a, (size_t)size);
        for (int k = 0; k < call->num_outputs; k++)
            m.out[k] = to[k] + m.index * step[k];
        status = each(&m);
    }
    for (int k = 0; k < call->num_outputs && status == 0 && late; k++)
        memcpy(mxl_array_write(call->out[k]), to[k], (size_t)(count * step[k]));
    mxl_free(work, (size_t)bytes);
    return status;
}

/* ---- gemm2 and gemm ---- */

typedef struct gemm_params {
    int transpose_a, transpose_b;
    double alpha, beta;
    int64_t axis;
} gemm_params;

#define GEMM_PARAMS                                                                                \
    MXL_PARAM(gemm_params, transpose_a, MXL_P_BOOL, "0",                                           \
              "Whether the matrices of A are transposed."),                                        \
        MXL_PARAM(gemm_params, transpose_b, MXL_P_BOOL, "0",                                       \
                  "Whether the matrices of B are transposed."),                                    \
        MXL_PARAM(gemm_params, alpha, MXL_P_FLOAT, "1", "Factor of the product.",                  \
                  .type_name = "double")
#define GEMM_AXIS                                                                                  \
    MXL_PARAM(gemm_params, axis, MXL_P_INT, "-2",                                                  \
              "The axis of rows, counted from either end; columns are the last axis.")

/* The text for both transposes, of as many inputs. */
#define GEMM_TEXTS(c)                                                                              \
    {{"A[*X,M@axis,*Y,K] B[*X,K@axis,*Y,N] " c "-> [*X,M,*Y,N]",                                   \
      "A[*X,M@axis,*Y,K] B[*X,N@axis,*Y,K] " c "-> [*X,M,*Y,N]"},                                  \
     {"A[*X,K@axis,*Y,M] B[*X,K@axis,*Y,N] " c "-> [*X,M,*Y,N]",                                   \
      "A[*X,K@axis,*Y,M] B[*X,N@axis,*Y,K] " c "-> [*X,M,*Y,N]"}}

static const char *const gemm2_texts[2][2] = GEMM_TEXTS("");
static const char *const gemm_texts[2][2] = GEMM_TEXTS("C[*X,M@axis,*Y,N] ");

static const char *gemm2_shapes(const void *params)
{
    const gemm_params *p = params;

    return gemm2_texts[p->transpose_a != 0][p->transpose_b != 0];
}

static const char *gemm_shapes(const void *params)
{
    const gemm_params *p = params;

    return gemm_texts[p->transpose_a != 0][p->transpose_b != 0];
}

int mxl_linalg_multiply(const mxl_call *call, bool transpose_a, bool transpose_b, int row)
{
    const mxl_array *a = call->in[0], *b = call->in[1];
    mxl_array *out = call->out[0];
    int64_t width = (int64_t)mxl_dtype_size(a->dtype);
    int last = a->ndim - 1;
    int64_t outer = mxl_shape_size(row, a->shape);
    int64_t inner = mxl_shape_size(last - row - 1, a->shape + row + 1);
    int64_t a_columns = a->shape[last], b_columns = b->shape[last], columns = out->shape[last];
    const char *left = mxl_array_read(a), *right = mxl_array_read(b);
    char *to = mxl_array_write(out);
    bool dense = inner == 1; /* the matrices are contiguous, one after another */

    for (int64_t i = 0; i < (dense ? 1 : outer) && out->size > 0; i++) {
        mxl_product product = {.dtype = a->dtype,
                               .ta = transpose_a,
                               .tb = transpose_b,
                               .count = dense ? outer : inner,
                               .m = out->shape[row],
                               .n = columns,
                               .k = a->shape[transpose_a ? row : last],
                               .a = left + i * a->shape[row] * inner * a_columns * width,
                               .b = right + i * b->shape[row] * inner * b_columns * width,
                               .c = to + i * out->shape[row] * inner * columns * width,
                               .lda = inner * a_columns,
                               .ldb = inner * b_columns,
                               .ldc = inner * columns,
                               .a_next = dense ? a->shape[row] * a_columns : a_columns,
                               .b_next = dense ? b->shape[row] * b_columns : b_columns,
                               .c_next = dense ? out->shape[row] * columns : columns};

        if (mxl_products(&product) != 0)
            return -1;
    }
    return 0;
}

static int gemm2_compute(const mxl_call *call)
{
    const gemm_params *p = call->params;
    int row = mxl_shape_axis(p->axis, call->in[0]->ndim);

    if (mxl_linalg_multiply(call, p->transpose_a, p->transpose_b, row) != 0)
        return -1;
    mxl_linalg_scale(call->out[0], p->alpha);
    return 0;
}

static const mxl_op op_gemm2;

mxl_array *mxl_matmul(mxl_scope *s, mxl_array *a, mxl_array *b, bool transpose_a, bool transpose_b,
                      double alpha)
{
    gemm_params params = {
        .transpose_a = transpose_a, .transpose_b = transpose_b, .alpha = alpha, .axis = -2};
    mxl_array *inputs[2] = {a, b};

    return mxl_scope_call(s, &op_gemm2, &params, 2, inputs);
}

static const mxl_op op_gemm2 = {
    .doc = "Products of matrices: alpha op(A) op(B), where op may transpose.",
    MXL_LINALG(gemm2, mxl_inputs_ab),
    .along = true,
    MXL_PARAMS_OF(gemm_params, GEMM_PARAMS, GEMM_AXIS),
    MXL_SHAPES("A[*X,M@axis,*Y,K] B[*X,K@axis,*Y,N] -> [*X,M,*Y,N]"),
    .shapes_of = gemm2_shapes,
    .dtypes = "W*>W",
    .compute = gemm2_compute,
    .grad = mxl_grad_factors_of_op,
    .saves = mxl_saves_other,
};

/* With beta 0, C counts as zeros, even if it has NaN, but still gets a gradient. */
static mxl_array *gemm_compose(mxl_scope *s, const mxl_call *call)
{
    const gemm_params *p = call->params;
    mxl_array *product = mxl_scope_call(s, &op_gemm2, p, 2, call->in);
    mxl_array *c = call->in[2];

    if (product != NULL && !mxl_array_same_shape(c, product))
        return mxl_error_null("%s: C has shape %s, the product %s", call->op->name, MXL_SHAPE_OF(c),
                              MXL_SHAPE_OF(product));
    if (p->beta == 0)
        c = mxl_zeros_like(s, c);
    else if (p->beta != 1)
        c = mxl_mul_scalar(s, c, p->beta);
    return mxl_add(s, product, c);
}

static const mxl_op op_gemm = {
    .name = "_linalg_gemm",
    .aliases = MXL_ALIASES("linalg_gemm"),
    .doc = "Products of matrices added to others: alpha op(A) op(B) + beta C, where op may "
           "transpose.",
    MXL_INPUTS(MXL_INPUT(A, "Matrices along the last two axes, float32 or float64."),
               MXL_INPUT(B, "As many matrices of the same dtype."),
               MXL_INPUT(C, "The matrices to add, of the result's shape.")),
    MXL_PARAMS_OF(gemm_params, GEMM_PARAMS,
                  MXL_PARAM(gemm_params, beta, MXL_P_FLOAT, "1",
                            "Factor of C; with 0 C is not read.", .type_name = "double"),
                  GEMM_AXIS),
    MXL_SHAPES("A[*X,M@axis,*Y,K] B[*X,K@axis,*Y,N] C[*X,M@axis,*Y,N] -> [*X,M,*Y,N]"),
    .shapes_of = gemm_shapes,
    .dtypes = "W*>W",
    .compose = gemm_compose,
};

/* ---- syrk ---- */

typedef struct syrk_params {
    int transpose;
    double alpha;
} syrk_params;

static const char *syrk_shapes(const void *params)
{
    return ((const syrk_params *)params)->transpose ? "A[*X,K,N] -> [*X,N,N]" : NULL;
}

static mxl_array *syrk_compose(mxl_scope *s, const mxl_call *call)
{
    const syrk_params *p = call->params;

    return mxl_matmul(s, call->in[0], call->in[0], p->transpose != 0, p->transpose == 0, p->alpha);
}

static const mxl_op op_syrk = {
    .doc = "Products of matrices with themselves: alpha A A', or alpha A' A with `transpose`.",
    MXL_LINALG(syrk, mxl_inputs_a),
    MXL_PARAMS_OF(syrk_params,
                  MXL_PARAM(syrk_params, transpose, MXL_P_BOOL, "0",
                            "Whether the first factor is the transposed one."),
                  MXL_PARAM(syrk_params, alpha, MXL_P_FLOAT, "1", "Factor of the product.",
                            .type_name = "double")),
    MXL_SHAPES("A[*X,N,K] -> [*X,N,N]"),
    .shapes_of = syrk_shapes,
    .dtypes = "W>W",
    .compose = syrk_compose,
};

const mxl_op *const mxl_ops_linalg[] = {&op_gemm, &op_gemm2, &op_syrk, NULL};

/* Products of two matrices of any memory layout: mm and addmm of PyTorch. */
#include "array/copy.h"
#include "kernel/gemm/gemm.h"
#include "ops/batch/rules.h"
#include "ops/build.h"
#include "ops/linalg/linalg.h"

typedef struct mm_params {
    int transpose_a, transpose_b;
    double alpha, beta;
} mm_params;

#define MM_TRANSPOSES                                                                              \
    MXL_PARAM(mm_params, transpose_a, MXL_P_BOOL, "0", "Whether lhs is taken as its transpose."),  \
        MXL_PARAM(mm_params, transpose_b, MXL_P_BOOL, "0",                                         \
                  "Whether rhs is taken as its transpose.")

/* Rows and columns of a matrix, or of its transpose. */
static int64_t rows_of(const int64_t *shape, bool transposed)
{
    return shape[transposed];
}

static int mm_infer_of(mxl_infer *infer, mxl_array *const *in)
{
    const mm_params *p = infer->params;
    const mxl_array *a = in[0], *b = in[1];

    if (mxl_check_dtypes(infer->op, a, b) != 0)
        return -1;
    if (a->ndim != 2 || b->ndim != 2)
        return mxl_error("%s: takes two matrices, got arrays of %d and %d axes", infer->op->name,
                         a->ndim, b->ndim);
    if (rows_of(a->shape, !p->transpose_a) != rows_of(b->shape, p->transpose_b))
        return mxl_error("%s: inner extents %lld and %lld differ", infer->op->name,
                         (long long)rows_of(a->shape, !p->transpose_a),
                         (long long)rows_of(b->shape, p->transpose_b));
    return mxl_infer_set(
        infer, a->dtype, 2,
        (int64_t[]){rows_of(a->shape, p->transpose_a), rows_of(b->shape, !p->transpose_b)});
}

static int mm_infer(mxl_infer *infer)
{
    return mm_infer_of(infer, infer->in);
}

/* The layout of a matrix in memory: row-major or column-major; otherwise it is copied, and `copy`
 * owns the copy. */
typedef struct operand {
    const void *data;
    int64_t ld;
    bool transposed;
    mxl_array *copy;
} operand;

static int operand_of(operand *o, mxl_array *array)
{
    int64_t rows = array->shape[0], columns = array->shape[1];

    o->copy = NULL;
    o->transposed = false;
    o->ld = columns;
    if (array->contiguous) {
        o->data = mxl_array_read(array);
        return 0;
    }
    if (array->strides[1] == 1 && array->strides[0] >= columns) {
        o->ld = array->strides[0];
    } else if (array->strides[0] == 1 && array->strides[1] >= rows) {
        o->ld = array->strides[1];
        o->transposed = true;
    } else {
        o->copy = mxl_array_contiguous(array);
        if (o->copy == NULL)
            return -1;
        array = o->copy;
    }
    o->data = mxl_array_read(array);
    return 0;
}

static int product(const mm_params *p, mxl_array *const *in, mxl_array *out, const void *bias)
{
    operand a = {0}, b = {0};
    int status = -1;

    if (operand_of(&a, in[0]) == 0 && operand_of(&b, in[1]) == 0)
        status = mxl_products(&(mxl_product){.dtype = out->dtype,
                                             .ta = (p->transpose_a != 0) != a.transposed,
                                             .tb = (p->transpose_b != 0) != b.transposed,
                                             .count = 1,
                                             .m = out->shape[0],
                                             .n = out->shape[1],
                                             .k = in[0]->shape[!p->transpose_a],
                                             .a = a.data,
                                             .b = b.data,
                                             .c = mxl_array_write(out),
                                             .lda = a.ld,
                                             .ldb = b.ld,
                                             .ldc = out->shape[1],
                                             .bias = bias});
    if (a.copy != NULL)
        mxl_array_release(a.copy);
    if (b.copy != NULL)
        mxl_array_release(b.copy);
    return status;
}

static int mm_compute(const mxl_call *call)
{
    return product(call->params, call->in, call->out[0], NULL);
}

const mxl_op mxl_op_mm = {
    .name = "_mxl_mm",
    .doc = "The product of two matrices, by rows or by columns in memory.",
    .inputs = mxl_inputs_lhs_rhs,
    MXL_PARAMS_OF(mm_params, MM_TRANSPOSES),
    .infer = mm_infer,
    .compute = mm_compute,
    .strided = true,
    .grad = mxl_grad_factors_of_op,
    .saves = mxl_saves_other,
    MXL_BATCH(mxl_vmap_mm),
};

static int addmm_infer(mxl_infer *infer)
{
    const mxl_array *added = infer->in[0];
    const int64_t *out = infer->out_shape[0].dim;

    if (mm_infer_of(infer, infer->in + 1) != 0)
        return -1;
    if (mxl_check_dtypes(infer->op, added, infer->in[1]) != 0)
        return -1;
    for (int i = 0; i < added->ndim; i++) {
        int64_t want = added->ndim <= 2 ? out[2 - added->ndim + i] : -1;

        if (added->shape[i] != want && (added->shape[i] != 1 || want < 0))
            return mxl_error("_mxl_addmm: an array of %d axes cannot be added to a product of "
                             "shape (%lld,%lld)",
                             added->ndim, (long long)out[0], (long long)out[1]);
    }
    return 0;
}

#define ADD_SCALED(type)                                                                           \
    static void add_##type(const mm_params *p, type *out, const int64_t *shape, const type *added, \
                           int64_t down, int64_t right)                                            \
    {                                                                                              \
        type alpha = (type)p->alpha, beta = (type)p->beta;                                         \
                                                                                                   \
        for (int64_t i = 0; i < shape[0]; i++) {                                                   \
            for (int64_t j = 0; j < shape[1]; j++, out++)                                          \
                *out = alpha * *out + (beta == 0 ? 0 : beta * added[i * down + j * right]);        \
        }                                                                                          \
    }

ADD_SCALED(float)
ADD_SCALED(double)

static int addmm_compute(const mxl_call *call)
{
    const mm_params *p = call->params;
    mxl_array *added = call->in[0], *out = call->out[0];
    bool row = added->ndim == 1 && added->shape[0] == out->shape[1] && added->contiguous;
    int64_t down = 0, right = 0;

    if (mxl_check_full_float(call->op, out) != 0)
        return -1;
    if (row && p->alpha == 1 && p->beta == 1)
        return product(p, call->in + 1, out, mxl_array_read(added));
    if (product(p, call->in + 1, out, NULL) != 0)
        return -1;
    if (added->ndim >= 1 && added->shape[added->ndim - 1] > 1)
        right = added->strides[added->ndim - 1];
    if (added->ndim == 2 && added->shape[0] > 1)
        down = added->strides[0];
    if (out->dtype == MXL_F32)
        add_float(p, mxl_array_write(out), out->shape, mxl_array_read(added), down, right);
    else
        add_double(p, mxl_array_write(out), out->shape, mxl_array_read(added), down, right);
    return 0;
}

static mxl_array *scaled(mxl_grad *g, double by)
{
    return by == 1 ? g->grad_output[0] : mxl_mul_scalar(g->s, g->grad_output[0], by);
}

/* dadded = beta dY; the factors' gradients are those of alpha dY */
static int addmm_grad(mxl_grad *g)
{
    const mm_params *p = g->params;

    if (mxl_grad_wants(g, 0) && mxl_grad_set(g, 0, scaled(g, p->beta)) != 0)
        return -1;
    if (!mxl_grad_wants(g, 1) && !mxl_grad_wants(g, 2))
        return 0;
    return mxl_grad_factors(g, &mxl_op_mm, 1, scaled(g, p->alpha));
}

static void addmm_saves(mxl_saves *saves)
{
    saves->in[1] = saves->wants[2];
    saves->in[2] = saves->wants[1];
}

static const mxl_op op_addmm = {
    .name = "_mxl_addmm",
    .doc = "beta * added + alpha * the product of two matrices.",
    MXL_INPUTS(MXL_INPUT(added, "The array to add; it is broadcast to the product's shape."),
               MXL_INPUT(lhs, "First matrix."), MXL_INPUT(rhs, "Second matrix.")),
    MXL_PARAMS_OF(mm_params,
                  MXL_PARAM(mm_params, beta, MXL_P_FLOAT, "1", "Factor of the added array."),
                  MXL_PARAM(mm_params, alpha, MXL_P_FLOAT, "1", "Factor of the product.")),
    .infer = addmm_infer,
    .compute = addmm_compute,
    .strided = true,
    .grad = addmm_grad,
    .saves = addmm_saves,
    MXL_BATCH(mxl_vmap_addmm),
};

const mxl_op *const mxl_ops_mm[] = {&mxl_op_mm, &op_addmm, NULL};

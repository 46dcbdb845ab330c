/* Operators that are one node in PyTorch and that MXNet lacks: products of two matrices of any
 * memory layout (mm, addmm), mse_loss, rounding of halves to even numbers. */
#include "ops/elementwise/elementwise.h"

#include <stddef.h>

#include "array/copy.h"
#include "kernel/gemm/gemm.h"

/* ---- _mxl_mm, _mxl_addmm ---- */

typedef struct mm_params {
    int transpose_a, transpose_b;
    double alpha, beta;
} mm_params;

#define MM_TRANSPOSES                                                                              \
    MXL_PARAM(mm_params, transpose_a, MXL_P_BOOL, "0", "Whether lhs is taken as its transpose."),  \
        MXL_PARAM(mm_params, transpose_b, MXL_P_BOOL, "0",                                         \
                  "Whether rhs is taken as its transpose.")

static const mxl_param mm_table[] = {MM_TRANSPOSES, {0}};

static const mxl_param addmm_table[] = {
    MXL_PARAM(mm_params, beta, MXL_P_FLOAT, "1", "What the added array is multiplied with."),
    MXL_PARAM(mm_params, alpha, MXL_P_FLOAT, "1", "What the product is multiplied with."),
    {0},
};

/* Rows and columns of a matrix, or of its transpose. */
static int64_t rows_of(const int64_t *shape, bool transposed)
{
    return shape[transposed];
}

static int mm_infer_of(mxl_infer *infer, mxl_array *const *in)
{
    const mm_params *p = infer->params;
    const mxl_array *a = in[0], *b = in[1];

    if (a->dtype != b->dtype)
        return mxl_error("%s: inputs have dtypes %s and %s; they must be the same", infer->op->name,
                         mxl_dtype_name(a->dtype), mxl_dtype_name(b->dtype));
    if (a->ndim != 2 || b->ndim != 2)
        return mxl_error("%s: takes two matrices, got arrays of %d and %d axes", infer->op->name,
                         a->ndim, b->ndim);
    if (rows_of(a->shape, !p->transpose_a) != rows_of(b->shape, p->transpose_b))
        return mxl_error("%s: inner extents %lld and %lld differ", infer->op->name,
                         (long long)rows_of(a->shape, !p->transpose_a),
                         (long long)rows_of(b->shape, p->transpose_b));
    infer->out_shape[0].ndim = 2;
    infer->out_shape[0].dim[0] = rows_of(a->shape, p->transpose_a);
    infer->out_shape[0].dim[1] = rows_of(b->shape, !p->transpose_b);
    infer->out_dtype[0] = a->dtype;
    return 0;
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

extern const mxl_op mxl_op_mm;

static mxl_array *mm(mxl_scope *s, mxl_array *a, mxl_array *b, bool ta, bool tb)
{
    mm_params params = {.transpose_a = ta, .transpose_b = tb};
    mxl_array *inputs[2] = {a, b};

    return mxl_scope_call(s, &mxl_op_mm, &params, 2, inputs);
}

/* Sets the gradients of the factors, inputs `first` and the next, from dY, the gradient of the
 * product. With A and B after transposition: dA = dY B', dB = A' dY. */
static int factors_grad(mxl_grad *g, int first, mxl_array *dy)
{
    const mm_params *p = g->params;
    bool ta = p->transpose_a != 0, tb = p->transpose_b != 0;

    if (mxl_grad_wants(g, first)) {
        mxl_array *b = mxl_grad_in(g, first + 1);

        if (mxl_grad_set(g, first, ta ? mm(g->s, b, dy, tb, true) : mm(g->s, dy, b, false, !tb)) !=
            0)
            return -1;
    }
    if (mxl_grad_wants(g, first + 1)) {
        mxl_array *a = mxl_grad_in(g, first);

        return mxl_grad_set(g, first + 1,
                            tb ? mm(g->s, dy, a, true, ta) : mm(g->s, a, dy, !ta, false));
    }
    return 0;
}

static int mm_grad(mxl_grad *g)
{
    return factors_grad(g, 0, g->grad_output[0]);
}

const mxl_op mxl_op_mm = {
    .name = "_mxl_mm",
    .doc = "The product of two matrices, by rows or by columns in memory.",
    .inputs = mxl_inputs_lhs_rhs,
    MXL_PARAMS(mm_params, mm_table),
    .infer = mm_infer,
    .compute = mm_compute,
    .strided = true,
    .grad = mm_grad,
    .saves = mxl_saves_other,
};

static const mxl_input addmm_inputs[] = {
    MXL_INPUT(added, "What is added; it is broadcast to the product's shape."),
    MXL_INPUT(lhs, "First matrix."),
    MXL_INPUT(rhs, "Second matrix."),
    {0},
};

static int addmm_infer(mxl_infer *infer)
{
    const mxl_array *added = infer->in[0];
    const int64_t *out = infer->out_shape[0].dim;

    if (mm_infer_of(infer, infer->in + 1) != 0)
        return -1;
    if (added->dtype != infer->out_dtype[0])
        return mxl_error("_mxl_addmm: inputs have dtypes %s and %s; they must be the same",
                         mxl_dtype_name(added->dtype), mxl_dtype_name(infer->out_dtype[0]));
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

    if (out->dtype != MXL_F32 && out->dtype != MXL_F64)
        return mxl_error("_mxl_addmm: takes float32 or float64, got %s",
                         mxl_dtype_name(out->dtype));
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
    return factors_grad(g, 1, scaled(g, p->alpha));
}

static void addmm_saves(mxl_saves *saves)
{
    saves->in[1] = saves->wants[2];
    saves->in[2] = saves->wants[1];
}

static const mxl_op op_addmm = {
    .name = "_mxl_addmm",
    .doc = "beta * added + alpha * the product of two matrices.",
    .inputs = addmm_inputs,
    MXL_PARAMS(mm_params, addmm_table),
    .infer = addmm_infer,
    .compute = addmm_compute,
    .strided = true,
    .grad = addmm_grad,
    .saves = addmm_saves,
};

/* ---- _mxl_round_even ---- */

#define WHOLE(x) _Generic((x), float: rintf, double: rint, int32_t: same_i32, int64_t: same_i64)(x)

static inline int32_t same_i32(int32_t x)
{
    return x;
}

static inline int64_t same_i64(int64_t x)
{
    return x;
}

MXL_ARITH_KERNELS(round_even, MXL_UNARY_LOOP, WHOLE(x));
static MXL_UNARY_AS(round_even, "_mxl_round_even", round_even,
                    "Each element rounded to the nearest integer; halves go to even ones.",
                    .grad = mxl_grad_zero);

/* ---- _mxl_relu ---- */

/* -0 stays. */
MXL_ARITH_KERNELS(relu, MXL_UNARY_LOOP, x < 0 ? 0 : x);

/* dx = 0 where y <= 0, for any dy; else dy */
static int relu_grad(mxl_grad *g)
{
    mxl_array *cut = mxl_apply_scalar(g->s, &mxl_op_lesser_equal_scalar, mxl_grad_out(g, 0), 0);

    return mxl_grad_set(g, 0, mxl_zero_where(g->s, cut, g->grad_output[0]));
}

MXL_GRAD_KERNEL(relu, MXL_FLOAT_KERNELS, mxl_grad_out, x <= 0 ? 0 : y)

static MXL_UNARY_AS(relu_cut, "_mxl_relu", relu,
                    "max(x, 0); where that is 0 no gradient passes, not even an infinite one.",
                    .grad = relu_grad, .grad_kernel = relu_grad_kernel, .saves = mxl_saves_output);

/* ---- maxima and minima; equal elements share the gradient ---- */

/* dx = 0 where x is not selected, dy / 2 where both are equal, else dy; the same for y. `loses`
 * computes where the first of two is not selected. Beside a NaN both are selected. The selection is
 * constant. */
static int share_grad(mxl_grad *g, const mxl_op *loses)
{
    mxl_array *in[2] = {mxl_grad_decides(g, 0), mxl_grad_decides(g, 1)};
    mxl_array *even = mxl_equal(g->s, in[0], in[1]);
    mxl_array *share = mxl_mul_scalar(g->s, g->grad_output[0], 0.5);

    share = mxl_where(g->s, even, share, g->grad_output[0]);
    for (int i = 0; i < 2; i++) {
        if (mxl_grad_wants(g, i) &&
            mxl_grad_set(
                g, i, mxl_zero_where(g->s, mxl_apply2(g->s, loses, in[i], in[1 - i]), share)) != 0)
            return -1;
    }
    return 0;
}

static int maximum_grad(mxl_grad *g)
{
    return share_grad(g, &mxl_op_lesser);
}

static int minimum_grad(mxl_grad *g)
{
    return share_grad(g, &mxl_op_greater);
}

/* NaN is selected before every number. */
MXL_ARITH_KERNELS(share_max, MXL_BINARY_LOOP, x != x ? x : y != y ? y : x > y ? x : y);
MXL_ARITH_KERNELS(share_min, MXL_BINARY_LOOP, x != x ? x : y != y ? y : x < y ? x : y);
static MXL_BINARY(share_max, "_mxl_maximum", mxl_infer_broadcast, share_max,
                  "The greater of two elements, NaN before all.", .grad = maximum_grad,
                  .saves = mxl_saves_inputs);
static MXL_BINARY(share_min, "_mxl_minimum", mxl_infer_broadcast, share_min,
                  "The smaller of two elements, NaN before all.", .grad = minimum_grad,
                  .saves = mxl_saves_inputs);

/* ---- _mxl_mse_loss ---- */

typedef struct mse_params {
    int mean;
} mse_params;

static const mxl_param mse_table[] = {
    MXL_PARAM(mse_params, mean, MXL_P_BOOL, "1",
              "Whether the sum is divided by the number of elements."),
    {0},
};

static int mse_infer(mxl_infer *infer)
{
    const mxl_array *a = infer->in[0], *b = infer->in[1];

    if (a->dtype != b->dtype || (a->dtype != MXL_F32 && a->dtype != MXL_F64))
        return mxl_error("_mxl_mse_loss: takes two arrays of float32 or of float64, got %s and %s",
                         mxl_dtype_name(a->dtype), mxl_dtype_name(b->dtype));
    if (!mxl_shape_same(a->ndim, a->shape, b->ndim, b->shape))
        return mxl_error("_mxl_mse_loss: the arrays have different shapes");
    infer->out_shape[0].ndim = 0;
    infer->out_dtype[0] = a->dtype;
    return 0;
}

/* Summed as doubles. */
#define SQUARES(type)                                                                              \
    static double squares_##type(const type *a, const type *b, int64_t n)                          \
    {                                                                                              \
        double sum = 0;                                                                            \
                                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            double away = (double)a[i] - (double)b[i];                                             \
                                                                                                   \
            sum += away * away;                                                                    \
        }                                                                                          \
        return sum;                                                                                \
    }

SQUARES(float)
SQUARES(double)

static int mse_compute(const mxl_call *call)
{
    const mse_params *p = call->params;
    const mxl_array *a = call->in[0], *b = call->in[1];
    double over = p->mean ? (double)a->size : 1;

    if (a->dtype == MXL_F32)
        *(float *)mxl_array_write(call->out[0]) =
            (float)(squares_float(mxl_array_read(a), mxl_array_read(b), a->size) / over);
    else
        *(double *)mxl_array_write(call->out[0]) =
            squares_double(mxl_array_read(a), mxl_array_read(b), a->size) / over;
    return 0;
}

/* da = dy 2 (a - b) / n, db = -da */
static int mse_grad(mxl_grad *g)
{
    const mse_params *p = g->params;
    const mxl_meta *meta = mxl_grad_in_meta(g, 0);
    double count = (double)mxl_shape_size(meta->ndim, meta->shape);
    mxl_array *away = mxl_sub(g->s, mxl_grad_in(g, 0), mxl_grad_in(g, 1));
    mxl_array *dy = mxl_mul_scalar(g->s, g->grad_output[0], p->mean ? 2 / count : 2);
    mxl_array *da = mxl_mul(g->s, away, dy);

    if (mxl_grad_wants(g, 0) && mxl_grad_set(g, 0, da) != 0)
        return -1;
    return mxl_grad_wants(g, 1) ? mxl_grad_set(g, 1, mxl_negative(g->s, da)) : 0;
}

static const mxl_op op_mse_loss = {
    .name = "_mxl_mse_loss",
    .doc = "The mean (or sum) of the squared differences of two arrays.",
    .inputs = mxl_inputs_lhs_rhs,
    MXL_PARAMS(mse_params, mse_table),
    .infer = mse_infer,
    .compute = mse_compute,
    .grad = mse_grad,
    .saves = mxl_saves_inputs,
};

const mxl_op *const mxl_ops_torch[] = {
    &mxl_op_mm,        &op_addmm,         &mxl_op_round_even, &mxl_op_relu_cut,
    &mxl_op_share_max, &mxl_op_share_min, &op_mse_loss,       NULL,
};

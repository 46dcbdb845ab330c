/* Products of matrices: dot, of arrays with any number of axes, and FullyConnected. */
#include "ops/batch/rules.h"
#include "ops/build.h"

#include <stddef.h>

#include "op/kept.h"
#include "ops/linalg/dense.h"
#include "ops/sparse/forms.h"

/* ---- dot ---- */

/* An operand as a matrix: `kept` elements along the axes that stay, `length` along the contracted
 * one; axes [first, last) stay. */
typedef struct operand {
    bool transposed; /* its contracted axis is not where a matrix has it */
    int first, last;
    int64_t kept, length;
} operand;

/* The contracted axis is the last or the first one; a vector has only one. */
static operand operand_of(int ndim, const int64_t *shape, bool contracts_last)
{
    operand m = {.first = contracts_last ? 0 : 1, .last = contracts_last ? ndim - 1 : ndim};

    m.length = shape[contracts_last ? ndim - 1 : 0];
    m.kept = mxl_shape_size(m.last - m.first, shape + m.first);
    return m;
}

static operand left_operand(const mxl_dot_params *p, int ndim, const int64_t *shape)
{
    operand m = operand_of(ndim, shape, !p->transpose_a);

    m.transposed = p->transpose_a && ndim > 1;
    return m;
}

static operand right_operand(const mxl_dot_params *p, int ndim, const int64_t *shape)
{
    operand m = operand_of(ndim, shape, p->transpose_b);

    m.transposed = p->transpose_b && ndim > 1;
    return m;
}

static const char *dot_shapes(const void *params)
{
    static const char *const texts[2][2] = {
        {NULL, "lhs[*A,K] rhs[*B,K] -> [*A,*B|1]"},
        {"lhs[K,*A] rhs[K,*B] -> [*A,*B|1]", "lhs[K,*A] rhs[*B,K] -> [*A,*B|1]"}};
    const mxl_dot_params *p = params;

    return texts[p->transpose_a != 0][p->transpose_b != 0];
}

static int dot_infer(mxl_infer *infer)
{
    const mxl_dot_params *p = infer->params;

    if (mxl_infer_said(infer) != 0)
        return -1;
    return infer->in[0]->ndim > 1 || infer->in[1]->ndim > 1 || (!p->transpose_a && !p->transpose_b)
               ? 0
               : mxl_error("dot: two vectors cannot be transposed");
}

static int dot_compute(const mxl_call *call)
{
    const mxl_dot_params *p = call->params;
    const mxl_array *a = call->in[0], *b = call->in[1];
    operand left = left_operand(p, a->ndim, a->shape), right = right_operand(p, b->ndim, b->shape);

    return mxl_products(&(mxl_product){.dtype = a->dtype,
                                       .ta = left.transposed,
                                       .tb = right.transposed,
                                       .count = 1,
                                       .m = left.kept,
                                       .n = right.kept,
                                       .k = left.length,
                                       .a = mxl_array_read(a),
                                       .b = mxl_array_read(b),
                                       .c = mxl_array_write(call->out[0]),
                                       .lda = left.transposed ? left.kept : left.length,
                                       .ldb = right.transposed ? right.length : right.kept,
                                       .ldc = right.kept});
}

/* The array as a matrix of rows x columns. */
static mxl_array *matrix(mxl_grad *g, mxl_array *a, int64_t rows, int64_t columns)
{
    const int64_t shape[2] = {rows, columns};

    return mxl_reshape(g->s, a, 2, shape);
}

/* dot with a dense result, also of sparse arrays. */
static mxl_array *dense_dot(mxl_scope *s, mxl_array *a, mxl_array *b, bool ta, bool tb)
{
    mxl_dot_params params = {ta, tb, MXL_DOT_DENSE};
    mxl_array *pair[2] = {a, b};

    return mxl_scope_call(s, &mxl_op_dot, &params, 2, pair);
}

/* Sets the gradient of input i from a product with the same elements in another shape. */
static int set_shaped(mxl_grad *g, int i, mxl_array *value)
{
    const mxl_meta *meta = mxl_grad_in_meta(g, i);

    return mxl_grad_set(g, i, mxl_reshape(g->s, value, meta->ndim, meta->shape));
}

/* With A (m,k), B (k,n) the operands after transposition and dY (m,n): dA = dY B', dB = A' dY; a
 * transposed operand gets the transposed gradient, B dY' or dY' A. */
static int dot_grad(mxl_grad *g)
{
    const mxl_dot_params *p = g->params;
    const mxl_meta *a_meta = mxl_grad_in_meta(g, 0), *b_meta = mxl_grad_in_meta(g, 1);
    operand left = left_operand(p, a_meta->ndim, a_meta->shape);
    operand right = right_operand(p, b_meta->ndim, b_meta->shape);
    bool ta = left.transposed, tb = right.transposed;
    mxl_array *dy = matrix(g, g->grad_output[0], left.kept, right.kept);

    if (mxl_grad_wants(g, 0)) {
        mxl_array *b = matrix(g, mxl_grad_in(g, 1), tb ? right.kept : right.length,
                              tb ? right.length : right.kept);
        mxl_array *da = ta ? dense_dot(g->s, b, dy, tb, true) : dense_dot(g->s, dy, b, false, !tb);

        if (set_shaped(g, 0, da) != 0)
            return -1;
    }
    if (mxl_grad_wants(g, 1)) {
        mxl_array *a = matrix(g, mxl_grad_in(g, 0), ta ? left.length : left.kept,
                              ta ? left.kept : left.length);
        mxl_array *db = tb ? mxl_dot(g->s, dy, a, true, ta) : mxl_dot(g->s, a, dy, !ta, false);

        if (set_shaped(g, 1, db) != 0)
            return -1;
    }
    return 0;
}

const mxl_op mxl_op_dot = {
    .name = "dot",
    .aliases = MXL_ALIASES("_sparse_dot"),
    .doc = "Contracts the last axis of lhs with the first of rhs: the matrix product of two "
           "matrices, the inner product (shape (1,)) of two vectors.",
    .inputs = mxl_inputs_lhs_rhs,
    MXL_DOT_PARAMS("Whether the first axis of lhs is contracted, and not its last.",
                   "Whether the last axis of rhs is contracted, and not its first."),
    .infer = dot_infer,
    MXL_SHAPES_TABLE("lhs[*A,K] rhs[K,*B] -> [*A,*B|1]"),
    .shapes_of = dot_shapes,
    .dtypes = "F*>F",
    .compute = dot_compute,
    .low = true,
    .u64 = MXL_U64_WRAPS,
    .sparse = &mxl_sparse_dot,
    .makes_sparse = true,
    .grad = dot_grad,
    .saves = mxl_saves_other,
    MXL_BATCH(mxl_vmap_mm),
};

/* ---- FullyConnected ---- */

typedef struct fc_params {
    mxl_dense_params dense;
} fc_params;

static int fc_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = ((const mxl_dense_params *)params)->no_bias ? 2 : 3;
    return 0;
}

/* The number of features in one row of data. */
static int64_t fc_features(const mxl_dense_params *p, const mxl_array *x)
{
    if (!p->flatten)
        return x->shape[x->ndim - 1];
    return mxl_shape_size(x->ndim - 1, x->shape + 1);
}

static const char *fc_shapes(const void *params)
{
    return ((const mxl_dense_params *)params)->flatten
               ? NULL
               : "data[*S,C] weight[num_hidden,C] bias[num_hidden] -> [*S,num_hidden]";
}

mxl_product mxl_dense_product(const mxl_dense_params *p, const mxl_call *call)
{
    const mxl_array *x = call->in[0];
    int64_t features = fc_features(p, x);

    return (mxl_product){
        .dtype = x->dtype,
        .tb = true,
        .count = 1,
        .m = mxl_shape_size(call->out[0]->ndim - 1, call->out[0]->shape),
        .n = p->num_hidden,
        .k = features,
        .a = mxl_array_read(x),
        .b = mxl_array_read(call->in[1]),
        .c = mxl_array_write(call->out[0]),
        .lda = features,
        .ldb = features,
        .ldc = p->num_hidden,
    };
}

static void free_packed(void *form)
{
    mxl_gemm_unpack(form);
}

/* The weight is packed once where the product would pack it each time. */
static int fc_compute(const mxl_call *call)
{
    const mxl_dense_params *p = call->params;
    mxl_product product = mxl_dense_product(p, call);
    mxl_kept *kept;

    product.bias = p->no_bias ? NULL : mxl_array_read(call->in[2]);
    kept = call->kept != NULL && mxl_gemm_packs(&product) ? mxl_kept_of(call->kept, 1, call->in + 1)
                                                          : NULL;
    if (kept != NULL && kept->form == NULL) {
        kept->form =
            mxl_gemm_pack(product.dtype, true, product.n, product.k, product.b, product.ldb);
        kept->free = free_packed;
    }
    if (kept != NULL && kept->form == NULL)
        return -1;
    product.packed = kept != NULL ? kept->form : NULL;
    return mxl_products(&product);
}

/* With x and dy as matrices: dx = dy W, dW = dy' x, db the sum of the rows of dy. */
static int fc_grad(mxl_grad *g)
{
    const mxl_dense_params *p = g->params;
    const mxl_meta *x = mxl_grad_in_meta(g, 0), *w = mxl_grad_in_meta(g, 1);
    int64_t rows = mxl_shape_size(p->flatten ? 1 : x->ndim - 1, x->shape);
    mxl_array *dy = matrix(g, g->grad_output[0], rows, p->num_hidden);

    if (mxl_grad_wants(g, 0) &&
        set_shaped(g, 0, mxl_dot(g->s, dy, mxl_grad_in(g, 1), false, false)) != 0)
        return -1;
    if (mxl_grad_wants(g, 1)) {
        mxl_array *data = matrix(g, mxl_grad_in(g, 0), rows, w->shape[1]);

        if (mxl_grad_set(g, 1, mxl_dot(g->s, dy, data, true, false)) != 0)
            return -1;
    }
    return p->no_bias || !mxl_grad_wants(g, 2) ? 0 : mxl_grad_set(g, 2, dy);
}

const mxl_op mxl_op_fully_connected = {
    .name = "FullyConnected",
    .output_names = "output",
    .aliases = MXL_ALIASES("_npx_fully_connected", "_sparse_FullyConnected"),
    .doc = "Linear map of rows of features: y = x W' + b.",
    MXL_INPUTS(MXL_INPUT(data, "Rows of features."),
               MXL_INPUT(weight, "Matrix of shape (num_hidden, features)."),
               MXL_INPUT(bias, "Vector of shape (num_hidden,); absent with no_bias.")),
    MXL_PARAMS_OF(fc_params, MXL_DENSE_PARAMS(fc_params)),
    .arity = fc_arity,
    MXL_SHAPES("data[N,*S] weight[num_hidden,prod(S)] bias[num_hidden] -> [N,num_hidden]"),
    .shapes_of = fc_shapes,
    .dtypes = "F*>F",
    .compute = fc_compute,
    .keeps_form = true,
    .low = true,
    .grad = fc_grad,
    .saves = mxl_saves_other,
    MXL_BATCH(mxl_vmap_linear),
};

const mxl_op *const mxl_ops_dot[] = {&mxl_op_dot, &mxl_op_fully_connected, NULL};

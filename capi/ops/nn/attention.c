/* Products of attention over heads whose vectors lie interleaved in one array. All of them, and all
 * their gradients, are one of two: scores, of each step of one array with each step of another, and
 * mixtures, of the vectors of steps by scores. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "array/copy.h"
#include "kernel/gemm/gemm.h"
#include "ops/elementwise/elementwise.h"

/* Which vectors of an array of shape (step, batch, heads * parts * size): of each head, part `part`
 * of `parts`. */
typedef struct vectors {
    int64_t part, parts;
} vectors;

typedef struct heads_params {
    int64_t heads;
    vectors a, b;  /* _mxl_heads_mix: of the result and of b */
    int transpose; /* _mxl_heads_mix: whether the scores are transposed */
} heads_params;

/* ---- products ---- */

/* An array's vectors as the operand of a product: one matrix for each head of each row of the
 * batch. */
typedef struct operand {
    char *data;
    int64_t steps, size, ld, next;
} operand;

static operand operand_of(const mxl_array *array, void *data, int64_t heads, vectors v)
{
    int64_t steps = array->shape[0], width = array->shape[2], each = width / heads;
    operand o = {
        .steps = steps, .size = each / v.parts, .ld = array->shape[1] * width, .next = each};

    o.data = (char *)data + v.part * o.size * (int64_t)mxl_dtype_size(array->dtype);
    return o;
}

static operand to_read(const mxl_array *array, int64_t heads, vectors v)
{
    return operand_of(array, (void *)(uintptr_t)mxl_array_read(array), heads, v);
}

/* scores = a b', (batch * heads, steps of a, steps of b) */
static int score(const mxl_array *a, vectors va, const mxl_array *b, vectors vb, int64_t heads,
                 mxl_array *scores)
{
    operand left = to_read(a, heads, va), right = to_read(b, heads, vb);

    return mxl_products(&(mxl_product){.dtype = a->dtype,
                                       .tb = true,
                                       .count = scores->shape[0],
                                       .m = left.steps,
                                       .n = right.steps,
                                       .k = left.size,
                                       .a = left.data,
                                       .b = right.data,
                                       .c = mxl_array_write(scores),
                                       .lda = left.ld,
                                       .ldb = right.ld,
                                       .ldc = right.steps,
                                       .a_next = left.next,
                                       .b_next = right.next,
                                       .c_next = left.steps * right.steps});
}

/* vectors of y = scores b, or scores' b. The other vectors of y stay. */
static int mix(const mxl_array *scores, bool transpose, const mxl_array *b, vectors vb,
               int64_t heads, mxl_array *y, vectors vy)
{
    operand right = to_read(b, heads, vb);
    operand out = operand_of(y, mxl_array_write(y), heads, vy);

    return mxl_products(&(mxl_product){.dtype = b->dtype,
                                       .ta = transpose,
                                       .count = scores->shape[0],
                                       .m = out.steps,
                                       .n = out.size,
                                       .k = right.steps,
                                       .a = mxl_array_read(scores),
                                       .b = right.data,
                                       .c = out.data,
                                       .lda = scores->shape[2],
                                       .ldb = right.ld,
                                       .ldc = out.ld,
                                       .a_next = scores->shape[1] * scores->shape[2],
                                       .b_next = right.next,
                                       .c_next = out.next});
}

/* ---- the two operators ---- */

/* The size of one vector of an array; -1 with the error set, if the array cannot be divided so. */
static int64_t size_of(const mxl_op *op, const mxl_array *array, const char *name, int64_t heads,
                       int64_t parts)
{
    if (array->ndim != 3)
        return mxl_error("%s: %s must have the axes (step, batch, vectors), got shape %s", op->name,
                         name, MXL_SHAPE_OF(array));
    if (heads < 1)
        return mxl_error("%s: heads must be 1 or more, got %lld", op->name, (long long)heads);
    if (heads > INT32_MAX || array->shape[2] % (heads * parts) != 0)
        return mxl_error("%s: the last axis of %s must be a multiple of %lld, got %lld", op->name,
                         name, (long long)heads * parts, (long long)array->shape[2]);
    return array->shape[2] / (heads * parts);
}

/* Two arrays of one dtype, whose vectors have one size and whose batches are equal; sets the
 * scores' shape. */
static int infer_scores(mxl_infer *infer, int64_t heads, int64_t parts_a, int64_t parts_b)
{
    const mxl_array *a = infer->in[0], *b = infer->in[infer->num_inputs - 1];
    const mxl_input *names = mxl_op_inputs(infer->op);
    int64_t left, right;

    if (mxl_check_float(infer->op, a) != 0 || mxl_check_dtypes(infer->op, a, b) != 0)
        return -1;
    left = size_of(infer->op, a, names[0].name, heads, parts_a);
    right =
        left < 0 ? -1 : size_of(infer->op, b, names[infer->num_inputs - 1].name, heads, parts_b);
    if (right < 0)
        return -1;
    if (left != right || a->shape[1] != b->shape[1])
        return mxl_error("%s: shapes %s and %s do not match", infer->op->name, MXL_SHAPE_OF(a),
                         MXL_SHAPE_OF(b));
    return mxl_infer_set(infer, a->dtype, 3,
                         (int64_t[]){a->shape[1] * heads, a->shape[0], b->shape[0]});
}

/* Scores and the array whose vectors they mix; sets the shape of the mixture. */
static int infer_mixture(mxl_infer *infer, const mxl_array *scores, const char *name,
                         const mxl_array *b, const char *b_name, const heads_params *p)
{
    int64_t size;

    if (mxl_check_float(infer->op, b) != 0 || mxl_check_dtypes(infer->op, b, scores) != 0)
        return -1;
    size = size_of(infer->op, b, b_name, p->heads, p->b.parts);
    if (size < 0)
        return -1;
    if (scores->ndim != 3 || scores->shape[0] != b->shape[1] * p->heads ||
        scores->shape[p->transpose ? 1 : 2] != b->shape[0])
        return mxl_error("%s: %s of shape %s does not fit %s of shape %s and %lld heads",
                         infer->op->name, name, MXL_SHAPE_OF(scores), b_name, MXL_SHAPE_OF(b),
                         (long long)p->heads);
    return mxl_infer_set(infer, b->dtype, 3,
                         (int64_t[]){scores->shape[p->transpose ? 2 : 1], b->shape[1],
                                     p->heads * p->a.parts * size});
}

static const mxl_op op_score, op_mix;

static mxl_array *score_of(mxl_scope *s, const heads_params *p, mxl_array *a, mxl_array *b)
{
    mxl_array *in[2] = {a, b};

    return mxl_scope_call(s, &op_score, p, 2, in);
}

static mxl_array *mix_of(mxl_scope *s, int64_t heads, mxl_array *scores, bool transpose,
                         mxl_array *b, vectors vb, vectors vy)
{
    heads_params p = {.heads = heads, .a = vy, .b = vb, .transpose = transpose};
    mxl_array *in[2] = {scores, b};

    return mxl_scope_call(s, &op_mix, &p, 2, in);
}

static int score_infer(mxl_infer *infer)
{
    const heads_params *p = infer->params;

    return infer_scores(infer, p->heads, p->a.parts, p->b.parts);
}

static int score_compute(const mxl_call *call)
{
    const heads_params *p = call->params;

    return score(call->in[0], p->a, call->in[1], p->b, p->heads, call->out[0]);
}

/* da = dY b, db = dY' a */
static int score_grad(mxl_grad *g)
{
    const heads_params *p = g->params;
    mxl_array *dy = g->grad_output[0];

    if (mxl_grad_wants(g, 0) &&
        mxl_grad_set(g, 0, mix_of(g->s, p->heads, dy, false, mxl_grad_in(g, 1), p->b, p->a)) != 0)
        return -1;
    if (!mxl_grad_wants(g, 1))
        return 0;
    return mxl_grad_set(g, 1, mix_of(g->s, p->heads, dy, true, mxl_grad_in(g, 0), p->a, p->b));
}

static int mix_infer(mxl_infer *infer)
{
    return infer_mixture(infer, infer->in[0], "scores", infer->in[1], "b", infer->params);
}

static int mix_compute(const mxl_call *call)
{
    const heads_params *p = call->params;
    mxl_array *y = call->out[0];

    if (p->a.parts > 1)
        memset(mxl_array_write(y), 0, (size_t)y->size * mxl_dtype_size(y->dtype));
    return mix(call->in[0], p->transpose != 0, call->in[1], p->b, p->heads, y, p->a);
}

/* With Y = S b: dS = dY b', db = S' dY; with Y = S' b: dS = b dY', db = S dY. */
static int mix_grad(mxl_grad *g)
{
    const heads_params *p = g->params;
    mxl_array *dy = g->grad_output[0];

    if (mxl_grad_wants(g, 0)) {
        mxl_array *b = mxl_grad_in(g, 1);
        heads_params of = {.heads = p->heads, .a = p->a, .b = p->b};

        if (p->transpose)
            of = (heads_params){.heads = p->heads, .a = p->b, .b = p->a};
        if (mxl_grad_set(
                g, 0, p->transpose ? score_of(g->s, &of, b, dy) : score_of(g->s, &of, dy, b)) != 0)
            return -1;
    }
    if (!mxl_grad_wants(g, 1))
        return 0;
    return mxl_grad_set(g, 1,
                        mix_of(g->s, p->heads, mxl_grad_in(g, 0), !p->transpose, dy, p->a, p->b));
}

#define PART(field, text)                                                                          \
    {.name = #field,                                                                               \
     .type = MXL_P_INT,                                                                            \
     .offset = offsetof(heads_params, field),                                                      \
     .def = MXL_REQUIRED,                                                                          \
     .doc = text}
#define HEADS MXL_PARAM(heads_params, heads, MXL_P_INT, MXL_REQUIRED, "The number of heads.")
#define PARTS                                                                                      \
    MXL_PARAMS_OF(                                                                                 \
        heads_params, HEADS, PART(a.part, "Which vectors of a, or of the result."),                \
        PART(a.parts, "Of how many."), PART(b.part, "Which vectors of b."),                        \
        PART(b.parts, "Of how many."),                                                             \
        MXL_PARAM(heads_params, transpose, MXL_P_BOOL, "0", "Whether the scores are transposed."))

static const mxl_op op_score = {
    .name = "_mxl_heads_score",
    .doc = "Of each head the inner products of the vectors of a and those of b.",
    MXL_INPUTS(MXL_INPUT(a, "Vectors of heads."), MXL_INPUT(b, "Vectors of heads.")),
    PARTS,
    .infer = score_infer,
    .compute = score_compute,
    .grad = score_grad,
    .saves = mxl_saves_other,
};

static const mxl_op op_mix = {
    .name = "_mxl_heads_mix",
    .doc = "Of each head the vectors of b times the scores, interleaved with zeros.",
    MXL_INPUTS(MXL_INPUT(scores, "Scores of heads."), MXL_INPUT(b, "Vectors of heads.")),
    PARTS,
    .infer = mix_infer,
    .compute = mix_compute,
    .grad = mix_grad,
    .saves = mxl_saves_other,
};

/* ---- scores of queries and keys ---- */

static const vectors alone = {0, 1}, first_of_two = {0, 2}, second_of_two = {1, 2},
                     first_of_three = {0, 3}, second_of_three = {1, 3}, third_of_three = {2, 3};

static int64_t heads_of(const void *params)
{
    return *(const int64_t *)params;
}

/* 1 / sqrt(size of a vector), for data of so many parts; an empty vector's sum is 0 anyway. */
static double scale_of(const int64_t *shape, int64_t heads, int64_t parts)
{
    int64_t size = shape[2] / (heads * parts);

    return size > 0 ? 1 / sqrt((double)size) : 1;
}

/* Multiplies in place. */
static int scale(mxl_array *a, double by)
{
    mxl_scalar_params params = {.scalar = by};
    mxl_call call = {.op = &mxl_op_mul_scalar, .params = &params};

    return mxl_run_kernels(&call, mxl_op_mul_scalar.kernels, 1, &a, a);
}

static int self_qk_compute(const mxl_call *call)
{
    int64_t heads = heads_of(call->params);
    mxl_array *x = call->in[0], *y = call->out[0];

    if (score(x, first_of_three, x, second_of_three, heads, y) != 0)
        return -1;
    return scale(y, scale_of(x->shape, heads, 3));
}

/* dq = dY k, dk = dY' q, times the scale; dv = 0 */
static int self_qk_grad(mxl_grad *g)
{
    int64_t heads = heads_of(g->params);
    mxl_array *x = mxl_grad_in(g, 0), *dq, *dk;
    mxl_array *dy =
        mxl_mul_scalar(g->s, g->grad_output[0], scale_of(mxl_grad_in_meta(g, 0)->shape, heads, 3));

    dq = mix_of(g->s, heads, dy, false, x, second_of_three, first_of_three);
    dk = mix_of(g->s, heads, dy, true, x, first_of_three, second_of_three);
    return mxl_grad_set(g, 0, mxl_add(g->s, dq, dk));
}

/* The same into one array. */
static int self_qk_grad_kernel(mxl_grad *g)
{
    const mxl_meta *meta = mxl_grad_in_meta(g, 0);
    int64_t heads = heads_of(g->params);
    mxl_array *x = mxl_grad_in(g, 0), *dx, *dy;

    dy = mxl_mul_scalar(g->s, g->grad_output[0], scale_of(meta->shape, heads, 3));
    x = x == NULL ? NULL : mxl_scope_own(g->s, mxl_array_contiguous(x));
    dx = mxl_scope_own(g->s, mxl_array_zeros(meta->dtype, 3, meta->shape));
    dy = dy == NULL ? NULL : mxl_scope_own(g->s, mxl_array_contiguous(dy));
    if (x == NULL || dx == NULL || dy == NULL)
        return -1;
    if (mix(dy, false, x, second_of_three, heads, dx, first_of_three) != 0 ||
        mix(dy, true, x, first_of_three, heads, dx, second_of_three) != 0)
        return -1;
    return mxl_grad_set(g, 0, dx);
}

static int cross_qk_compute(const mxl_call *call)
{
    int64_t heads = heads_of(call->params);
    mxl_array *q = call->in[0];

    if (score(q, alone, call->in[1], first_of_two, heads, call->out[0]) != 0)
        return -1;
    return scale(call->out[0], scale_of(q->shape, heads, 1));
}

static int cross_qk_grad(mxl_grad *g)
{
    int64_t heads = heads_of(g->params);
    mxl_array *dy =
        mxl_mul_scalar(g->s, g->grad_output[0], scale_of(mxl_grad_in_meta(g, 0)->shape, heads, 1));

    if (mxl_grad_wants(g, 0) &&
        mxl_grad_set(g, 0,
                     mix_of(g->s, heads, dy, false, mxl_grad_in(g, 1), first_of_two, alone)) != 0)
        return -1;
    if (!mxl_grad_wants(g, 1))
        return 0;
    return mxl_grad_set(g, 1,
                        mix_of(g->s, heads, dy, true, mxl_grad_in(g, 0), alone, first_of_two));
}

static int heads_check(void *params)
{
    int64_t heads = heads_of(params);

    return heads >= 1 && heads <= INT32_MAX
               ? 0
               : mxl_error("attention: heads must be from 1 to %d, got %lld", (int)INT32_MAX,
                           (long long)heads);
}

#define HEADS_ALONE                                                                                \
    .check = heads_check, .dtypes = "F*>F",                                                        \
    MXL_ONLY_PARAM(int64_t, heads, MXL_P_INT, MXL_REQUIRED, "The number of heads.")

static const mxl_op op_self_qk = {
    .name = "_contrib_interleaved_matmul_selfatt_qk",
    .doc =
        "Scores of self-attention: of each head the inner products of all queries with all keys, "
        "divided by the root of their size; of shape (batch * heads, step, step).",
    MXL_INPUTS(MXL_INPUT(queries_keys_values,
                         "Of each head a query, a key and a value, of shape (step, batch, heads * "
                         "3 * size).")),
    HEADS_ALONE,
    MXL_SHAPES("queries_keys_values[L,N,heads*3*C] -> [N*heads,L,L]"),
    .compute = self_qk_compute,
    .grad = self_qk_grad,
    .grad_kernel = self_qk_grad_kernel,
    .saves = mxl_saves_input,
};

static const mxl_op op_cross_qk = {
    .name = "_contrib_interleaved_matmul_encdec_qk",
    .doc = "Scores of attention between two sequences: of each head the inner products of all "
           "queries with all keys, divided by the root of their size; of shape (batch * heads, "
           "step of the queries, step of the keys).",
    MXL_INPUTS(MXL_INPUT(queries, "Of each head a query, of shape (step, batch, heads * size)."),
               MXL_INPUT(keys_values, "Of each head a key and a value, of shape (step, batch, "
                                      "heads * 2 * size).")),
    HEADS_ALONE,
    MXL_SHAPES("queries[Q,N,heads*C] keys_values[K,N,heads*2*C] -> [N*heads,Q,K]"),
    .compute = cross_qk_compute,
    .grad = cross_qk_grad,
    .saves = mxl_saves_other,
};

/* ---- values mixed by attention ---- */

static const mxl_op op_self_valatt, op_cross_valatt;

/* Which vectors are the values. */
static vectors values_of(const mxl_op *op)
{
    return op == &op_self_valatt ? third_of_three : second_of_two;
}

static int valatt_compute(const mxl_call *call)
{
    return mix(call->in[1], false, call->in[0], values_of(call->op), heads_of(call->params),
               call->out[0], alone);
}

/* With scores S and values v: dv = S' dY, dS = dY v' */
static int valatt_grad(mxl_grad *g)
{
    heads_params p = {.heads = heads_of(g->params), .a = alone, .b = values_of(g->op)};
    mxl_array *dy = g->grad_output[0];

    if (mxl_grad_wants(g, 0) &&
        mxl_grad_set(g, 0, mix_of(g->s, p.heads, mxl_grad_in(g, 1), true, dy, p.a, p.b)) != 0)
        return -1;
    if (!mxl_grad_wants(g, 1))
        return 0;
    return mxl_grad_set(g, 1, score_of(g->s, &p, dy, mxl_grad_in(g, 0)));
}

#define VALATT HEADS_ALONE, .compute = valatt_compute, .grad = valatt_grad, .saves = mxl_saves_other

static const mxl_op op_self_valatt = {
    .name = "_contrib_interleaved_matmul_selfatt_valatt",
    .doc = "Results of self-attention: of each head and step the values of all steps, times the "
           "attention to them; of shape (step, batch, heads * size).",
    MXL_INPUTS(MXL_INPUT(queries_keys_values,
                         "Of each head a query, a key and a value, of shape (step, batch, heads * "
                         "3 * size)."),
               MXL_INPUT(attention, "Of shape (batch * heads, step, step).")),
    MXL_SHAPES("queries_keys_values[L,N,heads*3*C] attention[N*heads,L,L] -> [L,N,heads*C]"),
    VALATT,
};

static const mxl_op op_cross_valatt = {
    .name = "_contrib_interleaved_matmul_encdec_valatt",
    .doc = "Results of attention between two sequences: of each head and step of the queries the "
           "values, times the attention to them; of shape (step, batch, heads * size).",
    MXL_INPUTS(MXL_INPUT(keys_values, "Of each head a key and a value, of shape (step, batch, "
                                      "heads * 2 * size)."),
               MXL_INPUT(attention, "Of shape (batch * heads, step of the queries, step of the "
                                    "keys).")),
    MXL_SHAPES("keys_values[K,N,heads*2*C] attention[N*heads,Q,K] -> [Q,N,heads*C]"),
    VALATT,
};

const mxl_op *const mxl_ops_attention[] = {
    &op_score, &op_mix, &op_self_qk, &op_self_valatt, &op_cross_qk, &op_cross_valatt, NULL};

/* _npi_einsum: sums of products by Einstein's notation. The subscripts become labels
 * (einsum.h); then two operands at a time are joined by a product of matrices. */
#include <string.h>

#include "base/memory/mem.h"
#include "ops/numpy/einsum.h"
#include "ops/linalg/linalg.h"
#include "ops/numpy/numpy.h"
#include "ops/shape/movement.h"

static int einsum_arity(const void *params, mxl_arity *arity)
{
    const mxl_einsum_params *p = params;

    arity->inputs = p->num_args < 1 ? 1 : (int)p->num_args; /* a prepared call may be given none */
    return 0;
}

/* ---- one operand ---- */

/* An operand on its way to the result: an array and the labels of its axes, all different. */
typedef struct operand {
    mxl_array *array;
    int count;
    int label[MXL_MAX_NDIM];
} operand;

static bool has(const operand *x, int label)
{
    for (int i = 0; i < x->count; i++)
        if (x->label[i] == label)
            return true;
    return false;
}

static void shape_of(const mxl_einsum *e, const operand *x, mxl_shape *shape)
{
    shape->ndim = 0;
    for (int i = 0; i < x->count; i++)
        shape->dim[shape->ndim++] = e->size[x->label[i]];
}

/* Brings axes into the order of `labels`; those that x lacks are left out. */
static void arrange(mxl_scope *s, operand *x, int count, const int *labels)
{
    int64_t order[MXL_MAX_NDIM];
    int now[MXL_MAX_NDIM], n = 0;
    bool moves = false;

    for (int i = 0; i < count; i++) {
        for (int j = 0; j < x->count; j++) {
            if (x->label[j] != labels[i])
                continue;
            moves = moves || j != n;
            now[n] = labels[i];
            order[n++] = j;
        }
    }
    if (moves)
        x->array = mxl_transpose(s, x->array, order);
    memcpy(x->label, now, (size_t)n * sizeof(int));
}

/* The diagonal of axes i and j, which becomes the last axis. */
static void take_diagonal(mxl_scope *s, operand *x, int i, int j)
{
    int kept = x->label[i], n = 0;

    x->array = mxl_diag(s, x->array, 0, i, j);
    for (int k = 0; k < x->count; k++)
        if (k != i && k != j)
            x->label[n++] = x->label[k];
    x->label[n++] = kept;
    x->count = n;
}

/* Sums over the axes whose labels are not wanted. */
static void sum_rest(mxl_scope *s, const mxl_einsum *e, operand *x, const bool *wanted)
{
    int64_t axes[MXL_MAX_NDIM];
    mxl_shape shape;
    mxl_reduce_params params = {.axis = {0, axes}};
    int n = 0;

    for (int i = 0; i < x->count; i++) {
        if (wanted[x->label[i]])
            x->label[n++] = x->label[i];
        else
            axes[params.axis.n++] = i;
    }
    x->count = n;
    if (params.axis.n == 0)
        return;
    /* A sum over all axes has shape (1,). */
    shape_of(e, x, &shape);
    x->array = mxl_scope_call(s, &mxl_op_sum, &params, 1, &x->array);
    x->array = mxl_reshape(s, x->array, shape.ndim, shape.dim);
}

/* An input with its repeated labels joined and its axes of size 1 repeated. */
static void begin(mxl_scope *s, const mxl_einsum *e, const mxl_einsum_term *t, mxl_array *array,
                  operand *x)
{
    mxl_shape shape;

    x->array = array;
    x->count = t->count;
    memcpy(x->label, t->label, sizeof x->label);
    for (int i = 0; i < x->count; i++) {
        for (int j = i + 1; j < x->count; j++) {
            if (x->label[i] != x->label[j])
                continue;
            take_diagonal(s, x, i, j);
            i = -1;
            break;
        }
    }
    shape_of(e, x, &shape);
    x->array = mxl_broadcast_to(s, x->array, shape.ndim, shape.dim);
}

/* ---- two operands ---- */

/* Labels that an operand other than x and y has, or the result. */
static void needed(const mxl_einsum *e, const operand *all, int count, int x, int y, bool *wanted)
{
    const mxl_einsum_term *result = &e->terms[e->count];

    memset(wanted, 0, MXL_EINSUM_LABELS * sizeof(bool));
    for (int i = 0; i < result->count; i++)
        wanted[result->label[i]] = true;
    for (int i = 0; i < count; i++)
        for (int j = 0; i != x && i != y && j < all[i].count; j++)
            wanted[all[i].label[j]] = true;
}

/* Labels by their role in a product: in both and wanted, only in x, only in y, in both. */
typedef struct roles {
    int batch[MXL_MAX_NDIM], x[MXL_MAX_NDIM], y[MXL_MAX_NDIM], inner[MXL_MAX_NDIM];
    int batches, xs, ys, inners;
    int64_t batch_size, x_size, y_size, inner_size;
} roles;

static void assign(const mxl_einsum *e, const operand *x, const operand *y, const bool *wanted,
                   roles *r)
{
    *r = (roles){.batch_size = 1, .x_size = 1, .y_size = 1, .inner_size = 1};
    for (int i = 0; i < x->count; i++) {
        int c = x->label[i];

        if (!has(y, c)) {
            r->x[r->xs++] = c;
            r->x_size *= e->size[c];
        } else if (wanted[c]) {
            r->batch[r->batches++] = c;
            r->batch_size *= e->size[c];
        } else {
            r->inner[r->inners++] = c;
            r->inner_size *= e->size[c];
        }
    }
    for (int i = 0; i < y->count; i++) {
        if (has(x, y->label[i]))
            continue;
        r->y[r->ys++] = y->label[i];
        r->y_size *= e->size[y->label[i]];
    }
}

/* Axes of x as (batch, first, second). */
static mxl_array *stacked(mxl_scope *s, operand *x, const roles *r, int firsts, const int *first,
                          int seconds, const int *second, int64_t rows, int64_t columns)
{
    int order[3 * MXL_MAX_NDIM], n = 0;

    for (int i = 0; i < r->batches; i++)
        order[n++] = r->batch[i];
    for (int i = 0; i < firsts; i++)
        order[n++] = first[i];
    for (int i = 0; i < seconds; i++)
        order[n++] = second[i];
    arrange(s, x, n, order);
    return mxl_reshape(s, x->array, 3, (int64_t[]){r->batch_size, rows, columns});
}

/* Products of integers, which have no batch_dot: (batch, x, inner, 1) times (batch, 1, inner, y).
 */
static mxl_array *multiply_integers(mxl_scope *s, const roles *r, mxl_array *a, mxl_array *b)
{
    static const int64_t inner = 2;
    mxl_reduce_params over = {.axis = {1, &inner}};
    mxl_array *product;

    a = mxl_reshape(s, a, 4, (int64_t[]){r->batch_size, r->x_size, r->inner_size, 1});
    b = mxl_reshape(s, b, 4, (int64_t[]){r->batch_size, 1, r->inner_size, r->y_size});
    product = mxl_mul(s, a, b);
    return mxl_scope_call(s, &mxl_op_sum, &over, 1, &product);
}

/* Sums over what neither the other operand nor anything else needs. */
static void sum_rest_of(mxl_scope *s, const mxl_einsum *e, operand *x, const operand *other,
                        const bool *wanted)
{
    bool kept[MXL_EINSUM_LABELS];

    memcpy(kept, wanted, sizeof kept);
    for (int i = 0; i < other->count; i++)
        kept[other->label[i]] = true;
    sum_rest(s, e, x, kept);
}

/* x becomes the product of x and y, with the labels that are wanted. */
static void join(mxl_scope *s, const mxl_einsum *e, operand *x, operand *y, const bool *wanted)
{
    mxl_array *in[2];
    mxl_shape shape;
    roles r;

    sum_rest_of(s, e, x, y, wanted);
    sum_rest_of(s, e, y, x, wanted);
    assign(e, x, y, wanted, &r);
    in[0] = stacked(s, x, &r, r.xs, r.x, r.inners, r.inner, r.x_size, r.inner_size);
    in[1] = stacked(s, y, &r, r.inners, r.inner, r.ys, r.y, r.inner_size, r.y_size);
    x->count = 0;
    for (int i = 0; i < r.batches; i++)
        x->label[x->count++] = r.batch[i];
    for (int i = 0; i < r.xs; i++)
        x->label[x->count++] = r.x[i];
    for (int i = 0; i < r.ys; i++)
        x->label[x->count++] = r.y[i];
    shape_of(e, x, &shape);
    if (in[0] == NULL || in[1] == NULL) {
        x->array = NULL;
        return;
    }
    if (mxl_dtype_is_float(in[0]->dtype))
        x->array = mxl_batch_dot(s, in[0], in[1], false, false);
    else
        x->array = multiply_integers(s, &r, in[0], in[1]);
    x->array = mxl_reshape(s, x->array, shape.ndim, shape.dim);
}

/* ---- all operands ---- */

/* The number of elements of the product of two operands. */
static double joined_size(const mxl_einsum *e, const operand *x, const operand *y,
                          const bool *wanted)
{
    double size = 1;

    for (int i = 0; i < x->count; i++)
        size *= wanted[x->label[i]] ? (double)e->size[x->label[i]] : 1;
    for (int i = 0; i < y->count; i++)
        size *= wanted[y->label[i]] && !has(x, y->label[i]) ? (double)e->size[y->label[i]] : 1;
    return size;
}

/* The pair to join next: the first two, or with `optimize` the one whose product is smallest. */
static void choose_pair(const mxl_einsum *e, const operand *all, int count, bool optimize, int *x,
                        int *y)
{
    double least = 0;
    bool wanted[MXL_EINSUM_LABELS];

    *x = 0;
    *y = 1;
    for (int i = 0; optimize && i < count; i++) {
        for (int j = i + 1; j < count; j++) {
            double size;

            needed(e, all, count, i, j, wanted);
            size = joined_size(e, &all[i], &all[j], wanted);
            if ((i == 0 && j == 1) || size < least) {
                least = size;
                *x = i;
                *y = j;
            }
        }
    }
}

static mxl_array *join_all(mxl_scope *s, const mxl_einsum *e, operand *all, bool optimize)
{
    const mxl_einsum_term *result = &e->terms[e->count];
    int count = e->count, x, y;
    bool wanted[MXL_EINSUM_LABELS];

    while (count > 1) {
        choose_pair(e, all, count, optimize, &x, &y);
        needed(e, all, count, x, y, wanted);
        join(s, e, &all[x], &all[y], wanted);
        all[y] = all[--count];
    }
    needed(e, all, 1, 0, 0, wanted);
    sum_rest(s, e, &all[0], wanted);
    arrange(s, &all[0], result->count, result->label);
    return all[0].array;
}

/* The dtype of sums: of float16 float32, of integers and booleans int64. */
static int work_dtype(int dtype)
{
    if (!mxl_dtype_is_float(dtype))
        return MXL_I64;
    return dtype == MXL_F16 ? MXL_F32 : dtype;
}

static mxl_array *einsum_compose(mxl_scope *s, const mxl_call *call)
{
    const mxl_einsum_params *p = call->params;
    int dtype = call->in[0]->dtype, work = work_dtype(dtype);
    size_t bytes = (size_t)call->num_inputs * sizeof(operand);
    operand *all;
    mxl_array *y = NULL;
    mxl_einsum e;

    for (int i = 1; i < call->num_inputs; i++)
        if (mxl_check_dtypes(call->op, call->in[0], call->in[i]) != 0)
            return NULL;
    all = mxl_alloc(bytes);
    if (all == NULL || mxl_einsum_parse(call->op, p, call->num_inputs, call->in, &e) != 0) {
        mxl_free(all, bytes);
        return NULL;
    }
    for (int i = 0; i < e.count; i++)
        begin(s, &e, &e.terms[i], mxl_cast(s, call->in[i], work), &all[i]);
    y = mxl_cast(s, join_all(s, &e, all, p->optimize != 0), dtype);
    mxl_einsum_free(&e);
    mxl_free(all, bytes);
    return y;
}

MXL_NP(
    einsum, "_npi_einsum",
    "Sums of products by Einstein's notation: axes with the same letter are walked "
    "together, and those whose letter is not in the result are summed.",
    MXL_INPUTS(MXL_INPUT(data, "The operands, of one dtype.", .type_text = "NDArray-or-Symbol[]")),
    MXL_PARAMS_OF(mxl_einsum_params,
                  MXL_PARAM(mxl_einsum_params, num_args, MXL_P_INT, MXL_REQUIRED,
                            "The number of operands.", MXL_AT_LEAST(1)),
                  MXL_PARAM(mxl_einsum_params, subscripts, MXL_P_STRING, "",
                            "Letters for the axes of each operand, separated by commas; '...' for "
                            "axes that broadcast; behind '->' the axes of the result."),
                  MXL_PARAM(mxl_einsum_params, optimize, MXL_P_INT, "0",
                            "Not 0: the pair with the smallest product is joined first, not the "
                            "first two.")),
    .key_var_num_args = "num_args", .arity = einsum_arity);

const mxl_op *const mxl_ops_np_einsum[] = {&op_einsum, NULL};

/* _npi_einsum: sums of products by Einstein's notation. The subscripts are parsed into labels, one
 * for each axis; then two operands at a time are joined by a product of matrices. */
#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/memory/mem.h"
#include "ops/numpy/numpy.h"

enum {
    LABELS = 128 + MXL_MAX_NDIM, /* characters; then axes of the ellipsis, the last one first */
    ELLIPSIS = 128
};

typedef struct einsum_params {
    int64_t num_args, optimize;
    const char *subscripts;
} einsum_params;

/* The axes of one operand, or of the result. */
typedef struct term {
    int count;
    bool dots;      /* has an ellipsis, */
    int dots_at;    /* before this label; */
    int dots_count; /* which stands for that many axes */
    int label[MXL_MAX_NDIM];
} term;

/* A parsed call. */
typedef struct sum {
    const char *name;
    int count;
    term *terms; /* count of them, owned, and the result's */
    int64_t size[LABELS];
} sum;

/* ---- parsing ---- */

/* Reads one term up to `end`. -1 with the error set. */
static int parse_term(const char *name, const char *text, const char *end, term *t)
{
    *t = (term){0};
    for (; text < end; text++) {
        if (*text == ' ')
            continue;
        if (*text == '.') {
            if (t->dots || end - text < 3 || strncmp(text, "...", 3) != 0)
                return mxl_error("%s: an ellipsis must be one '...' in a term", name);
            t->dots = true;
            t->dots_at = t->count;
            text += 2;
            continue;
        }
        if (!isalpha((unsigned char)*text))
            return mxl_error("%s: labels must be letters, got '%c'", name, *text);
        if (t->count == MXL_MAX_NDIM)
            return mxl_error("%s: a term has more than %d labels", name, MXL_MAX_NDIM);
        t->label[t->count++] = *text;
    }
    return 0;
}

/* Puts labels for `count` axes in the ellipsis's place. */
static int fill_dots(const char *name, term *t, int count)
{
    if (count < 0 || t->count + count > MXL_MAX_NDIM || (count > 0 && !t->dots))
        return mxl_error("%s: a term has %d labels for an operand of %d axes", name, t->count,
                         t->count + count);
    t->dots_count = count;
    memmove(t->label + t->dots_at + count, t->label + t->dots_at,
            (size_t)(t->count - t->dots_at) * sizeof(int));
    for (int i = 0; i < count; i++)
        t->label[t->dots_at + i] = ELLIPSIS + count - 1 - i;
    t->count += count;
    return 0;
}

/* Without an arrow the result has the axes of the ellipsis, then the labels that occur once. */
static void implicit_result(const sum *e, int dots, term *result)
{
    int times[LABELS] = {0};

    *result = (term){0};
    for (int i = 0; i < e->count; i++)
        for (int j = 0; j < e->terms[i].count; j++)
            times[e->terms[i].label[j]]++;
    for (int i = dots - 1; i >= 0; i--)
        result->label[result->count++] = ELLIPSIS + i;
    for (int c = 0; c < ELLIPSIS; c++)
        if (times[c] == 1 && result->count < MXL_MAX_NDIM)
            result->label[result->count++] = c;
}

static int check_result(const sum *e, const term *result)
{
    bool seen[LABELS] = {false}, twice[LABELS] = {false};

    for (int i = 0; i < e->count; i++)
        for (int j = 0; j < e->terms[i].count; j++)
            seen[e->terms[i].label[j]] = true;
    for (int j = 0; j < result->count; j++) {
        int c = result->label[j];

        if (!seen[c] || twice[c])
            return mxl_error("%s: label '%c' of the result %s", e->name, c,
                             twice[c] ? "occurs twice" : "does not occur in an operand");
        twice[c] = true;
    }
    return 0;
}

/* The size of each label; axes of size 1 are repeated, but those of a diagonal must be equal. */
static int measure(sum *e, mxl_array *const *in)
{
    for (int c = 0; c < LABELS; c++)
        e->size[c] = 1;
    for (int i = 0; i < e->count; i++) {
        const term *t = &e->terms[i];

        for (int j = 0; j < t->count; j++) {
            int64_t size = in[i]->shape[j], *known = &e->size[t->label[j]];

            if (size != 1 && *known != 1 && size != *known)
                return mxl_error("%s: label '%c' has sizes %lld and %lld", e->name,
                                 t->label[j] < ELLIPSIS ? t->label[j] : '.', (long long)*known,
                                 (long long)size);
            for (int k = 0; k < j; k++)
                if (t->label[k] == t->label[j] && in[i]->shape[k] != size)
                    return mxl_error("%s: axes of sizes %lld and %lld have no diagonal", e->name,
                                     (long long)in[i]->shape[k], (long long)size);
            if (size != 1)
                *known = size;
        }
    }
    return 0;
}

/* Parses into e->terms, which have room. */
static int parse_terms(sum *e, const char *text, mxl_array *const *in)
{
    const char *arrow = strstr(text, "->"), *end = arrow != NULL ? arrow : text + strlen(text);
    term *result = &e->terms[e->count];
    int dots = 0, i = 0;

    for (const char *at = text;; i++) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;

        if (i == e->count)
            return mxl_error("%s: there are more terms than operands, %d", e->name, e->count);
        if (parse_term(e->name, at, stop, &e->terms[i]) != 0 ||
            fill_dots(e->name, &e->terms[i], in[i]->ndim - e->terms[i].count) != 0)
            return -1;
        if (e->terms[i].dots_count > dots)
            dots = e->terms[i].dots_count;
        if (comma == NULL)
            break;
        at = comma + 1;
    }
    if (i + 1 != e->count)
        return mxl_error("%s: there are %d terms for %d operands", e->name, i + 1, e->count);
    if (arrow == NULL) {
        implicit_result(e, dots, result);
    } else if (parse_term(e->name, arrow + 2, arrow + strlen(arrow), result) != 0) {
        return -1;
    } else if (dots > 0 && !result->dots) {
        return mxl_error("%s: the result has no ellipsis for the operands' %d axes", e->name, dots);
    } else if (fill_dots(e->name, result, result->dots ? dots : 0) != 0) {
        return -1;
    }
    return check_result(e, result) != 0 ? -1 : measure(e, in);
}

static size_t terms_bytes(const sum *e)
{
    return (size_t)(e->count + 1) * sizeof(term);
}

/* Parses a call; free e->terms after success. -1 with the error set. */
static int parse(const mxl_op *op, const einsum_params *p, int count, mxl_array *const *in, sum *e)
{
    *e = (sum){.name = op->name, .count = count};
    e->terms = mxl_alloc(terms_bytes(e));
    if (e->terms == NULL)
        return -1;
    if (parse_terms(e, p->subscripts, in) == 0)
        return 0;
    mxl_free(e->terms, terms_bytes(e));
    return -1;
}

static int einsum_arity(const void *params, mxl_arity *arity)
{
    const einsum_params *p = params;

    arity->inputs = (int)p->num_args;
    arity->outputs = arity->visible = 1;
    return 0;
}

static int einsum_infer(mxl_infer *infer)
{
    const mxl_array *first = infer->in[0];
    int64_t shape[MXL_MAX_NDIM];
    const term *result;
    int status;
    sum e;

    for (int i = 1; i < infer->num_inputs; i++)
        if (mxl_check_dtypes(infer->op, first, infer->in[i]) != 0)
            return -1;
    if (parse(infer->op, infer->params, infer->num_inputs, infer->in, &e) != 0)
        return -1;
    result = &e.terms[e.count];
    for (int i = 0; i < result->count; i++)
        shape[i] = e.size[result->label[i]];
    status = mxl_infer_set(infer, first->dtype, result->count, shape);
    mxl_free(e.terms, terms_bytes(&e));
    return status;
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

static void shape_of(const sum *e, const operand *x, mxl_shape *shape)
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
    mxl_tuple axes;

    for (int i = 0; i < count; i++) {
        for (int j = 0; j < x->count; j++) {
            if (x->label[j] != labels[i])
                continue;
            moves = moves || j != n;
            now[n] = labels[i];
            order[n++] = j;
        }
    }
    axes = (mxl_tuple){n, order};
    if (moves)
        x->array = mxl_np_call(s, "transpose", &axes, 1, &x->array);
    memcpy(x->label, now, (size_t)n * sizeof(int));
}

/* The diagonal of axes i and j, which becomes the last axis. */
static void take_diagonal(mxl_scope *s, operand *x, int i, int j)
{
    const int64_t params[3] = {0, i, j};
    int kept = x->label[i], n = 0;

    x->array = mxl_np_call(s, "diag", params, 1, &x->array);
    for (int k = 0; k < x->count; k++)
        if (k != i && k != j)
            x->label[n++] = x->label[k];
    x->label[n++] = kept;
    x->count = n;
}

/* Sums over the axes whose labels are not wanted. */
static void sum_rest(mxl_scope *s, const sum *e, operand *x, const bool *wanted)
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
static void begin(mxl_scope *s, const sum *e, const term *t, mxl_array *array, operand *x)
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
static void needed(const sum *e, const operand *all, int count, int x, int y, bool *wanted)
{
    const term *result = &e->terms[e->count];

    memset(wanted, 0, LABELS * sizeof(bool));
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

static void assign(const sum *e, const operand *x, const operand *y, const bool *wanted, roles *r)
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
static void sum_rest_of(mxl_scope *s, const sum *e, operand *x, const operand *other,
                        const bool *wanted)
{
    bool kept[LABELS];

    memcpy(kept, wanted, sizeof kept);
    for (int i = 0; i < other->count; i++)
        kept[other->label[i]] = true;
    sum_rest(s, e, x, kept);
}

/* x becomes the product of x and y, with the labels that are wanted. */
static void join(mxl_scope *s, const sum *e, operand *x, operand *y, const bool *wanted)
{
    static const mxl_dot_params plain;
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
        x->array = mxl_np_call(s, "batch_dot", &plain, 2, in);
    else
        x->array = multiply_integers(s, &r, in[0], in[1]);
    x->array = mxl_reshape(s, x->array, shape.ndim, shape.dim);
}

/* ---- all operands ---- */

/* The number of elements of the product of two operands. */
static double joined_size(const sum *e, const operand *x, const operand *y, const bool *wanted)
{
    double size = 1;

    for (int i = 0; i < x->count; i++)
        size *= wanted[x->label[i]] ? (double)e->size[x->label[i]] : 1;
    for (int i = 0; i < y->count; i++)
        size *= wanted[y->label[i]] && !has(x, y->label[i]) ? (double)e->size[y->label[i]] : 1;
    return size;
}

/* The pair to join next: the first two, or with `optimize` the one whose product is smallest. */
static void choose_pair(const sum *e, const operand *all, int count, bool optimize, int *x, int *y)
{
    double least = 0;
    bool wanted[LABELS];

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

static mxl_array *join_all(mxl_scope *s, const sum *e, operand *all, bool optimize)
{
    const term *result = &e->terms[e->count];
    int count = e->count, x, y;
    bool wanted[LABELS];

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
    const einsum_params *p = call->params;
    int dtype = call->in[0]->dtype, work = work_dtype(dtype);
    size_t bytes = (size_t)call->num_inputs * sizeof(operand);
    operand *all = mxl_alloc(bytes);
    mxl_array *y = NULL;
    sum e;

    if (all == NULL || parse(call->op, p, call->num_inputs, call->in, &e) != 0) {
        mxl_free(all, bytes);
        s->failed = true;
        return NULL;
    }
    (void)mxl_np_scope(s);
    for (int i = 0; i < e.count; i++)
        begin(s, &e, &e.terms[i], mxl_np_as(s, call->in[i], work), &all[i]);
    y = mxl_np_as(s, join_all(s, &e, all, p->optimize != 0), dtype);
    mxl_free(e.terms, terms_bytes(&e));
    mxl_free(all, bytes);
    return y;
}

static const mxl_op op_einsum = {
    .name = "_npi_einsum",
    .doc = "Sums of products by Einstein's notation: axes with the same letter are walked "
           "together, and those whose letter is not in the result are summed.",
    MXL_INPUTS(MXL_INPUT(data, "The operands, of one dtype.", .type_text = "NDArray-or-Symbol[]")),
    MXL_PARAMS_OF(einsum_params,
                  MXL_PARAM(einsum_params, num_args, MXL_P_INT, MXL_REQUIRED,
                            "The number of operands.", MXL_AT_LEAST(1)),
                  MXL_PARAM(einsum_params, subscripts, MXL_P_STRING, "",
                            "Letters for the axes of each operand, separated by commas; '...' for "
                            "axes that broadcast; behind '->' the axes of the result."),
                  MXL_PARAM(einsum_params, optimize, MXL_P_INT, "0",
                            "Not 0: the pair with the smallest product is joined first, not the "
                            "first two.")),
    .key_var_num_args = "num_args",
    .arity = einsum_arity,
    .infer = einsum_infer,
    .compose = einsum_compose,
    .keeps_scalars = true,
};

const mxl_op *const mxl_ops_np_einsum[] = {&op_einsum, NULL};

/* A dense layer, a normalisation by moving statistics, a sum and a function of each element in one
 * pass. Of graphs that only predict: there is no gradient. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/half.h"
#include "base/memory/mem.h"
#include "op/kept.h"
#include "ops/elementwise/elementwise.h"
#include "ops/linalg/dense.h"
#include "ops/nn/batch_norm.h"
#include "ops/fused_places.h"

static mxl_fused_places places_of(const mxl_fused_dense_params *p)
{
    return mxl_fused_places_of(!p->dense.no_bias, p->normalises != 0, p->adds != 0);
}

static int fused_arity(const void *params, mxl_arity *arity)
{
    arity->inputs = places_of(params).count;
    return 0;
}

static const char *fused_input_name(const void *params, int i)
{
    return mxl_fused_input_name(places_of(params), i);
}

#define ROWS    "data[*S,C] weight[num_hidden,C] "
#define FLAT    "data[N,*S] weight[num_hidden,prod(S)] "
#define BIAS    "bias[num_hidden] "
#define NORM    "gamma[num_hidden] beta[num_hidden] moving_mean[num_hidden] moving_var[num_hidden] "
#define TO_ROWS "-> [*S,num_hidden]"
#define TO_FLAT "-> [N,num_hidden]"
#define TEXTS(DATA, ADDED, RESULT)                                                                 \
    {                                                                                              \
        {{DATA RESULT, DATA ADDED RESULT}, {DATA NORM RESULT, DATA NORM ADDED RESULT}},            \
        {                                                                                          \
            {DATA BIAS RESULT, DATA BIAS ADDED RESULT},                                            \
            {                                                                                      \
                DATA BIAS NORM RESULT, DATA BIAS NORM ADDED RESULT                                 \
            }                                                                                      \
        }                                                                                          \
    }

static const char *fused_shapes(const void *params)
{
    static const char *const texts[2][2][2][2] = {TEXTS(ROWS, "added[*S,num_hidden] ", TO_ROWS),
                                                  TEXTS(FLAT, "added[N,num_hidden] ", TO_FLAT)};
    const mxl_fused_dense_params *p = params;

    return texts[p->dense.flatten != 0][!p->dense.no_bias][p->normalises != 0][p->adds != 0];
}

/* Statistics are float32 for float16 and bfloat16. */
static const char *fused_dtypes(const void *params)
{
    const mxl_fused_dense_params *p = params;

    if (!p->normalises)
        return NULL;
    return p->dense.no_bias ? "FFwwwwF>F" : "FFFwwwwF>F";
}

/* ---- what follows ---- */

enum { MOST_WORDS = 6 };

/* The function of each element that a text names, with its parameters in the arena. -1 with the
 * error set. */
typedef struct function {
    mxl_loop loop; /* NULL: none */
    const void *params;
} function;

/* Ends the word at `at` where `mark` stands; what is behind it, or NULL. */
static char *cut(char *at, char mark)
{
    char *end = strchr(at, mark);

    if (end != NULL)
        *end++ = '\0';
    return end;
}

static int read_function(const char *text, int dtype, mxl_arena *arena, function *f)
{
    char words[MXL_DENSE_FOLLOWS], *rest;
    const char *keys[MOST_WORDS], *values[MOST_WORDS];
    const mxl_op *op;
    const mxl_kernels *kernels;
    void *params;
    int count = 0;

    *f = (function){0};
    if (*text == '\0')
        return 0;
    if (strlen(text) >= sizeof(words))
        return mxl_error("_mxl_fused_dense: follows is too long");
    strcpy(words, text);
    rest = cut(words, ' ');
    op = mxl_op_find(words);
    if (op == NULL)
        return -1;
    for (; rest != NULL && count < MOST_WORDS; count++) {
        char *key = rest, *value;

        rest = cut(key, ' ');
        value = cut(key, '=');
        keys[count] = key;
        values[count] = value != NULL ? value : "";
    }
    params = mxl_arena_alloc(arena, op->params_size + 1);
    if (params == NULL || mxl_params_parse(op, count, keys, values, params, arena) != 0)
        return -1;
    kernels = mxl_activation_kernels(op, params);
    f->loop = kernels != NULL ? kernels->row[dtype] : NULL;
    f->params = params;
    return f->loop != NULL ? 0
                           : mxl_error("_mxl_fused_dense: %s has no loop for %s", op->name,
                                       mxl_dtype_name(dtype));
}

/* One call: what follows each element of the product, whose rows have n. */
typedef struct following {
    int64_t n;
    size_t size;                 /* of an element */
    const char *factor, *addend; /* [n], or NULL: nothing to multiply with and to add */
    const char *added;           /* as the product, or NULL */
    mxl_loop add, multiply;
    function last;
} following;

/* c = loop(c, other), over a row. */
static void change(mxl_loop loop, char *c, const char *other, int64_t count)
{
    static const int64_t steps[2] = {1, 1};

    loop(c, (const void *[]){c, other}, steps, count, NULL);
}

static void follow(const void *context, void *c, int64_t row, int64_t rows, int64_t column,
                   int64_t columns)
{
    static const int64_t step = 1;
    const following *f = context;
    size_t from = (size_t)column * f->size;
    char *to = c;

    if (columns == f->n && f->factor == NULL) { /* the rows are one */
        columns *= rows;
        rows = rows > 0;
    }
    for (int64_t r = 0; r < rows; r++, to += (size_t)f->n * f->size) {
        if (f->factor != NULL) {
            change(f->multiply, to, f->factor + from, columns);
            change(f->add, to, f->addend + from, columns);
        }
        if (f->added != NULL)
            change(f->add, to, f->added + (size_t)((row + r) * f->n) * f->size + from, columns);
        if (f->last.loop != NULL)
            f->last.loop(to, (const void *[]){to}, &step, columns, f->last.params);
    }
}

/* ---- what is kept between calls ---- */

/* The weight, packed; of a normalisation factors and addends, each num_hidden elements. */
typedef struct form {
    size_t bytes;
    mxl_gemm_packed *packed; /* NULL: none yet */
    char lists[];
} form;

static void free_form(void *data)
{
    form *f = data;

    mxl_gemm_unpack(f->packed);
    mxl_free(f, f->bytes);
}

static double number(const mxl_array *x, int64_t i)
{
    const void *from = mxl_array_read(x);

    return x->dtype == MXL_F64   ? ((const double *)from)[i]
           : x->dtype == MXL_F32 ? (double)((const float *)from)[i]
                                 : (double)mxl_half_to_float(((const mxl_half *)from)[i]);
}

static void set_number(void *list, int dtype, int64_t i, double value)
{
    if (dtype == MXL_F64)
        ((double *)list)[i] = value;
    else if (dtype == MXL_F32)
        ((float *)list)[i] = (float)value;
    else
        ((mxl_half *)list)[i] = mxl_half_from_float((float)value);
}

/* With s = gamma / sqrt(var + eps): s * product + (bias - mean) * s + beta. */
static form *make_form(const mxl_fused_dense_params *p, mxl_array *const *in)
{
    mxl_fused_places at = places_of(p);
    int64_t count = p->normalises ? p->dense.num_hidden : 0;
    size_t each = mxl_dtype_size(in[0]->dtype), bytes = sizeof(form) + 2 * (size_t)count * each;
    form *f = mxl_alloc_zero(bytes);

    if (f == NULL)
        return NULL;
    f->bytes = bytes;
    for (int64_t k = 0; k < count; k++) {
        mxl_array *const *norm = in + at.gamma;
        double bias = at.bias >= 0 ? number(in[at.bias], k) : 0;
        double scale = (p->fix_gamma ? 1 : number(norm[0], k)) / sqrt(number(norm[3], k) + p->eps);

        set_number(f->lists, in[0]->dtype, k, scale);
        set_number(f->lists, in[0]->dtype, count + k,
                   (bias - number(norm[2], k)) * scale + number(norm[1], k));
    }
    return f;
}

/* ---- computing ---- */

static int run(const mxl_fused_dense_params *p, const mxl_call *call, const form *f,
               mxl_product *product)
{
    mxl_fused_places at = places_of(p);
    following what = {.n = product->n, .size = mxl_dtype_size(product->dtype)};
    mxl_product_tail tail = {follow, &what};
    mxl_arena arena;
    int status;

    mxl_arena_init(&arena);
    status = read_function(p->follows, product->dtype, &arena, &what.last);
    what.add = mxl_op_add_alike->kernels->row[product->dtype];
    what.multiply = mxl_op_mul_alike->kernels->row[product->dtype];
    if (p->normalises) {
        what.factor = f->lists;
        what.addend = f->lists + (size_t)what.n * what.size;
    } else if (at.bias >= 0) {
        product->bias = mxl_array_read(call->in[at.bias]);
    }
    what.added = at.added >= 0 ? mxl_array_read(call->in[at.added]) : NULL;
    product->packed = f->packed;
    if (what.factor != NULL || what.added != NULL || what.last.loop != NULL)
        product->tail = &tail;
    if (status == 0)
        status = mxl_products(product);
    mxl_arena_clear(&arena);
    return status;
}

static int fused_compute(const mxl_call *call)
{
    const mxl_fused_dense_params *p = call->params;
    mxl_fused_places at = places_of(p);
    mxl_product product = mxl_dense_product(&p->dense, call);
    mxl_kept *kept;
    form *f;
    int status = 0;

    if (p->normalises && p->fix_gamma && mxl_batch_norm_fix(call->op, call->in[at.gamma]) != 0)
        return -1;
    kept = mxl_kept_of(call->kept, at.count - 1 - (at.added >= 0), call->in + 1);
    f = kept != NULL && kept->form != NULL ? kept->form : make_form(p, call->in);
    if (f == NULL)
        return -1;
    if (kept != NULL && f->packed == NULL && mxl_gemm_takes_packed(&product)) {
        f->packed =
            mxl_gemm_pack(product.dtype, true, product.n, product.k, product.b, product.ldb);
        status = f->packed != NULL ? 0 : -1;
    }
    if (status == 0)
        status = run(p, call, f, &product);
    if (kept == NULL) {
        free_form(f);
    } else {
        kept->form = f;
        kept->free = free_form;
    }
    return status;
}

#define FIELD(field, kind, text, ...)                                                              \
    MXL_PARAM(mxl_fused_dense_params, field, kind, text, __VA_ARGS__)

const mxl_op mxl_op_fused_dense = {
    .name = "_mxl_fused_dense",
    .doc = "follows(normalise(FullyConnected(data, weight, bias)) + added), where normalise is "
           "BatchNorm by moving statistics and follows a function of each element.",
    MXL_INPUTS(MXL_INPUT(data, "Rows of features."),
               MXL_INPUT(weight, "Matrix of shape (num_hidden, features)."),
               MXL_INPUT(bias, "Vector of shape (num_hidden,); absent with no_bias."),
               MXL_INPUT(gamma, "Factor of each channel; the next four are there if normalises."),
               MXL_INPUT(beta, "Added to each channel."),
               MXL_INPUT(moving_mean, "Mean of each channel."),
               MXL_INPUT(moving_var, "Variance of each channel."),
               MXL_INPUT(added, "Of the result's shape; there if adds.")),
    MXL_PARAMS_OF(mxl_fused_dense_params, MXL_DENSE_PARAMS(mxl_fused_dense_params),
                  FIELD(normalises, MXL_P_BOOL, "0", "Whether there are statistics."),
                  FIELD(fix_gamma, MXL_P_BOOL, "0", "Whether gamma is 1, and set to it."),
                  FIELD(eps, MXL_P_FLOAT, "0.001", "Added to the variance, below the root."),
                  FIELD(adds, MXL_P_BOOL, "0", "Whether there is an array to add."),
                  FIELD(follows, MXL_P_STRING, "",
                        "An operator of one array with its parameters, clip a_min=0 a_max=6.")),
    .arity = fused_arity,
    .input_name = fused_input_name,
    MXL_SHAPES(FLAT TO_FLAT),
    .shapes_of = fused_shapes,
    .dtypes = "F*>F",
    .dtypes_of = fused_dtypes,
    .compute = fused_compute,
    .keeps_form = true,
};

const mxl_op *const mxl_ops_fused_dense[] = {&mxl_op_fused_dense, NULL};

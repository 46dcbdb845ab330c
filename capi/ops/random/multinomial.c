/* _sample_multinomial: category numbers drawn from rows of probabilities, and the logarithms of the
 * drawn probabilities, through which gradients flow. */
#include <math.h>
#include <stddef.h>

#include "base/half.h"
#include "base/memory/mem.h"
#include "base/thread.h"
#include "kernel/copy/cast.h"
#include "ops/elementwise/elementwise.h"
#include "ops/random/random_ops.h"

typedef struct multinomial_params {
    mxl_tuple shape;
    int get_prob;
    int dtype;
} multinomial_params;

static const char *const category_dtypes[] = {"float16", "float32", "float64",
                                              "int32",   "uint8",   NULL};

/* The last output, hidden, has the positions of the drawn probabilities among all. */
static int multinomial_arity(const void *params, mxl_arity *arity)
{
    bool prob = ((const multinomial_params *)params)->get_prob;

    arity->inputs = 1;
    arity->visible = prob ? 2 : 1;
    arity->outputs = prob ? 3 : 1;
    return 0;
}

/* The most categories whose numbers a dtype can hold exactly. */
static int64_t most_categories(int dtype)
{
    switch (dtype) {
    case MXL_U8:
        return 256;
    case MXL_F16:
        return 2049;
    case MXL_F32:
        return (INT64_C(1) << 24) + 1;
    case MXL_F64:
        return (INT64_C(1) << 53) + 1;
    default:
        return INT64_C(1) << 31;
    }
}

static int check_data(const mxl_infer *infer)
{
    const multinomial_params *p = infer->params;
    const mxl_array *data = infer->in[0];
    int64_t categories;

    if (!mxl_dtype_is_float(data->dtype))
        return mxl_error("%s: probabilities must be floating-point numbers, got %s",
                         infer->op->name, mxl_dtype_name(data->dtype));
    if (data->ndim == 0)
        return mxl_error("%s: data has no axis of categories", infer->op->name);
    categories = data->shape[data->ndim - 1];
    if (categories == 0)
        return mxl_error("%s: there are no categories to draw from", infer->op->name);
    if (categories > most_categories(p->dtype))
        return mxl_error("%s: %s cannot tell %lld categories apart, at most %lld", infer->op->name,
                         mxl_dtype_name(p->dtype), (long long)categories,
                         (long long)most_categories(p->dtype));
    return 0;
}

/* The rows' shape, then `shape`; never without dimensions, even for one row and one number. */
static int multinomial_infer(mxl_infer *infer)
{
    const multinomial_params *p = infer->params;
    const mxl_array *data = infer->in[0];
    mxl_shape *out = &infer->out_shape[0];

    if (check_data(infer) != 0)
        return -1;
    mxl_shape_set(out, data->ndim - 1, data->shape);
    if (mxl_infer_append(infer, p->shape.n, p->shape.v) != 0)
        return -1;
    if (out->ndim == 0)
        out->dim[out->ndim++] = 1;
    if (mxl_shape_check(out->ndim, out->dim) != 0)
        return mxl_error_prefix(infer->op->name);
    for (int i = 1; i < infer->num_outputs; i++)
        out[i] = *out;
    infer->out_dtype[0] = p->dtype;
    if (p->get_prob) {
        infer->out_dtype[1] = data->dtype;
        infer->out_dtype[2] = MXL_I64;
    }
    return 0;
}

/* ---- drawing ---- */

enum {
    GRAIN = 256,
    FEW = 8 /* fewer numbers of a row are not worth a table of its sums */
};

typedef struct multinomial_job {
    mxl_rng rng;
    const mxl_array *data;
    const void *values;
    int64_t categories, repeat;
    const double *sums; /* of the row that is drawn from, or NULL: add while drawing */
    int64_t row;
    int dtype;
    void *out;
    void *logs;         /* or NULL */
    int64_t *positions; /* with logs */
} multinomial_job;

static double probability(const multinomial_job *job, int64_t at)
{
    if (job->data->dtype == MXL_F32)
        return (double)((const float *)job->values)[at];
    if (job->data->dtype == MXL_F64)
        return ((const double *)job->values)[at];
    return (double)mxl_half_to_float(((const mxl_half *)job->values)[at]);
}

/* For rows whose sum is below the number drawn: the last category with a positive probability. */
static int64_t last_category(const multinomial_job *job, int64_t row)
{
    for (int64_t c = job->categories - 1; c >= 0; c--)
        if (probability(job, row * job->categories + c) > 0)
            return c;
    return job->categories - 1;
}

/* The first category at which the sum of probabilities exceeds u, or is NaN. */
static int64_t find_adding(const multinomial_job *job, int64_t row, double u)
{
    double sum = 0;

    for (int64_t c = 0; c < job->categories; c++) {
        sum += probability(job, row * job->categories + c);
        if (!(u >= sum))
            return c;
    }
    return last_category(job, row);
}

/* The same with a table of the running maxima of the sums. */
static int64_t find_sum(const multinomial_job *job, double u)
{
    int64_t low = 0, high = job->categories;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (u < job->sums[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low < job->categories ? low : last_category(job, job->row);
}

static void fill_sums(const multinomial_job *job, double *sums)
{
    double sum = 0, most = -INFINITY;

    for (int64_t c = 0; c < job->categories; c++) {
        sum += probability(job, job->row * job->categories + c);
        most = isnan(sum) ? INFINITY : fmax(most, sum);
        sums[c] = most;
    }
}

static void store_number(int dtype, void *out, int64_t i, double value)
{
    mxl_cast_scalar(value, dtype, (char *)out + i * (int64_t)mxl_dtype_size(dtype));
}

/* Chunks are of the numbers of one row with a table, of all numbers without. */
static void multinomial_chunk(void *data, int64_t begin, int64_t end)
{
    const multinomial_job *job = data;

    for (int64_t i = begin; i < end; i++) {
        int64_t at = job->sums != NULL ? job->row * job->repeat + i : i;
        int64_t row = at / job->repeat, category;
        mxl_draws draws;
        double u;

        mxl_draws_begin(&draws, job->rng, (uint64_t)at);
        u = mxl_draw_unit(&draws);
        category = job->sums != NULL ? find_sum(job, u) : find_adding(job, row, u);
        store_number(job->dtype, job->out, at, (double)category);
        if (job->logs != NULL) {
            int64_t position = row * job->categories + category;

            store_number(job->data->dtype, job->logs, at, log(probability(job, position)));
            job->positions[at] = position;
        }
    }
}

static int draw_by_tables(multinomial_job *job, int64_t rows)
{
    size_t bytes = (size_t)job->categories * sizeof(double);
    double *sums = mxl_alloc(bytes);

    if (sums == NULL)
        return -1;
    job->sums = sums;
    for (job->row = 0; job->row < rows; job->row++) {
        fill_sums(job, sums);
        mxl_parallel_for(job->repeat, GRAIN, multinomial_chunk, job);
    }
    mxl_free(sums, bytes);
    return 0;
}

static int multinomial_compute(const mxl_call *call)
{
    const multinomial_params *p = call->params;
    const mxl_array *data = call->in[0];
    mxl_array *out = call->out[0];
    int64_t categories = data->shape[data->ndim - 1], rows = data->size / categories;
    multinomial_job job = {.rng = mxl_random_stream(),
                           .data = data,
                           .values = mxl_array_read(data),
                           .categories = categories,
                           .repeat = rows > 0 ? out->size / rows : 0,
                           .dtype = out->dtype,
                           .out = mxl_array_write(out)};

    if (p->get_prob) {
        job.logs = mxl_array_write(call->out[1]);
        job.positions = mxl_array_write(call->out[2]);
    }
    if (out->size == 0)
        return 0;
    if (job.repeat >= FEW)
        return draw_by_tables(&job, rows);
    mxl_parallel_for(out->size, GRAIN, multinomial_chunk, &job);
    return 0;
}

/* ---- the vjp ---- */

/* With p = data at the drawn positions: ddata = zeros with dlog / p added at the positions. The
 * drawn numbers have no derivative. */
static int multinomial_grad(mxl_grad *g)
{
    const mxl_meta *data = mxl_grad_in_meta(g, 0);
    mxl_array *flat, *at, *drawn, *back;
    int64_t count = mxl_shape_size(data->ndim, data->shape);

    if (!((const multinomial_params *)g->params)->get_prob || g->grad_output[1] == NULL)
        return 0;
    flat = mxl_reshape(g->s, mxl_grad_in(g, 0), 1, &count);
    at = mxl_grad_out(g, 2);
    drawn = mxl_take_rows(g->s, flat, at);
    back = mxl_take_back(g->s, mxl_div(g->s, g->grad_output[1], drawn), at, 0, 1, &count);
    return mxl_grad_set(g, 0, mxl_reshape(g->s, back, data->ndim, data->shape));
}

static void multinomial_saves(mxl_saves *saves)
{
    if (!((const multinomial_params *)saves->params)->get_prob)
        return;
    saves->in[0] = true;
    saves->out[2] = true;
}

/* Not the positions that backward reads. */
static int multinomial_outputs(const void *params)
{
    return ((const multinomial_params *)params)->get_prob ? 2 : 0;
}

static const mxl_op op_multinomial = {
    .name = "_sample_multinomial",
    .aliases = MXL_ALIASES("sample_multinomial"),
    .numbers_inputs = true,
    .doc = "Random numbers of categories, by rows of their probabilities.",
    MXL_INPUTS(MXL_INPUT(
        data, "Probabilities, the categories along the last axis; each row should add up to 1.")),
    MXL_PARAMS_OF(multinomial_params,
                  MXL_PARAM(multinomial_params, shape, MXL_P_OPT_SHAPE, "[]",
                            "Shape of what is drawn for each row; () or None: one number.",
                            .type_name = "Shape(tuple)"),
                  MXL_PARAM(multinomial_params, get_prob, MXL_P_BOOL, "0",
                            "Whether the logarithms of the probabilities are a second result.",
                            .sets_outputs = true),
                  MXL_PARAM(multinomial_params, dtype, MXL_P_DTYPE, "int32",
                            "dtype of the numbers drawn.", .values = category_dtypes)),
    .arity = multinomial_arity,
    .count_outputs = multinomial_outputs,
    .infer = multinomial_infer,
    .dtypes = "B>tB",
    .compute = multinomial_compute,
    .draws = true,
    .grad = multinomial_grad,
    .saves = multinomial_saves,
};

const mxl_op *const mxl_ops_multinomial[] = {&op_multinomial, NULL};

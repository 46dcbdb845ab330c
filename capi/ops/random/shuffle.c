/* _shuffle: rows in random order; _sample_unique_zipfian: rows of distinct classes. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/memory/mem.h"
#include "kernel/index/gather.h"
#include "ops/random/random_ops.h"

/* ---- shuffle ---- */

/* The second output, hidden, is the original position of each row. */
static int shuffle_infer(mxl_infer *infer)
{
    const mxl_array *data = infer->in[0];

    if (data->ndim == 0)
        return mxl_error("%s: an array without axes has no rows to shuffle", infer->op->name);
    mxl_shape_set(&infer->out_shape[0], data->ndim, data->shape);
    mxl_shape_set(&infer->out_shape[1], 1, data->shape);
    infer->out_dtype[0] = data->dtype;
    infer->out_dtype[1] = MXL_I64;
    return 0;
}

/* Fisher and Yates: each position changes places with one not before it. */
static void permute(mxl_rng rng, int64_t n, int64_t *order)
{
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    for (int64_t i = 0; i + 1 < n; i++) {
        mxl_draws draws;
        int64_t other, kept = order[i];

        mxl_draws_begin(&draws, rng, (uint64_t)i);
        other = i + (int64_t)mxl_draw_below(&draws, (uint64_t)(n - i));
        order[i] = order[other];
        order[other] = kept;
    }
}

static int shuffle_compute(const mxl_call *call)
{
    const mxl_array *data = call->in[0];
    int64_t rows = data->shape[0], *order = mxl_array_write(call->out[1]);
    int64_t row = mxl_shape_size(data->ndim - 1, data->shape + 1);

    permute(mxl_random_stream(), rows, order);
    mxl_take(1, rows, row * (int64_t)mxl_dtype_size(data->dtype), mxl_array_read(data), rows, order,
             mxl_array_write(call->out[0]));
    return 0;
}

/* dx = the rows of dy, at their original positions */
static int shuffle_grad(mxl_grad *g)
{
    const mxl_meta *data = mxl_grad_in_meta(g, 0);

    if (g->grad_output[0] == NULL)
        return 0;
    return mxl_grad_set(
        g, 0,
        mxl_take_back(g->s, g->grad_output[0], mxl_grad_out(g, 1), 0, data->ndim, data->shape));
}

static void shuffle_saves(mxl_saves *saves)
{
    saves->out[1] = true;
}

static const mxl_op op_shuffle = {
    .name = "_shuffle",
    .aliases = MXL_ALIASES("_npi_shuffle", "shuffle"),
    .doc = "The array's rows (its parts along the first axis) in random order.",
    .arity = mxl_arity_hidden,
    .total_outputs = 1,
    .infer = shuffle_infer,
    .shapes = "A>A",
    .dtypes = "A>A",
    .compute = shuffle_compute,
    .draws = true,
    .grad = shuffle_grad,
    .saves = shuffle_saves,
};

/* ---- unique zipfian ---- */

typedef struct zipfian_params {
    int64_t range_max;
    mxl_tuple shape;
} zipfian_params;

static const mxl_param zipfian_table[] = {
    MXL_PARAM(zipfian_params, range_max, MXL_P_INT, MXL_REQUIRED, "How many classes there are."),
    MXL_PARAM(zipfian_params, shape, MXL_P_SHAPE, "None",
              "How many rows, and how many different classes each has."),
    {0},
};

static int zipfian_arity(const void *params, mxl_arity *arity)
{
    (void)params;
    arity->inputs = 0;
    arity->outputs = arity->visible = 2;
    return 0;
}

static int zipfian_infer(mxl_infer *infer)
{
    const zipfian_params *p = infer->params;

    if (p->shape.n != 2)
        return mxl_error("%s: shape must have two extents, rows and classes of a row, got %d",
                         infer->op->name, p->shape.n < 0 ? 0 : p->shape.n);
    if (p->shape.v[0] < 0 || p->shape.v[1] < 0 || mxl_shape_count(2, p->shape.v) < 0)
        return mxl_error("%s: shape (%lld,%lld) is impossible", infer->op->name,
                         (long long)p->shape.v[0], (long long)p->shape.v[1]);
    if (p->shape.v[1] > p->range_max)
        return mxl_error("%s: %lld different classes were asked for, range_max is %lld",
                         infer->op->name, (long long)p->shape.v[1], (long long)p->range_max);
    mxl_shape_set(&infer->out_shape[0], 2, p->shape.v);
    mxl_shape_set(&infer->out_shape[1], 1, p->shape.v);
    infer->out_dtype[0] = infer->out_dtype[1] = MXL_I64;
    return 0;
}

enum {
    CROWDED = 16 /* if the range is less than this many times the number of classes, most draws
                    would be repetitions */
};

/* A class and the time of its first draw, in a Poisson process of draws. */
typedef struct arrival {
    double time, rate;
    int64_t class;
} arrival;

/* The source of a row's numbers: each draw is an element of its own. */
typedef struct zipfian_source {
    mxl_rng rng;
    uint64_t next;
    double log_range; /* log(range + 1) */
} zipfian_source;

static void next_draws(zipfian_source *source, mxl_draws *draws)
{
    mxl_draws_begin(draws, source->rng, source->next++);
}

/* Draws until there are n classes. Classes drawn before are in a hash table of `places` slots, a
 * power of 2 that is at least twice n; -1 is free. Returns the number of draws. */
static int64_t draw_apart(zipfian_source *source, int64_t range, int64_t n, int64_t *row,
                          int64_t *seen, uint64_t places)
{
    int64_t tries = 0;

    for (uint64_t i = 0; i < places; i++)
        seen[i] = -1;
    for (int64_t count = 0; count < n; tries++) {
        mxl_draws draws;
        int64_t class;
        double value;
        uint64_t at;

        /* P(class <= c) = log(c + 2) / log(range + 1). */
        next_draws(source, &draws);
        value = exp(mxl_draw_unit(&draws) * source->log_range) - 1;
        class = value < (double)range ? (int64_t)value : range - 1;
        at = ((uint64_t)class * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (places - 1);
        while (seen[at] != -1 && seen[at] != class)
            at = (at + 1) & (places - 1);
        if (seen[at] == class)
            continue;
        seen[at] = row[count++] = class;
    }
    return tries;
}

static void swap_arrivals(arrival *a, arrival *b)
{
    arrival kept = *a;

    *a = *b;
    *b = kept;
}

/* Restores the heap below `at`, the earliest arrival on top. */
static void sift(arrival *heap, int64_t count, int64_t at)
{
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap[child + 1].time < heap[child].time)
            child++;
        if (heap[at].time <= heap[child].time)
            return;
        swap_arrivals(&heap[at], &heap[child]);
    }
}

/* The same without repetitions. The first arrivals of classes are exponential numbers. Of the
 * classes that arrived before the last time T, a class of rate p that arrived at t has Poisson(p (T
 * - t)) further draws. */
static int64_t draw_arrivals(zipfian_source *source, int64_t range, int64_t n, int64_t *row,
                             arrival *heap)
{
    double repetitions = 0, last;
    mxl_draws draws;

    for (int64_t c = 0; c < range; c++) {
        next_draws(source, &draws);
        heap[c].rate = log1p(1 / ((double)c + 1)) / source->log_range;
        heap[c].time = mxl_draw_exponential(&draws, heap[c].rate, 0);
        heap[c].class = c;
    }
    for (int64_t at = range / 2 - 1; at >= 0; at--)
        sift(heap, range, at);
    for (int64_t i = 0; i < n; i++) {
        /* Moves the earliest arrival behind the rest of the heap. */
        row[i] = heap[0].class;
        swap_arrivals(&heap[0], &heap[range - 1 - i]);
        sift(heap, range - 1 - i, 0);
    }
    last = heap[range - n].time;
    for (int64_t i = range - n; i < range; i++)
        repetitions += heap[i].rate * (last - heap[i].time);
    next_draws(source, &draws);
    return n + (int64_t)mxl_draw_poisson(&draws, repetitions, 0);
}

static int zipfian_compute(const mxl_call *call)
{
    const zipfian_params *p = call->params;
    int64_t rows = p->shape.v[0], n = p->shape.v[1], range = p->range_max;
    bool crowded = range / CROWDED <= n;
    zipfian_source source = {mxl_random_stream(), 0, log((double)range + 1)};
    int64_t *row = mxl_array_write(call->out[0]), *tries = mxl_array_write(call->out[1]);
    uint64_t places = 2;
    size_t bytes;
    void *room;

    if (rows == 0)
        return 0;
    if (n == 0) {
        memset(tries, 0, (size_t)rows * sizeof(*tries));
        return 0;
    }
    while (!crowded && places < 2 * (uint64_t)n)
        places *= 2;
    bytes = crowded ? (size_t)range * sizeof(arrival) : (size_t)places * sizeof(int64_t);
    room = mxl_alloc(bytes);
    if (room == NULL)
        return -1;
    for (int64_t i = 0; i < rows; i++, row += n)
        tries[i] = crowded ? draw_arrivals(&source, range, n, row, room)
                           : draw_apart(&source, range, n, row, room, places);
    mxl_free(room, bytes);
    return 0;
}

MXL_CREATOR(
    op_zipfian, "_sample_unique_zipfian", zipfian_params, zipfian_table, zipfian_infer,
    zipfian_compute,
    "Rows of different classes, and how many draws each row took: class c comes with probability "
    "log((c + 2) / (c + 1)) / log(range_max + 1), and what a row has already is drawn again.",
    .arity = zipfian_arity, .dtypes = ">l*");

const mxl_op *const mxl_ops_shuffle[] = {&op_shuffle, &op_zipfian, NULL};

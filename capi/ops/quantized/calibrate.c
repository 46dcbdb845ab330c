/* Where to cut the numbers of a histogram so that their bytes lose the least. */
#include <stddef.h>

#include "base/memory/mem.h"
#include "base/thread.h"
#include "ops/quantized/quantized.h"

typedef struct search {
    const float *hist;
    int64_t bins, steps;  /* of the histogram; of the bytes */
    const double *before; /* [bins + 1]: the sum of the bins before each */
    double *divergence;   /* [candidates] */
    int64_t first;        /* the smallest candidate: bins on either side of the middle */
} search;

/* Numbers become positive: empty ones get a little of the others. */
static const double share = 0.0001;

/* What a step of the bytes says of the bins [begin, end) of the histogram: where they are not
 * empty, their mean. */
static double mean_of(const search *s, int64_t begin, int64_t end)
{
    int64_t count = 0;

    for (int64_t i = begin; i < end; i++)
        count += s->hist[i] != 0;
    return count > 0 ? (s->before[end] - s->before[begin]) / (double)count : 0;
}

/* The number of bin i of [begin, end), which also has all outside at its ends. */
static double kept_of(const search *s, int64_t i, int64_t begin, int64_t end)
{
    double kept = (double)s->hist[i];

    if (i == begin)
        kept += s->before[begin];
    if (i == end - 1)
        kept += s->before[s->bins] - s->before[end];
    return kept;
}

typedef struct smoothing {
    double sum, take; /* of all, and what is taken of each that is not empty; */
    bool fails;       /* there is too little to take */
} smoothing;

static smoothing smooth(int64_t bins, int64_t empty, double sum)
{
    double full = (double)(bins - empty);
    smoothing of = {.sum = sum, .fails = empty == bins};

    of.take = of.fails ? 0 : share * (double)empty / full;
    return of;
}

static double smoothed(const smoothing *of, double x)
{
    return (x == 0 ? share : x - of->take) / of->sum;
}

/* The Kullback-Leibler divergence of the bytes from the numbers, if the middle bin and `side` bins
 * on either side are kept. */
static double divergence(const search *s, int64_t side, double *means)
{
    int64_t middle = s->bins / 2, begin = middle - side, end = middle + side + 1;
    int64_t width, empty[2] = {0, 0};
    double sum[2] = {0, 0}, found = 0;
    smoothing p, q;

    end = end < s->bins ? end : s->bins;
    width = (end - begin) / s->steps;
    for (int64_t k = 0; k < s->steps; k++)
        means[k] = mean_of(s, begin + k * width, k == s->steps - 1 ? end : begin + (k + 1) * width);
#define MEAN(i) means[((i) - begin) / width < s->steps ? ((i) - begin) / width : s->steps - 1]
    for (int64_t i = begin; i < end; i++) {
        double a = kept_of(s, i, begin, end), b = a == 0 ? 0 : MEAN(i);

        empty[0] += a == 0;
        empty[1] += b == 0;
        sum[0] += a;
        sum[1] += b;
    }
    p = smooth(end - begin, empty[0], sum[0]);
    q = smooth(end - begin, empty[1], sum[1]);
    for (int64_t i = begin; i < end && !p.fails && !q.fails; i++) {
        double a = kept_of(s, i, begin, end), b = a == 0 ? 0 : MEAN(i);
        double x = smoothed(&p, a), y = smoothed(&q, b);

        if (x > 0 && y > 0)
            found += x * log(x / y);
    }
#undef MEAN
    return p.fails || q.fails ? INFINITY : found;
}

static void run_candidates(void *data, int64_t begin, int64_t end)
{
    const search *s = data;
    size_t bytes = (size_t)s->steps * sizeof(double);
    double *means = mxl_alloc(bytes);

    for (int64_t i = begin; i < end; i++)
        s->divergence[i] = means == NULL ? NAN : divergence(s, s->first + i, means);
    mxl_free(means, bytes);
}

static int calibrate_infer(mxl_infer *infer)
{
    int64_t steps = *(const int64_t *)infer->params;

    if (mxl_infer_said(infer) != 0)
        return -1;
    if (infer->in[0]->shape[0] >= 0 && (infer->in[0]->shape[0] < steps || steps < 2))
        return mxl_error("%s: a histogram of %lld bins for num_quantized_bins %lld",
                         infer->op->name, (long long)infer->in[0]->shape[0], (long long)steps);
    if (infer->in[0]->shape[0] >= 0 && infer->in[1]->shape[0] >= 0 &&
        infer->in[1]->shape[0] != infer->in[0]->shape[0] + 1)
        return mxl_error("%s: %lld edges for %lld bins", infer->op->name,
                         (long long)infer->in[1]->shape[0], (long long)infer->in[0]->shape[0]);
    return 0;
}

static int calibrate_compute(const mxl_call *call)
{
    int64_t bins = call->in[0]->size, steps = *(const int64_t *)call->params;
    int64_t first = steps / 2, count = bins / 2 - first + 1, best = 0;
    const float *hist = mxl_array_read(call->in[0]), *edges = mxl_array_read(call->in[1]);
    size_t bytes = (size_t)(bins + 1 + count) * sizeof(double);
    double *before = mxl_alloc(bytes);
    search s = {hist, bins, steps, before, before + bins + 1, first};
    int64_t end;
    double found;

    if (before == NULL)
        return -1;
    before[0] = 0;
    for (int64_t i = 0; i < bins; i++)
        before[i + 1] = before[i] + (double)hist[i];
    mxl_parallel_for(count, 16, run_candidates, &s);
    for (int64_t i = 1; i < count; i++)
        best = s.divergence[i] < s.divergence[best] ? i : best;
    end = bins / 2 + first + best + 1;
    found = s.divergence[best];
    mxl_free(before, bytes);
    *(float *)mxl_array_write(call->out[0]) = edges[end < bins ? end : bins];
    *(float *)mxl_array_write(call->out[1]) = (float)found;
    return isnan(found) ? mxl_error_memory((size_t)steps * sizeof(double)) : 0;
}

static int calibrate_arity(const void *params, mxl_arity *arity)
{
    (void)params;
    *arity = (mxl_arity){2, 2, 2};
    return 0;
}

static const mxl_op op_calibrate_entropy = {
    .name = "_contrib_calibrate_entropy",
    .doc = "Of the ranges around the middle of a histogram the one whose bytes have the smallest "
           "Kullback-Leibler divergence from the numbers: the edge where it ends, and the "
           "divergence.",
    MXL_INPUTS(MXL_INPUT(hist, "float32: how many numbers there are in each bin."),
               MXL_INPUT(hist_edges, "float32: where bins begin, and where the last one ends.")),
    MXL_ONLY_PARAM(int64_t, num_quantized_bins, MXL_P_INT, "255", "The steps of the bytes."),
    .arity = calibrate_arity,
    .output_names = "threshold divergence",
    .infer = calibrate_infer,
    MXL_SHAPES_TABLE("hist[N] hist_edges[E] -> [1] [1]"),
    .dtypes = "ff>ff",
    .compute = calibrate_compute,
};

const mxl_op *const mxl_ops_calibrate[] = {&op_calibrate_entropy, NULL};

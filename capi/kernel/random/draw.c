/* Samplers that need an unknown number of random words, and fills that use them; see draw.h.
 * Samplers of counts are in draw_count.c. */
#include "kernel/random/draw.h"

#include <math.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/half.h"
#include "base/thread.h"

enum {
    GRAIN = 1024, /* elements that are worth another thread */
    TRIES = 4096  /* rejections; half of them in a row never happen in practice */
};

void mxl_draws_begin(mxl_draws *d, mxl_rng rng, uint64_t element)
{
    d->rng = rng;
    d->element = element;
    d->block = 0;
    d->left = 0;
}

/* The element and the block share a counter; bit 63 keeps it distinct from the counters of rng.c's
 * fills. */
static void refill(mxl_draws *d)
{
    uint64_t at = d->element | (uint64_t)(d->block & 0x7ffff) << 44 | UINT64_C(1) << 63;
    uint32_t counter[4] = {(uint32_t)at, (uint32_t)(at >> 32), (uint32_t)d->rng.stream,
                           (uint32_t)(d->rng.stream >> 32)};
    uint32_t key[2] = {(uint32_t)d->rng.seed, (uint32_t)(d->rng.seed >> 32)};

    mxl_philox(counter, key, d->words);
    d->block++;
    d->left = 4;
}

uint64_t mxl_draw_bits(mxl_draws *d)
{
    if (d->left == 0)
        refill(d);
    d->left -= 2;
    return (uint64_t)d->words[d->left] << 32 | d->words[d->left + 1];
}

double mxl_draw_unit(mxl_draws *d)
{
    return (double)(mxl_draw_bits(d) >> 11) * 0x1p-53;
}

uint64_t mxl_draw_below(mxl_draws *d, uint64_t range)
{
    uint64_t bits = mxl_draw_bits(d), rest;

    if (range == 0)
        return bits;
    rest = (UINT64_MAX - range + 1) %
           range; /* 2^64 modulo range: the number of words at the top that are rejected */
    for (int i = 0; i < TRIES && bits > UINT64_MAX - rest; i++)
        bits = mxl_draw_bits(d);
    return bits % range;
}

/* ---- real numbers ---- */

double mxl_draw_uniform(mxl_draws *d, double low, double high)
{
    double v = low + (high - low) * mxl_draw_unit(d);

    /* Rounding may reach the upper bound, which is outside the range. */
    return v >= high && low < high && isfinite(high) ? nextafter(high, low) : v;
}

double mxl_draw_normal(mxl_draws *d, double mean, double deviation)
{
    double radius = sqrt(-2 * log(1 - mxl_draw_unit(d)));

    return mean + deviation * (radius * cos(6.28318530717958647692 * mxl_draw_unit(d)));
}

double mxl_draw_exponential(mxl_draws *d, double rate, double unused)
{
    (void)unused;
    return -log1p(-mxl_draw_unit(d)) / rate;
}

/* The logarithm of an exponential number, finite. */
static double log_exponential(mxl_draws *d)
{
    return log(fmax(mxl_draw_exponential(d, 1, 0), 0x1p-54));
}

double mxl_draw_gumbel(mxl_draws *d, double location, double scale)
{
    return location - scale * log_exponential(d);
}

/* The difference of two logarithms of exponential numbers. */
double mxl_draw_logistic(mxl_draws *d, double mean, double scale)
{
    double first = log_exponential(d);

    return mean + scale * (first - log_exponential(d));
}

double mxl_draw_rayleigh(mxl_draws *d, double unused, double scale)
{
    (void)unused;
    return scale * sqrt(2 * mxl_draw_exponential(d, 1, 0));
}

/* Marsaglia and Tsang, "A simple method for generating gamma variables", 2000; shape >= 1. With v =
 * (1 + t)^3 the test is log(u) < x^2 / 2 + base (1 - v + log(v)), written so that small t lose no
 * digits. */
static double gamma_above_one(mxl_draws *d, double shape)
{
    double base = shape - 1.0 / 3, c = 1 / sqrt(9 * base);

    for (int i = 0; i < TRIES; i++) {
        double x = mxl_draw_normal(d, 0, 1), t = c * x, u = 1 - mxl_draw_unit(d);

        if (t > -1 && log(u) < 0.5 * x * x + base * (3 * (log1p(t) - t) - 3 * t * t - t * t * t))
            return base * ((1 + t) * (1 + t) * (1 + t));
    }
    return base;
}

double mxl_draw_gamma(mxl_draws *d, double a, double b)
{
    double value;

    if (!(a > 0))
        return a == 0 ? 0 : NAN;
    if (isinf(a))
        return a * b;
    if (a >= 1)
        return gamma_above_one(d, a) * b;
    /* A gamma number of shape a + 1, times U^(1 / a), has shape a. */
    value = gamma_above_one(d, a + 1);
    return value * exp(log(1 - mxl_draw_unit(d)) / a) * b;
}

/* ---- fills ---- */

typedef struct draw_job {
    mxl_rng rng;
    mxl_sampler sampler;
    int dtype, param_dtype;
    void *out;
    const void *a, *b;
    int64_t repeat;
    int64_t low; /* integers */
    uint64_t range;
} draw_job;

static double param(int dtype, const void *data, int64_t i)
{
    switch (dtype) {
    case MXL_F32:
        return (double)((const float *)data)[i];
    case MXL_F64:
        return ((const double *)data)[i];
    case MXL_F16:
        return (double)mxl_half_to_float(((const mxl_half *)data)[i]);
    case MXL_U8:
        return ((const uint8_t *)data)[i];
    case MXL_I8:
        return ((const int8_t *)data)[i];
    case MXL_I32:
        return ((const int32_t *)data)[i];
    default:
        return (double)((const int64_t *)data)[i];
    }
}

static void store(int dtype, void *out, int64_t i, double value)
{
    if (dtype == MXL_F32)
        ((float *)out)[i] = (float)value;
    else if (dtype == MXL_F64)
        ((double *)out)[i] = value;
    else
        ((mxl_half *)out)[i] = mxl_half_from_float((float)value);
}

static void draw_chunk(void *data, int64_t begin, int64_t end)
{
    const draw_job *job = data;
    int64_t row = -1;
    double a = 0, b = 0, value;

    for (int64_t i = begin; i < end; i++) {
        mxl_draws draws;

        if (i / job->repeat != row) {
            row = i / job->repeat;
            a = param(job->param_dtype, job->a, row);
            b = job->b != NULL ? param(job->param_dtype, job->b, row) : 0;
        }
        mxl_draws_begin(&draws, job->rng, (uint64_t)i);
        value = job->sampler(&draws, a, b);
        /* A double below the bound may round to it. */
        if (job->dtype == MXL_F32 && job->sampler == mxl_draw_uniform && value < b &&
            (float)value >= (float)b)
            value = (double)nextafterf((float)b, -INFINITY);
        store(job->dtype, job->out, i, value);
    }
}

int mxl_draw_fill(mxl_rng rng, mxl_sampler sampler, int dtype, int64_t n, void *out,
                  int param_dtype, const void *a, const void *b, int64_t repeat)
{
    draw_job job = {.rng = rng,
                    .sampler = sampler,
                    .dtype = dtype,
                    .param_dtype = param_dtype,
                    .out = out,
                    .a = a,
                    .b = b,
                    .repeat = repeat};

    if (!mxl_dtype_is_float(dtype) || param_dtype == MXL_BOOL)
        return mxl_error("random numbers: dtypes %s and %s are not supported, only floating ones "
                         "by parameters that are numbers",
                         mxl_dtype_name(dtype), mxl_dtype_name(param_dtype));
    if (n > 0)
        mxl_parallel_for(n, GRAIN, draw_chunk, &job);
    return 0;
}

static void integers_chunk(void *data, int64_t begin, int64_t end)
{
    const draw_job *job = data;

    for (int64_t i = begin; i < end; i++) {
        mxl_draws draws;
        uint64_t value;

        mxl_draws_begin(&draws, job->rng, (uint64_t)i);
        value = (uint64_t)job->low + mxl_draw_below(&draws, job->range);
        if (job->dtype == MXL_I64)
            ((int64_t *)job->out)[i] = (int64_t)value;
        else
            ((int32_t *)job->out)[i] = (int32_t)(uint32_t)value;
    }
}

int mxl_draw_integers(mxl_rng rng, int dtype, int64_t low, uint64_t range, int64_t n, void *out)
{
    draw_job job = {.rng = rng, .dtype = dtype, .out = out, .low = low, .range = range};

    if (dtype != MXL_I32 && dtype != MXL_I64)
        return mxl_error("random integers: dtype %s is not supported, only int32 and int64 are",
                         mxl_dtype_name(dtype));
    if (n > 0)
        mxl_parallel_for(n, GRAIN, integers_chunk, &job);
    return 0;
}

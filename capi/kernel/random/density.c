/* Probability densities; see density.h. */
#include "kernel/random/density.h"

#include <math.h>
#include <stddef.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/half.h"
#include "base/thread.h"
#include "kernel/math/special.h"

enum { GRAIN = 1024 };

static const double ROOT_TWO_PI = 2.50662827463100050242;

double mxl_density_uniform(double x, double low, double high, bool is_log)
{
    (void)x;
    return is_log ? -log(high - low) : 1 / (high - low);
}

double mxl_density_normal(double x, double mean, double deviation, bool is_log)
{
    double away = x - mean, exponent = -away * away / (2 * deviation * deviation);
    double factor = deviation * ROOT_TWO_PI;

    return is_log ? exponent - log(factor) : exp(exponent) / factor;
}

static double as_asked(double log_density, bool is_log)
{
    return is_log ? log_density : exp(log_density);
}

double mxl_density_gamma(double x, double shape, double rate, bool is_log)
{
    return as_asked(shape * log(rate) + (shape - 1) * log(x) - rate * x - mxl_log_gamma(shape),
                    is_log);
}

double mxl_density_exponential(double x, double rate, double unused, bool is_log)
{
    (void)unused;
    return is_log ? log(rate) - rate * x : rate * exp(-rate * x);
}

double mxl_density_poisson(double x, double mean, double unused, bool is_log)
{
    (void)unused;
    return as_asked(x * log(mean) - mean - mxl_log_gamma(x + 1), is_log);
}

/* The logarithm of the density, from k, log(p) and log(1 - p). */
static double negative_binomial(double x, double k, double log_p, double log_rest)
{
    return mxl_log_gamma(x + k) - mxl_log_gamma(x + 1) - mxl_log_gamma(k) + k * log_p +
           x * log_rest;
}

double mxl_density_negative_binomial(double x, double k, double p, bool is_log)
{
    return as_asked(negative_binomial(x, k, log(p), log1p(-p)), is_log);
}

double mxl_density_generalized_negative_binomial(double x, double mean, double dispersion,
                                                 bool is_log)
{
    double more = mean * dispersion, p = 1 / (1 + more);
    double log_rest = p < 0.5 ? log1p(-p) : log(more * p);

    return as_asked(negative_binomial(x, 1 / dispersion, -log1p(more), log_rest), is_log);
}

/* ---- over arrays ---- */

typedef struct density_job {
    mxl_density density;
    bool is_log;
    int dtype;
    const void *x, *a, *b;
    int64_t repeat, k;
    void *out;
} density_job;

static double load(int dtype, const void *data, int64_t i)
{
    if (dtype == MXL_F32)
        return (double)((const float *)data)[i];
    if (dtype == MXL_F64)
        return ((const double *)data)[i];
    return (double)mxl_half_to_float(((const mxl_half *)data)[i]);
}

static void store(int dtype, void *data, int64_t i, double value)
{
    if (dtype == MXL_F32)
        ((float *)data)[i] = (float)value;
    else if (dtype == MXL_F64)
        ((double *)data)[i] = value;
    else
        ((mxl_half *)data)[i] = mxl_half_from_float((float)value);
}

static void density_chunk(void *data, int64_t begin, int64_t end)
{
    const density_job *job = data;

    for (int64_t i = begin; i < end; i++) {
        double x = load(job->dtype, job->x, i), a = load(job->dtype, job->a, i / job->repeat);
        double b = job->b != NULL ? load(job->dtype, job->b, i / job->repeat) : 0;

        store(job->dtype, job->out, i, job->density(x, a, b, job->is_log));
    }
}

static void dirichlet_chunk(void *data, int64_t begin, int64_t end)
{
    const density_job *job = data;

    for (int64_t i = begin; i < end; i++) {
        double sum = 0, whole = 0;

        for (int64_t c = 0; c < job->k; c++) {
            double x = load(job->dtype, job->x, i * job->k + c);
            double a = load(job->dtype, job->a, i / job->repeat * job->k + c);

            sum += (a - 1) * log(x) - mxl_log_gamma(a);
            whole += a;
        }
        store(job->dtype, job->out, i, as_asked(sum + mxl_log_gamma(whole), job->is_log));
    }
}

static int run(density_job *job, int64_t n, int64_t grain, mxl_range_fn share)
{
    if (!mxl_dtype_is_float(job->dtype))
        return mxl_error("densities: dtype %s is not supported, only floating ones are",
                         mxl_dtype_name(job->dtype));
    if (n > 0)
        mxl_parallel_for(n, grain, share, job);
    return 0;
}

int mxl_density_fill(mxl_density density, bool is_log, int dtype, int64_t n, const void *x,
                     const void *a, const void *b, int64_t repeat, void *out)
{
    density_job job = {.density = density,
                       .is_log = is_log,
                       .dtype = dtype,
                       .x = x,
                       .a = a,
                       .b = b,
                       .repeat = repeat,
                       .out = out};

    return run(&job, n, GRAIN, density_chunk);
}

int mxl_density_dirichlet(bool is_log, int dtype, int64_t n, int64_t k, const void *x,
                          const void *alpha, int64_t repeat, void *out)
{
    density_job job = {
        .is_log = is_log, .dtype = dtype, .x = x, .a = alpha, .repeat = repeat, .k = k, .out = out};

    return run(&job, n, GRAIN / (k < GRAIN ? k + 1 : GRAIN), dirichlet_chunk);
}

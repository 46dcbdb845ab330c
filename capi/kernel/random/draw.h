/* Random numbers of any distribution, drawn one by one. Element i of a fill has its own sequence, a
 * function only of (seed, stream, i), from which a sampler may draw any number of words. For
 * ops/random and ops/numpy. */
#ifndef MXL_KERNEL_RANDOM_DRAW_H
#define MXL_KERNEL_RANDOM_DRAW_H

#include "kernel/random/rng.h"

/* A position in the sequence of one element. */
typedef struct mxl_draws {
    mxl_rng rng;
    uint64_t element; /* below 2^44 */
    uint32_t block;   /* blocks used; a sequence has 2^19 of four words each */
    int left;         /* of words[] */
    uint32_t words[4];
} mxl_draws;

void mxl_draws_begin(mxl_draws *d, mxl_rng rng, uint64_t element);
uint64_t mxl_draw_bits(mxl_draws *d); /* 64 random bits */

/* In [0, 1), steps of 2^-53. */
double mxl_draw_unit(mxl_draws *d);

/* In [0, range), all numbers equally likely; range 0 means 2^64. */
uint64_t mxl_draw_below(mxl_draws *d, uint64_t range);

/* ---- distributions of real parameters ----
 * Any parameter is allowed: invalid ones give NaN or a limit, and no sampler draws more than a
 * bounded number of times. Counts are doubles with integer values. */

double mxl_draw_uniform(mxl_draws *d, double low, double high); /* low may be above high */
double mxl_draw_normal(mxl_draws *d, double mean, double deviation);
double mxl_draw_exponential(mxl_draws *d, double rate, double unused);
double mxl_draw_gumbel(mxl_draws *d, double location, double scale);
double mxl_draw_logistic(mxl_draws *d, double mean, double scale);
double mxl_draw_rayleigh(mxl_draws *d, double unused, double scale);

/* Shape `a`, scale `b`. Shape 0 gives 0, infinity gives infinity; below 0 and NaN give NaN. */
double mxl_draw_gamma(mxl_draws *d, double a, double b);

/* Mean `rate`. At or below 0 gives 0, infinity gives infinity. */
double mxl_draw_poisson(mxl_draws *d, double rate, double unused);

/* The number of failures before the k-th success, each with probability p; k need not be an
 * integer. */
double mxl_draw_negative_binomial(mxl_draws *d, double k, double p);
/* The same by its mean and its dispersion: the variance is mean + dispersion * mean^2. */
double mxl_draw_generalized_negative_binomial(mxl_draws *d, double mean, double dispersion);

typedef double (*mxl_sampler)(mxl_draws *d, double a, double b);

/* Fills n elements of float32, float64 or float16: element i with the parameters a[i / repeat] and
 * b[i / repeat] of `param_dtype` (any but bool); b may be NULL. Values outside a dtype's range
 * become infinite; uniform float32 numbers stay below `high`. -1 with the error set for other
 * dtypes. */
int mxl_draw_fill(mxl_rng rng, mxl_sampler sampler, int dtype, int64_t n, void *out,
                  int param_dtype, const void *a, const void *b, int64_t repeat);

/* Fills n elements of int32 or int64 with numbers in low + [0, range); range 0 means 2^64. Wraps as
 * unsigned numbers do. -1 with the error set for other dtypes. */
int mxl_draw_integers(mxl_rng rng, int dtype, int64_t low, uint64_t range, int64_t n, void *out);

#endif

/* Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) and the fills
 * that use it. */
#include "kernel/random/rng.h"

#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/half.h"
#include "base/thread.h"
#include "kernel/math/math.h"
#include "kernel/target.h"

enum {
    BLOCK = 64, /* counters processed together, so that the rounds vectorise */
    GRAIN = 8 * BLOCK * 4
};

static const uint32_t multiplier_0 = 0xd2511f53u, multiplier_1 = 0xcd9e8d57u;
static const uint32_t weyl_0 = 0x9e3779b9u, weyl_1 = 0xbb67ae85u;

void mxl_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];

    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)multiplier_0 * c0, b = (uint64_t)multiplier_1 * c2;

        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)b;
        c3 = (uint32_t)a;
        k0 += weyl_0;
        k1 += weyl_1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* The numbers of BLOCK counters from (first, stream) on: word w of counter i at out[w][i]. */
MXL_INLINE void philox_block_at(int level, mxl_rng rng, uint64_t first, uint32_t out[4][BLOCK])
{
    uint32_t k0 = (uint32_t)rng.seed, k1 = (uint32_t)(rng.seed >> 32);

    (void)level;
    for (uint32_t i = 0; i < BLOCK; i++) {
        out[0][i] = (uint32_t)(first + i);
        out[1][i] = (uint32_t)((first + i) >> 32);
        out[2][i] = (uint32_t)rng.stream;
        out[3][i] = (uint32_t)(rng.stream >> 32);
    }
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < BLOCK; i++) {
            uint64_t a = (uint64_t)multiplier_0 * out[0][i], b = (uint64_t)multiplier_1 * out[2][i];

            out[0][i] = (uint32_t)(b >> 32) ^ out[1][i] ^ k0;
            out[2][i] = (uint32_t)(a >> 32) ^ out[3][i] ^ k1;
            out[1][i] = (uint32_t)b;
            out[3][i] = (uint32_t)a;
        }
        k0 += weyl_0;
        k1 += weyl_1;
    }
}
MXL_BY_LEVEL(philox_block, (mxl_rng rng, uint64_t first, uint32_t out[4][BLOCK]), rng, first, out)

typedef struct fill_job {
    mxl_rng rng;
    double a, b; /* low and high, mean and deviation, or the rate */
    int dtype;
    void *out;
} fill_job;

/* ---- from words to numbers: a float from one word, a double from two ---- */

/* In [0, 1), steps of 2^-24 and 2^-53. */
static inline float unit_f32(uint32_t word)
{
    return (float)(word >> 8) * 0x1p-24f;
}

static inline double unit_f64(uint32_t high, uint32_t low)
{
    return (double)(((uint64_t)high << 32 | low) >> 11) * 0x1p-53;
}

static inline float below(float v, float low, float high)
{
    /* Rounding may reach the upper bound, which is outside the range. */
    return v < high || low >= high ? v : nextafterf(high, low);
}

MXL_INLINE void uniform_f32_at(int level, const fill_job *job, uint32_t words[4][BLOCK], float *out)
{
    float low = (float)job->a, high = (float)job->b, range = (float)(job->b - job->a);

    (void)level;
    for (int w = 0; w < 4; w++) {
        for (int i = 0; i < BLOCK; i++)
            out[w * BLOCK + i] = below(low + range * unit_f32(words[w][i]), low, high);
    }
}
MXL_BY_LEVEL(uniform_f32, (const fill_job *job, uint32_t words[4][BLOCK], float *out), job, words,
             out)

static void uniform_f64(const fill_job *job, uint32_t words[4][BLOCK], double *out)
{
    for (int w = 0; w < 4; w += 2) {
        for (int i = 0; i < BLOCK; i++) {
            double v = job->a + (job->b - job->a) * unit_f64(words[w][i], words[w + 1][i]);

            if (v >= job->b && job->a < job->b)
                v = nextafter(job->b, job->a);
            out[w / 2 * BLOCK + i] = v;
        }
    }
}

/* Two uniform numbers give two normal ones; 1 - u is in (0, 1], so the logarithm is finite. (All
 * levels use the baseline's functions, so that a seed gives the same numbers on every processor.)
 */
MXL_INLINE void normal_f32_at(int level, const fill_job *job, uint32_t words[4][BLOCK], float *out)
{
    float mean = (float)job->a, deviation = (float)job->b;

    (void)level;
    for (int w = 0; w < 4; w += 2) {
        for (int i = 0; i < BLOCK; i++) {
            float radius = sqrtf(-2.0f * mxl_log_f32(MXL_BASELINE, 1.0f - unit_f32(words[w][i])));
            float x, y;

            mxl_turn_f32(unit_f32(words[w + 1][i]), &x, &y);
            out[w * BLOCK + i] = mean + deviation * (radius * x);
            out[(w + 1) * BLOCK + i] = mean + deviation * (radius * y);
        }
    }
}
MXL_BY_LEVEL(normal_f32, (const fill_job *job, uint32_t words[4][BLOCK], float *out), job, words,
             out)

static void normal_f64(const fill_job *job, uint32_t words[4][BLOCK], double *out)
{
    for (int i = 0; i < BLOCK; i++) {
        double radius = sqrt(-2 * log(1 - unit_f64(words[0][i], words[1][i])));
        double angle = 6.28318530717958647692 * unit_f64(words[2][i], words[3][i]);

        out[i] = job->a + job->b * (radius * cos(angle));
        out[BLOCK + i] = job->a + job->b * (radius * sin(angle));
    }
}

MXL_INLINE void exponential_f32_at(int level, const fill_job *job, uint32_t words[4][BLOCK],
                                   float *out)
{
    float rate = (float)job->a;

    (void)level;
    for (int w = 0; w < 4; w++) {
        for (int i = 0; i < BLOCK; i++)
            out[w * BLOCK + i] = -mxl_log_f32(MXL_BASELINE, 1.0f - unit_f32(words[w][i])) / rate;
    }
}
MXL_BY_LEVEL(exponential_f32, (const fill_job *job, uint32_t words[4][BLOCK], float *out), job,
             words, out)

static void exponential_f64(const fill_job *job, uint32_t words[4][BLOCK], double *out)
{
    for (int w = 0; w < 4; w += 2) {
        for (int i = 0; i < BLOCK; i++)
            out[w / 2 * BLOCK + i] = -log1p(-unit_f64(words[w][i], words[w + 1][i])) / job->a;
    }
}

/* ---- fills ---- */

/* The number of elements made from one block. */
static int64_t block_size(int dtype)
{
    return dtype == MXL_F64 ? 2 * BLOCK : 4 * BLOCK;
}

static void store_block(const fill_job *job, int64_t at, int64_t n, const float *f, const double *d)
{
    if (job->dtype == MXL_F32) {
        memcpy((float *)job->out + at, f, (size_t)n * sizeof(*f));
    } else if (job->dtype == MXL_F64) {
        memcpy((double *)job->out + at, d, (size_t)n * sizeof(*d));
    } else {
        for (int64_t i = 0; i < n; i++)
            ((mxl_half *)job->out)[at + i] = mxl_half_from_float(f[i]);
    }
}

static void fill_range(const fill_job *job, int64_t begin, int64_t end,
                       void (*make_f32)(const fill_job *, uint32_t[4][BLOCK], float *),
                       void (*make_f64)(const fill_job *, uint32_t[4][BLOCK], double *))
{
    int64_t size = block_size(job->dtype);
    uint32_t words[4][BLOCK];
    float f[4 * BLOCK];
    double d[2 * BLOCK];

    /* Chunks begin at block borders, because GRAIN is a multiple of both block sizes. */
    for (int64_t at = begin; at < end; at += size) {
        philox_block(job->rng, (uint64_t)(at / size) * BLOCK, words);
        if (job->dtype == MXL_F64)
            make_f64(job, words, d);
        else
            make_f32(job, words, f);
        store_block(job, at, end - at < size ? end - at : size, f, d);
    }
}

static void uniform_chunk(void *data, int64_t begin, int64_t end)
{
    fill_range(data, begin, end, uniform_f32, uniform_f64);
}

static void normal_chunk(void *data, int64_t begin, int64_t end)
{
    fill_range(data, begin, end, normal_f32, normal_f64);
}

static void exponential_chunk(void *data, int64_t begin, int64_t end)
{
    fill_range(data, begin, end, exponential_f32, exponential_f64);
}

static int fill(mxl_rng rng, int dtype, double a, double b, int64_t n, void *out, mxl_range_fn run)
{
    fill_job job = {rng, a, b, dtype, out};

    if (!mxl_dtype_is_float(dtype))
        return mxl_error("random numbers: dtype %s is not supported, only floating ones are",
                         mxl_dtype_name(dtype));
    if (n > 0)
        mxl_parallel_for(n, GRAIN, run, &job);
    return 0;
}

int mxl_rng_uniform(mxl_rng rng, int dtype, double low, double high, int64_t n, void *out)
{
    return fill(rng, dtype, low, high, n, out, uniform_chunk);
}

int mxl_rng_normal(mxl_rng rng, int dtype, double mean, double deviation, int64_t n, void *out)
{
    return fill(rng, dtype, mean, deviation, n, out, normal_chunk);
}

int mxl_rng_exponential(mxl_rng rng, int dtype, double rate, int64_t n, void *out)
{
    return fill(rng, dtype, rate, 0, n, out, exponential_chunk);
}

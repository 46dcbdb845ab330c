/* Random numbers: Philox4x32-10, counter-based. Element i of a fill depends only on the seed, the
 * stream and i, so results do not depend on the number of threads. For ops/random/random.c,
 * LeakyReLU and Dropout; draw.h has distributions that need an unknown number of words. */
#ifndef MXL_KERNEL_RANDOM_RNG_H
#define MXL_KERNEL_RANDOM_RNG_H

#include <stdint.h>

/* The source of a fill's numbers: fills with different (seed, stream) share none. */
typedef struct mxl_rng {
    uint64_t seed;
    uint64_t stream; /* a generator increments it with each fill */
} mxl_rng;

/* The block of four numbers at a counter: Philox4x32 with ten rounds. */
void mxl_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* low + (high - low) * u, u in [0, 1), n elements of float32, float64 or float16; never `high`
 * unless low == high, except float16, which is rounded from float32. -1 with the error set for
 * other dtypes. */
int mxl_rng_uniform(mxl_rng rng, int dtype, double low, double high, int64_t n, void *out);

/* Normal numbers by Box and Muller's method; dtypes as above. */
int mxl_rng_normal(mxl_rng rng, int dtype, double mean, double deviation, int64_t n, void *out);

/* Exponential numbers of mean 1 / rate; dtypes as above. */
int mxl_rng_exponential(mxl_rng rng, int dtype, double rate, int64_t n, void *out);

#endif

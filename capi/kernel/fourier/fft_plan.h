/* How a Fourier transform of some length is computed: numbers that do not depend on the dtype. For
 * fft.c. */
#ifndef MXL_KERNEL_FOURIER_FFT_PLAN_H
#define MXL_KERNEL_FOURIER_FFT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MXL_FFT_STAGES = 64,
    MXL_FFT_RADIX = 63 /* the largest factor that has a stage */
};

/* The factors of n: 4, then one 2, then odd primes. Returns how many, or 0 if one is larger than
 * MXL_FFT_RADIX. */
int mxl_fft_factors(int64_t n, int factors[MXL_FFT_STAGES]);

/* Whether a transform of length n is quicker as a convolution (Bluestein) than by its factors. */
bool mxl_fft_convolves(int64_t n);

/* The length of the transforms of that convolution: at least 2 n - 1, of small factors. */
int64_t mxl_fft_padded(int64_t n);

/* A factor of n, for a single transform as a matrix with so many columns; 0: there is none that is
 * worth it. */
int64_t mxl_fft_columns(int64_t n);

/* cosines[i] = cos(2 pi k[i] / n), sines[i] = -sin(2 pi k[i] / n); k are integers from 0 to n. */
void mxl_fft_roots(int64_t n, int64_t count, const double *k, double *cosines, double *sines);

#endif

/* Discrete Fourier transforms of any length. For ops/linalg/fourier.c. */
#ifndef MXL_KERNEL_FOURIER_FFT_H
#define MXL_KERNEL_FOURIER_FFT_H

#include <stdbool.h>
#include <stdint.h>

/* Complex numbers are pairs: real part, imaginary part. A transform of n real numbers has n / 2 + 1
 * pairs, as the others are their conjugates. */
typedef enum mxl_fft_kind { MXL_FFT_PAIRS, MXL_FFT_FROM_REAL, MXL_FFT_TO_REAL } mxl_fft_kind;

/* Transforms along the middle axis of contiguous arrays, float32 or float64: y[k] = scale * the sum
 * over j of x[j] e^(-2 pi i j k / n), with the other sign where `inverse`.
 *
 *     MXL_FFT_PAIRS      (outer, n, inner, 2) -> (outer, n, inner, 2)
 *     MXL_FFT_FROM_REAL  (outer, n, inner) -> (outer, n / 2 + 1, inner, 2), of which all pairs that
 *                        have a conjugate are multiplied by `middle`
 *     MXL_FFT_TO_REAL    (outer, n / 2 + 1, inner, 2) -> (outer, n, inner): the real part, and of
 *                        x[j] those that have a conjugate are multiplied by `middle`. So with 2
 *                        it is the transform of all n pairs. It is the transpose of
 *                        MXL_FFT_FROM_REAL with the other sign and the same factors. */
typedef struct mxl_fft_job {
    int dtype;
    mxl_fft_kind kind;
    bool inverse;
    int64_t outer, n, inner;
    double scale, middle;
    const void *in;
    void *out; /* of MXL_FFT_PAIRS it may be `in` */
} mxl_fft_job;

/* n is at least 1. -1 with the error set where there is no memory. */
int mxl_fft(const mxl_fft_job *job);

#endif

/* softmax and log_softmax along one axis. For ops/reduce/softmax.c. */
#ifndef MXL_KERNEL_REDUCE_SOFTMAX_H
#define MXL_KERNEL_REDUCE_SOFTMAX_H

#include <stdbool.h>
#include <stdint.h>

/* Over the middle axis of a contiguous (outer, n, inner) array into `out`, which may be `in`. The
 * maximum is subtracted from the inputs, then they are divided by `temperature`. With `length`
 * (outer, inner; NULL: none) only the first `length` positions count (clamped to [0, n]); the
 * others become 0, or -infinity for log_softmax. float32 and float16 are computed in float32 with a
 * double sum, float64 in double. -1 with the error set for other dtypes. */
int mxl_softmax(bool take_log, int dtype, int64_t outer, int64_t n, int64_t inner,
                double temperature, const int64_t *length, const void *in, void *out);

/* The same by rows of n neighbours, without lengths: an mxl_rows_fn, whose context is one of these.
 * The dtype is float32, float64 or float16. */
typedef struct mxl_softmax_rows {
    bool take_log;
    int dtype;
    int64_t n;
    double temperature;
} mxl_softmax_rows;

void mxl_softmax_take(const void *context, const void *x, void *out, int64_t row, int64_t rows);

/* The gradient of y = softmax or log_softmax of x: dx = y (dy - sum(dy y)) / temperature, or (dy -
 * e^y sum(dy)) / temperature, all contiguous. Returns false and does nothing for dtypes other than
 * float32 and float64. */
bool mxl_softmax_back(bool of_log, int dtype, int64_t outer, int64_t n, int64_t inner,
                      double temperature, const void *y, const void *dy, void *dx);

#endif
